import numpy as np
import pytest
import reference

from uulearn import calibration
from uulearn.calibration import (
    PIECES,
    Link,
    RisingLink,
    fit_link,
    fit_rising_link,
    membership_loss,
    posterior,
    prior_step,
    shift_prior,
)
from uulearn.sets import match_sets


def population(shares, sizes, link, seed=0):
    """Every point of a finite distribution in every set, weighed by its probability there; its scores obey a link.

    The shift is whatever makes the positive class a distribution: it is returned with the sets and the scores.
    """
    scores = np.random.default_rng(seed).normal(0, 1.5, 40)
    negative = np.random.default_rng(seed + 1).dirichlet(np.ones(40))
    shift = -np.log(negative @ np.exp(link * scores))
    positive = negative * np.exp(link * scores + shift)
    weight = np.concatenate(
        [n * (share * positive + (1 - share) * negative) for share, n in zip(shares, sizes, strict=True)]
    )
    sets = match_sets(np.repeat(np.arange(len(shares)), 40), shares, 0.3, weight)
    return sets, np.tile(scores, len(shares)), shift


CASES = [((0.9, 0.4), (1000, 300)), ((0.1, 0.8), (1, 1)), ((1.0, 0.0), (20, 60)), ((0.9, 0.4, 0.2), (500, 200, 900))]
over_cases = pytest.mark.parametrize(("shares", "sizes"), CASES, ids=str)


class TestPosterior:
    """Bayes' rule."""

    def test_formula(self):
        """theta L / (theta L + 1 - theta), for a share of each row or one for all."""
        ratio, share = np.array([0.01, 0.5, 1.0, 7.0]), np.array([0.1, 0.5, 0.4, 0.9])
        assert posterior(np.log(ratio), share) == pytest.approx(share * ratio / (share * ratio + 1 - share))
        assert posterior(np.log(ratio), 0.4) == pytest.approx(0.4 * ratio / (0.4 * ratio + 0.6))

    def test_certain(self):
        """Shares of 0 and 1 decide, whatever the row; extreme ratios do not overflow."""
        log_ratio = np.array([-1e4, 0.0, 1e4])
        assert posterior(log_ratio, 0.0).tolist() == [0, 0, 0]
        assert posterior(log_ratio, 1.0).tolist() == [1, 1, 1]
        assert posterior(log_ratio, 0.3).tolist() == pytest.approx([0, 0.3, 1])


@over_cases
class TestMembershipLoss:
    """The likelihood of what is known: the set of each row."""

    def test_is_the_log_likelihood(self, shares, sizes):
        """Up to a constant it is the mean of -log P(set k | x) with P proportional to n_k (theta_k L + 1 - theta_k)."""
        sets, scores, _ = population(shares, sizes, 0.7)
        gaps = []
        for log_ratio in (scores, 0 * scores, 2 - scores):
            rows = list(zip(sets.weight, np.exp(log_ratio), strict=True))
            samples = [rows[40 * k : 40 * (k + 1)] for k in range(len(shares))]
            gaps.append(membership_loss(log_ratio, sets)[0] + reference.membership_log_likelihood(samples, shares))
        assert gaps == pytest.approx([gaps[0]] * 3)
        assert membership_loss(0 * scores, sets)[0] == pytest.approx(0)

    def test_derivative(self, shares, sizes):
        """The derivative is the central difference by each log ratio."""
        sets, scores, _ = population(shares, sizes, 0.7)
        log_ratio = 0.3 * scores + 0.1
        differences = [
            (membership_loss(log_ratio + step, sets)[0] - membership_loss(log_ratio - step, sets)[0]) / 2e-5
            for step in 1e-5 * np.eye(len(scores))
        ]
        assert membership_loss(log_ratio, sets)[1] == pytest.approx(differences, abs=1e-9)


@over_cases
class TestFit:
    """From scores to class likelihood ratios."""

    @pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
    def test_finds_the_truth(self, shares, sizes, scale):
        """On the exact distribution of scores that obey a link, the link is found: no label is needed."""
        sets, scores, shift = population(shares, sizes, scale)
        link = fit_link(scores, sets)
        assert (link.scale, link.shift) == pytest.approx((scale, shift), rel=1e-3, abs=1e-3)
        assert fit_link(scores, sets, shift=shift).scale == pytest.approx(scale, rel=1e-3)
        assert fit_link(scores, sets, shift=-2.0).shift == -2.0

    def test_true_ratio_is_the_most_likely(self, shares, sizes):
        """No other ratio makes the memberships more likely than the true one: the derivative is 0 for every point."""
        sets, scores, shift = population(shares, sizes, 1.0)
        derivative = membership_loss(scores + shift, sets)[1].reshape(len(shares), -1).sum(axis=0)
        assert derivative == pytest.approx(np.zeros(40), abs=1e-12)

    def test_unit_of_scores(self, shares, sizes):
        """Scores have no unit: the ratios do not depend on it."""
        sets, scores, _ = population(shares, sizes, 1.0)
        expected = fit_link(scores, sets).log_ratio(scores)
        for unit in (1e-4, 1e4):
            assert fit_link(unit * scores, sets).log_ratio(unit * scores) == pytest.approx(expected, abs=1e-3)

    def test_weights(self, shares, sizes):
        """Duplicated rows are doubled weights, and weights have no unit."""
        sets, scores, _ = population(shares, sizes, 1.0)
        rows = np.repeat(np.arange(len(scores)), 1 + np.arange(len(scores)) % 3)
        weighted = match_sets(sets.index, shares, 0.3, 10 * sets.weight * (1 + np.arange(len(scores)) % 3))
        expected = fit_link(scores[rows], sets.take(rows))
        assert tuple(fit_link(scores, weighted)) == pytest.approx(tuple(expected), rel=1e-3, abs=1e-3)

    def test_worthless_scores(self, shares, sizes):
        """Scores that say nothing, or all the same, or the opposite, give a finite rising link."""
        sets, scores, _ = population(shares, sizes, 1.0)
        for worthless in (0 * scores, 0 * scores + 5, -scores, np.random.default_rng(5).normal(size=len(scores))):
            link = fit_link(worthless, sets)
            assert np.isfinite(link).all()
            assert link.scale > 0


def test_link():
    """A link is a line: log L = scale * score + shift."""
    assert Link(2.0, -1.0).log_ratio(np.array([0.0, 0.5, 3.0])).tolist() == [-1, 0, 5]


@over_cases
class TestRisingLink:
    """A line with bends, where a straight one cannot follow."""

    def test_plain_where_plain_is_right(self, shares, sizes):
        """Scores that obey a straight link get about that link, the more rows the closer."""
        sets, scores, shift = population(shares, sizes, 1.0)
        many = match_sets(sets.index, shares, 0.3, 1e9 * sets.weight / sets.weight.sum())
        link = fit_rising_link(scores, many)
        assert link.log_ratio(scores) == pytest.approx(scores + shift, abs=0.02)

    def test_bends_where_scores_bend(self, shares, sizes):
        """Scores pushed out to the ends, as trees do, are brought back; one straight line leaves more in doubt."""
        sets, scores, shift = population(shares, sizes, 1.0)
        many = match_sets(sets.index, shares, 0.3, 1e6 * sets.weight / sets.weight.sum())
        pushed = np.sign(scores) * np.abs(scores) ** 3
        rising, straight = fit_rising_link(pushed, many), fit_link(pushed, many)
        truth, weight = scores + shift, many.weight
        off = [np.average(np.abs(link.log_ratio(pushed) - truth), weights=weight) for link in (rising, straight)]
        assert off[0] < 0.5 * off[1]

    def test_rises(self, shares, sizes):
        """No two scores are tied and none change places, even of scores that say the opposite."""
        sets, scores, _ = population(shares, sizes, 1.0)
        for given in (scores, -scores, 0 * scores + 3, np.random.default_rng(5).normal(size=len(scores))):
            link = fit_rising_link(given, sets)
            grid = np.linspace(-9, 9, 101)
            assert np.all(np.diff(link.log_ratio(grid)) > 0)
            assert np.isfinite(link.log_ratio(1e6 * grid)).all()

    def test_score_at_and_moved(self, shares, sizes):
        """`score_at` is the inverse of `log_ratio`; a moved link says of lower scores what it said of them before."""
        sets, scores, _ = population(shares, sizes, 0.7)
        link = fit_rising_link(scores, sets)
        for value in (-30.0, -1.0, 0.0, 0.4, 30.0):
            assert link.log_ratio(np.array([link.score_at(value)]))[0] == pytest.approx(value)
        assert link.moved(1.3).log_ratio(scores - 1.3) == pytest.approx(link.log_ratio(scores))

    def test_even_odds_at_zero(self, shares, sizes):
        """Without a free shift the sign of a score stays the sign of the log odds."""
        sets, scores, _ = population(shares, sizes, 0.7)
        link = fit_rising_link(scores, sets, free_shift=False)
        assert link.shift == pytest.approx(-np.log(0.3 / 0.7))
        assert np.array_equal(np.sign(link.log_ratio(scores) + np.log(0.3 / 0.7)), np.sign(scores))

    def test_weights_and_order(self, shares, sizes):
        """Duplicated rows are doubled weights, in any order of rows; scores have no unit but for the shift."""
        sets, scores, _ = population(shares, sizes, 1.0)
        times = 1 + np.arange(len(scores)) % 3
        rows = np.random.default_rng(0).permutation(np.repeat(np.arange(len(scores)), times))
        expected = fit_rising_link(scores[rows], sets.take(rows)).log_ratio(scores)
        weighted = match_sets(sets.index, shares, 0.3, sets.weight * times)
        assert fit_rising_link(scores, weighted).log_ratio(scores) == pytest.approx(expected, abs=0.02)
        in_thousands = fit_rising_link(1000 * scores, weighted).log_ratio(1000 * scores)
        assert in_thousands == pytest.approx(expected, abs=0.02)

    def test_few_rows_change_little(self, shares, sizes):
        """Of four rows nothing can be learned: the link stays finite and near even odds at 0."""
        few = match_sets(np.arange(len(shares)), shares, 0.3)
        link = fit_rising_link(np.linspace(-1, 1, len(shares)), few)
        assert abs(link.shift - np.log(0.7 / 0.3)) < 1
        assert np.all(link.slopes < 20)


def test_rising_link_is_its_formula():
    """The line goes on from knot to knot with the slope of its piece."""
    link = RisingLink(np.array([-1.0, 2.0]), np.array([3.0, 1.0, 0.5]), 0.25)
    assert link.log_ratio(np.array([-2.0, -1.0, 0.0, 2.0, 4.0])).tolist() == [-3.75, -0.75, 0.25, 2.25, 3.25]
    assert PIECES > 1


class TestShiftPrior:
    """Bayes' rule for another share of positives."""

    def test_closed_form(self):
        """The odds are multiplied by new (1 - old) / (old (1 - new))."""
        p, old, new = np.array([0.01, 0.3, 0.5, 0.99]), 0.3, 0.05
        shifted = shift_prior(p, old, new)
        odds = p / (1 - p) * new * (1 - old) / (old * (1 - new))
        assert shifted == pytest.approx(odds / (1 + odds))
        assert prior_step(old, new) == pytest.approx(np.log(new * (1 - old) / (old * (1 - new))))

    def test_there_and_back(self):
        """Going to another prior and back changes nothing; certain rows stay certain; pairs stay pairs."""
        p = np.array([0.0, 0.2, 0.7, 1.0])
        assert shift_prior(shift_prior(p, 0.3, 0.9), 0.9, 0.3) == pytest.approx(p)
        assert shift_prior(p, 0.3, 0.3) == pytest.approx(p)
        pairs = np.column_stack([1 - p, p])
        assert shift_prior(pairs, 0.3, 0.9)[:, 1] == pytest.approx(shift_prior(p, 0.3, 0.9))
        assert shift_prior(pairs, 0.3, 0.9).sum(axis=1) == pytest.approx(np.ones(4))

    def test_float32(self):
        """float32 in, float32 out."""
        assert shift_prior(np.array([0.2, 0.7], dtype=np.float32), 0.3, 0.9).dtype == np.float32

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (
                ([0.2, 1.2], 0.3, 0.1),
                r"proba must hold probabilities in \[0, 1\], one or a pair .* to 1\.2\. Pass what",
            ),
            (([[0.2, 0.3, 0.5]], 0.3, 0.1), r"got an array of shape \(1, 3\)"),
            (([np.nan], 0.3, 0.1), r"proba must hold probabilities in \[0, 1\]"),
            (([0.2], 1.0, 0.1), r"prior must be a number in \(0, 1\); got 1\.0\. It is the share of positives"),
            (([0.2], 0.3, 0), r"new_prior must be a number in \(0, 1\); got 0\."),
        ],
    )
    def test_refusals(self, arguments, sentence):
        """What is no probability and no share is refused."""
        with pytest.raises(ValueError, match=sentence):
            shift_prior(*arguments)


@pytest.mark.parametrize("shares", [(0.9, 0.3), (0.9, 0.5, 0.2)])
def test_many_rows_are_fitted_as_few(monkeypatch, shares):
    """Neighbours of a set, fitted as one row of their weight, give the link of all rows; weight 0 is absent."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(len(shares)), 6000)
    sets = match_sets(y, shares, 0.3, rng.integers(0, 3, len(y)))
    scores = rng.normal(size=len(y)) + 2 * (rng.random(len(y)) < sets.share)
    at = np.linspace(-2, 4, 13)
    gathered = fit_rising_link(scores, sets).log_ratio(at)
    monkeypatch.setattr(calibration, "CELLS", 10**9)
    np.testing.assert_allclose(gathered, fit_rising_link(scores, sets).log_ratio(at), atol=0.01)

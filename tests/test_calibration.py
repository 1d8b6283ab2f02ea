import numpy as np
import pytest
import reference

from uulearn.calibration import Link, fit_link, membership_loss, posterior
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

import numpy as np
import pytest

from uulearn import choose_threshold
from uulearn.sets import match_sets
from uulearn.threshold import falling_rates

PRIORS = {"set_priors": (0.9, 0.4), "prior": 0.3}


def drawn(sizes=(6000, 4000), shares=(0.9, 0.4), seed=0):
    """Sets, scores whose log odds at prior 1/2 are twice the score, and the classes nobody is shown."""
    rng = np.random.default_rng(seed)
    sets = np.repeat(np.arange(len(sizes)), sizes)
    truth = rng.random(len(sets)) < np.asarray(shares)[sets]
    return sets, np.where(truth, 1.0, -1.0) + rng.normal(size=len(sets)), truth


def rates(scores, truth, cut):
    return np.mean(scores[truth] > cut), np.mean(scores[~truth] > cut)


class TestFallingRates:
    """TPR and FPR of every cut, without a label."""

    def test_of_labels_they_are_the_rates(self):
        """With set priors 0 and 1 the curves are the ordinary ones."""
        _, scores, truth = drawn()
        cuts, tpr, fpr = falling_rates(scores, match_sets(truth.astype(int), (0, 1), 0.3))
        for place in (0, 17, 5000, len(cuts) - 1):
            assert (tpr[place], fpr[place]) == pytest.approx(rates(scores, truth, cuts[place]))

    def test_they_fall_from_one_to_zero(self):
        """However noisy the signed sums are."""
        sets, scores, _ = drawn((60, 40))
        _, tpr, fpr = falling_rates(scores.round(1), match_sets(sets, (0.9, 0.4), 0.3))
        for curve in (tpr, fpr):
            assert curve[0] >= curve[-1] >= 0
            assert np.all(np.diff(curve) <= 1e-12)

    @pytest.mark.parametrize("shares", [(0.9, 0.4), (0.9, 0.5, 0.1)])
    def test_they_are_near_the_truth(self, shares):
        """Two sets or more, within a few standard errors (.01 here)."""
        sets, scores, truth = drawn((6000, 4000, 5000)[: len(shares)], shares)
        cuts, tpr, fpr = falling_rates(scores, match_sets(sets, shares, 0.3))
        for cut in (-1.0, 0.0, 1.0):
            place = np.searchsorted(cuts, cut)
            assert (tpr[place], fpr[place]) == pytest.approx(rates(scores, truth, cut), abs=0.05)

    def test_weights(self):
        """Duplicated rows are doubled weights."""
        sets, scores, _ = drawn((60, 40))
        rows = np.repeat(np.arange(100), 1 + np.arange(100) % 2)
        weighted = match_sets(sets, (0.9, 0.4), 0.3, 1.0 + np.arange(100) % 2)
        for one, other in zip(
            falling_rates(scores, weighted), falling_rates(scores[rows], weighted.take(rows)), strict=True
        ):
            assert np.shape(one) == np.shape(other)


@pytest.mark.parametrize(("costs", "expected"), [((1, 1), 0.424), ((1, 5), -0.381), ((7, 1), 1.397)])
def test_costs(costs, expected):
    """The cheapest cut is where the log odds at the prior equal the log of the cost ratio."""
    sets, scores, _ = drawn((60000, 40000))
    assert (np.log(costs[0] / costs[1]) + np.log(0.7 / 0.3)) / 2 == pytest.approx(expected, abs=1e-3)
    assert choose_threshold(sets, scores, **PRIORS, costs=costs).threshold == pytest.approx(expected, abs=0.25)


def test_only_the_ratio_of_costs_matters():
    """(1, 5) is (2, 10)."""
    sets, scores, _ = drawn()
    one, other = (choose_threshold(sets, scores, **PRIORS, costs=costs) for costs in ((1, 5), (2, 10)))
    assert one.threshold == other.threshold


@pytest.mark.parametrize("wish", ["precision", "recall"])
def test_what_is_required_is_reached(wish):
    """The report of the cut reaches it, the truth nearly so; the other quantity is not given away."""
    sets, scores, truth = drawn((20000, 20000))
    cut = choose_threshold(sets, scores, **PRIORS, **{wish: 0.9})
    tpr, fpr = rates(scores, truth, cut.threshold)
    precision = 0.3 * tpr / (0.3 * tpr + 0.7 * fpr)
    assert {"precision": precision, "recall": tpr}[wish] == pytest.approx(0.9, abs=0.03)
    assert cut.report[wish].value == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("wish", ["precision", "recall"])
def test_confidence_is_paid_for(wish):
    """The surer, the further from the cut that is right on average; the bound of the report reaches the wish."""
    sets, scores, _ = drawn()
    plain, sure = (choose_threshold(sets, scores, **PRIORS, **{wish: 0.75}, confidence=c) for c in (0.5, 0.95))
    assert (sure.threshold > plain.threshold) == (wish == "precision")
    found = sure.report[wish]
    assert found.value - 1.6449 * found.standard_error >= 0.75 - 1e-9


def test_groups_widen_the_margin():
    """Rows that go together are less evidence."""
    sets, scores, _ = drawn()
    groups = np.arange(len(sets)) // 50
    alone, together = (
        choose_threshold(sets, scores, **PRIORS, recall=0.85, confidence=0.95, groups=given).report["recall"]
        for given in (None, groups)
    )
    assert together.standard_error != alone.standard_error


@pytest.mark.slow
def test_coverage_of_a_required_recall():
    """With confidence .9, the true recall is reached in about 9 of 10 draws: at least 84 of 100."""
    met = 0
    for seed in range(100):
        sets, scores, _ = drawn(seed=seed)
        cut = choose_threshold(sets, scores, **PRIORS, recall=0.9, confidence=0.9).threshold
        fresh = np.random.default_rng(1000 + seed).normal(size=100_000) + 1
        met += np.mean(fresh > cut) >= 0.9
    assert met >= 84


SETS, SCORES, _ = drawn((60, 40))


@pytest.mark.parametrize(
    ("options", "kind", "sentence"),
    [
        ({}, ValueError, r"give one of costs, precision and recall; got none\. Each of them alone determines the cut"),
        ({"recall": 0.9, "costs": (1, 2)}, ValueError, r"give one of .*; got costs and recall\."),
        (
            {"costs": (1, 0)},
            ValueError,
            r"costs must be a pair .* of positive numbers; got \(1, 0\)\. Only their ratio",
        ),
        ({"costs": 5}, ValueError, r"costs must be a pair .* got 5\."),
        ({"costs": "ab"}, TypeError, r"costs must hold real numbers"),
        ({"recall": 1.0}, ValueError, r"recall must be a number in \(0, 1\); got 1\.0"),
        ({"precision": 90}, ValueError, r"precision must be a number in \(0, 1\); got 90"),
        ({"recall": 0.9, "confidence": 0.2}, ValueError, r"confidence must be a number in \[0\.5, 1\); got 0\.2"),
        (
            {"recall": 0.9, "scores": SCORES[:5]},
            ValueError,
            r"scores must be one finite number for each of 100 rows; got",
        ),
        ({"recall": 0.9, "scores": SCORES * np.nan}, ValueError, r"with NaN or infinity\. Score the rows that y names"),
        (
            {"precision": 0.99, "scores": 0 * SCORES, "confidence": 0.9},
            ValueError,
            r"no cut reaches precision 0\.99 with confidence 0\.9 on these rows; the best that one does is .* Ask for",
        ),
    ],
)
def test_refusals(options, kind, sentence):
    """A wish that is unclear or cannot be met is refused."""
    with pytest.raises(kind, match=sentence):
        choose_threshold(SETS, **{"scores": SCORES, **PRIORS, **options})


def test_rows_of_weight_zero_are_absent():
    """For every kind of wish."""
    rng = np.random.default_rng(0)
    y, weight = np.repeat([0, 1], 500), np.arange(1000) % 2
    scores = np.where(rng.random(1000) < np.array([0.4, 0.9])[y], 1.0, -1.0) + rng.normal(size=1000)
    kept = weight > 0
    given = {"set_priors": (0.4, 0.9), "prior": 0.3}
    for wish in ({"costs": (1, 1)}, {"recall": 0.8}, {"precision": 0.6}):
        whole = choose_threshold(y, scores, sample_weight=weight, **given, **wish)
        assert whole.threshold == choose_threshold(y[kept], scores[kept], **given, **wish).threshold


def test_the_ranking_is_of_the_scores():
    """Where nobody is best called positive, the AUC is still that of the scores."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 500)
    scores = np.where(rng.random(1000) < np.array([0.4, 0.9])[y], 1.0, -1.0) + rng.normal(size=1000)
    cut = choose_threshold(y, scores, set_priors=(0.4, 0.9), prior=0.3, costs=(1000, 1e-3))
    assert cut.report.auc.value > 0.8

import copy
import pickle
from itertools import permutations
from statistics import NormalDist

import numpy as np
import pytest
import reference
from scipy.special import expit
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    precision_score,
    recall_score,
    roc_auc_score,
)

from uulearn.metrics import NAMES, Estimate, Report, error, error_difference, evaluate, evaluate_sets
from uulearn.priors import Priors
from uulearn.sets import match_sets

SHARES = {2: (0.9, 0.4), 3: (0.9, 0.4, 0.2)}
RESAMPLED = ("average_precision", "calibration_error")


def drawn(n_sets, seed=0, n_rows=60, weighted=True, ties=True):
    """Rows of all sets in mixed order, whose scores fit the shares, and the same rows as one sample a set."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_sets)
    positive = rng.random(n_rows) < np.array(SHARES[n_sets])[y]
    z = np.where(positive, 1.0, -1.0) + rng.normal(size=n_rows)
    if ties:
        z = np.round(2 * z) / 2
    weight = rng.uniform(0.2, 3, n_rows) if weighted else np.ones(n_rows)
    samples = [list(zip(weight[y == k], z[y == k], strict=True)) for k in range(n_sets)]
    return y, z, weight, samples


def values(report):
    return {name: estimate.value for name, estimate in report.items()}


def standard_errors(report):
    """Of the closed forms: the order of the rows moves those of resamples a little."""
    return {name: estimate.standard_error for name, estimate in report.items() if name not in RESAMPLED}


def everything(y, z, **options):
    """Every metric of scores and of the probabilities 1 / (1 + exp(-z)), costs and a risk."""
    options = {"prior": 0.3, "resamples": 20, "costs": (2, 5), "loss": "logistic", **options}
    return evaluate(y, scores=z, proba=expit(z), **options)


def closed(report):
    return {name: estimate for name, estimate in report.items() if name not in RESAMPLED}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_sets", [2, 3])
class TestLoops:
    """Against naive loops, with ties among the scores and at the cut."""

    def test_values(self, n_sets, weighted, ties):
        """Every estimate is that of the loops over rows, and over all pairs of rows for the AUC."""
        for seed in range(5):
            y, z, weight, samples = drawn(n_sets, seed, weighted=weighted, ties=ties)
            assert ties == bool(np.any(z == 0)) or seed
            report = everything(y, z, set_priors=SHARES[n_sets], sample_weight=weight)
            a, b = Priors(SHARES[n_sets], prior=0.3).coefficients(np.bincount(y, weight))
            assert list(report) == [*NAMES, "cost", "logistic_risk"]
            assert values(closed(report)) == pytest.approx(reference.metrics(samples, a, b, 0.3), rel=1e-12)
            assert error(match_sets(y, SHARES[n_sets], 0.3, weight), z) == pytest.approx(report.error.value, rel=1e-12)

    def test_standard_errors(self, n_sets, weighted, ties):
        """Every standard error is that of the infinitesimal jackknife: each row's weight is moved a little in turn."""
        y, z, weight, samples = drawn(n_sets, 1, n_rows=18, weighted=weighted, ties=ties)
        report = everything(y, z, set_priors=SHARES[n_sets], sample_weight=weight)
        a, b = Priors(SHARES[n_sets], prior=0.3).coefficients(np.bincount(y, weight))
        expected = reference.standard_errors(samples, a, b, 0.3)
        assert standard_errors(closed(report)) == pytest.approx(expected, rel=1e-6)


class TestLabels:
    """Shares of 1 and 0 are labels, and the estimates are scikit-learn's metrics."""

    @pytest.mark.parametrize("weighted", [False, True])
    def test_at_any_prior(self, weighted):
        """With the classes weighed to the target prior, every metric is scikit-learn's."""
        y, z, weight, _ = drawn(2, weighted=weighted, ties=False)
        pi = 0.3
        report = everything(y, z, set_priors=(0, 1), prior=pi, sample_weight=weight)
        at_prior = weight * np.where(y == 1, pi, 1 - pi) / np.bincount(y, weight)[y]
        expected = {
            "error": 1 - accuracy_score(y, z > 0, sample_weight=at_prior),
            "balanced_error": 1 - balanced_accuracy_score(y, z > 0, sample_weight=at_prior),
            "tpr": recall_score(y, z > 0, sample_weight=at_prior),
            "fpr": 1 - recall_score(y, z > 0, pos_label=0, sample_weight=at_prior),
            "precision": precision_score(y, z > 0, sample_weight=at_prior),
            "recall": recall_score(y, z > 0, sample_weight=at_prior),
            "f1": f1_score(y, z > 0, sample_weight=at_prior),
            "specificity": recall_score(y, z > 0, pos_label=0, sample_weight=at_prior),
            "negative_predictive_value": precision_score(y, z > 0, pos_label=0, sample_weight=at_prior),
            "auc": roc_auc_score(y, z, sample_weight=weight),
            "average_precision": average_precision_score(y, z, sample_weight=at_prior),
            "log_loss": log_loss(y, expit(z), sample_weight=at_prior),
            "brier": brier_score_loss(y, expit(z), sample_weight=at_prior),
        }
        assert {name: report[name].value for name in expected} == pytest.approx(expected, rel=1e-12)

    def test_class_balanced(self):
        """At a target prior of 1/2 the error is the class-balanced one."""
        y, z, _, _ = drawn(2, ties=False)
        report = evaluate(y, scores=z, set_priors=(0, 1), prior=0.5)
        assert report.error.value == pytest.approx(1 - balanced_accuracy_score(y, z > 0))
        assert report.error.value == pytest.approx(report.balanced_error.value)

    def test_ties_in_the_auc(self):
        """Tied scores count one half, as in scikit-learn."""
        y, z, _, _ = drawn(2, ties=True)
        report = evaluate(y, scores=z, set_priors=(0, 1), prior=0.5)
        assert report.auc.value == pytest.approx(roc_auc_score(y, z))

    def test_binomial_standard_error(self):
        """The standard error of the TPR is that of a mean of n labeled rows: sqrt(t (1 - t) / (n - 1))."""
        y, z, _, _ = drawn(2, weighted=False, ties=False)
        tpr = evaluate(y, scores=z, set_priors=(0, 1), prior=0.5).tpr
        assert tpr.standard_error == pytest.approx(np.sqrt(tpr.value * (1 - tpr.value) / ((y == 1).sum() - 1)))


@pytest.mark.parametrize("n_sets", [2, 3])
class TestInvariance:
    """What must not matter does not."""

    def test_order(self, n_sets):
        """Permuting the sets with their priors, or the rows, changes nothing."""
        y, z, weight, _ = drawn(n_sets)
        whole = evaluate(y, scores=z, set_priors=SHARES[n_sets], prior=0.3, sample_weight=weight)
        rows = np.random.default_rng(0).permutation(len(y))
        for names in permutations("abc"[:n_sets]):
            shares = dict(zip(names, SHARES[n_sets], strict=True))
            again = evaluate(
                np.array(names)[y[rows]], scores=z[rows], set_priors=shares, prior=0.3, sample_weight=weight[rows]
            )
            assert values(again) == pytest.approx(values(whole))
            assert standard_errors(again) == pytest.approx(standard_errors(whole))

    def test_duplicated_rows(self, n_sets):
        """A row given twice is a row of double weight, and rows of weight 0 are absent."""
        y, z, weight, _ = drawn(n_sets)
        times = np.random.default_rng(1).integers(0, 3, len(y))
        rows = np.repeat(np.arange(len(y)), times)
        options = {"set_priors": SHARES[n_sets], "prior": 0.3}
        repeated = evaluate(y[rows], scores=z[rows], sample_weight=weight[rows], **options)
        weighted = evaluate(y, scores=z, sample_weight=weight * times, **options)
        assert values(repeated) == pytest.approx(values(weighted))
        absent = evaluate(y[times > 0], scores=z[times > 0], sample_weight=(weight * times)[times > 0], **options)
        assert standard_errors(weighted) == pytest.approx(standard_errors(absent))

    def test_groups(self, n_sets):
        """Every row twice is no news when the copies are one group: the standard errors are those of single rows."""
        y, z, weight, _ = drawn(n_sets)
        options = {"set_priors": SHARES[n_sets], "prior": 0.3}
        single = evaluate(y, scores=z, sample_weight=weight, **options)
        twice = {"y": np.tile(y, 2), "scores": np.tile(z, 2), "sample_weight": np.tile(weight, 2), **options}
        grouped = evaluate(groups=np.tile(np.arange(len(y)), 2).astype(str), **twice)
        assert standard_errors(grouped) == pytest.approx(standard_errors(single), rel=1e-9)
        alone = evaluate(groups=np.arange(2 * len(y)), **twice)
        assert standard_errors(alone) == pytest.approx(standard_errors(evaluate(**twice)), rel=1e-9)
        assert all(alone[name].standard_error < grouped[name].standard_error for name in standard_errors(grouped))

    def test_monotone_scores(self, n_sets):
        """The AUC sees the order of the scores alone, the rates their sign."""
        y, z, _, _ = drawn(n_sets)
        options = {"set_priors": SHARES[n_sets], "prior": 0.3}
        whole, cubed, moved = (evaluate(y, scores=s, **options) for s in (z, z**3, z - 0.25))
        assert values(cubed) == values(whole)
        assert moved.auc == whole.auc
        assert moved.tpr.value < whole.tpr.value


def test_a_group_across_sets():
    """A row drawn into both sets is not two rows: its influences add before they are squared."""
    z = np.array([1.0, -1.0, 1.0, -1.0, -1.0, 1.0])
    y = np.array([0, 0, 0, 1, 1, 1])
    together = evaluate(y, scores=z, set_priors=(0.9, 0.4), prior=0.3, groups=[0, 1, 2, 1, 3, 2])
    priors = Priors(0.9, 0.4, prior=0.3)
    terms = np.sqrt(3 / 2) / 3 * np.repeat([-priors.alpha, priors.alpha_prime], 3) * np.array([1, -2, 1, -1, -1, 2]) / 3
    summed = np.bincount([0, 1, 2, 1, 3, 2], terms)
    assert together.error.standard_error == pytest.approx(np.sqrt(summed @ summed))


def test_nothing_to_tell_the_spread_from():
    """With a single row or group in a set the spread is unknown: standard errors are NaN, not 0."""
    options = {"scores": [1.0, 2.0, -1.0], "set_priors": (0.9, 0.4), "prior": 0.3}
    one_row = evaluate([0, 1, 1], **options)
    one_group = evaluate([0, 0, 1], groups=[7, 7, 8], **options)
    for report in (one_row, one_group):
        assert np.all(np.isfinite(list(values(report).values())))
        assert np.all(np.isnan(list(standard_errors(report).values())))


def test_undefined_ratios():
    """Precision of a classifier that never says positive is NaN; the other metrics are what they are."""
    report = evaluate([0, 0, 1, 1], scores=-np.ones(4), set_priors=(0.9, 0.4), prior=0.3)
    assert np.isnan([report.precision.value, report.precision.standard_error]).all()
    assert (report.error.value, report.tpr.value, report.f1.value) == pytest.approx((0.3, 0, 0))


def test_never_clipped():
    """An estimate is unbiased and so may leave [0, 1]; it is reported as it is."""
    y, scores = np.repeat([0, 1], 10), np.repeat([1.0, -1.0], 10)
    report = evaluate(y, scores=scores, set_priors=(0.9, 0.4), prior=0.3)
    assert report.error.value == pytest.approx(0.3 - Priors(0.9, 0.4, prior=0.3).alpha)
    assert report.error.value < 0 < 1 < report.tpr.value


def test_probabilities():
    """Probabilities are cut at 1/2: one column, two columns or scores around the cut are the same."""
    y, z, _, _ = drawn(2)
    proba = 1 / (1 + np.exp(-z))
    options = {"set_priors": (0.9, 0.4), "prior": 0.3}
    expected = evaluate(y, scores=z, **options)
    names = [*expected]
    for given in (proba, np.column_stack([1 - proba, proba]), proba.tolist()):
        assert evaluate(y, proba=given, metrics=names, **options) == expected
        assert list(evaluate(y, proba=given, resamples=2, **options)) == list(NAMES)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_interval(confidence):
    """That of a mean is the estimate and as many standard errors as the normal distribution asks, on either side."""
    y, z, _, _ = drawn(2)
    report = evaluate(y, scores=z, set_priors=(0.9, 0.4), prior=0.3, confidence=confidence)
    usual = evaluate(y, scores=z, set_priors=(0.9, 0.4), prior=0.3)
    width = 2 * NormalDist().inv_cdf((1 + confidence) / 2)
    for name in ("error", "balanced_error", "tpr", "fpr", "specificity", "recall", "auc"):
        estimate = report[name]
        assert (estimate.low + estimate.high) / 2 == pytest.approx(estimate.value)
        assert estimate.high - estimate.low == pytest.approx(width * estimate.standard_error)
        assert usual[name].value == estimate.value
        assert usual[name].high - usual[name].low == pytest.approx(2 * 1.959964 * estimate.standard_error)


def test_report():
    """A report is a mapping, has its metrics as attributes, prints as a table, and survives copy and pickle."""
    report = Report({"error": Estimate(0.25, 0.05, 0.15, 0.35), "auc": Estimate(0.9, 0.01, 0.88, 0.92)}, 0.9)
    assert (len(report), list(report), "auc" in report, "f1" in report) == (2, ["error", "auc"], True, False)
    assert report.auc is report["auc"]
    assert float(report.auc) == 0.9
    assert str(report.auc) == "0.9000 (standard error 0.0100, interval 0.8800 to 0.9200)"
    head, first, second = str(report).splitlines()
    assert head.endswith("90 % interval")
    assert first.split() == ["error", "0.2500", "0.0500", "0.1500", "to", "0.3500"]
    assert len(first) == len(second)
    for same in (pickle.loads(pickle.dumps(report)), copy.copy(report), copy.deepcopy(report)):
        assert same == report
        assert same.confidence == report.confidence
        assert same.auc == report.auc
    assert not hasattr(report, "f1")


def test_matched_sets():
    """`evaluate` is `evaluate_sets` on matched rows."""
    y, z, weight, _ = drawn(3)
    sets = match_sets(y, SHARES[3], 0.3, weight)
    groups = np.arange(len(y)) // 2
    expected = evaluate(y, scores=z, set_priors=SHARES[3], prior=0.3, sample_weight=weight, groups=groups)
    assert evaluate_sets(sets, z, groups=groups) == expected


@pytest.mark.parametrize("n_sets", [2, 3])
def test_error_difference(n_sets):
    """It is the difference of the two errors; against a constant classifier its standard error is the error's own."""
    y, z, weight, _ = drawn(n_sets)
    sets = match_sets(y, SHARES[n_sets], 0.3, weight)
    other = np.random.default_rng(3).normal(size=len(z))
    difference, standard_error = error_difference(sets, z, other)
    assert difference == pytest.approx(error(sets, z) - error(sets, other))
    assert error_difference(sets, other, z) == pytest.approx((-difference, standard_error))
    assert error_difference(sets, z, 2 * z) == (0, 0)
    for constant, errs in ((-1.0, 0.3), (1.0, 0.7)):
        gap, alone = error_difference(sets, z, np.full(len(z), constant))
        assert gap == pytest.approx(error(sets, z) - errs)
        assert alone == pytest.approx(evaluate_sets(sets, z).error.standard_error)


def test_error_difference_is_paired():
    """Two classifiers that agree but on a few rows are compared more surely than either is judged."""
    y, z, _, _ = drawn(2, n_rows=400)
    sets = match_sets(y, SHARES[2], 0.3)
    near = np.where(np.arange(400) < 8, -z, z)
    assert error_difference(sets, z, near)[1] < 0.5 * evaluate_sets(sets, z).error.standard_error


DRAWS = 2000
TRUE = {
    "error": NormalDist().cdf(-1),
    "balanced_error": NormalDist().cdf(-1),
    "tpr": NormalDist().cdf(1),
    "fpr": NormalDist().cdf(-1),
    "auc": NormalDist().cdf(np.sqrt(2)),
}
"""Of scores that are normal with variance 1 around 1 in one class and around -1 in the other, cut at 0."""


def simulated(sizes, shares, seed):
    """Values and standard errors over many draws of sets, with the intervals: {metric: array of shape (draws, 4)}."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    sets = match_sets(y, shares, 0.3)
    found = {name: np.empty((DRAWS, 4)) for name in TRUE}
    for draw in range(DRAWS):
        positive = rng.random(len(y)) < sets.share
        report = evaluate_sets(sets, np.where(positive, 1.0, -1.0) + rng.normal(size=len(y)), metrics=TRUE)
        for name, rows in found.items():
            estimate = report[name]
            rows[draw] = estimate.value, estimate.standard_error, estimate.low, estimate.high
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "shares"), [((60, 30), (0.9, 0.4)), ((50, 30, 20), (0.9, 0.5, 0.2))], ids=["two sets", "three sets"]
)
def test_unbiased(sizes, shares):
    """Error, balanced error, TPR, FPR and AUC: the mean of 2,000 draws is within 4 standard errors of the truth."""
    for name, rows in simulated(sizes, shares, seed=0).items():
        spread = rows[:, 0].std(ddof=1) / np.sqrt(DRAWS)
        assert abs(rows[:, 0].mean() - TRUE[name]) < 4 * spread, name
        assert spread < 0.01, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sizes", "shares"), [((900, 500), (0.9, 0.4)), ((700, 400, 300), (0.9, 0.5, 0.2))], ids=["two sets", "three sets"]
)
def test_standard_errors_and_coverage(sizes, shares):
    """On 1,400 rows the standard errors are those of the simulation and 95 % intervals cover the truth as often.

    Tolerances are 4 standard errors of the simulation: 13 % of a variance, .02 of a coverage.
    """
    for name, rows in simulated(sizes, shares, seed=1).items():
        ratio = np.mean(rows[:, 1] ** 2) / rows[:, 0].var(ddof=1)
        assert ratio == pytest.approx(1, abs=4 * np.sqrt(2 / DRAWS)), name
        covered = np.mean((rows[:, 2] <= TRUE[name]) & (TRUE[name] <= rows[:, 3]))
        assert covered == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / DRAWS)), name


@pytest.mark.slow
def test_coverage_with_groups():
    """Rows that come in identical threes are covered at 95 % (within .02) when their groups are named, not without."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [500, 300])
    rows, covered = np.repeat(np.arange(800), 3), []
    for _ in range(DRAWS):
        positive = rng.random(800) < np.array([0.9, 0.4])[y]
        z = (np.where(positive, 1.0, -1.0) + rng.normal(size=800))[rows]
        options = {"scores": z, "set_priors": (0.9, 0.4), "prior": 0.3, "metrics": "error"}
        reports = (evaluate(y[rows], groups=groups, **options) for groups in (rows, None))
        covered.append([report.error.low <= TRUE["error"] <= report.error.high for report in reports])
    named, unnamed = np.mean(covered, axis=0)
    assert named == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / DRAWS))
    assert unnamed < 0.85

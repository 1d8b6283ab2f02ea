"""Set priors from the sets alone."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from uulearn import Priors, UUClassifier, estimate_set_priors, make_unlabeled_sets
from uulearn.estimation import DoubtfulPriorsWarning
from uulearn.estimation.shares import METHODS

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1], 6000)
X = RNG.normal(size=(12000, 3)) + 3.2 * TRUTH[:, None] * np.eye(3)[0]


def drawn(shares=(("A", 0.8), ("B", 0.3)), size=3000, seed=0):
    return make_unlabeled_sets(
        X, TRUTH, dict(shares), {name: size for name, _ in shares}, overlap="allow", random_state=seed
    )


ROWS, SETS, _ = drawn()


def estimated(rows=ROWS, y=SETS, positive_set="A", **options):
    return estimate_set_priors(
        rows,
        y,
        positive_set=positive_set,
        **{"estimator": LogisticRegression(), "n_bootstrap": 20, "random_state": 0, **options},
    )


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_finds_the_shares(self, method):
        """Of well separated classes, within .04."""
        found = estimated(method=method)
        assert dict(found) == pytest.approx({"A": 0.8, "B": 0.3}, abs=0.04)
        assert found.method == method

    def test_many_sets(self, method):
        """Sets between the extremes are mixtures of those."""
        shares = (("A", 0.8), ("B", 0.3), ("C", 0.6))
        rows, sets, _ = drawn(shares, 2000)
        assert dict(estimated(rows, sets, method=method)) == pytest.approx(dict(shares), abs=0.05)

    def test_the_other_class(self, method):
        """Naming the other set as the richer one exchanges the classes: shares become 1 minus the shares."""
        one, other = (estimated(positive_set=name, method=method) for name in "AB")
        assert dict(other) == pytest.approx({name: 1 - share for name, share in one.items()}, abs=0.011)

    def test_same_seed(self, method):
        """The same seed gives the same estimate and the same errors."""
        one, other = estimated(method=method), estimated(method=method)
        assert dict(one) == dict(other)
        assert np.array_equal(one.covariance, other.covariance)


def test_doubled_weights():
    """Rows of weight 2 are rows that are there twice; rows of weight 0 are not there."""
    weight = np.r_[np.full(len(SETS), 2.0), np.zeros(50)]
    rows, y = np.r_[ROWS, ROWS[:50] + 7], np.r_[SETS, SETS[:50]]
    assert dict(estimated(rows, y, sample_weight=weight)) == pytest.approx(dict(estimated()), abs=0.02)


def test_groups_count_once():
    """Rows that come in identical fours are worth a quarter: standard errors double."""
    four = np.tile(np.arange(len(SETS)), 4)
    alone = estimated(n_bootstrap=100).standard_errors
    copied = estimated(np.tile(ROWS, (4, 1)), np.tile(SETS, 4), groups=four, n_bootstrap=100).standard_errors
    naive = estimated(np.tile(ROWS, (4, 1)), np.tile(SETS, 4), n_bootstrap=100).standard_errors
    assert copied == pytest.approx(alone, rel=0.3)
    assert naive["A"] < 0.7 * copied["A"]


def test_serves_as_set_priors():
    """The estimate is what `set_priors=` takes."""
    found = estimated()
    assert Priors(found, prior=0.5).labels == ("A", "B")
    clf = UUClassifier(LogisticRegression(), set_priors=found, prior=0.2).fit(ROWS, SETS)
    assert clf.priors_.shares.tolist() == list(found.values())


def test_overlapping_classes_are_doubted():
    """Where no row is purely of one class, a warning says so, and the estimate remembers it."""
    near = np.random.default_rng(1).normal(size=(12000, 2)) + 0.4 * TRUTH[:, None]
    rows, sets, _ = make_unlabeled_sets(near, TRUTH, {"A": 0.8, "B": 0.3}, {"A": 3000, "B": 3000}, random_state=0)
    with pytest.warns(DoubtfulPriorsWarning, match="purely|must agree") as heard:
        found = estimated(rows, sets)
    assert tuple(str(one.message) for one in heard) == found.doubts
    assert "doubtful: " in repr(found)


def test_few_rows_are_doubted():
    """An end that rests on few rows is named."""
    rows, sets, _ = drawn((("A", 0.97), ("B", 0.03)), 35)
    with pytest.warns(DoubtfulPriorsWarning, match=r"end of the score should rest on 50 rows or more; it rests on \d+"):
        estimated(rows, sets)


def test_separated_classes_are_not_doubted():
    """Nothing speaks against an estimate whose assumption holds."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DoubtfulPriorsWarning)
        assert estimated().doubts == ()


def test_default_classifier():
    """Trees, where no classifier is named, on rows that are no array."""
    rows, sets, _ = drawn(size=400)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoubtfulPriorsWarning)  # so few rows deserve it
        found = estimate_set_priors(rows.tolist(), sets, positive_set="A", n_bootstrap=5, cv=2, random_state=0)
    assert dict(found) == pytest.approx({"A": 0.8, "B": 0.3}, abs=0.1)


REFUSALS = {
    "positive_set": (
        {"positive_set": "C"},
        ValueError,
        r"positive_set must be one of the set labels in y, \['A', 'B'\]; got 'C'\. Name the set that is richest",
    ),
    "method": ({"method": "kernel"}, ValueError, r"method must be one of 'likelihood', 'best-bin', 'dedpul'; got 'k"),
    "n_repeats": ({"n_repeats": 0}, ValueError, r"n_repeats must be a whole number of at least 1; got 0"),
    "n_bootstrap": ({"n_bootstrap": 1}, ValueError, r"n_bootstrap must be a whole number of at least 2; got 1"),
    "confidence": ({"confidence": 1}, ValueError, r"confidence must be a number in \(0, 1\); got 1"),
    "one set": ({"y": ["A"] * len(SETS)}, ValueError, r"y must hold at least two sets; got one class of set label"),
    "rows": (
        {"rows": ROWS[:-1]},
        ValueError,
        r"X must have a row for each of the 6000 set labels in y; got shape \(5999, 3\)\. Pass",
    ),
    "estimator class": (
        {"estimator": LogisticRegression},
        TypeError,
        r"estimator must be an instance of a scikit-learn classifier with predict_proba; got <class",
    ),
    "estimator without probabilities": (
        {"estimator": SVC()},
        TypeError,
        r"with predict_proba; got SVC\(\)\. Pass, for instance, RandomForestClassifier\(min_samples_leaf=10\), or wrap",
    ),
    "weights the estimator cannot take": (
        {"estimator": KNeighborsClassifier(), "sample_weight": np.arange(len(SETS))},
        TypeError,
        r"sample_weight needs an estimator whose fit takes it; KNeighborsClassifier's does not\. Leave it out, or",
    ),
    "sets alike": (
        {"rows": np.zeros((len(SETS), 1))},
        ValueError,
        r"positive_set='A' must score highest among the sets, as the richest in positives does; the classifier cannot",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    """Each refusal names the argument, the rule, the value and a way out."""
    options, kind, words = REFUSALS[case]
    with pytest.raises(kind, match=words):
        estimated(**options)


@pytest.mark.slow
def test_coverage():
    """95 % intervals of both shares cover in at least 88 % of 40 samples (a standard error is 3 points)."""
    hits = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = np.repeat(["A", "B"], 2000)
        positive = rng.random(4000) < np.where(y == "A", 0.8, 0.3)
        rows = rng.normal(size=(4000, 2)) + 3.2 * positive[:, None] * np.eye(2)[0]
        found = estimated(rows, y, n_bootstrap=100, random_state=seed).intervals
        hits += [found["A"][0] <= 0.8 <= found["A"][1], found["B"][0] <= 0.3 <= found["B"][1]]
    assert np.mean(hits) >= 0.88

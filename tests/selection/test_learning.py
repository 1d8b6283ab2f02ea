import numpy as np
import pytest
from roster import blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn import UULinearClassifier
from uulearn.metrics import evaluate
from uulearn.refinement import split
from uulearn.selection import learning_curve
from uulearn.sets import generator, match_sets

X, SETS, _ = blobs()
FACTS = {"set_priors": (0.9, 0.4), "prior": 0.3}


def test_all_rows_are_cross_validation():
    """At the share 1 it is the error of out-of-fold decisions, with its interval."""
    found = learning_curve(UULinearClassifier(**FACTS), X, SETS, shares=[1.0], cv=3, random_state=0)
    folds = split(match_sets(SETS, (0.9, 0.4), 0.3), 3, None, int(generator(0).integers(2**31)))
    scores = np.empty(len(X))
    for train, test in folds:
        scores[test] = UULinearClassifier(**FACTS).fit(X[train], SETS[train]).decision_function(X[test])
    expected = evaluate(SETS, scores=scores, metrics="error", **FACTS).error
    assert (found.error[0], found.standard_error[0]) == (expected.value, expected.standard_error)
    assert (found.low[0], found.high[0]) == (expected.low, expected.high)
    assert found.rows[0] == 600


def test_each_set_gives_its_share():
    """Rows are taken from every set alike, the fewer ones among the more."""

    calls = []

    class Seen(UULinearClassifier):
        def fit(self, X, y, **more):
            calls.append((set(X[:, 0]), np.bincount(y)))
            return super().fit(X, y, **more)

    learning_curve(Seen(**FACTS), X, SETS, shares=[0.2, 0.5], cv=2, random_state=0)
    first, _, second, _ = calls
    assert first[1].tolist() == [60, 30]
    assert second[1].tolist() == [150, 75]
    assert first[0] < second[0]


def test_groups_and_weights():
    """Rows of a group go together, in a pipeline too."""
    groups = np.arange(len(X)) // 3
    model = make_pipeline(StandardScaler(), UULinearClassifier(**FACTS))
    options = {"shares": [0.5, 1.0], "cv": 3, "random_state": 0, "sample_weight": np.ones(len(X))}
    found = learning_curve(model, X, SETS, groups=groups, **options)
    assert np.all(np.isfinite(found.error))
    assert found.rows[0] == pytest.approx(300, rel=0.2)
    assert "rows  error" in repr(found)


@pytest.mark.parametrize("shares", [[], [0.0], [1.5], [[0.5]]])
def test_shares_are_checked(shares):
    """In a sentence."""
    with pytest.raises(ValueError, match=r"shares must be numbers above 0 and up to 1; got .* half of the rows"):
        learning_curve(UULinearClassifier(**FACTS), X, SETS, shares=shares)

"""Another target prior at predict time, and classifiers that know no prior at all and only rank."""

from typing import Any

import numpy as np
import pytest
from roster import ESTIMATORS, blobs
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from uulearn import UULinearClassifier, class_auc, shift_prior

each = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
GIVEN: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3, "random_state": 0}
UNKNOWN: dict[str, Any] = {"set_priors": "unknown", "prior": None, "random_state": 0}


@each
@pytest.mark.parametrize("prior", [0.02, 0.3, 0.8])
def test_another_prior(make: Any, prior: float) -> None:
    """Odds are multiplied in closed form; probability, prediction and sign of the score agree at every prior."""
    X, sets, _ = blobs(sizes=(400, 300))
    clf = make(**GIVEN).fit(X, sets)
    proba = clf.predict_proba(X, prior=prior)
    np.testing.assert_allclose(proba, shift_prior(clf.predict_proba(X), 0.3, prior), rtol=1e-3, atol=1e-5)
    scores = clf.decision_function(X, prior=prior)
    np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X, prior=prior))
    np.testing.assert_array_equal(clf.predict(X, prior=prior) == 1, scores > 0)
    if prior == 0.3:
        np.testing.assert_array_equal(clf.predict(X, prior=prior), clf.predict(X))


@each
def test_without_priors_it_ranks(make: Any) -> None:
    """Trained on which set a row is from, the last one taken as richer; the AUC of the sets is that of the classes."""
    X, names, truth = blobs((0.3, 0.8), (1500, 1500))
    clf = make(**UNKNOWN).fit(X, np.where(names == 0, "a few", "many"))
    assert clf.classes_.tolist() == ["a few", "many"]
    scores = clf.decision_function(X)
    assert roc_auc_score(truth, scores) > 0.9
    assert class_auc(roc_auc_score(names, scores), (0.3, 0.8)).value == pytest.approx(
        roc_auc_score(truth, scores), abs=0.06
    )


@each
def test_without_priors_nothing_else(make: Any) -> None:
    """What needs a cut or a probability is refused, with the reason and the way out."""
    X, sets, _ = blobs(sizes=(200, 200))
    clf = make(**UNKNOWN).fit(X, sets)
    uses = {
        "predict": lambda: clf.predict(X),
        "predict_proba": lambda: clf.predict_proba(X),
        "score": lambda: clf.score(X, sets),
        "evaluate": lambda: clf.evaluate(X, sets),
        "another prior": lambda: clf.decision_function(X, prior=0.2),
    }
    for name, use in uses.items():
        with pytest.raises(
            ValueError, match=rf"{name} needs the shares of the sets; with .* only ranks.*fit again with"
        ):
            use()


def test_searches_without_priors() -> None:
    """scikit-learn's own AUC of the sets ranks the candidates as the AUC of the classes would."""
    X, sets, _ = blobs((0.4, 0.9), (300, 300))
    grid = GridSearchCV(UULinearClassifier(**UNKNOWN), {"C": [0.01, 1.0]}, scoring="roc_auc", cv=3).fit(X, sets)
    assert grid.best_score_ > 0.6


@pytest.mark.parametrize(
    ("options", "sets", "sentence"),
    [
        ({"prior": 0.3}, [0, 1], r"prior must be None with set_priors='unknown', .* got 0\.3\. Give both or neither"),
        ({"refine": 1}, [0, 1], r"refine must be 0 with set_priors='unknown': .* got 1\. Give set_priors and prior"),
        ({}, [0, 1, 2], r"set_priors='unknown' ranks by two sets, .* got 3 sets\. Keep two of them"),
        ({}, [1, 1], r"y must hold at least two sets; got one class"),
    ],
)
def test_refusals(options: Any, sets: Any, sentence: str) -> None:
    """What contradicts unknown priors."""
    y = np.repeat(sets, 10)
    with pytest.raises(ValueError, match=sentence):
        UULinearClassifier(**{**UNKNOWN, **options}).fit(np.ones((len(y), 1)), y)


def test_calibrate_is_a_truth_value() -> None:
    """A name of a method is refused, not taken for True."""
    X, sets, _ = blobs(sizes=(30, 30))
    with pytest.raises(TypeError, match=r"calibrate must be True or False; got 'platt'\. Leave it out for True"):
        UULinearClassifier(**GIVEN, calibrate="platt").fit(X, sets)

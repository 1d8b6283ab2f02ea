"""Calibration around any classifier: it mends probabilities, keeps the ranking, and needs no label."""

from typing import Any

import numpy as np
import pytest
from roster import blobs, expected_failures
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from uulearn import CalibratedUUClassifier, UUClassifier, UUKernelClassifier, UULinearClassifier
from uulearn.baselines import BERClassifier, BiasedClassifier

GIVEN: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}


@parametrize_with_checks(
    [CalibratedUUClassifier(UULinearClassifier(set_priors=(0, 1), prior=0.5), random_state=0)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


def copied(X: np.ndarray) -> np.ndarray:
    """Columns thrice: naive Bayes then counts every piece of evidence three times."""
    return np.hstack([X, X, X])


def log_loss(p: np.ndarray, truth: np.ndarray) -> float:
    return float(-np.mean(np.log(np.where(truth == 1, p, 1 - p))))


@pytest.mark.parametrize("shares", [(0.9, 0.4), (0.9, 0.5, 0.2)])
def test_mends_overconfidence(shares: Any) -> None:
    """Two sets or three: the log loss falls to about that of the true odds, by themselves or wrapped."""
    X, sets, _ = blobs(shares, (2500, 1500, 1500)[: len(shares)])
    new, _, truth = blobs((0.3, 0.1), (3000, 10), seed=9)
    raw = UUClassifier(GaussianNB(), set_priors=shares, prior=0.3, calibrate=False)
    makes = [raw, clone(raw).set_params(calibrate=True, random_state=0), CalibratedUUClassifier(raw, random_state=0)]
    before, own, wrapped = (log_loss(clf.fit(copied(X), sets).predict_proba(copied(new))[:, 1], truth) for clf in makes)
    best = log_loss(1 / (1 + np.exp(-2 * new[:, 0] + 2 + np.log(0.7 / 0.3))), truth)
    assert before > best + 0.15
    assert max(own, wrapped) < best + 0.05


@pytest.mark.parametrize(
    "inner",
    [
        UULinearClassifier(**GIVEN, refine=1),
        UUKernelClassifier(**GIVEN, n_components=50),
        UUClassifier(LogisticRegression(), **GIVEN),
        make_pipeline(StandardScaler(), UULinearClassifier(**GIVEN, loss="sigmoid")),
        BiasedClassifier(**GIVEN),
        BERClassifier(**GIVEN, hidden=5, random_state=0),
    ],
    ids=["linear", "kernel", "logistic", "pipeline", "naive", "ber"],
)
def test_wraps(inner: Any) -> None:
    """Estimators, pipelines and comparison methods; the ranking stays, the three ways to predict agree."""
    X, sets, _ = blobs(sizes=(900, 500))
    clf = CalibratedUUClassifier(inner, cv=3, random_state=0).fit(X, sets)
    scores, proba = clf.decision_function(X), clf.predict_proba(X)
    np.testing.assert_allclose(scores, clf.estimator_.decision_function(X) - clf.cut_)
    np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X))
    np.testing.assert_array_equal(clf.predict(X) == 1, scores > 0)
    assert np.all(np.diff(proba[np.argsort(scores), 1]) >= 0)
    assert 0 < 1 - clf.score(X, sets) < 0.3
    assert abs(clf.predict_proba(X, prior=0.01)[:, 1].mean()) < proba[:, 1].mean()


def test_weights_and_groups_reach_the_estimator() -> None:
    """Rows of weight zero are absent for it, and its folds keep groups together."""
    X, sets, _ = blobs(sizes=(200, 100))
    seen: list[Any] = []

    class Spy(UULinearClassifier):
        def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
            seen.append((len(X), sample_weight, groups))
            return super().fit(X, y, sample_weight, groups)

    weight, groups = np.where(np.arange(300) % 3, 1.0, 0.0), np.arange(300) // 2
    CalibratedUUClassifier(Spy(**GIVEN), cv=2, random_state=0).fit(X, sets, sample_weight=weight, groups=groups)
    assert len(seen) == 3
    assert all(len(w) == len(g) == n for n, w, g in seen)
    assert np.array_equal(seen[-1][1], weight)


def test_same_seed_same_result() -> None:
    """`random_state` fixes the folds; the wrapped estimator itself is never changed."""
    X, sets, _ = blobs(sizes=(200, 100))
    inner = UULinearClassifier(**GIVEN)
    one, two = (CalibratedUUClassifier(inner, random_state=0).fit(X, sets).predict_proba(X) for _ in range(2))
    assert np.array_equal(one, two)
    assert not hasattr(inner, "coef_")
    assert inner.calibrate


def test_a_changed_target_is_refused() -> None:
    """A search over the inner prior compares what cannot be compared."""
    X, sets, _ = blobs(sizes=(100, 100))
    clf = CalibratedUUClassifier(UULinearClassifier(**GIVEN)).set_params(estimator__prior=0.2).fit(X, sets)
    with pytest.raises(ValueError, match="one target; 'prior' was changed by set_params"):
        clf.score(X, sets)


@pytest.mark.parametrize(
    ("inner", "options", "kind", "sentence"),
    [
        (LogisticRegression(), {}, TypeError, r"estimator must be a classifier of this library, or a pipeline .* Wrap"),
        (UULinearClassifier, {}, TypeError, r"estimator must be a classifier of this library"),
        (
            UULinearClassifier(set_priors="unknown", prior=None),
            {},
            ValueError,
            r"estimator must know its set_priors to be calibrated; got set_priors='unknown'\. Give them, and prior",
        ),
        (UULinearClassifier(**GIVEN), {"cv": 1}, ValueError, r"cv must be a whole number of at least 2; got 1"),
    ],
)
def test_refusals(inner: Any, options: Any, kind: Any, sentence: str) -> None:
    """What cannot be calibrated is refused before anything is trained."""
    X, sets, _ = blobs(sizes=(30, 30))
    with pytest.raises(kind, match=sentence):
        CalibratedUUClassifier(inner, **options).fit(X, sets)

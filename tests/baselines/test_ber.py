"""Balanced error minimisation: its objective, an independent net, and the point it cuts at."""

from typing import Any

import numpy as np
import pytest
import sklearn
from reference import LOSSES, balanced_risk, uu_risk
from roster import blobs
from scipy.optimize import check_grad
from sklearn.neural_network import MLPClassifier

from uulearn import UULinearClassifier
from uulearn.baselines import BERClassifier, BERFCClassifier
from uulearn.baselines.ber import Net, balanced, objective
from uulearn.risk import Risk
from uulearn.sets import match_sets

PRIORS: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}


def sampled() -> tuple[Any, np.ndarray, list[tuple[float, float]], list[tuple[float, float]]]:
    rng = np.random.default_rng(0)
    y, scores, weight = np.repeat([0, 1], [30, 20]), rng.normal(size=50), rng.uniform(0.5, 2, 50)
    rich, poor = (list(zip(weight[y == k], scores[y == k], strict=True)) for k in (0, 1))
    return match_sets(y, (0.9, 0.4), 0.3, weight), scores, rich, poor


def test_balanced_columns_equal_the_loop() -> None:
    """Either set has half of all weight, whatever its size."""
    sets, scores, rich, poor = sampled()
    naive = balanced_risk(LOSSES["logistic"], rich, poor)
    assert float(Risk(balanced(sets), "logistic").value(scores)) == pytest.approx(naive)


def test_ber_fc_equals_the_loop_at_one_half() -> None:
    """The risk of BER-FC is that of UU at pi = 1/2; the target prior has no say."""
    sets, scores, rich, poor = sampled()
    naive = uu_risk(LOSSES["sigmoid"], rich, poor, 0.9, 0.4, 0.5)
    assert float(Risk(BERFCClassifier(**PRIORS)._columns(sets), "sigmoid").value(scores)) == pytest.approx(naive)
    X, y, _ = blobs()
    half = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.5).fit(X, y)
    found = BERFCClassifier(**PRIORS).fit(X, y)
    np.testing.assert_allclose(found.decision_function(X), half.decision_function(X))


def test_gradient_is_the_difference() -> None:
    """Backward through both layers."""
    sets, _, _, _ = sampled()
    rng = np.random.default_rng(1)
    X, flat = rng.normal(size=(50, 3)), rng.normal(size=5 * 4 + 5 + 1)
    arguments = (X, Risk(balanced(sets), "logistic"), 0.1, 5)
    error = check_grad(lambda w: objective(w, *arguments)[0], lambda w: objective(w, *arguments)[1], flat)
    assert error < 1e-6


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7), reason="MLPClassifier takes no weights before 1.7"
)
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_equals_a_balanced_net_of_scikit_learn(C: float) -> None:
    """At that net's own weights our objective is its loss; our minimum is as low, and predicts the same."""
    X, y, _ = blobs()
    sets = match_sets(y, **PRIORS)
    other = MLPClassifier(
        (8,), activation="tanh", solver="lbfgs", alpha=1 / C, max_iter=3000, max_fun=10**5, tol=1e-8, random_state=0
    ).fit(X, 1 - y, sample_weight=len(y) / (2 * sets.sizes[y]))
    (W, v), (a, b) = other.coefs_, other.intercepts_
    arguments = (X, Risk(balanced(sets), "logistic"), 1 / (C * len(y)), 8)
    theirs, slope = objective(Net(W.T, a, v[:, 0], b).flat(), *arguments)
    assert theirs == pytest.approx(other.loss_)
    assert np.abs(slope).max() < 1e-3
    ours = BERClassifier(**PRIORS, hidden=8, C=C, max_iter=3000, random_state=0).fit(X, y)
    assert objective(ours.weights_.flat(), *arguments)[0] < theirs + 2e-3
    assert np.mean(ours.predict(X) == other.predict(X)) > 0.95


def test_the_cut_is_the_balanced_point() -> None:
    """It errs as often on either class where these mirror each other, whatever the priors; so it misses pi = .1."""
    rows, _, truth = blobs((0.5, 0.1), (4000, 10), seed=9)
    for shares in ((0.9, 0.4), (0.6, 0.1)):
        X, y, _ = blobs(shares, (1500, 500))
        wrong = BERClassifier(set_priors=shares, prior=0.1, hidden=5, C=0.1, random_state=0).fit(X, y).predict(rows)
        miss, alarm = (np.mean(wrong[truth == k] != k) for k in (1, 0))
        assert abs(miss - alarm) < 0.06
        assert miss + alarm < 0.36


def test_a_doubled_row_is_a_row_of_weight_two() -> None:
    """Weights count rows."""
    X, y, _ = blobs(sizes=(60, 40))
    twice = np.arange(100) % 3 == 0
    options = {**PRIORS, "hidden": 3, "C": 0.1, "tol": 1e-8, "max_iter": 2000, "random_state": 0}
    weighted = BERClassifier(**options).fit(X, y, sample_weight=1 + twice)
    repeated = BERClassifier(**options).fit(np.vstack([X, X[twice]]), np.concatenate([y, y[twice]]))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)

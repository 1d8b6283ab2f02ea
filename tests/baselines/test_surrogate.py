"""Surrogate set classification: the link, its cross-entropy, and the models trained by it."""

from typing import Any

import numpy as np
import pytest
import torch
from reference import set_cross_entropy, set_posterior
from roster import blobs, neural
from scipy.optimize import minimize

from uulearn import UUKernelClassifier, UULinearClassifier
from uulearn.baselines import SurrogateSetClassifier
from uulearn.baselines.surrogate import SetCrossEntropy
from uulearn.calibration import membership_loss
from uulearn.risk import Columns, Risk
from uulearn.sets import match_sets

SHARES = {2: (0.9, 0.4), 3: (0.2, 0.8, 0.5), 4: (0.6, 0.3, 0.3, 0.9)}
over_sets = pytest.mark.parametrize("shares", SHARES.values(), ids=SHARES)


def sampled(shares: Any, seed: int = 0) -> tuple[Any, np.ndarray, list[list[tuple[float, float]]]]:
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(len(shares)), rng.integers(len(shares), size=40)])
    scores, weight = rng.normal(0, 2, len(y)), rng.uniform(0.5, 2, len(y))
    samples = [list(zip(weight[y == k], scores[y == k], strict=True)) for k in range(len(shares))]
    return match_sets(y, shares, 0.3, weight), scores, samples


def risk_of(sets: Any) -> Risk:
    loss = SetCrossEntropy.of(sets)
    return Risk(loss.columns(sets), loss)


@over_sets
def test_objective_equals_the_loop(shares: Any) -> None:
    """The risk of the two columns is the mean of -log P(set k | x), for weighted rows of two sets and more."""
    for seed in range(5):
        sets, scores, samples = sampled(shares, seed)
        naive = set_cross_entropy(samples, shares, 0.3)
        assert float(risk_of(sets).value(scores)) == pytest.approx(naive)


@over_sets
def test_objective_is_the_likelihood_of_calibration(shares: Any) -> None:
    """The same formula, written once more there for the link of refined scores: they differ by the sizes alone."""
    sets, scores, _ = sampled(shares)
    loss, slope = membership_loss(scores - np.log(0.3 / 0.7), sets)
    risk = risk_of(sets)
    assert float(risk.value(scores)) == pytest.approx(loss + risk.loss.entropy)  # type: ignore[attr-defined]
    np.testing.assert_allclose(risk.gradient(scores), slope, atol=1e-12)


@over_sets
def test_derivatives_are_differences(shares: Any) -> None:
    """Gradient and curvature by score, in NumPy; and by autograd."""
    sets, scores, _ = sampled(shares)
    risk, step = risk_of(sets), 1e-5
    up, down = scores + step, scores - step
    each = [
        float(risk.value(np.where(row, up, scores)) - risk.value(np.where(row, down, scores)))
        for row in np.eye(len(scores))
    ]
    np.testing.assert_allclose(risk.gradient(scores), np.divide(each, 2 * step), atol=1e-8)
    slopes = risk.gradient(up) - risk.gradient(down)
    np.testing.assert_allclose(risk.curvature(scores), slopes / (2 * step), atol=1e-8)
    z = torch.tensor(scores, requires_grad=True)
    Risk(Columns(*map(torch.from_numpy, risk.columns)), risk.loss).value(z).backward()
    np.testing.assert_allclose(z.grad.numpy(), risk.gradient(scores), atol=1e-12)  # type: ignore[union-attr]


@over_sets
def test_expectation_is_least_at_the_true_posterior(shares: Any) -> None:
    """On a finite distribution whose points are mixed exactly, no other eta has a smaller cross-entropy."""
    rng = np.random.default_rng(1)
    positive, negative = rng.dirichlet(np.ones(6), 2)
    eta = 0.3 * positive / (0.3 * positive + 0.7 * negative)
    sizes = rng.uniform(1, 5, len(shares))
    weight = sizes[:, None] * (np.outer(shares, positive) + np.outer(1 - np.array(shares), negative))
    sets = match_sets(np.repeat(np.arange(len(shares)), 6), shares, 0.3, weight.ravel())
    risk = risk_of(sets)
    found = minimize(lambda z: float(risk.value(np.tile(z, len(shares)))), np.zeros(6), tol=1e-12).x
    np.testing.assert_allclose(1 / (1 + np.exp(-found)), eta, atol=1e-3)
    truth = np.tile(np.log(eta / (1 - eta)), len(shares))
    assert np.abs(risk.gradient(truth).reshape(len(shares), 6).sum(axis=0)).max() < 1e-12
    for k in range(len(shares)):  # and the link gives the true share of each set at each point
        linked = [set_posterior(e, k, shares, sizes, 0.3) for e in eta]
        np.testing.assert_allclose(linked, (weight / weight.sum(axis=0))[k])


def test_known_classes_give_logistic_regression() -> None:
    """With set priors 0 and 1 and the target prior of the rows, the link is the identity."""
    X, _, truth = blobs((0.5, 0.3), (200, 200))
    options: dict[str, Any] = {"set_priors": (0, 1), "prior": truth.mean()}
    ours = SurrogateSetClassifier(**options).fit(X, truth)
    logistic = UULinearClassifier(**options).fit(X, truth)
    np.testing.assert_allclose(ours.decision_function(X), logistic.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("make", [UULinearClassifier, UUKernelClassifier, neural], ids=["linear", "kernel", "neural"])
@pytest.mark.parametrize("shares", [(0.9, 0.4), (0.9, 0.6), (0.8, 0.5, 0.2)], ids=str)
def test_every_model_with_a_loss_is_trained_by_it(make: Any, shares: Any) -> None:
    """Linear, kernel and network, two sets (both rich too) and three: near the Bayes error of 13.6 % at prior .3."""
    X, sets, _ = blobs(shares, (900, 600, 600)[: len(shares)])
    rows, _, truth = blobs((0.3, 0.1), (2600, 10), seed=9)
    options: dict[str, Any] = {"set_priors": shares, "prior": 0.3}
    clf = SurrogateSetClassifier(make(**options), **options).fit(X, sets)
    assert np.mean(clf.predict(rows) != truth) < 0.2
    assert abs(clf.predict_proba(rows)[:, 1].mean() - truth.mean()) < 0.08


def test_the_linear_fit_is_the_minimum() -> None:
    """No general-purpose solver finds a lower value, from the true direction or from zero."""
    X, y, _ = blobs((0.8, 0.5, 0.2), (300, 200, 200))
    options: dict[str, Any] = {"set_priors": (0.8, 0.5, 0.2), "prior": 0.3}
    clf = SurrogateSetClassifier(UULinearClassifier(**options, C=0.1, tol=1e-9), **options).fit(X, y)
    risk = risk_of(match_sets(y, **options))

    def value(w: np.ndarray) -> float:
        return float(risk.value(X @ w[:-1] + w[-1])) + w[:-1] @ w[:-1] / (2 * 0.1 * len(X))

    inner = clf.estimator_
    found = value(np.append(inner.coef_[0], inner.intercept_))
    for start in (np.zeros(4), np.array([3.0, 0, 0, -3])):
        assert found <= minimize(value, start, tol=1e-12).fun + 1e-9


def test_rows_without_weight_have_no_say() -> None:
    """A row of weight 0 is as good as absent, and a network may fill its batches with such rows."""
    X, y, _ = blobs(sizes=(80, 60))
    kept = np.arange(140) % 4 > 0
    options: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}
    weighted = SurrogateSetClassifier(**options).fit(X, y, sample_weight=kept)
    fewer = SurrogateSetClassifier(**options).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X), atol=1e-5)
    loss = SetCrossEntropy.of(match_sets(y, **options))
    nothing = Columns(np.zeros(2), np.zeros(2))
    assert np.array_equal(Risk(nothing, loss).gradient(np.array([-50.0, 50.0])), [0, 0])

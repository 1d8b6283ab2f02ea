"""The kernel classifier is the linear one on the factor of the kernel matrix."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from roster import blobs, expected_failures
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from uulearn import UUKernelClassifier, UULinearClassifier
from uulearn.estimators import kernel as kernel_module

PRIORS = {"set_priors": (0.9, 0.4), "prior": 0.6}


@parametrize_with_checks([UUKernelClassifier(set_priors=(0, 1), prior=0.5)], expected_failed_checks=expected_failures)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


def test_linear_kernel_is_the_linear_classifier() -> None:
    """kernel="linear" gives the scores of UULinearClassifier."""
    X, sets, _ = blobs()
    kernel = UUKernelClassifier(**PRIORS, kernel="linear", tol=1e-9).fit(X, sets)
    linear = UULinearClassifier(**PRIORS, tol=1e-9).fit(X, sets)
    np.testing.assert_allclose(kernel.decision_function(X), linear.decision_function(X), rtol=1e-5, atol=1e-6)
    assert len(kernel.support_) == 3


@pytest.mark.parametrize(("name", "function"), [("rbf", rbf_kernel), ("poly", polynomial_kernel)])
def test_precomputed_and_callable_kernels_equal_the_named_one(name: str, function: Any) -> None:
    """One kernel, three ways to say it."""
    X, sets, _ = blobs(sizes=(150, 100))
    options = {"gamma": 0.3} | ({"degree": 2, "coef0": 1.0} if name == "poly" else {})

    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return function(A, B, **options)

    named = UUKernelClassifier(calibrate=False, **PRIORS, kernel=name, **options).fit(X, sets)
    called = UUKernelClassifier(calibrate=False, **PRIORS, kernel=kernel).fit(X, sets)
    matrix = UUKernelClassifier(calibrate=False, **PRIORS, kernel="precomputed").fit(kernel(X, X), sets)
    new = blobs(seed=3)[0][:50]
    expected = named.decision_function(new)
    np.testing.assert_allclose(called.decision_function(new), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(matrix.decision_function(kernel(new, X)), expected, rtol=1e-4, atol=1e-5)


def test_a_precomputed_kernel_is_cut_by_rows_and_columns() -> None:
    """Cross-validation and cross-fitting take the rows and columns of a fold."""
    X, sets, _ = blobs(sizes=(150, 100))
    matrix = rbf_kernel(X, gamma=0.3)
    rows = UUKernelClassifier(**PRIORS, gamma=0.3, refine=1, random_state=0)
    square = clone(rows).set_params(kernel="precomputed")
    np.testing.assert_allclose(cross_val_score(square, matrix, sets), cross_val_score(rows, X, sets))


def test_the_optimum_over_all_dual_coefficients() -> None:
    """The gradient of the dual objective K (w + dual) vanishes: nothing was lost in the factor."""
    from uulearn.risk import Risk, row_weights
    from uulearn.sets import match_sets

    X, sets, _ = blobs(sizes=(150, 100))
    clf = UUKernelClassifier(calibrate=False, **PRIORS, gamma=0.5, C=2.0, tol=1e-9).fit(X, sets)
    matrix = rbf_kernel(X, X, gamma=0.5)
    dual = np.zeros(len(X))
    dual[clf.support_] = clf.dual_coef_[0]
    slope = Risk(row_weights(match_sets(sets, (0.9, 0.4), 0.6)), "logistic").gradient(clf.decision_function(X))
    stationarity = matrix @ (slope + dual / (2.0 * len(X)))
    assert np.abs(stationarity).max() < 1e-6


def test_median_bandwidth() -> None:
    """gamma_ is 1 / (2 m^2) with m the median distance of distinct rows."""
    X, sets, _ = blobs(sizes=(60, 40))
    distances = [np.linalg.norm(a - b) for i, a in enumerate(X) for b in X[:i]]
    clf = UUKernelClassifier(**PRIORS).fit(X, sets)
    assert clf.gamma_ == pytest.approx(1 / (2 * np.median(distances) ** 2))


def test_landmarks_beyond_the_exact_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """With enough landmarks Nystroem agrees with the exact fit; "auto" turns to it beyond the exact size."""
    X, sets, _ = blobs(sizes=(400, 300))
    exact = UUKernelClassifier(**PRIORS, random_state=0).fit(X, sets).decision_function(X)
    monkeypatch.setattr(kernel_module, "EXACT_ROWS", 500)
    monkeypatch.setattr(kernel_module, "LANDMARKS", 200)
    near = UUKernelClassifier(**PRIORS, random_state=0).fit(X, sets)
    assert len(near.support_) <= 200
    assert np.corrcoef(near.decision_function(X), exact)[0, 1] > 0.995


@pytest.mark.parametrize("name", ["rbf", "precomputed"])
def test_prediction_goes_in_chunks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of the kernel matrix at a time: the same scores, in memory that does not grow with the rows."""
    X, sets, _ = blobs(sizes=(150, 100))
    clf = UUKernelClassifier(**PRIORS, kernel=name, gamma=0.3).fit(rbf_kernel(X) if name == "precomputed" else X, sets)
    new = np.tile(X, (20, 1))
    rows = rbf_kernel(new, X) if name == "precomputed" else new
    whole = clf.decision_function(rows)
    monkeypatch.setattr(kernel_module, "CHUNK_BYTES", 100_000)
    tracemalloc.start()
    chunked = clf.decision_function(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(chunked, whole, rtol=1e-10, atol=1e-12)
    assert peak < 0.2 * 8 * len(new) * len(clf.support_)


def test_an_asymmetric_kernel_is_refused() -> None:
    """A kernel matrix is symmetric."""
    _, sets, _ = blobs(sizes=(30, 30))
    with pytest.raises(ValueError, match="symmetric matrix"):
        UUKernelClassifier(**PRIORS, kernel="precomputed").fit(np.triu(np.ones((60, 60))), sets)

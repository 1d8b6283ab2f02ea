"""The linear classifier reaches the optimum, whatever the loss, the solver and the form of X."""

from typing import Any

import numpy as np
import pytest
from roster import blobs, expected_failures
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from uulearn import Priors, UUKernelClassifier, UULinearClassifier, losses, make_unlabeled_sets
from uulearn.estimators import _solver
from uulearn.risk import Risk, get_correction, row_weights
from uulearn.sets import match_sets

TRAINABLE = [name for name, loss in losses.BY_NAME.items() if loss.differentiable]
CONVEX = [name for name in TRAINABLE if losses.BY_NAME[name].convex]


@parametrize_with_checks(
    [
        UULinearClassifier(set_priors=(0, 1), prior=0.5),
        UULinearClassifier(set_priors=(0, 1), prior=0.5, loss="sigmoid", refine=1),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


def objective(clf: UULinearClassifier, X: Any, sets: np.ndarray, w: np.ndarray, prior: float) -> float:
    """C-free objective at w (intercept last): mean risk plus penalty."""
    columns = row_weights(match_sets(sets, clf.set_priors, prior))
    risk = Risk(columns, clf.loss, clf.correction).value(X @ w[:-1] + w[-1])
    return float(risk + w[:-1] @ w[:-1] / (2 * clf.C * X.shape[0]))


def weights(clf: UULinearClassifier) -> np.ndarray:
    return np.append(clf.coef_[0], clf.intercept_)


@pytest.mark.parametrize("prior", [0.45, 0.6])
@pytest.mark.parametrize("priors", [(0.9, 0.4), (0.2, 0.7)])
@pytest.mark.parametrize("loss", CONVEX)
def test_convex_cases_reach_the_one_optimum(loss: str, priors: Any, prior: float) -> None:
    """No other start and no general-purpose solver finds a lower value."""
    X, sets, _ = blobs(priors)
    clf = UULinearClassifier(calibrate=False, set_priors=priors, prior=prior, loss=loss, C=0.1).fit(X, sets)
    reached = objective(clf, X, sets, weights(clf), prior)
    rng = np.random.default_rng(0)
    for start in (weights(clf), rng.normal(size=4), np.zeros(4)):
        other = minimize(
            lambda w: objective(clf, X, sets, w, prior),
            start,
            method="Nelder-Mead",
            options={"maxiter": 4000, "xatol": 1e-8, "fatol": 1e-10},
        )
        assert reached <= other.fun + (1e-6 if losses.BY_NAME[loss].smooth else 5e-4)


@pytest.mark.parametrize("correction", ["none", "relu", "abs", "leaky", -0.5])
@pytest.mark.parametrize("loss", TRAINABLE)
@pytest.mark.parametrize("prior", [0.2, 0.95])
def test_the_others_improve_on_their_convex_start(loss: str, correction: Any, prior: float) -> None:
    """Non-convex problems end no worse than the convex start they were given."""
    X, sets, _ = blobs()
    clf = UULinearClassifier(
        calibrate=False, set_priors=(0.9, 0.4), prior=prior, loss=loss, correction=correction, C=0.1
    )
    columns = row_weights(match_sets(sets, (0.9, 0.4), prior))
    start = _solver.solve(
        X,
        _solver.reduced(columns),
        losses.get("logistic"),
        _solver.Correction(),
        penalty=10 / len(X),
        fit_intercept=True,
        start=None,
        tol=1e-6,
        max_iter=100,
    )
    clf.fit(X, sets)
    slack = 0.0 if losses.BY_NAME[loss].smooth else 1e-3
    assert objective(clf, X, sets, weights(clf), prior) <= objective(clf, X, sets, start.weights, prior) + slack


@pytest.mark.parametrize("correction", ["relu", "abs", "leaky", -0.5])
@pytest.mark.parametrize("loss", TRAINABLE)
def test_no_solver_stops_at_the_kink_of_a_correction(loss: str, correction: Any) -> None:
    """Where a part of the risk crosses zero the descent goes on, by second order as by L-BFGS.

    The kernel model goes the same way: on a linear kernel it ends at the same risk.
    """
    shares, prior = (0.7, 0.3), 0.3
    X, sets, _ = blobs(shares, (200, 120), columns=20)
    options = {"set_priors": shares, "prior": prior, "loss": loss, "correction": correction}
    clf = UULinearClassifier(calibrate=False, **options).fit(X, sets)
    dense = objective(clf, X, sets, weights(clf), prior)
    by_lbfgs = objective(clf, X, sets, weights(clf.fit(sparse.csr_matrix(X), sets)), prior)
    assert dense <= by_lbfgs + 1e-4
    kernel = UUKernelClassifier(calibrate=False, **options, kernel="linear").fit(X, sets)
    same = np.append(kernel.dual_coef_ @ kernel.support_vectors_, kernel.intercept_)
    assert objective(clf, X, sets, same, prior) == pytest.approx(dense, abs=1e-4)


@pytest.mark.parametrize("options", [{"loss": "double_hinge"}, {"loss": "logistic", "correction": "relu"}])
def test_sparse_rows_get_through_narrow_joints(options: Any) -> None:
    """Where L-BFGS runs out of digits, second order finishes; a gradient left above the tolerance would warn."""
    X, sets, _ = blobs(sizes=(300, 150), distance=1.0, columns=50)
    X = np.exp(2 * X)
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.2, C=100, random_state=0, **options)
    assert clf.fit(sparse.csr_matrix(X / X.std(axis=0)), sets).n_iter_ > 0


@pytest.mark.parametrize(("seed", "distance"), [(1, 1.9), (2, 1.0), (4, 1.0)])
@pytest.mark.parametrize("correction", ["none", "relu", "abs"])
@pytest.mark.parametrize("loss", ["sigmoid", "ramp"])
def test_bounded_losses_do_not_end_at_one_class(loss: str, correction: Any, seed: int, distance: float) -> None:
    """Neither a short start nor a flat far end leads to one class for all rows: no multiple of the start is better."""
    X, sets, _ = blobs(sizes=(2000, 1000), distance=distance, columns=10, seed=seed)
    columns = row_weights(match_sets(sets, (0.9, 0.4), 0.2))
    options = {"penalty": 1 / len(X), "fit_intercept": True, "start": None, "tol": 1e-6, "max_iter": 200}
    convex = _solver.solve(X, _solver.reduced(columns), losses.get("logistic"), _solver.Correction(), **options)
    found = _solver.solve(X, columns, losses.get(loss), get_correction(correction), **options)
    risk = Risk(columns, loss, correction)

    def value(w: np.ndarray) -> float:
        return float(risk.value(X @ w[:-1] + w[-1]) + w[:-1] @ w[:-1] / (2 * len(X)))

    assert value(found.weights) < min(value(length * convex.weights) for length in (1, 2, 4, 8, 16))
    assert value(found.weights) < 0.18  # 0.2 is the risk of calling every row negative


def test_single_precision_is_not_asked_for_more_digits_than_it_has() -> None:
    """A gradient of rounding errors is no reason to warn: kinks and sparse rows reach what float32 can."""
    X, sets, _ = blobs(sizes=(2000, 1000), distance=1.9, columns=10)
    small, options = X.astype(np.float32), {"set_priors": (0.9, 0.4), "prior": 0.2}
    for rows in (small, sparse.csr_matrix(small)):
        for loss in ("logistic", "double_hinge"):
            clf, exact = (UULinearClassifier(calibrate=False, **options, loss=loss).fit(Z, sets) for Z in (rows, X))
            np.testing.assert_allclose(clf.coef_, exact.coef_, atol=0.02)


def test_supervised_case_is_logistic_regression() -> None:
    """set_priors (0, 1) with prior the training share: the coefficients of scikit-learn's LogisticRegression."""
    X, _, truth = blobs()
    ours = UULinearClassifier(calibrate=False, set_priors=(0, 1), prior=truth.mean(), C=0.5, tol=1e-10).fit(X, truth)
    theirs = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(X, truth)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-5)


@pytest.mark.parametrize("prior", [0.2, 0.6])
def test_second_order_and_lbfgs_agree(prior: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sparse rows, many columns and the thinned start lead to the same coefficients."""
    X, sets, _ = blobs()
    make = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=prior, C=0.1, tol=1e-8)
    newton = weights(make.fit(X, sets)).copy()
    rows = weights(make.fit(sparse.csr_matrix(X), sets)).copy()
    monkeypatch.setattr(_solver, "MOST_COLUMNS", 1)
    columns = weights(make.fit(X, sets)).copy()
    monkeypatch.undo()
    monkeypatch.setattr(_solver, "THIN_FROM", 10)
    thinned = weights(make.fit(X, sets)).copy()
    for other in (rows, columns, thinned):
        np.testing.assert_allclose(other, newton, rtol=1e-4, atol=1e-5)


def test_blocks_do_not_change_the_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    """X read in small blocks gives the coefficients of X read at once."""
    X, sets, _ = blobs()
    make = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6)
    whole = weights(make.fit(X, sets)).copy()
    monkeypatch.setattr(_solver, "BLOCK_BYTES", 1)  # the least: 256 rows
    np.testing.assert_allclose(weights(make.fit(X, sets)), whole, rtol=1e-9)


def test_a_read_only_fortran_table_is_neither_copied_nor_changed() -> None:
    """Column-major, read-only rows are trained on as they are."""
    X, sets, _ = blobs()
    table = np.asfortranarray(X)
    table.setflags(write=False)
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6)
    np.testing.assert_allclose(clf.fit(table, sets).coef_, clf.fit(X, sets).coef_.copy(), rtol=1e-8)


def test_warm_start_goes_on_from_the_last_fit() -> None:
    """A second fit from the optimum takes no step."""
    X, sets, _ = blobs()
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, warm_start=True).fit(X, sets)
    assert clf.n_iter_ > 0
    assert clf.fit(X, sets).n_iter_ == 0


def test_no_intercept() -> None:
    """fit_intercept=False leaves the intercept at zero."""
    X, sets, _ = blobs()
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, fit_intercept=False).fit(X, sets)
    assert clf.intercept_ == 0
    assert UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6).fit(X, sets).intercept_ != 0


def test_scale_of_losses_without_a_probability() -> None:
    """The sigmoid loss gets a cross-fitted positive scale; the logistic loss needs none."""
    X, sets, _ = blobs()
    assert (
        UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.3, loss="sigmoid", random_state=0)
        .fit(X, sets)
        .scale_
        > 0
    )
    assert not hasattr(UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.3).fit(X, sets), "scale_")


def test_a_loss_of_the_user() -> None:
    """A small class is all that a new loss takes."""

    class Exponential(losses.Loss):
        convex = True

        def value(self, z: Any) -> Any:
            return np.exp(-z)

        def derivative(self, z: Any) -> Any:
            return -np.exp(-z)

        def curvature(self, z: Any) -> Any:
            return np.exp(-z)

        def probability(self, z: Any) -> Any:
            return 0.5 + 0.5 * np.tanh(z)

    X, _, truth = blobs()
    clf = UULinearClassifier(calibrate=False, set_priors=(0, 1), prior=0.5, loss=Exponential(), C=0.1).fit(X, truth)
    assert np.mean(clf.predict(X) == truth) > 0.75


def test_stopping_early_is_said() -> None:
    """One step is not enough, and the warning says what to do."""
    X, sets, _ = blobs()
    with pytest.warns(ConvergenceWarning, match="Standardise the columns of X, lower C, or raise max_iter"):
        UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, C=1000, max_iter=1).fit(X * 100, sets)


def test_steps_are_limited() -> None:
    """`max_iter` steps of second order, ten times as many of L-BFGS."""
    X, sets, _ = blobs()
    for rows, most in ((X * 100, 2), (sparse.csr_matrix(X * [1, 100, 1e4]), 2 * _solver.SHORT_STEPS)):
        with pytest.warns(ConvergenceWarning, match=f"stopped after {most} steps"):
            clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, C=1000, max_iter=2).fit(
                rows, sets
            )
        assert clf.n_iter_ == most


def test_wrong_priors_beyond_one_need_the_opt_out() -> None:
    """Priors(..., allow_out_of_range=True) is accepted as set_priors; a plain 1.08 is refused."""
    X, sets, _ = blobs((0.9, 0.1), (300, 300))
    with pytest.raises(ValueError, match="set_priors"):
        UULinearClassifier(calibrate=False, set_priors=(1.08, 0.08), prior=0.5).fit(X, sets)
    loose = Priors(1.08, 0.08, prior=0.5, allow_out_of_range=True)
    clf = UULinearClassifier(calibrate=False, set_priors=loose, prior=0.5).fit(X, sets)
    assert 0.6 < clf.score(X, sets) < 1.2


@pytest.mark.parametrize("prior", [0.2, 0.6])
def test_threads_share_the_rows(prior: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads reach the coefficients of one, and the same bits every time."""
    X, sets, _ = blobs()
    make = UULinearClassifier(
        calibrate=False, set_priors=(0.9, 0.4), prior=prior, C=0.1, correction="leaky" if prior < 0.4 else "none"
    )
    alone = weights(make.fit(X, sets)).copy()
    monkeypatch.setattr(_solver, "SHARED_BYTES", 1)
    with threadpool_limits(2, user_api="blas"):
        shared, again = (weights(make.fit(X, sets)).copy() for _ in range(2))
    np.testing.assert_allclose(shared, alone, rtol=1e-4, atol=1e-5)
    assert np.array_equal(shared, again)


@pytest.mark.parametrize("loss", ["logistic", "double_hinge"])
def test_the_order_of_the_rows_does_not_matter(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted, interleaved or shuffled sets end at one optimum, also where the first guess is of every fourth row."""
    monkeypatch.setattr(_solver, "THIN_FROM", 100)
    X, sets, _ = blobs(sizes=(400, 400))
    interleaved = np.argsort(np.tile(np.arange(400), 2), kind="stable")
    shuffled = np.random.default_rng(0).permutation(800)
    make = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, loss=loss)
    expected = weights(make.fit(X, sets)).copy()
    for order in (interleaved, shuffled):
        clf = make.fit(X[order], sets[order])
        np.testing.assert_allclose(weights(clf), expected, rtol=1e-3, atol=1e-3)
        assert clf.n_iter_ < 60


def test_warm_start_without_an_intercept() -> None:
    """The intercept of an earlier fit does not stay."""
    X, sets, _ = blobs()
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, warm_start=True).fit(X, sets)
    clf.set_params(fit_intercept=False).fit(X, sets)
    fresh = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, fit_intercept=False).fit(X, sets)
    assert clf.intercept_ == 0
    np.testing.assert_allclose(clf.coef_, fresh.coef_, rtol=1e-4)


def test_wrong_priors_beyond_one_with_a_scale_and_refined() -> None:
    """What needs a probability clips the share; the risk itself does not."""
    X, sets, _ = blobs((0.9, 0.1), (300, 300))
    loose = Priors(1.08, 0.08, prior=0.5, allow_out_of_range=True)
    for options in ({"loss": "sigmoid"}, {"refine": 1}):
        clf = UULinearClassifier(calibrate=False, set_priors=loose, prior=0.5, random_state=0, **options).fit(X, sets)
        assert np.all(np.isfinite(clf.predict_proba(X)))


def test_a_scale_does_not_outlive_its_loss() -> None:
    """A refit with the logistic loss drops the scale of the sigmoid loss."""
    X, sets, _ = blobs()
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.6, loss="sigmoid").fit(X, sets)
    assert not hasattr(clf.set_params(loss="logistic").fit(X, sets), "scale_")


@pytest.mark.parametrize("options", [{"loss": "double_hinge"}, {"correction": "abs"}])
def test_stopping_early_is_said_whatever_the_loss(options: Any) -> None:
    """Kinks and corrections are no excuse."""
    X, sets, _ = blobs((0.7, 0.3), (200, 120), columns=20)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        UULinearClassifier(calibrate=False, set_priors=(0.7, 0.3), prior=0.3, max_iter=1, **options).fit(X, sets)


def test_rows_of_no_weight_in_the_folds() -> None:
    """Rows of weight 0 are as good as absent, also where folds are drawn and where rows are scored."""
    X, sets, _ = blobs()
    weight = np.ones(len(sets))
    weight[np.flatnonzero(sets == 1)[5:]] = 0
    clf = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.3, refine=1, random_state=0).fit(
        X, sets, sample_weight=weight
    )
    kept = weight > 0
    alone = UULinearClassifier(calibrate=False, set_priors=(0.9, 0.4), prior=0.3, refine=1, random_state=0).fit(
        X[kept], sets[kept]
    )
    np.testing.assert_allclose(clf.coef_, alone.coef_, rtol=1e-6)
    other = np.where(kept, sets, 7)
    assert clf.score(X, other, sample_weight=weight) == pytest.approx(clf.score(X[kept], sets[kept]))


@pytest.mark.parametrize("seed", [5, 19, 28])
def test_weak_penalty_far_from_convex(seed):
    """Where weights grow into the hundreds, logistic losses are corners; the solver gets past them and says nothing."""
    images, digit = load_digits(return_X_y=True)
    X, sets, _ = make_unlabeled_sets(images, digit % 2 == 0, (0.9, 0.4), (48, 24), random_state=seed)
    X = StandardScaler().fit_transform(X)
    clf = UULinearClassifier(set_priors=(0.9, 0.4), prior=0.25, C=100, calibrate=False).fit(X, sets)
    assert np.abs(clf.coef_).max() > 50

"""Kernel classifier from unlabeled sets: a linear one on the factor of the kernel matrix."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dsymv
from scipy.linalg.lapack import dpstrf
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from uulearn._checks import choose, integer, number
from uulearn.estimators._solver import Solution, linear_scores
from uulearn.estimators.linear import RiskClassifier
from uulearn.losses import Loss
from uulearn.risk import Correction
from uulearn.sets import Sets

EXACT_ROWS = 10_000
"""Up to this many rows the kernel matrix is factored whole."""
LANDMARKS = 1_000
"""Landmarks of the Nystroem approximation beyond."""
MEDIAN_ROWS = 1_000
"""Rows that the median distance is taken over."""
CHUNK_BYTES = 1 << 26
"""Bytes of the kernel matrix that prediction holds at once."""
TINY = float(np.finfo(float).tiny)
"""Below, the inverse overflows."""
KERNELS = dict.fromkeys(("rbf", "linear", "poly", "precomputed"))


class UUKernelClassifier(RiskClassifier):
    """Kernel classifier trained from unlabeled sets whose shares of positives differ and are known.

    It minimises the same objective as `UULinearClassifier` over g(x) = sum_j dual_j k(x, x_j) + b, with the penalty
    dual' K dual / 2. The kernel matrix is factored by pivoted Cholesky, K = F F', and a linear model is trained on F:
    exactly up to about 10,000 rows, and from a random subset of landmarks (Nystroem) beyond.

    Parameters
    ----------
    set_priors : mapping or sequence
        Share of positives of each set: ``{set label: share}``, or shares in the order of the sorted set labels.
    prior : float
        Share of positives among the rows to be predicted.
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        A callable takes two arrays of rows and returns their kernel matrix. With "precomputed", X is the kernel matrix
        of the training rows at fit, and of new rows by training rows at predict.
    gamma : "median" or float, default="median"
        rbf is exp(-gamma ||x - x'||^2); "median" takes 1 / (2 m^2) with m the median distance of two rows.
        poly is (gamma x x' + coef0)^degree, where "median" means 1 / n_features.
    degree : int, default=3
    coef0 : float, default=1.0
    n_components : "auto" or int, default="auto"
        Landmarks; "auto" takes every row up to 10,000 and 1,000 beyond.
    loss, correction, C, fit_intercept, convex, refine, calibrate, cv, tol, max_iter, classes
        As in `UULinearClassifier`.
    random_state : int, Generator, RandomState or None
        Chooses the landmarks and deals the folds; None deals the latter the same way every time.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Training rows that serve as landmarks.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows (empty for "precomputed").
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    gamma_ : float
    classes_, set_labels_, priors_, n_iter_, n_rounds_, round_errors_, link_, scale_
        As in `UULinearClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UUKernelClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> truth = (X**2).sum(axis=1) < 1.4
    >>> X_sets, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.2), (600, 600), random_state=0)
    >>> clf = UUKernelClassifier(set_priors=(0.9, 0.2), prior=0.5).fit(X_sets, sets)
    >>> clf.predict([[0.0, 0.0], [2.0, 2.0]])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        set_priors: Any,
        prior: float,
        kernel: str | Callable[[Any, Any], NDArray[Any]] = "rbf",
        gamma: str | float = "median",
        degree: int = 3,
        coef0: float = 1.0,
        n_components: str | int = "auto",
        loss: str | Loss = "logistic",
        correction: str | float | Correction = "none",
        C: float = 1.0,
        fit_intercept: bool = True,
        convex: bool = False,
        refine: int | str = 0,
        calibrate: bool = True,
        cv: int = 5,
        tol: float = 1e-6,
        max_iter: int = 200,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.set_priors = set_priors
        self.prior = prior
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_components = n_components
        self.loss = loss
        self.correction = correction
        self.C = C
        self.fit_intercept = fit_intercept
        self.convex = convex
        self.refine = refine
        self.calibrate = calibrate
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter
        self.classes = classes
        self.random_state = random_state

    def _read(self, X: Any, *, reset: bool) -> Any:
        if not reset:
            check_is_fitted(self, "dual_coef_")
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=reset)

    def _matrix(self, X: NDArray[Any]) -> NDArray[Any]:
        """Kernel of rows by landmarks."""
        return X[:, self.support_] if self.kernel == "precomputed" else self._kernel(X, self.support_vectors_)

    def _kernel(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        if callable(self.kernel):
            matrix = np.asarray(self.kernel(A, B), dtype=A.dtype)
            if matrix.shape != (len(A), len(B)):
                raise ValueError(
                    f"kernel must return one row for each row of its first argument and one column for each of its "
                    f"second; got shape {matrix.shape}, expected {(len(A), len(B))}."
                )
            return matrix
        options: dict[str, dict[str, Any]] = {
            "rbf": {"gamma": self.gamma_},
            "linear": {},
            "poly": {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0},
        }
        return np.asarray(pairwise_kernels(A, B, metric=self.kernel, **options[str(self.kernel)]))

    def _begin(self, Z: NDArray[Any], sets: Sets, rng: np.random.Generator) -> NDArray[Any]:
        super()._begin(Z, sets, rng)
        if not callable(self.kernel):
            choose("kernel", self.kernel, KERNELS)
        if self.kernel == "precomputed" and Z.shape[0] != Z.shape[1]:
            raise ValueError(
                f"X must be a square kernel matrix with kernel='precomputed'; got shape {Z.shape}. Pass the "
                "kernel of the training rows by the training rows."
            )
        integer("degree", self.degree, low=1)
        number("coef0", self.coef0, open_low=True, open_high=True)
        self.gamma_ = self._bandwidth(Z, sets.weight > 0, rng)
        chosen = self._landmarks(len(Z), rng)
        own = Z[np.ix_(chosen, chosen)] if self.kernel == "precomputed" else self._kernel(Z[chosen], Z[chosen])
        order, factor = _pivoted_cholesky(own)
        rank = factor.shape[1]
        self.support_, self._factor = chosen[order[:rank]], factor[:rank].copy()
        self.support_vectors_ = Z[:0] if self.kernel == "precomputed" else Z[self.support_]
        if len(chosen) < len(Z):
            # F = K L^-T for the rows that are no landmarks too.
            return np.asarray(
                solve_triangular(self._factor, self._matrix(Z).T, lower=True, check_finite=False).T, order="C"
            )
        features = np.empty_like(factor, order="C")
        features[order] = factor
        return features

    def _landmarks(self, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        if self.n_components == "auto":
            wanted = n if n <= EXACT_ROWS else LANDMARKS
        else:
            wanted = min(n, integer('n_components (or "auto")', self.n_components, low=1))
        return np.arange(n) if wanted == n else np.sort(rng.choice(n, wanted, replace=False))

    def _bandwidth(self, X: NDArray[Any], counted: NDArray[np.bool_], rng: np.random.Generator) -> float:
        if self.gamma != "median":
            if isinstance(self.gamma, str):
                choose("gamma", self.gamma, {"median": None})
            return number("gamma", self.gamma, low=0, open_low=True, open_high=True)
        if self.kernel != "rbf":
            return 1.0 / X.shape[1]
        from scipy.spatial.distance import pdist

        rows = np.flatnonzero(counted)
        if len(rows) > MEDIAN_ROWS:
            rows = rng.choice(rows, MEDIAN_ROWS, replace=False)
        # Equal rows count once, so that a repeated row and a row of weight two give the same kernel.
        distance = pdist(np.unique(X[rows], axis=0))
        square = float(np.median(distance)) ** 2 if len(distance) else 0.5
        if not TINY < square < np.inf:
            raise ValueError(
                f"gamma='median' needs rows at distances that can be squared; got a squared median of {square:g}. "
                "Standardise the columns of X, or give gamma as a number."
            )
        return 1 / (2 * square)

    def _install(self, model: Solution, Z: Any) -> None:
        dual = solve_triangular(self._factor, model.weights[:-1], lower=True, trans="T", check_finite=False)
        self.dual_coef_ = dual[None, :]
        self.intercept_ = model.weights[-1:].copy()
        self.n_iter_ = model.n_iter
        del self._factor

    def _scores(self, Z: Any) -> NDArray[Any]:
        dual = np.append(self.dual_coef_[0], self.intercept_)
        rows_at_once = max(1, CHUNK_BYTES // dual.nbytes)
        chunks = gen_batches(Z.shape[0], rows_at_once)
        return np.concatenate([linear_scores(self._matrix(Z[rows]), dual) for rows in chunks])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def _pivoted_cholesky(matrix: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """An order of the rows and L of shape (n, rank) with K[order][:, order] = L L', stopped at the numerical rank."""
    scale = float(np.abs(matrix).max(initial=0))
    if not np.isfinite(scale):
        raise ValueError(
            "kernel must give finite numbers; got NaN or infinity. Standardise the columns of X, or mend it."
        )
    if not np.allclose(matrix, matrix.T, rtol=1e-4, atol=1e-6 * scale):
        raise ValueError("kernel must give a symmetric matrix; got one that is not. Average it with its transpose.")
    noise = max(1e-10, len(matrix) * float(np.finfo(matrix.dtype).eps))
    exact = np.asarray(matrix, dtype=float)
    factor, order, rank, _ = dpstrf(exact, lower=1, tol=noise * scale)
    left = np.tril(factor)[:, :rank]
    # K - L L' is next to nothing if its product with a random direction is; its diagonal alone may hide negative ones.
    direction = np.random.default_rng(0).normal(size=len(exact))
    missed = dsymv(1.0, exact, direction, lower=1)[order - 1] - left @ (left.T @ direction[order - 1])
    if np.abs(missed).max() > max(1e-6, 10 * noise * np.sqrt(len(exact))) * scale:
        raise ValueError(
            "kernel must be positive semi-definite; got a matrix with negative directions. Use another kernel, or add "
            "a constant to the diagonal."
        )
    if rank == 0:
        raise ValueError("kernel must be positive somewhere; got a matrix with no positive diagonal entry.")
    return np.asarray(order - 1, dtype=np.intp), left

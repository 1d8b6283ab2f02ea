"""Minimise the risk of a linear model plus an L2 penalty: second order for many rows, L-BFGS for many columns.

The objective is F(w, b) = R(X w + b) + penalty / 2 ||w||^2 with R on the scale of the mean loss. The second-order
solver reads X in blocks that fit a cache and never copies it; where every row is convex it first solves a thinned
problem, which leaves two or three passes over all rows.
"""

import warnings
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController  # scikit-learn itself depends on it

from uulearn.losses import Loss, get
from uulearn.risk import Columns, Correction, Risk, reduced

Array = NDArray[Any]

BLOCK_BYTES = 1 << 22
"""Bytes of X that one step of a sweep takes: it stays in the cache while it is used thrice, and is worth a call."""
SHARED_BYTES = 1 << 23
"""From this size of X on, threads share the rows."""
THINNED = 4
"""The first guess comes from every fourth row: fewer, and columns that are rarely set throw it far off."""
THIN_SLACK = 0.1
"""Share of a column's weight by which its thinned sum may differ."""
THIN_FROM = 65_536
"""From this many rows on, the first guess pays."""
START_TOL = 1e-4
"""Precision of the convex problem that others start from."""
LENGTHS = (2.0, 4.0, 8.0, 16.0)
"""Multiples of that start which a bounded loss must not find better than where it ends."""
DESCENT, SHORTEST = 1e-4, 1e-10
"""Share of the promised decrease that a step must bring, and the shortest step tried."""
ROUNDING = 1_000
"""Units in the last place that F and its gradient may lose as they are summed over the rows."""
THIN_TOL = 1e-3
"""Precision of the first guess; beyond it, directions that the thinned rows leave open run away."""
MOST_COLUMNS = 1_000
"""Up to this many columns the Hessian is formed; beyond, L-BFGS."""
SHORT_STEPS = 10
"""L-BFGS may take this many steps for one of second order, which cost more."""
JOINTS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Half-widths of the joints that replace a loss's kinks, one after another."""
PART_JOINTS = 0.1
"""Half-width of the joint of a correction in these: a part is a mean over the rows, and smaller than margins are."""


class Solution(NamedTuple):
    """Weights with the intercept last, and how they were reached."""

    weights: Array
    n_iter: int
    gradient_norm: float
    unfinished: bool = False


class Look(NamedTuple):
    """F at one point, with its derivatives as far as asked for."""

    value: float
    gradient: Array
    hessian: Array | None


class Problem:
    """F and its derivatives for one X, one pair of columns and one loss, swept over blocks of rows.

    With no correction one sweep gives everything; with one, a first sweep sums the parts that its slopes depend on.
    """

    def __init__(self, X: Any, risk: Risk, penalty: float, fit_intercept: bool, crew: "Crew") -> None:
        self.X, self.risk, self.penalty, self.fit_intercept, self.crew = X, risk, penalty, fit_intercept, crew
        dense = isinstance(X, np.ndarray)
        self.block = max(256, BLOCK_BYTES // (X.shape[1] * X.itemsize)) if dense else X.shape[0]

    def value(self, w: Array) -> float:
        """F alone."""
        return self._penalised(self._parts(w), w)

    def _parts(self, w: Array) -> Array:
        def sweep(rows: slice) -> Array:
            return np.array(self._risk(rows).parts(linear_scores(self._rows(rows), w)), dtype=float)

        return self.crew.sum(sweep, self.X.shape[0], self.block)

    def _rows(self, rows: slice) -> Any:
        return self.X if rows == slice(0, self.X.shape[0]) else self.X[rows]

    def look(self, w: Array, *, hessian: bool = False, convex: bool = False) -> Look:
        """F, its gradient and its Hessian; with `convex`, the Hessian of the rows of positive curvature only."""
        d = self.X.shape[1]
        slopes, bends = self._correction(w)

        def sweep(rows: slice) -> Array:
            """Parts, gradient and Hessian of some rows, in one flat array."""
            block, risk = self._rows(rows), self._risk(rows)
            scores = linear_scores(block, w)
            pulls = (risk.gradient(scores),) if self.risk.correction.slope == 1 else risk.part_gradients(scores)
            found = [np.array(risk.parts(scores))]
            for pull in (column.astype(block.dtype, copy=False) for column in pulls):
                found += [np.asarray(block.T @ pull), pull.sum(keepdims=True)]
            if hessian:
                curvature = self._risk(rows, slopes).curvature(scores)
                found.append(_gram(block, np.maximum(curvature, 0) if convex else curvature))
            return np.concatenate([np.asarray(part, dtype=float).ravel() for part in found])

        flat = self.crew.sum(sweep, self.X.shape[0], self.block)
        end = 2 + (d + 1) * len(slopes)
        pulls = flat[2:end].reshape(-1, d + 1)
        gradient = slopes @ pulls
        gradient[:d] += self.penalty * w[:d]
        square = flat[end:].reshape(d + 1, d + 1) if hessian else None
        if square is not None:
            square += (bends * pulls.T) @ pulls
            square.flat[: d * (d + 1) : d + 2] += self.penalty
        if not self.fit_intercept:
            gradient[d] = 0.0
            if square is not None:
                square[d], square[:, d], square[d, d] = 0.0, 0.0, 1.0
        return Look(self._penalised(flat[:2], w), gradient, square)

    def step(self, look: Look, w: Array) -> Array:
        """Newton's step, with the convex part of the Hessian where the whole is not positive definite."""
        try:
            return -cho_solve(cho_factor(look.hessian, lower=True), look.gradient)
        except LinAlgError:
            convex = self.look(w, hessian=True, convex=True).hessian
        try:
            return -cho_solve(cho_factor(convex, lower=True), look.gradient)
        except LinAlgError:  # no penalty, and columns that depend on each other
            return np.asarray(-lstsq(convex, look.gradient)[0])

    def _risk(self, rows: slice, slopes: Array | None = None) -> Risk:
        plus, minus = (column[rows] for column in self.risk.columns)
        if slopes is not None and len(slopes) > 1:
            plus, minus = plus * plus.dtype.type(slopes[0]), minus * minus.dtype.type(slopes[1])
        return Risk(Columns(plus, minus), self.risk.loss)

    def _correction(self, w: Array) -> tuple[Array, Array]:
        """Slope and curvature of the correction at each part of all rows; without one, of the sum of the parts."""
        if self.risk.correction.slope == 1:
            return np.ones(1), np.zeros(1)
        parts = self._parts(w)
        return self.risk.correction.derivative(parts), self.risk.correction.curvature(parts)

    def _penalised(self, parts: Array, w: Array) -> float:
        return float(self.risk.combine((parts[0], parts[1]))) + 0.5 * self.penalty * float(w[:-1] @ w[:-1])

    def thinned(self) -> "Problem":
        """The same problem on every fourth row."""
        columns = Columns(*(column[::THINNED] * THINNED for column in self.risk.columns))
        risk = Risk(columns, self.risk.loss, self.risk.correction)
        return Problem(self.X[::THINNED], risk, self.penalty, self.fit_intercept, self.crew)


_LIMIT = Lock()


class Crew:
    """Sums a function of blocks of rows over all rows, on as many threads as BLAS is allowed.

    Each thread takes one run of rows and calls BLAS by itself. BLAS's own threads would meet at every block, and on a
    busy machine wait for each other there.
    """

    def __init__(self, X: Any) -> None:
        large = isinstance(X, np.ndarray) and X.nbytes >= SHARED_BYTES
        self._blas = ThreadpoolController().select(user_api="blas") if large else None
        threads = [library["num_threads"] for library in self._blas.info()] if self._blas is not None else []
        self.size = max(1, min(threads, default=1))
        self._pool = None
        if self.size > 1:
            from concurrent.futures import ThreadPoolExecutor  # not every scikit-learn loads it with its linear models

            self._pool = ThreadPoolExecutor(self.size)

    def sum(self, sweep: Callable[[slice], Array], n_rows: int, block: int) -> Array:
        """Sum of sweep(rows) over blocks of rows, in a fixed order."""

        def run(begin: int, end: int) -> Array:
            total = sweep(slice(begin, min(begin + block, end)))
            for start in range(begin + block, end, block):
                total += sweep(slice(start, min(start + block, end)))
            return total

        if self._pool is None or self._blas is None or n_rows < self.size:
            return run(0, n_rows)
        cuts = [n_rows * k // self.size for k in range(self.size + 1)]
        # BLAS's limit is one for the process: fits in other threads wait for their turn.
        with _LIMIT, self._blas.limit(limits=1):
            return np.sum(list(self._pool.map(run, cuts[:-1], cuts[1:])), axis=0)

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def _gram(block: Any, curvature: Array) -> Array:
    """[X 1]' diag(curvature) [X 1] of a block of rows."""
    d = block.shape[1]
    square = np.empty((d + 1, d + 1))
    if not isinstance(block, np.ndarray):
        square[:d, :d] = (block.T @ block.multiply(curvature[:, None])).toarray()
    elif curvature.min() < 0:
        left = block * curvature[:, None].astype(block.dtype, copy=False)
        square[:d, :d] = left.T @ block
    else:
        left = block * np.sqrt(curvature)[:, None].astype(block.dtype, copy=False)
        square[:d, :d] = left.T @ left
    square[:d, d] = square[d, :d] = block.T @ curvature.astype(block.dtype, copy=False)
    square[d, d] = curvature.sum(dtype=float)
    return square


def linear_scores(X: Any, w: Array) -> Array:
    """X w + b in the dtype of X."""
    weights = w.astype(X.dtype, copy=False)
    scores = np.asarray(X @ weights[:-1])
    scores += weights[-1]
    return scores


def solve(
    X: Any,
    columns: Columns,
    loss: Loss,
    correction: Correction,
    *,
    penalty: float,
    fit_intercept: bool,
    start: Array | None,
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise F; what is not convex starts from the convex problem with the same pull on every row."""
    columns = Columns(*(np.asarray(column).astype(X.dtype, copy=False) for column in columns))
    kinked = not loss.smooth or correction.slope != 1
    with Crew(X) as crew:

        def problem(columns: Columns, loss: Loss, correction: Correction) -> Problem:
            return Problem(X, Risk(columns, loss, correction), penalty, fit_intercept, crew)

        def descend(start: Array) -> Solution:
            steps = 0
            for width in JOINTS if kinked else (0.0,):
                smooth = problem(columns, loss.smoothed(width), correction.smoothed(PART_JOINTS * width))
                solution = _minimise(smooth, start, tol, max_iter)
                start, steps = solution.weights, steps + solution.n_iter
            return solution._replace(n_iter=steps)

        lengths: tuple[float, ...] = ()
        if start is None:
            start = np.zeros(X.shape[1] + 1)
            if not Risk(columns, loss, correction).convex:
                convex = problem(reduced(columns), get("logistic"), Correction())
                start = _minimise(convex, start, max(tol, START_TOL), max_iter).weights
                lengths = LENGTHS if loss.bounded else ()
        solution = descend(start)
        # Short weights are dear under a bounded loss, and the way down from them may end at one class for all rows.
        value = problem(columns, loss, correction).value
        longer = min((length * start for length in lengths), key=value, default=start)
        if lengths and value(longer) < value(solution.weights):
            solution = min(solution, descend(longer), key=lambda found: value(found.weights))
    # In a narrow joint a rounding error turns the gradient far.
    finest = PART_JOINTS * JOINTS[-1] if kinked else 1.0
    if solution.gradient_norm > max(tol, _reachable(X, 0.0) / finest):
        warnings.warn(
            f"the solver stopped after {solution.n_iter} steps with gradient {solution.gradient_norm:.2g} > tol={tol:g}"
            ". Standardise the columns of X, lower C, or raise max_iter.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return solution


def _reachable(X: Any, tol: float) -> float:
    """The least gradient norm that can be asked for in the precision of X."""
    return max(tol, ROUNDING * float(np.finfo(X.dtype).eps))


def _minimise(problem: Problem, start: Array, tol: float, max_iter: int) -> Solution:
    X = problem.X
    if X.shape[1] > MOST_COLUMNS:
        return _lbfgs(problem, start, tol, max_iter)
    if not isinstance(X, np.ndarray):
        solution, tol = _lbfgs(problem, start, tol, max_iter), _reachable(X, tol)
        if solution.unfinished or solution.gradient_norm <= tol:
            return solution
        # In narrow joints F runs out of digits before its gradient does.
        finished = _newton(problem, solution.weights, tol, max_iter)
        return finished._replace(n_iter=solution.n_iter + finished.n_iter)
    if X.shape[0] >= THIN_FROM and problem.risk.convex:
        start = _first_guess(problem, start, max(tol, THIN_TOL), max_iter)
    solution = _newton(problem, start, tol, max_iter)
    if solution.unfinished or solution.gradient_norm <= _reachable(X, tol):
        return solution
    # Weights without much of a penalty make logistic losses corners, past which every Newton step goes far.
    round_corners = _lbfgs(problem, solution.weights, tol, max_iter)
    finished = _newton(problem, round_corners.weights, tol, max_iter)
    return finished._replace(n_iter=solution.n_iter + round_corners.n_iter + finished.n_iter)


def _first_guess(problem: Problem, start: Array, tol: float, max_iter: int) -> Array:
    """The optimum of the thinned problem, where that stands for the whole one."""
    thinned = problem.thinned()
    for few, all_rows in zip(thinned.risk.columns, problem.risk.columns, strict=True):
        # Rows in an order that keeps step with the stride leave a set out or change its share.
        if abs(float(few.sum() - all_rows.sum())) > THIN_SLACK * float(np.abs(all_rows).sum()):
            return start
    guess = _newton(thinned, start, tol, max_iter).weights
    return guess if problem.value(guess) < problem.value(start) else start


def _newton(problem: Problem, w: Array, tol: float, max_iter: int) -> Solution:
    with np.errstate(over="ignore", invalid="ignore"):
        here = problem.look(w, hessian=True)
    if here.hessian is not None and not np.all(np.isfinite(here.hessian)):
        raise ValueError(
            f"X must hold numbers whose squares can be summed in {problem.X.dtype}; these overflow. Standardise the "
            "columns of X."
        )
    rounding = ROUNDING * float(np.finfo(problem.X.dtype).eps)
    for turn in range(max_iter):
        norm = float(np.abs(here.gradient).max())
        if norm <= tol:
            return Solution(w, turn, norm)
        step = problem.step(here, w)
        slope = float(step @ here.gradient)
        if not slope < 0:
            step, slope = -here.gradient, -float(here.gradient @ here.gradient)
        there = problem.look(w + step, hessian=True)
        if there.value <= here.value + DESCENT * slope:
            w, here = w + step, there
            continue
        length = 0.5
        while length > SHORTEST and problem.value(w + length * step) > here.value + DESCENT * length * slope:
            length /= 2
        if length > SHORTEST:
            w = w + length * step
            here = problem.look(w, hessian=True)
        elif np.abs(there.gradient).max() < norm and there.value <= here.value + rounding * max(1, abs(here.value)):
            # Rounding hides the decrease of F; the gradient still shows it. Alone it would not do: far out, where a
            # bounded loss is flat, it vanishes too.
            w, here = w + step, there
        else:
            return Solution(w, turn, norm)
    return Solution(w, max_iter, float(np.abs(here.gradient).max()), unfinished=True)


def _lbfgs(problem: Problem, start: Array, tol: float, max_iter: int) -> Solution:
    def both(w: Array) -> tuple[float, Array]:
        look = problem.look(w)
        return look.value, look.gradient

    options = {
        "maxiter": SHORT_STEPS * max_iter,
        "maxfun": 2 * SHORT_STEPS * max_iter,
        "gtol": tol,
        "ftol": 64 * np.finfo(float).eps,
        "maxcor": 20,
    }
    result = minimize(both, start, jac=True, method="L-BFGS-B", options=options)
    return Solution(result.x, int(result.nit), float(np.abs(result.jac).max()), unfinished=result.status == 1)

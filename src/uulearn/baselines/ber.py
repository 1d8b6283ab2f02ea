"""Balanced error minimisation (Menon et al. 2015): told apart at equal weight, the sets tell the classes apart."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.utils.validation import check_is_fitted, validate_data

from uulearn._checks import integer, number
from uulearn.baselines._alone import Alone
from uulearn.baselines._recipe import Recipe
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.priors import Priors
from uulearn.risk import Columns, Risk, reduced, row_weights
from uulearn.sets import Sets

Array = NDArray[np.float64]


def at_one_half(sets: Sets) -> Columns:
    """The columns of UU with pi fixed to 1/2."""
    given = sets.priors
    half = Priors(given.shares, prior=0.5, convex=given.convex, allow_out_of_range=given.allow_out_of_range)
    return row_weights(replace(sets, priors=half))


def balanced(sets: Sets) -> Columns:
    """Rows that pull up as positive, rows that pull down as negative, either half of all weight.

    With two sets: the rich set against the poor one, each row with weight 1 / (2 n_k).
    """
    columns = reduced(at_one_half(sets))
    return Columns(*(0.5 * column / column.sum() for column in columns))


class BERFCClassifier(Recipe):
    """BER-FC: UU with pi fixed to 1/2, so that it minimises the balanced error, and any model of the library.

    Its cut is right where both classes are equally likely, whatever the target prior.

    Parameters
    ----------
    estimator : classifier of this library, optional
        UULinearClassifier by default.
    set_priors : mapping or sequence
    prior : float
        Serves the label-free score (and what a network picks by it); the risk does not look at it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, sets = rng.normal(size=(400, 2)), np.repeat(["U", "V"], 200)
    >>> X[:200, 0] += 2
    >>> clf = BERFCClassifier(set_priors={"U": 0.9, "V": 0.1}, prior=0.3).fit(X, sets)
    >>> clf.predict([[2.0, 0.0], [0.0, 0.0]])
    array([1, 0])
    """

    def __init__(self, estimator: UnlabeledClassifier | None = None, *, set_priors: Any, prior: float) -> None:
        self.estimator = estimator
        self.set_priors = set_priors
        self.prior = prior

    def _columns(self, sets: Sets) -> Columns:
        return at_one_half(sets)


class Net(NamedTuple):
    """One hidden layer of tanh units: score = v tanh(W x + a) + b."""

    W: Array
    a: Array
    v: Array
    b: Array

    def scores(self, X: Array) -> Array:
        return np.tanh(X @ self.W.T + self.a) @ self.v + self.b

    def flat(self) -> Array:
        return np.concatenate([part.ravel() for part in self])


def _shaped(flat: Array, hidden: int) -> Net:
    inputs = (len(flat) - 2 * hidden - 1) // hidden
    W, a, v, b = np.split(flat, np.cumsum([hidden * inputs, hidden, hidden]))
    return Net(W.reshape(hidden, inputs), a, v, b)


def objective(flat: Array, X: Array, risk: Risk, penalty: float, hidden: int) -> tuple[float, Array]:
    """R(g) + penalty / 2 (||W||^2 + ||v||^2), and its gradient by all weights."""
    net = _shaped(flat, hidden)
    units = np.tanh(X @ net.W.T + net.a)
    scores = units @ net.v + net.b
    by_score = risk.gradient(scores)
    by_input = np.outer(by_score, net.v) * (1 - units**2)
    gradient = Net(
        by_input.T @ X + penalty * net.W,
        by_input.sum(axis=0),
        units.T @ by_score + penalty * net.v,
        by_score.sum(keepdims=True),
    )
    size = float(np.sum(net.W**2) + net.v @ net.v)
    return float(risk.value(scores)) + 0.5 * penalty * size, gradient.flat()


class BERClassifier(Alone):
    """One hidden layer, trained by full-batch L-BFGS on the class-balanced logistic loss of the set labels::

        C N [ 1/(2n) sum_U loss(g(x)) + 1/(2n') sum_U' loss(-g(x)) ] + 1/2 (||W||^2 + ||v||^2)

    N is the number of rows. The balanced error of telling the sets apart is an increasing line in that of telling the
    classes apart, so both have one minimiser: the cut at score 0, the balanced point, needs neither label nor priors,
    beyond which set is richer. It is not the cut for a target prior away from 1/2.

    More than two sets are taken as two mixtures, weighed as UU at pi = 1/2 weighs them.

    Parameters
    ----------
    set_priors : mapping or sequence
    prior : float
        Serves the label-free score; training does not look at it.
    hidden : int, default=100
        Units of the hidden layer.
    C : float, default=0.1
        Inverse strength of the L2 penalty, which the biases are free of. At 1, sets of a few hundred rows are learned
        by heart; the label-free score finds the best.
    tol : float, default=1e-5
        Stop when no entry of the gradient of the mean objective exceeds it.
    max_iter : int, default=500
        Most steps of L-BFGS; the net it has reached by then is taken.
    random_state : int, Generator, RandomState or None
        Draws the first weights.

    Attributes
    ----------
    weights_ : Net
        W of shape (hidden, n_features), a, v and b.
    n_iter_ : int
    classes_, set_labels_, priors_
        As in `UULinearClassifier`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, sets = rng.normal(size=(400, 2)), np.repeat(["U", "V"], 200)
    >>> X[:200, 0] += 2
    >>> clf = BERClassifier(set_priors={"U": 0.9, "V": 0.1}, prior=0.3, hidden=5, random_state=0).fit(X, sets)
    >>> clf.predict([[2.0, 0.0], [0.0, 0.0]])
    array([1, 0])
    """

    def __init__(
        self,
        *,
        set_priors: Any,
        prior: float,
        hidden: int = 100,
        C: float = 0.1,
        tol: float = 1e-5,
        max_iter: int = 500,
        random_state: Any = None,
    ) -> None:
        self.set_priors = set_priors
        self.prior = prior
        self.hidden = hidden
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _read(self, X: Any, *, reset: bool) -> Array:
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=reset))

    def _begin(self, Z: Array, sets: Sets, rng: np.random.Generator) -> Array:
        hidden, inputs = integer("hidden", self.hidden, low=1), Z.shape[1]
        number("C", self.C, low=0, open_low=True)
        number("tol", self.tol, low=0, open_low=True)
        integer("max_iter", self.max_iter, low=1)
        # Glorot's uniform: tanh units start where they are neither flat nor linear.
        ends = [np.sqrt(6 / (inputs + hidden)), np.sqrt(6 / (hidden + 1))]
        self._begun = Net(
            rng.uniform(-ends[0], ends[0], (hidden, inputs)),
            np.zeros(hidden),
            rng.uniform(-ends[1], ends[1], hidden),
            np.zeros(1),
        )
        return Z

    def _start(self, Z: Array, sets: Sets, columns: Columns) -> Any:
        return self._train(Z, balanced(sets), sets.weight.sum())

    def _train(self, Z: Array, columns: Columns, total: float) -> Any:
        options = {"maxiter": self.max_iter, "maxfun": 2 * self.max_iter, "gtol": self.tol, "ftol": 1e-14}
        arguments = (Z, Risk(columns, "logistic"), 1 / (self.C * total), len(self._begun.v))
        return minimize(objective, self._begun.flat(), arguments, method="L-BFGS-B", jac=True, options=options)

    def _model_scores(self, model: Any, Z: Array) -> Array:
        return _shaped(model.x, len(self._begun.v)).scores(Z)

    def _install(self, model: Any, Z: Array) -> None:
        self.weights_, self.n_iter_ = _shaped(model.x, len(self._begun.v)), int(model.nit)
        del self._begun

    def _scores(self, Z: Array) -> Array:
        check_is_fitted(self, "weights_")
        return self.weights_.scores(Z)

"""Proportion-SVM (Yu et al. 2013): a large margin between labels that keep the share of positives of every bag."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from uulearn._checks import choose, integer, number
from uulearn.baselines._alone import Alone
from uulearn.risk import Columns
from uulearn.sets import Sets, rematch_sets

Array = NDArray[np.float64]
FIRST, GROWTH = 1e-5, 1.5
"""Annealing: the margin counts for this share of C at first, and for so many times more at each stage."""
AT_ONCE = 4096
"""Rows scored at once."""
KERNELS = dict.fromkeys(("rbf", "linear"))


class Machine(NamedTuple):
    """A support vector machine over its training rows: score = K dual + b."""

    dual: Array
    b: float


class Found(NamedTuple):
    """Where one start ended."""

    machine: Machine
    labels: Array
    objective: float


class Bags:
    """The bags of the rows and the price of missing their shares.

    Parameters
    ----------
    sets : Sets
    C_p : float

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> bags = Bags(match_sets(["U", "U", "U", "V", "V"], {"U": 0.6, "V": 0.4}, 0.5), C_p=1.0)
    >>> bags.label(np.array([3.0, -1.0, 0.5, 0.2, 0.1]), C=0.01)
    array([ 1., -1.,  1.,  1., -1.])
    """

    def __init__(self, sets: Sets, C_p: float) -> None:
        self.index, self.shares, self.C_p = sets.index, sets.priors.shares, C_p
        self.sizes = np.bincount(self.index, minlength=len(self.shares))
        # Counts 0, 1, ... of positives, bag after bag, and where those of each bag start.
        self.starts = np.cumsum(self.sizes + 1) - (self.sizes + 1)
        self.bag = np.repeat(np.arange(len(self.sizes)), self.sizes + 1)
        self.counts = np.arange(len(self.bag)) - self.starts[self.bag]
        self.price = C_p * np.abs(self.counts / self.sizes[self.bag] - self.shares[self.bag])

    def missed(self, labels: Array) -> float:
        """C_p sum_bags |p_bag(y) - p_bag|."""
        positives = np.bincount(self.index, labels > 0, minlength=len(self.sizes)).astype(int)
        return float(self.price[self.starts + positives].sum())

    def label(self, scores: Array, C: float) -> Array:
        """The labels that minimise C sum hinge(y f) + C_p sum_bags |p_bag(y) - p_bag|.

        For every number of positives of a bag the best are those that gain the most hinge loss; the cheapest number
        is taken, the smallest of equally cheap ones.
        """
        gain = np.maximum(0, 1 + scores) - np.maximum(0, 1 - scores)
        order = np.lexsort((-gain, self.index))
        saved = np.zeros(len(self.bag))
        saved[self.counts > 0] = gain[order]
        saved = np.cumsum(saved)
        cost = self.price - C * (saved - saved[self.starts][self.bag])
        cheapest = np.flatnonzero(cost == np.minimum.reduceat(cost, self.starts)[self.bag])
        _, first = np.unique(self.bag[cheapest], return_index=True)
        positives = self.counts[cheapest[first]]
        labels = np.empty(len(scores))
        labels[order] = np.where(self.counts[self.counts > 0] <= np.repeat(positives, self.sizes), 1.0, -1.0)
        return labels

    def draw(self, rng: np.random.Generator) -> Array:
        """Random labels with the shares of the bags, as near as whole rows allow."""
        wanted = np.clip(np.round(self.shares * self.sizes), 0, self.sizes).astype(int)
        order = np.lexsort((rng.random(len(self.index)), self.index))
        labels = np.empty(len(self.index))
        labels[order] = np.where(self.counts[self.counts > 0] <= np.repeat(wanted, self.sizes), 1.0, -1.0)
        return labels


def margin_step(K: Array, labels: Array, C: float) -> Machine:
    """The support vector machine for these labels; of one class only, the constant."""
    if np.all(labels == labels[0]):
        return Machine(np.zeros(len(labels)), float(labels[0]))
    svm = SVC(C=C, kernel="precomputed").fit(K, labels)
    dual = np.zeros(len(labels))
    dual[svm.support_] = svm.dual_coef_[0]
    return Machine(dual, float(svm.intercept_[0]))


def objective(K: Array, machine: Machine, labels: Array, C: float, bags: Bags) -> float:
    """||w||^2 / 2 + C sum hinge(y f) + C_p sum_bags |p_bag(y) - p_bag|."""
    scores = K @ machine.dual
    hinge = np.maximum(0, 1 - labels * (scores + machine.b)).sum()
    return float(0.5 * machine.dual @ scores + C * hinge) + bags.missed(labels)


def alternate(K: Array, bags: Bags, labels: Array, C: float, max_iter: int) -> Found:
    """Margins and labels in turn while C* grows to C, from labels to where neither step changes anything."""
    now = min(FIRST * C, C)
    while True:
        for _ in range(max_iter):
            machine = margin_step(K, labels, now)
            fresh = bags.label(K @ machine.dual + machine.b, now)
            if np.array_equal(fresh, labels):
                break
            labels = fresh
        if now == C:
            return Found(machine, labels, objective(K, machine, labels, C, bags))
        now = min(GROWTH * now, C)


class ProportionSVM(Alone):
    """Minimises, over labels y of the rows and a support vector machine f, for two bags or more::

        ||w||^2 / 2 + C sum_i hinge(y_i f(x_i)) + C_p sum_bags |p_bag(y) - p_bag|

    p_bag(y) is the share of positive labels of a bag, p_bag the set prior. Margins and labels are fitted in turn, with
    C annealed upwards from a hundred-thousandth of its value; of several random starts the lowest objective is kept.
    The kernel matrix of the training rows is held in memory.

    It aims at no target prior: `prior` serves the label-free score alone. Choose C, C_p and gamma by that score, or as
    its authors did by the shares of held-out bags: ``GridSearchCV(..., scoring=proportion_score)``.

    Parameters
    ----------
    set_priors : mapping or sequence
    prior : float
    kernel : {"rbf", "linear"}, default="rbf"
    C : float, default=1.0
    C_p : float, default=1000.0
        Price of a share missed by one: in a bag of m rows, a row too many costs C_p / m, and saves at most a few C. The
        larger the bags, the larger C_p must be; where it is too small, all labels become one class.
    gamma : "scale" or float, default="scale"
        rbf is exp(-gamma ||x - x'||^2); "scale" is 1 / (n_features * variance of X), as in scikit-learn's SVC.
    n_init : int, default=10
        Random starts.
    max_iter : int, default=50
        Most turns at one value of C.
    random_state : int, Generator, RandomState or None
        Draws the labels of the starts.

    Attributes
    ----------
    support_vectors_ : ndarray of shape (n_support, n_features)
    dual_coef_ : ndarray of shape (1, n_support)
    intercept_ : ndarray of shape (1,)
    labels_ : ndarray of shape (n_rows,)
        +1 or -1: the labels that the training rows were given.
    objective_ : float
    gamma_ : float
    classes_, set_labels_, priors_
        As in `UULinearClassifier`.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [0.1], [1.0], [1.1], [1.2]])
    >>> clf = ProportionSVM(set_priors=(0.25, 0.75), prior=0.5, kernel="linear", C=10, random_state=0)
    >>> clf.fit(X, [0, 0, 0, 0, 1, 1, 1, 1]).predict([[0.2], [0.9]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        set_priors: Any,
        prior: float,
        kernel: str = "rbf",
        C: float = 1.0,
        C_p: float = 1000.0,
        gamma: str | float = "scale",
        n_init: int = 10,
        max_iter: int = 50,
        random_state: Any = None,
    ) -> None:
        self.set_priors = set_priors
        self.prior = prior
        self.kernel = kernel
        self.C = C
        self.C_p = C_p
        self.gamma = gamma
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _read(self, X: Any, *, reset: bool) -> Array:
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=reset))

    def _begin(self, Z: Array, sets: Sets, rng: np.random.Generator) -> Array:
        if np.ptp(sets.weight):
            raise ValueError(
                "sample_weight must be the same for all rows, as the share of a bag counts rows; got "
                f"{sets.weight.min():g} to {sets.weight.max():g}. Leave it out, or repeat rows."
            )
        choose("kernel", self.kernel, KERNELS)
        for name in ("C", "C_p"):
            number(name, getattr(self, name), low=0, open_low=True, open_high=True)
        for name in ("n_init", "max_iter"):
            integer(name, getattr(self, name), low=1)
        if isinstance(self.gamma, str):
            choose("gamma", self.gamma, {"scale": None})
            self.gamma_ = 1 / (Z.shape[1] * (float(Z.var()) or 1.0))
        else:
            self.gamma_ = number("gamma", self.gamma, low=0, open_low=True, open_high=True)
        self._dice = rng
        return Z

    def _kernel(self, A: Array, B: Array) -> Array:
        options = {"gamma": self.gamma_} if self.kernel == "rbf" else {}
        return np.asarray(pairwise_kernels(A, B, metric=self.kernel, **options))

    def _start(self, Z: Array, sets: Sets, columns: Columns) -> Found:
        K, bags = self._kernel(Z, Z), Bags(sets, self.C_p)
        starts = [bags.draw(self._dice) for _ in range(self.n_init)]
        return min((alternate(K, bags, labels, self.C, self.max_iter) for labels in starts), key=lambda f: f.objective)

    def _train(self, Z: Any, columns: Columns, total: float) -> Any:
        raise AssertionError("bags are trained on by _start")

    def _model_scores(self, model: Found, Z: Array) -> Array:
        raise AssertionError("bags are never cross-fitted")

    def _install(self, model: Found, Z: Array) -> None:
        support = np.flatnonzero(model.machine.dual)
        self.support_vectors_, self.dual_coef_ = Z[support], model.machine.dual[None, support]
        self.intercept_ = np.array([model.machine.b])
        self.labels_, self.objective_ = model.labels.astype(int), model.objective
        del self._dice

    def _scores(self, Z: Array) -> Array:
        check_is_fitted(self, "dual_coef_")
        if not len(self.support_vectors_):
            return np.full(len(Z), self.intercept_[0])
        parts = (self._kernel(Z[rows], self.support_vectors_) for rows in gen_batches(len(Z), AT_ONCE))
        return np.concatenate([part @ self.dual_coef_[0] + self.intercept_[0] for part in parts])


def proportion_score(clf: Any, X: Any, y: ArrayLike) -> float:
    """Minus how far the predicted share of positives is from the set prior, on average over bags of held-out rows.

    No label is needed, so it serves searches as `scoring`.

    Parameters
    ----------
    clf : any fitted classifier of this library
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The bag each row came from.

    Examples
    --------
    >>> X, bags = np.array([[0.0], [0.1], [1.0], [0.2], [1.0], [1.1]]), [0, 0, 0, 1, 1, 1]
    >>> clf = ProportionSVM(set_priors=(0.3, 0.7), prior=0.5, kernel="linear", C=10, random_state=0).fit(X, bags)
    >>> round(proportion_score(clf, X, bags), 3)  # |1/3 - .3| and |2/3 - .7|
    -0.033
    """
    check_is_fitted(clf)
    sets = rematch_sets(np.asarray(y), clf.set_labels_, clf.priors_)
    positive = np.asarray(clf.predict(X)) == clf.classes_[1]
    shares = np.bincount(sets.index, positive) / np.bincount(sets.index)
    return -float(np.abs(shares - sets.priors.shares).mean())

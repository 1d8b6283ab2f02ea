"""Linear classifier from unlabeled sets, by minimising the (corrected) risk."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from uulearn._checks import integer, number
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.estimators._solver import Solution, linear_scores, solve
from uulearn.losses import Loss, get
from uulearn.priors import Priors
from uulearn.risk import Columns, Correction, get_correction
from uulearn.sets import Sets

ROWS_A_COLUMN = 300
"""From so many rows for each column on, a linear model's scores of its own rows are as good as out-of-fold ones."""


class RiskClassifier(UnlabeledClassifier):
    """A model linear in its features, with any loss and correction; subclasses give the features."""

    loss: str | Loss
    correction: str | float | Correction
    C: float
    fit_intercept: bool
    calibrate: bool
    tol: float
    max_iter: int

    def _begin(self, Z: Any, sets: Sets, rng: np.random.Generator) -> Any:
        get(self.loss, trainable=True)
        get_correction(self.correction)
        number("C", self.C, low=0, open_low=True)
        number("tol", self.tol, low=0, open_low=True)
        integer("max_iter", self.max_iter, low=1)
        self._warm, self._rows = self._warm_start(Z.shape[1]), Z.shape[0]
        return Z

    def _warm_start(self, n_columns: int) -> NDArray[Any] | None:
        return None

    def _train(self, Z: Any, columns: Columns, total: float) -> Solution:
        return solve(
            Z,
            columns,
            get(self.loss, trainable=True),
            get_correction(self.correction),
            penalty=1 / (self.C * total),
            fit_intercept=self.fit_intercept,
            # Only the fit of all rows: folds must not start from coefficients that saw the rows they leave out.
            start=self._warm if Z.shape[0] == self._rows else None,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _model_scores(self, model: Solution, Z: Any) -> NDArray[Any]:
        return linear_scores(Z, model.weights)

    def _lowered(self, model: Solution, cut: float) -> Solution:
        model.weights[-1] -= cut
        return model

    def _moves(self) -> bool:
        return self.fit_intercept

    def _confirms_itself(self, Z: Any) -> bool:
        return Z.shape[0] < ROWS_A_COLUMN * Z.shape[1]

    def _probability(self, scores: NDArray[Any]) -> NDArray[Any] | None:
        return get(self.loss).probability(scores)


class UULinearClassifier(RiskClassifier):
    """Linear classifier trained from unlabeled sets whose shares of positives differ and are known.

    It minimises the risk of Theorem 2 over g(x) = w x + b, with the two columns of row weights that the priors give::

        C N [ f(sum_i w_plus_i loss(g_i)) + f(sum_i w_minus_i loss(-g_i)) ] + 1/2 ||w||^2

    N is the sum of the weights, so C means what it means in scikit-learn's LogisticRegression. With a convex
    `linear_odd` loss (logistic, squared, double hinge), no correction, and min theta_k <= prior <= max theta_k for two
    sets (or `convex=True` for more), the objective is convex and the one optimum is reached. Elsewhere the solver
    starts from a convex problem with the same pull on every row.

    Parameters
    ----------
    set_priors : mapping or sequence
        Share of positives of each set: ``{set label: share}``, or shares in the order of the sorted set labels.
    prior : float
        Share of positives among the rows to be predicted.
    loss : {"logistic", "sigmoid", "squared", "ramp", "double_hinge"} or Loss, default="logistic"
    correction : {"none", "relu", "abs", "leaky"} or float, default="none"
        What acts on a part of the risk that falls below zero; a number is the slope there.
    C : float, default=1.0
        Inverse strength of the L2 penalty. ``numpy.inf`` for none: then the risk may have no minimum.
    fit_intercept : bool, default=True
    convex : bool, default=False
        With more than two sets, ask for coefficients that keep every row convex.
    refine : int or "auto", default=0
        Rounds of cross-fitted posterior refinement; "auto" chooses 0, 1 or 2 by the label-free error of
        held-out rows (ties within its noise by the likelihood of their set memberships).
    calibrate : bool, default=True
        Fit the link from scores to class probabilities by the likelihood of the set memberships, and move the intercept
        to where the odds are even: on out-of-fold scores, which takes `cv` more fits (or refinements), below 300
        rows a column. False keeps the minimiser of the risk. Set priors of exactly 0 and 1 are labels, and nothing is
        calibrated.
    cv : int, default=5
        Folds of the cross-fitting.
    tol : float, default=1e-6
        Stop when no entry of the gradient of the mean objective exceeds it.
    max_iter : int, default=200
        Most second-order steps of a descent. L-BFGS, which serves sparse rows and more than 1,000 columns, may take ten
        times as many, each far cheaper; ramp, double hinge and corrections descend seven times, from wide joints to
        narrow ones.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    classes : pair, optional
        (negative, positive) labels that `predict` returns; (0, 1) by default, or the set labels if the set priors are
        exactly 0 and 1.
    random_state : int, Generator, RandomState or None
        Deals the folds; None deals them the same way every time.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
    classes_ : ndarray of shape (2,)
    set_labels_ : ndarray of shape (n_sets,)
    priors_ : Priors
        Shares in the order of `set_labels_`.
    n_iter_ : int
        Steps that led to the solution, of all descents together.
    n_rounds_ : int
        Rounds of refinement taken.
    round_errors_ : tuple of float
        With refine="auto", the held-out label-free error after 0, 1, ... rounds.
    link_ : RisingLink
        From scores to log likelihood ratios of the classes; absent without calibration.
    scale_ : float
        Without calibration, for losses that fix no probability (sigmoid, ramp, double hinge): log odds per unit of
        score.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UULinearClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 2 * truth[:, None]
    >>> X_sets, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (1500, 800), random_state=0)
    >>> clf = UULinearClassifier(set_priors={0: 0.9, 1: 0.4}, prior=0.3).fit(X_sets, sets)
    >>> clf.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        set_priors: Any,
        prior: float,
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
        warm_start: bool = False,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.set_priors = set_priors
        self.prior = prior
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
        self.warm_start = warm_start
        self.classes = classes
        self.random_state = random_state

    priors_: Priors

    def _read(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)

    def _warm_start(self, n_columns: int) -> NDArray[Any] | None:
        if not self.warm_start or not hasattr(self, "coef_") or self.coef_.shape[1] != n_columns:
            return None
        return np.append(self.coef_[0], self.intercept_ if self.fit_intercept else 0.0).astype(float)

    def _install(self, model: Solution, Z: Any) -> None:
        self.coef_ = model.weights[None, :-1].astype(self._dtype, copy=True)
        self.intercept_ = model.weights[-1:].astype(self._dtype, copy=True)
        self.n_iter_ = model.n_iter

    def _begin(self, Z: Any, sets: Sets, rng: np.random.Generator) -> Any:
        self._dtype = Z.dtype
        return super()._begin(Z, sets, rng)

    def _scores(self, Z: Any) -> NDArray[Any]:
        check_is_fitted(self, "coef_")
        return linear_scores(Z, np.append(self.coef_[0], self.intercept_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

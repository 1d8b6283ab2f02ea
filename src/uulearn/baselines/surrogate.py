"""Um-SSC (Lu et al. 2021): surrogate set classification, the set of a row predicted through the class posterior."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit, xlogy

from uulearn.baselines._recipe import Recipe
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.losses import Array, Logistic, Loss, library
from uulearn.risk import Columns, get_correction
from uulearn.sets import Sets, match_sets

EDGE = 1e-6
"""Shares are kept this far from 0 and 1, where log odds end; a row's cost then stays below 14."""
LOGISTIC = Logistic()


class SetCrossEntropy(Loss):
    """Minus the log probability of a row's own set, at the score that is the log odds of its class.

    With L = exp(score) (1 - pi) / pi the class likelihood ratio, t a share and t_bar the mean share of all rows::

        cost = log(t_bar L + 1 - t_bar) - log(t L + 1 - t) + entropy of the set sizes

    summed over all rows, this is -sum log P(set k | x). Either logarithm is a logistic loss at a shifted score. A row's
    share is read from its two weights, (plus - minus) / (plus + minus) = t - t_bar.

    Parameters
    ----------
    mean_share, prior, entropy : float

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V", "V"], {"U": 1.0, "V": 0.0}, 0.5)
    >>> loss = SetCrossEntropy.of(sets)
    >>> loss.value(np.log([1.0, 3.0])).round(3)  # known positives: log(1 + 1 / 1), log(1 + 1 / 3)
    array([0.693, 0.288])
    """

    def __init__(self, mean_share: float, prior: float, entropy: float) -> None:
        self.mean_share, self.prior, self.entropy = mean_share, prior, entropy

    @classmethod
    def of(cls, sets: Sets) -> "SetCrossEntropy":
        """The loss for these sets."""
        part = sets.sizes / sets.sizes.sum()
        return cls(float(part @ sets.priors.shares), sets.priors.prior, float(-xlogy(part, part).sum()))

    def columns(self, sets: Sets) -> Columns:
        """Two weights that sum to the row's share of all weight, and differ by t - t_bar times that."""
        row, lean = sets.weight / sets.weight.sum(), sets.share - self.mean_share
        return Columns(row * (1 + lean) / 2, row * (1 - lean) / 2)

    def _shifted(self, z: Array, plus: Array, minus: Array) -> tuple[Array, Array, Array, Array]:
        """Weight and share of each row, and its score shifted by the log odds of the mean share and of its own."""
        weight = plus + minus
        share = self.mean_share + (plus - minus) / (weight + (weight == 0))
        share = library(share).clip(share, EDGE, 1 - EDGE)
        ratio = z - float(logit(self.prior))
        own = library(share).log(share) - library(share).log1p(-share)
        return weight, share, ratio + float(logit(np.clip(self.mean_share, EDGE, 1 - EDGE))), ratio + own

    def terms(self, z: Array, plus: Array, minus: Array) -> tuple[Array, Array]:
        weight, share, pooled, own = self._shifted(z, plus, minus)
        rest = float(np.log1p(-np.clip(self.mean_share, EDGE, 1 - EDGE))) - library(share).log1p(-share) + self.entropy
        cost = weight * (LOGISTIC.value(-pooled) - LOGISTIC.value(-own) + rest)
        return cost, 0.0 * cost

    def terms_derivative(self, z: Array, plus: Array, minus: Array) -> Array:
        weight, _, pooled, own = self._shifted(z, plus, minus)
        return weight * (LOGISTIC.derivative(-own) - LOGISTIC.derivative(-pooled))

    def terms_curvature(self, z: Array, plus: Array, minus: Array) -> Array:
        weight, _, pooled, own = self._shifted(z, plus, minus)
        return weight * (LOGISTIC.curvature(pooled) - LOGISTIC.curvature(own))

    def _positive(self, z: Array) -> tuple[Array, Array]:
        """The two weights of rows of weight 1 that are known to be positive."""
        one, lean = library(z).ones_like(z), 1 - self.mean_share
        return one * (1 + lean) / 2, one * (1 - lean) / 2

    def value(self, z: Array) -> Array:
        """Cost of a row known to be positive."""
        return self.terms(z, *self._positive(z))[0]

    def derivative(self, z: Array) -> Array:
        """Derivative of that cost."""
        return self.terms_derivative(z, *self._positive(z))

    def curvature(self, z: Array) -> Array:
        """Curvature of that cost."""
        return self.terms_curvature(z, *self._positive(z))

    def probability(self, z: Array) -> Array:
        return LOGISTIC.probability(z)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mean_share!r}, {self.prior!r}, {self.entropy!r})"


class SurrogateSetClassifier(Recipe):
    """Trains the class posterior eta(x) = sigmoid(score) by the cross-entropy of the sets, two or more of them.

    At the target prior pi, the probability of the set of a row is a fixed fractional-linear link of eta::

        P(set k | x) proportional to n_k (theta_k eta / pi + (1 - theta_k) (1 - eta) / (1 - pi))

    The loss of the model is replaced by minus the log of that, so scores are log odds of the class.

    Parameters
    ----------
    estimator : UULinearClassifier, UUKernelClassifier or UUNeuralClassifier, optional
        UULinearClassifier by default.
    set_priors : mapping or sequence
    prior : float

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, sets = rng.normal(size=(600, 2)), np.repeat(["U", "V", "W"], 200)
    >>> X[:200, 0] += 2
    >>> clf = SurrogateSetClassifier(set_priors={"U": 0.9, "V": 0.1, "W": 0.2}, prior=0.3).fit(X, sets)
    >>> clf.predict([[2.0, 0.0], [0.0, 0.0]])
    array([1, 0])
    """

    def __init__(self, estimator: UnlabeledClassifier | None = None, *, set_priors: Any, prior: float) -> None:
        self.estimator = estimator
        self.set_priors = set_priors
        self.prior = prior

    def _adapt(self, fitted: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        if not hasattr(fitted, "loss"):
            raise TypeError(
                "estimator must minimise a loss by itself, which this recipe replaces; "
                f"{type(fitted).__name__} has none. Use UULinearClassifier, UUKernelClassifier or UUNeuralClassifier."
            )
        if get_correction(fitted.correction).slope != 1:
            raise ValueError(
                "estimator must have correction='none': the cross-entropy of the sets has no negative part to "
                f"correct; got {fitted.correction!r}."
            )
        named = fitted._column_of_sets(X, y)
        column = fitted._column(named, np.size(named))
        self._loss = fitted.loss = SetCrossEntropy.of(match_sets(column, self.set_priors, self.prior, sample_weight))

    def _columns(self, sets: Sets) -> Columns:
        return self._loss.columns(sets)

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of either class at the target prior, in the order of `classes_`."""
        return self._fitted().predict_proba(X)

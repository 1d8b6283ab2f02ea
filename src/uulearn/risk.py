"""The one formula: row weights, the two parts of the risk, and the correction that acts on them.

For row i with score g_i::

    R_plus  = sum_i w_plus_i  loss(g_i)
    R_minus = sum_i w_minus_i loss(-g_i)
    R       = f(R_plus) + f(R_minus)

Class priors give the two columns of weights; f is the correction, the identity by default. The parts are sums, so
they add over batches and machines; the correction does not, so it comes last.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from uulearn._checks import choose, number
from uulearn.losses import Loss, get, library
from uulearn.priors import Floats
from uulearn.sets import Sets

Array = Any


class Columns(NamedTuple):
    """Weights of loss(g_i) and of loss(-g_i) for every row i."""

    plus: Array
    minus: Array


def row_weights(sets: Sets) -> Columns:
    """The two columns that make the risk unbiased (Theorem 2): a_k / n_k and b_k / n_k, times the row's weight.

    n_k is the sum of the weights in set k, so a row of weight two is the same as two rows. With a column of 1/n
    weights, the risk is on the scale of the mean loss.

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> row_weights(match_sets(["U", "U", "V"], {"U": 0.9, "V": 0.4}, 0.3)).plus.round(3)
    array([ 0.18,  0.18, -0.06])
    """
    sizes = sets.sizes
    plus, minus = sets.priors.coefficients(sizes)
    columns = Columns((plus / sizes).take(sets.index), (minus / sizes).take(sets.index))
    for column in columns:
        column *= sets.weight
    return columns


@dataclass(frozen=True)
class Correction:
    """f(x) = x for x > 0 and slope * x below: what acts on each part of the risk.

    slope 1 is no correction, 0 is relu, -1 is abs, anything below 0 leaky. With a width, a quadratic joint takes the
    place of the kink: f is slope * x + (1 - slope) * (x + width)^2 / (4 width) for abs(x) < width.
    """

    slope: float = 1.0
    width: float = field(default=0.0, repr=False)

    def value(self, part: Array) -> Array:
        """f(part)."""
        if not self.width:
            return part * self.derivative(part)
        xp, joint = library(part), library(part).clip(part, -self.width, self.width)
        above = (joint + self.width) ** 2 / (4 * self.width) + xp.clip(part - self.width, 0, None)
        return self.slope * part + (1 - self.slope) * above

    def derivative(self, part: Array) -> Array:
        """f'(part), the slope for parts of 0 and below."""
        xp = library(part)
        # Ones of the part's own dtype: a bare number would be float32 to torch and float64 to NumPy.
        one = xp.ones_like(part)
        if not self.width:
            return xp.where(part > 0, one, self.slope * one)
        return self.slope + (1 - self.slope) * (0.5 + 0.5 * xp.clip(part / self.width, -1, 1))

    def curvature(self, part: Array) -> Array:
        """f''(part): that of the joint inside it, 0 elsewhere."""
        xp = library(part)
        inside = xp.where(abs(part) < self.width, xp.ones_like(part), xp.zeros_like(part))
        return (1 - self.slope) / (2 * self.width) * inside if self.width else inside

    def smoothed(self, width: float) -> "Correction":
        """A correction with a continuous derivative that differs from this one only within `width` of the kink."""
        return Correction(self.slope, width)


CORRECTIONS: dict[str, Correction] = {
    "none": Correction(1.0),
    "relu": Correction(0.0),
    "abs": Correction(-1.0),
    "leaky": Correction(-0.1),
}


def get_correction(correction: str | float | Correction) -> Correction:
    """The correction of that name, or with that slope below zero.

    Examples
    --------
    >>> get_correction("abs"), get_correction(-0.5)
    (Correction(slope=-1.0), Correction(slope=-0.5))
    """
    if isinstance(correction, Correction):
        return correction
    if isinstance(correction, str):
        return choose("correction", correction, CORRECTIONS)
    return Correction(number("correction (slope below zero)", correction, high=1.0, open_low=True))


class Risk:
    """The corrected risk as a function of the scores of all rows.

    Parameters
    ----------
    columns : Columns
        Row weights.
    loss : str or Loss, default="sigmoid"
    correction : str, float or Correction, default="none"

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V", "V"], {"U": 0.9, "V": 0.4}, 0.3)
    >>> risk = Risk(row_weights(sets), "zero_one")
    >>> round(float(risk.value(np.array([1.0, 1.0, -1.0, 1.0]))), 6)
    0.04
    """

    def __init__(
        self, columns: Columns, loss: str | Loss = "sigmoid", correction: str | float | Correction = "none"
    ) -> None:
        self.columns = columns
        self.loss = get(loss)
        self.correction = get_correction(correction)

    def parts(self, scores: Array) -> tuple[Array, Array]:
        """(R_plus, R_minus) before the correction."""
        plus, minus = self.loss.terms(scores, *self.columns)
        return plus.sum(), minus.sum()

    def combine(self, parts: tuple[Array, Array]) -> Array:
        """The risk from its parts, once they are summed over all rows."""
        return self.correction.value(parts[0]) + self.correction.value(parts[1])

    def value(self, scores: Array) -> Array:
        """The corrected risk."""
        return self.combine(self.parts(scores))

    def part_gradients(self, scores: Array) -> tuple[Array, Array]:
        """Derivatives of the parts, before the correction, by each score."""
        plus, minus = self.columns
        by = self.loss.terms_derivative
        return by(scores, plus, 0 * minus), by(scores, 0 * plus, minus)

    def gradient(self, scores: Array) -> Array:
        """Derivative of the risk by each score."""
        return self.loss.terms_derivative(scores, *self._corrected(scores))

    def curvature(self, scores: Array) -> Array:
        """Second derivative by each score; the Hessian by the scores is diagonal wherever f has no kink."""
        return self.loss.terms_curvature(scores, *self._corrected(scores))

    def hessian_product(self, scores: Array, direction: Array) -> Array:
        """The Hessian by the scores times a direction in score space."""
        product = self.curvature(scores) * direction
        if not self.correction.width:
            return product
        for part, by_score in zip(self.parts(scores), self.part_gradients(scores), strict=True):
            product = product + self.correction.curvature(part) * (by_score @ direction) * by_score
        return product

    def _corrected(self, scores: Array) -> Columns:
        """The columns times the slopes of the correction at the parts."""
        if self.correction.slope == 1:
            return self.columns
        slopes = (self.correction.derivative(part) for part in self.parts(scores))
        return Columns(*(column * slope for column, slope in zip(self.columns, slopes, strict=True)))

    @property
    def convex(self) -> bool:
        """Every row's term is convex in its score, so a linear or kernel model has one optimum."""
        plus, minus = self.columns
        if self.correction.slope != 1 or not self.loss.convex:
            return False
        if self.loss.linear_odd:
            return bool(np.all(np.asarray(plus) + np.asarray(minus) >= 0))
        return bool(np.all(np.asarray(plus) >= 0) and np.all(np.asarray(minus) >= 0))


def posterior_weights(posterior: Floats, sets: Sets) -> Columns:
    """Columns from the probability q_i that row i is positive: pi q_i / sum(q) and (1 - pi)(1 - q_i) / sum(1 - q).

    With the true q this is the PN risk over the rows of all sets, without a negative weight.

    Parameters
    ----------
    posterior : ndarray of shape (n_rows,)
        q_i: the probability that row i of its set is positive.
    sets : Sets

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V"], {"U": 0.9, "V": 0.4}, 0.3)
    >>> posterior_weights(np.array([1.0, 0.8, 0.2]), sets).plus
    array([0.15, 0.12, 0.03])
    """
    pi = sets.priors.prior
    positive, negative = sets.weight * posterior, sets.weight * (1 - posterior)
    return Columns(pi * positive / positive.sum(), (1 - pi) * negative / negative.sum())


def reduced(columns: Columns) -> Columns:
    """The same pull w_plus - w_minus on every row, with no negative weight.

    Under a symmetric loss this changes the risk by a constant; under any other it keeps the sign of the Bayes
    classifier and makes every convex loss convex on every row.

    Examples
    --------
    >>> import numpy as np
    >>> reduced(Columns(np.array([0.5, -0.25]), np.array([-0.5, 0.75]))).plus
    array([1., 0.])
    """
    pull = columns.plus - columns.minus
    return Columns(np.maximum(pull, 0), np.maximum(-pull, 0))

"""Margin losses: value, derivative and curvature of loss(z) at the margin z = y g(x), and the facts solvers ask for.

A loss works on NumPy arrays and on torch tensors alike, keeps the dtype of floats, turns whole numbers into floats
before they can overflow, and is stable at any finite margin. To add one, write a small `Loss` with its three functions
and its facts; `get` accepts an instance wherever a name is accepted. A loss that is not linear in the two weights of a
row says what it is in `terms` and its derivatives; solvers take it as they take the others.
"""

import sys
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from uulearn._checks import choose, number

Array = Any
"""A NumPy array or a torch tensor."""


def library(z: Array) -> Any:
    """The library that made the array; torch is never imported here, it is already there when a tensor is."""
    return sys.modules["torch" if type(z).__module__.partition(".")[0] == "torch" else "numpy"]


def _opposite(z: Array) -> Array:
    """Margins of the negative class; by a float, as small whole numbers wrap around when negated."""
    return -1.0 * z


class Loss(ABC):
    """A margin loss and the facts about it that solvers and checks branch on."""

    convex: ClassVar[bool] = False
    """The loss is convex."""
    symmetric: ClassVar[bool] = False
    """loss(z) + loss(-z) = 1."""
    linear_odd: ClassVar[bool] = False
    """loss(z) - loss(-z) = -z."""
    bounded: ClassVar[bool] = False
    """0 <= loss(z) <= 1."""
    smooth: bool = True
    """The derivative is continuous."""
    differentiable: ClassVar[bool] = True
    """The loss can be trained with; otherwise it only scores."""
    calibrated: ClassVar[bool] = True
    """Classification-calibrated: its minimiser over all functions is the Bayes classifier."""
    kinks: tuple[float, ...] = ()
    """Margins at which the derivative jumps."""

    @abstractmethod
    def value(self, z: Array) -> Array:
        """loss(z)."""

    @abstractmethod
    def derivative(self, z: Array) -> Array:
        """d loss / dz; the mean of both sides at a kink."""

    @abstractmethod
    def curvature(self, z: Array) -> Array:
        """d^2 loss / dz^2; 0 at a kink."""

    def terms(self, z: Array, plus: Array, minus: Array) -> tuple[Array, Array]:
        """What rows of score z and these two weights add to the two parts of the risk."""
        return plus * self.value(z), minus * self.value(_opposite(z))

    def terms_derivative(self, z: Array, plus: Array, minus: Array) -> Array:
        """Derivative by z of the sum of both terms."""
        return plus * self.derivative(z) - minus * self.derivative(_opposite(z))

    def terms_curvature(self, z: Array, plus: Array, minus: Array) -> Array:
        """Second derivative by z of the sum of both terms."""
        return plus * self.curvature(z) + minus * self.curvature(_opposite(z))

    def probability(self, z: Array) -> Array | None:
        """Class probability that the score z stands for at the minimum, or None where the loss fixes none."""
        return None

    def smoothed(self, width: float) -> "Loss":
        """A loss with a continuous derivative that differs from this one only within `width` of a kink."""
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))


class Sigmoid(Loss):
    """1 / (1 + exp(z)).

    Examples
    --------
    >>> import numpy as np
    >>> Sigmoid().value(np.array([-1e4, 0.0, 1e4]))
    array([1. , 0.5, 0. ])
    """

    symmetric = True
    bounded = True

    def value(self, z: Array) -> Array:
        return 0.5 - 0.5 * library(z).tanh(0.5 * z)

    def derivative(self, z: Array) -> Array:
        t = library(z).tanh(0.5 * z)
        return -0.25 * (1 - t * t)

    def curvature(self, z: Array) -> Array:
        t = library(z).tanh(0.5 * z)
        return 0.25 * t * (1 - t * t)


class Logistic(Loss):
    """ln(1 + exp(-z)).

    Examples
    --------
    >>> import numpy as np
    >>> Logistic().value(np.array([-1e4, 0.0, 1e4])).round(3)
    array([1.00e+04, 6.93e-01, 0.00e+00])
    """

    convex = True
    linear_odd = True

    def value(self, z: Array) -> Array:
        # A copy only where abs(z) could wrap around: on floats it would double the time.
        xp, z = library(z), 1.0 * z if "int" in str(getattr(z, "dtype", "")) else z
        # Not max(-z, 0): torch would take its derivative at 0 from one side.
        return 0.5 * (abs(z) - z) + xp.log1p(xp.exp(-abs(z)))

    def derivative(self, z: Array) -> Array:
        return 0.5 * library(z).tanh(0.5 * z) - 0.5

    def curvature(self, z: Array) -> Array:
        t = library(z).tanh(0.5 * z)
        return 0.25 * (1 - t * t)

    def probability(self, z: Array) -> Array:
        return 0.5 + 0.5 * library(z).tanh(0.5 * z)


class Squared(Loss):
    """(1 - z)^2 / 4.

    Examples
    --------
    >>> import numpy as np
    >>> Squared().value(np.array([-1.0, 0.0, 1.0]))
    array([1.  , 0.25, 0.  ])
    """

    convex = True
    linear_odd = True

    def value(self, z: Array) -> Array:
        return 0.25 * (1.0 - z) ** 2

    def derivative(self, z: Array) -> Array:
        return 0.5 * (z - 1.0)

    def curvature(self, z: Array) -> Array:
        return 0.5 * library(z).ones_like(z)

    def probability(self, z: Array) -> Array:
        return library(z).clip(0.5 + 0.5 * z, 0, 1)


class _Hinged(Loss):
    """A piecewise linear loss with kinks at -1 and 1, or its twin with quadratic joints of half-width `width`.

    Both losses of this kind are a line plus (s |z - 1| + t |z + 1|) / 4; the joint replaces |u| by
    (u^2 + width^2) / (2 width) for |u| < width, which keeps symmetry, oddness and convexity.
    """

    line: ClassVar[tuple[float, float]]
    slopes: ClassVar[tuple[float, float]]

    def __init__(self, width: float = 0.0) -> None:
        self.width = number("width", width, low=0, open_high=True)
        self.smooth = self.width > 0
        self.kinks = () if self.smooth else (-1.0, 1.0)

    def smoothed(self, width: float) -> "Loss":
        return self if self.smooth else type(self)(width)

    def _between(self, z: Array) -> Array:
        """z, cut where the loss has become a line; beyond, differences of large numbers would lose the digits."""
        return library(z).clip(z, -1 - self.width, 1 + self.width)

    def _sum(self, z: Array, joint: Any) -> Array:
        return (self.slopes[0] * joint(z - 1.0) + self.slopes[1] * joint(z + 1.0)) / 4

    def value(self, z: Array) -> Array:
        xp, w, middle = library(z), self.width, self._between(z)

        def joint(u: Array) -> Array:
            return abs(u) if not w else xp.where(abs(u) < w, (u * u + w * w) / (2 * w), abs(u))

        left = self.line[1] - sum(self.slopes) / 4
        tail = -left * xp.clip(middle - z, 0, None)
        return self.line[0] + self.line[1] * middle + self._sum(middle, joint) + tail

    def derivative(self, z: Array) -> Array:
        xp, w = library(z), self.width
        return self.line[1] + self._sum(z, xp.sign if not w else lambda u: xp.clip(u / w, -1, 1))

    def curvature(self, z: Array) -> Array:
        xp, w = library(z), self.width
        if not w:
            return xp.zeros_like(z)
        return self._sum(z, lambda u: xp.where(abs(u) < w, xp.ones_like(u), xp.zeros_like(u)) / w)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.width:g})" if self.width else f"{type(self).__name__}()"


class Ramp(_Hinged):
    """max(0, min(1, (1 - z) / 2)).

    Examples
    --------
    >>> import numpy as np
    >>> Ramp().value(np.array([-3.0, -1.0, 0.0, 1.0, 3.0]))
    array([1. , 1. , 0.5, 0. , 0. ])
    """

    symmetric = True
    bounded = True
    line = (0.5, 0.0)
    slopes = (1.0, -1.0)


class DoubleHinge(_Hinged):
    """max(-z, max(0, (1 - z) / 2)).

    Examples
    --------
    >>> import numpy as np
    >>> DoubleHinge().value(np.array([-3.0, -1.0, 0.0, 1.0, 3.0]))
    array([3. , 1. , 0.5, 0. , 0. ])
    """

    convex = True
    linear_odd = True
    line = (0.0, -0.5)
    slopes = (1.0, 1.0)


class ZeroOne(Loss):
    """(1 - sign(z)) / 2: the classification error; it scores but cannot be trained with.

    Examples
    --------
    >>> import numpy as np
    >>> ZeroOne().value(np.array([-2.0, 0.0, 2.0]))
    array([1. , 0.5, 0. ])
    """

    symmetric = True
    bounded = True
    smooth = False
    differentiable = False
    kinks = (0.0,)

    def value(self, z: Array) -> Array:
        return 0.5 - 0.5 * library(z).sign(z)

    def derivative(self, z: Array) -> Array:
        """0, except at the jump, where there is none."""
        return library(z).zeros_like(z)

    def curvature(self, z: Array) -> Array:
        """0, except at the jump, where there is none."""
        return library(z).zeros_like(z)


BY_NAME: dict[str, Loss] = {
    "sigmoid": Sigmoid(),
    "logistic": Logistic(),
    "squared": Squared(),
    "ramp": Ramp(),
    "double_hinge": DoubleHinge(),
    "zero_one": ZeroOne(),
}


def get(loss: str | Loss, *, trainable: bool = False) -> Loss:
    """The loss called `loss`, or `loss` itself; with `trainable`, a loss that only scores is refused.

    Examples
    --------
    >>> get("sigmoid")
    Sigmoid()
    """
    names = {name: item for name, item in BY_NAME.items() if item.differentiable or not trainable}
    if isinstance(loss, str) and loss in BY_NAME and loss not in names:
        raise ValueError(
            f"loss must have a derivative to train with; {loss!r} only scores. Use one of {', '.join(names)}."
        )
    return loss if isinstance(loss, Loss) else choose("loss", loss, names)

"""How a network is trained: optimiser, learning rates by step, weight decay, epochs and batches, as data."""

from dataclasses import dataclass, replace
from math import cos, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn._checks import choose, integer, number
from uulearn.losses import Loss

LONG = 20_000
"""Rows below which a recipe that cares for small tables takes a learning rate smaller in proportion, and does not
refine: halves of a small table teach too little."""
FEW = 20
"""Rows of a set (or groups, where rows must not part) below which no recipe refines."""


OPTIMIZERS = {"sgd": ("momentum",), "adam": ("mean", "square")}
"""What each of them remembers of every parameter."""


@dataclass(frozen=True)
class Recipe:
    """A recipe; the estimator's own arguments of the same names go before it.

    Attributes
    ----------
    optimizer : {"sgd", "adam"}
        SGD with Nesterov `momentum`; Adam with the usual .9 and .999 and Keras' epsilon, 1e-7.
    learning_rate : float
        The largest one.
    momentum : float
    schedule : {"decay", "cosine"}
        learning_rate / (1 + decay * step), as in Keras; or `warmup` epochs up from 0 and a half cosine down to 0.
    decay : float
    warmup : float
    weight_decay : float
        What of a kernel W is added to its gradient; biases and norms are left alone. A Keras penalty l2 is 2 * l2.
    epochs : int
    batch_size : int
        Rows of all sets together.
    steps : int
        Small tables train for more epochs, until there are about this many steps; 0 asks for no more.
    refine : int
        Rounds of refinement.

    Examples
    --------
    >>> Recipe(learning_rate=1.0, warmup=1, epochs=3).rates(epoch=0, epochs=3, steps=4).round(3)
    array([0.25, 0.5 , 0.75, 1.  ])
    """

    optimizer: str = "sgd"
    learning_rate: float = 0.03
    momentum: float = 0.9
    schedule: str = "cosine"
    decay: float = 0.0
    warmup: float = 1.0
    weight_decay: float = 1e-3
    epochs: int = 30
    batch_size: int = 128
    steps: int = 0
    refine: int = 0

    def __post_init__(self) -> None:
        choose("optimizer", self.optimizer, OPTIMIZERS)
        choose("schedule", self.schedule, {"decay": 0, "cosine": 0})
        for name, low in (("epochs", 1), ("batch_size", 2), ("steps", 0), ("refine", 0)):
            integer(name, getattr(self, name), low=low)
        number("learning_rate", self.learning_rate, low=0, open_low=True, open_high=True)
        for name in ("decay", "warmup", "weight_decay"):
            number(name, getattr(self, name), low=0, open_high=True)
        number("momentum", self.momentum, low=0, high=1, open_high=True)

    def rates(self, epoch: int, epochs: int, steps: int) -> NDArray[np.float64]:
        """Learning rate of each step of an epoch (the first is 0) of so many steps."""
        step = epoch * steps + np.arange(steps)
        if self.schedule == "decay":
            return np.asarray(self.learning_rate / (1 + self.decay * step))
        up = max(1.0, min(self.warmup, epochs / 2) * steps)
        down = np.clip((step + 1 - up) / max(1.0, epochs * steps - up), 0, 1)
        half_cosine = 0.5 + 0.5 * np.array([cos(pi * part) for part in down])
        return np.asarray(self.learning_rate * np.minimum((step + 1) / up, half_cosine))

    def suited(self, rows: int, least: int) -> "Recipe":
        """The recipe for so many rows, of which the smallest set has `least` (or groups, where they must not part).

        Examples
        --------
        >>> found = Recipe(steps=600).suited(500, 250)
        >>> found.epochs, found.learning_rate
        (200, 0.00075)
        """
        recipe = replace(self, refine=self.refine if rows >= LONG and least >= FEW else 0)
        if not self.steps:
            return recipe
        epochs = max(self.epochs, -(-self.steps // max(1, rows // self.batch_size)))
        # So many steps at the rate of a long table would learn few rows, and the noise of their weights, by heart.
        return replace(recipe, epochs=epochs, learning_rate=self.learning_rate * min(1.0, rows / LONG))

    def constant(self) -> "Recipe":
        """The same with no schedule: what continued training takes, as it knows no end."""
        return replace(self, schedule="decay", decay=0.0)


def paper(module: Any, loss: Loss, gap: float) -> Recipe:
    """The paper's settings, as its authors' code reads them (Keras semantics).

    Parameters
    ----------
    module : str or other
        "mlp" is trained with SGD, "allconv" and "resnet32" with Adam; any other module as "mlp".
    loss : Loss
        The logistic loss takes a tenth of the learning rate.
    gap : float
        Largest difference of set priors: the closer they are, the faster the learning rate decays.

    Examples
    --------
    >>> from uulearn import losses
    >>> paper("mlp", losses.get("sigmoid"), 0.6).decay
    0.0001
    """
    tenth = 0.1 if loss.linear_odd else 1.0
    if module in ("allconv", "resnet32"):
        rate, l2 = {"allconv": (1e-3, 1e-5), "resnet32": (1e-5, 5e-3)}[module]
        optimizer, batch_size = "adam", 500
    else:
        rate, l2, optimizer, batch_size = 1e-3, 1e-4, "sgd", 128
    decay = 0.0 if gap > 0.7 else 1e-4 if gap > 0.59 else 5e-4
    return Recipe(
        optimizer=optimizer,
        learning_rate=rate * tenth,
        momentum=0.0,
        schedule="decay",
        decay=decay,
        weight_decay=2 * l2,
        epochs=200,
        batch_size=batch_size,
    )


def house(module: Any, loss: Loss, gap: float) -> Recipe:
    """What this library trains with unless told otherwise: see docs/neural.md for how it was chosen."""
    return Recipe(weight_decay=2e-3, steps=600, refine=2)


RECIPES = {"paper": paper, "house": house}


def get(recipe: str | Recipe, module: Any, loss: Loss, gap: float) -> Recipe:
    """The recipe of that name for this network, loss and gap between the set priors; or `recipe` itself."""
    return recipe if isinstance(recipe, Recipe) else choose("recipe", recipe, RECIPES)(module, loss, gap)

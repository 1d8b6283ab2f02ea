"""UU-biased: the richer set taken as positive, the poorer as negative; the naive "U against U'" classifier."""

from typing import Any

import numpy as np

from uulearn.baselines._recipe import Recipe
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.risk import Columns
from uulearn.sets import Sets


class BiasedClassifier(Recipe):
    """Every row of a set that pulls up is called positive, every other row negative, each with weight 1 / n.

    At a target prior of 1/2 with sets of equal size this is the UU classifier itself under a symmetric loss; anywhere
    else it aims at the wrong boundary.

    Parameters
    ----------
    estimator : classifier of this library, optional
        UULinearClassifier by default.
    set_priors : mapping or sequence
    prior : float
        Serves the label-free score; training does not look at it.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, sets = rng.normal(size=(300, 2)), np.repeat(["U", "V"], [200, 100])
    >>> BiasedClassifier(set_priors={"U": 0.9, "V": 0.4}, prior=0.3).fit(X, sets).predict(X[:3])
    array([1, 1, 1])
    """

    def __init__(self, estimator: UnlabeledClassifier | None = None, *, set_priors: Any, prior: float) -> None:
        self.estimator = estimator
        self.set_priors = set_priors
        self.prior = prior

    def _columns(self, sets: Sets) -> Columns:
        plus, minus = sets.priors.coefficients(sets.sizes)
        rich = (plus > minus)[sets.index]
        row = sets.weight / sets.weight.sum()
        return Columns(np.where(rich, row, 0.0), np.where(rich, 0.0, row))

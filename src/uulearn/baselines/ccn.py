"""Class-conditional noise (Natarajan et al. 2013): the sets read as noisy labels with known flip rates."""

from typing import Any

import numpy as np

from uulearn._checks import choose
from uulearn.baselines._recipe import Recipe
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.risk import Columns
from uulearn.sets import Sets

READINGS = {"given": False, "pooled": True}


class CCNClassifier(Recipe):
    """The unbiased loss for noisy labels, with the richer set as noisy positives and the poorer as noisy negatives.

    With rho_plus = P(flip | y = +1) and rho_minus = P(flip | y = -1), every row has weight 1 / (n + n') on::

        ((1 - rho_{-y}) loss(y g) - rho_y loss(-y g)) / (1 - rho_plus - rho_minus)

    Its target is the distribution of the pooled rows, not the target prior: that is where it goes wrong.

    Parameters
    ----------
    estimator : classifier of this library, optional
        UULinearClassifier by default.
    set_priors : mapping or sequence
        Two sets.
    prior : float
        Serves the label-free score; training does not look at it.
    reading : {"given", "pooled"}, default="given"
        "given": rho_plus = 1 - theta, rho_minus = theta'. "pooled": the rates that hold on the pooled rows,
        rho_plus = n' theta' / (n theta + n' theta'), rho_minus = n (1 - theta) / (n (1 - theta) + n' (1 - theta')).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, sets = rng.normal(size=(300, 2)), np.repeat(["U", "V"], [200, 100])
    >>> CCNClassifier(set_priors={"U": 0.9, "V": 0.4}, prior=0.3, reading="pooled").fit(X, sets).predict(X[:3])
    array([1, 1, 1])
    """

    def __init__(
        self, estimator: UnlabeledClassifier | None = None, *, set_priors: Any, prior: float, reading: str = "given"
    ) -> None:
        self.estimator = estimator
        self.set_priors = set_priors
        self.prior = prior
        self.reading = reading

    def _columns(self, sets: Sets) -> Columns:
        rho_plus, rho_minus = self._rates(sets)
        keep = 1 - rho_plus - rho_minus
        if not keep > 0:
            raise ValueError(
                f"set_priors must leave 1 - rho_plus - rho_minus above 0; got {keep:g}. The flip rates of reading="
                f"{self.reading!r} say that the sets are no better than swapped."
            )
        rich = sets.share == sets.priors.theta
        row = sets.weight / sets.weight.sum() / keep
        return Columns(row * np.where(rich, 1 - rho_minus, -rho_minus), row * np.where(rich, -rho_plus, 1 - rho_plus))

    def _rates(self, sets: Sets) -> tuple[float, float]:
        """(rho_plus, rho_minus) of the chosen reading."""
        pooled = choose("reading", self.reading, READINGS)
        if len(sets.labels) != 2:
            raise ValueError(
                f"set_priors must name two sets for class-conditional noise; got {len(sets.labels)}. Use another "
                "method, such as UULinearClassifier or SurrogateSetClassifier."
            )
        theta, theta_prime = sets.priors.theta, sets.priors.theta_prime
        if not pooled:
            return 1 - theta, theta_prime
        rich = int(np.argmax(sets.priors.shares))
        n, n_prime = sets.sizes[rich], sets.sizes[1 - rich]
        positives = n * theta + n_prime * theta_prime
        negatives = n * (1 - theta) + n_prime * (1 - theta_prime)
        return float(n_prime * theta_prime / positives), float(n * (1 - theta) / negatives)

"""The Gaussian mixture of figure 1: its rows, and the exact error of any line."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

CENTRE = np.array([1.0, 1.0])
"""The positive class is N(CENTRE, I), the negative class N(-CENTRE, I)."""
PRIOR = 0.3


def exact_error(weights: NDArray[np.float64], intercept: float, prior: float = PRIOR) -> float:
    """Error of sign(weights x + intercept) on the mixture, with Phi the normal distribution function.

    With s = weights CENTRE / |weights| and t = intercept / |weights| it is::

        prior Phi(-(s + t)) + (1 - prior) Phi(-s + t)

    Examples
    --------
    >>> round(exact_error(np.array([1.0, 1.0]), 0.0, prior=0.5), 4)  # Phi(-sqrt 2)
    0.0786
    """
    length = np.linalg.norm(weights)
    if length == 0:
        return 1 - prior if intercept > 0 else prior
    s, t = weights @ CENTRE / length, intercept / length
    return float(prior * norm.cdf(-(s + t)) + (1 - prior) * norm.cdf(-s + t))


def bayes_error(prior: float = PRIOR) -> float:
    """Error of the best of all classifiers: 2 CENTRE x + log odds of the prior, cut at 0."""
    return exact_error(2 * CENTRE, float(np.log(prior / (1 - prior))), prior)


def sample(size: int, share: float, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points in random order, a share of them positive, and their classes (1 is positive)."""
    label = rng.permutation(np.arange(size) < round(share * size)).astype(np.int64)
    return rng.normal(size=(size, 2)) + np.where(label[:, None] == 1, CENTRE, -CENTRE), label

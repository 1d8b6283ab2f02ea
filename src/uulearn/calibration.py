"""Label-free calibration: from scores to class likelihood ratios, by the likelihood of the set memberships.

A row at x of the pooled rows belongs to set k with probability proportional to n_k (theta_k L + 1 - theta_k), where
L = p_P(x) / p_N(x). The link L = exp(scale * score + shift) is positive and monotone, so fitting its two numbers to
the observed memberships needs no label.
"""

from typing import NamedTuple

import numpy as np

from uulearn.priors import Floats
from uulearn.sets import Sets


class Link(NamedTuple):
    """log L = scale * score + shift, with L the class likelihood ratio.

    Examples
    --------
    >>> import numpy as np
    >>> Link(scale=2.0, shift=-1.0).log_ratio(np.array([0.0, 1.0]))
    array([-1.,  1.])
    """

    scale: float
    shift: float

    def log_ratio(self, scores: Floats) -> Floats:
        """Log of the class likelihood ratio at each score."""
        return self.scale * scores + self.shift


def posterior(log_ratio: Floats, share: Floats | float) -> Floats:
    """Probability that a row is positive, given log L and the share of positives it is drawn with: Bayes' rule.

    Parameters
    ----------
    log_ratio : ndarray of shape (n_rows,)
    share : ndarray of shape (n_rows,) or float
        theta; the result is theta L / (theta L + 1 - theta).

    Examples
    --------
    >>> import numpy as np
    >>> posterior(np.log([1.0, 3.0]), 0.25)
    array([0.25, 0.5 ])
    """
    from scipy.special import expit, logit

    with np.errstate(divide="ignore"):
        return np.asarray(expit(log_ratio + logit(np.clip(share, 0, 1))))


def membership_loss(log_ratio: Floats, sets: Sets) -> tuple[float, Floats]:
    """Mean negative log likelihood of the set memberships (up to a constant), and its derivative by each log L.

    Parameters
    ----------
    log_ratio : ndarray of shape (n_rows,)
    sets : Sets

    Returns
    -------
    loss : float
        0 for L = 1 everywhere, which tells the sets apart by their sizes alone; below 0 is better than that.
    derivative : ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V", "V"], {"U": 1.0, "V": 0.0}, 0.5)
    >>> loss, _ = membership_loss(np.log([3.0, 3.0, 1 / 3, 1 / 3]), sets)
    >>> float(np.exp(-loss))  # every row's own set has probability 3/4 where sizes alone say 1/2
    1.5
    """
    mean_share = sets.weight @ sets.share / sets.weight.sum()
    own, pooled = posterior(log_ratio, sets.share), posterior(log_ratio, mean_share)
    gain = _log_mixture(log_ratio, sets.share) - _log_mixture(log_ratio, mean_share)
    row = sets.weight / sets.weight.sum()
    return float(-row @ gain), row * (pooled - own)


def _log_mixture(log_ratio: Floats, share: Floats | float) -> Floats:
    """log(theta L + 1 - theta)."""
    share = np.clip(share, 0, 1)  # priors that are wrong on purpose may lie outside
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(log_ratio + np.log(share), np.log1p(-share)))


def fit_link(scores: Floats, sets: Sets, *, shift: float | None = None) -> Link:
    """The link that makes the set memberships most likely; with `shift` given, only the scale is fitted.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores: a model's own fitted scores would confirm themselves.
    sets : Sets
    shift : float, optional
        Fixed shift; for scores whose sign is already right, log((1 - pi) / pi).

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U"] * 4 + ["V"] * 4, {"U": 1.0, "V": 0.0}, 0.5)
    >>> link = fit_link(np.array([1.0, 1.0, 1.0, -1.0, 1.0, -1.0, -1.0, -1.0]), sets)
    >>> round(float(np.exp(link.scale)), 3), round(abs(link.shift), 3)  # three of four: L is 3 or 1/3
    (3.0, 0.0)
    """
    from scipy.optimize import minimize

    z = np.asarray(scores, dtype=float)
    unit = float(np.sqrt(np.average(z**2, weights=sets.weight))) or 1.0
    z = z / unit

    def objective(at: Floats) -> tuple[float, Floats]:
        scale = np.exp(at[0])
        value, slope = membership_loss(scale * z + (at[1] if shift is None else shift), sets)
        by_scale, by_shift = float(slope @ z) * scale, float(slope.sum())
        return value, np.array([by_scale, by_shift][: len(at)])

    bounds = [(-6.0, 6.0), (-20.0, 20.0)][: 2 if shift is None else 1]
    fits = [
        minimize(objective, [start, 0.0][: len(bounds)], jac=True, method="L-BFGS-B", bounds=bounds)
        for start in (-1.0, 1.0)
    ]
    best = min(fits, key=lambda fit: fit.fun).x
    return Link(float(np.exp(best[0]) / unit), float(best[1] if shift is None else shift))

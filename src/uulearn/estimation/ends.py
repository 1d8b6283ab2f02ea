"""Three readings of set priors from one score: the best bin, DEDPUL, and the likelihood of the set memberships.

All start from `counts`, the weight of the rows of each set (rows) at each score (columns, lowest first). Under mutual
irreducibility some rows are purely negative and some purely positive, so of the richest set U and the poorest U'

    kappa_1 = inf p_U / p_U' = (1 - theta) / (1 - theta'),    kappa_2 = inf p_U' / p_U = theta' / theta,

and theta = (1 - kappa_1) / (1 - kappa_1 kappa_2), theta' = kappa_2 theta.
"""

from typing import NamedTuple

import numpy as np

from uulearn.priors import Floats

DELTA = 0.1
"""Chance at which the confidence bounds of the best bin may fail (Garg et al. 2021)."""
GAMMA = 0.01
"""What their bound adds to the ratio of the true shares."""
ALIKE = 1e-6
"""Kappas are read as if they stayed this far from 1, where the sets would be alike."""


class Ends(NamedTuple):
    """kappa_1, kappa_2, and the rows that each was read from."""

    kappas: tuple[float, float]
    rows: tuple[float, float]


def from_kappas(lower: float, upper: float) -> tuple[float, float]:
    """(theta, theta') of the two extreme sets.

    Examples
    --------
    >>> from_kappas(0.5, 4 / 7)  # (1 - .7) / (1 - .4) and .4 / .7
    (0.7, 0.399...)
    """
    lower, upper = (min(kappa, 1 - ALIKE) for kappa in (lower, upper))
    theta = (1 - lower) / (1 - lower * upper)
    return theta, upper * theta


def to_kappas(theta: float, theta_prime: float) -> tuple[float, float]:
    """(kappa_1, kappa_2) of the two extreme sets.

    Examples
    --------
    >>> to_kappas(0.75, 0.5)
    (0.5, 0.666...)
    """
    return (1 - theta) / (1 - theta_prime), theta_prime / theta


def best_bin(rich: Floats, poor: Floats) -> Ends:
    """Ratio of the shares of two sets in the tail that a confidence bound makes surest (Garg et al. 2021).

    The least ratio over tails would be least by chance. So the tail is chosen by an upper bound::

        q_U(c) / q_U'(c) + (1 + gamma) / q_U'(c) * (sqrt(ln(4 / delta) / (2 n)) + sqrt(ln(4 / delta) / (2 n')))

    with q(c) the share of a set at scores up to c; the ratio there is the estimate, for the upper tail with the sets
    exchanged.

    Parameters
    ----------
    rich, poor : ndarray of shape (n_scores,)
        Counts of the richest and of the poorest set.

    Examples
    --------
    >>> import numpy as np
    >>> best_bin(np.array([2000.0, 1000, 3000]), np.array([4000.0, 1500, 500])).kappas  # kappa_1, kappa_2
    (0.5, 0.166...)
    """
    slack = (1 + GAMMA) * sum(np.sqrt(np.log(4 / DELTA) / (2 * side.sum())) for side in (rich, poor))
    found, rows = [], []
    for top, bottom in ((rich, poor), (poor[::-1], rich[::-1])):
        above, below = np.cumsum(top) / top.sum(), np.cumsum(bottom) / bottom.sum()
        bound = np.divide(above + slack, below, out=np.full_like(below, np.inf), where=below > 0)
        at = int(np.argmin(bound))
        found.append(float(min(above[at] / below[at], 1.0)))
        rows.append(float(np.cumsum(bottom)[at] + np.cumsum(top)[at]))
    return Ends((found[0], found[1]), (rows[0], rows[1]))


def dedpul(rich: Floats, poor: Floats, smooth: float = 0.02) -> tuple[float, float]:
    """(kappa_1, kappa_2) by the kink of the mean clipped posterior (DEDPUL, Ivanov 2020).

    For a share a of U' inside U, ``D(a) = a - E_U[min(1, a p_U' / p_U)]`` is 0 up to a = kappa_1 and rises beyond. With
    smoothed densities the kink is where the second difference of D is largest, among a with D(a) < .05.

    Parameters
    ----------
    rich, poor : ndarray of shape (n_scores,)
    smooth : float
        Width of the smoothing, as a share of the ranks.
    """
    from scipy.ndimage import gaussian_filter1d

    width = smooth * len(rich)
    first, second = (gaussian_filter1d(side / side.sum(), width, mode="reflect") for side in (rich, poor))
    grid = np.linspace(0, 1, 201)
    found = []
    for top, bottom in ((first, second), (second, first)):
        excess = np.array([a - np.minimum(top, a * bottom).sum() for a in grid])
        bend = np.diff(excess, 2)
        found.append(float(grid[1 + int(np.argmax(np.where(excess[1:-1] < 0.05, bend, -np.inf)))]))
    return found[0], found[1]


class Likelihood(NamedTuple):
    """Shares of the sets and log L at each score that make the memberships likeliest; `at` starts a similar fit."""

    shares: Floats
    log_ratio: Floats
    at: Floats


def likelihood(counts: Floats, scores: Floats, start: Floats | None = None) -> Likelihood:
    """Shares and link that make the set memberships most likely, all at once.

    Row i of set k has probability proportional to n_k (theta_k L + 1 - theta_k) of being there, L = exp(scale * score +
    shift). The membership curve levels off at either end where rows are pure; how it bends on the way says where it is
    heading, so every row informs the ends, and no row need be pure. In exchange log L must be straight in the score.

    Parameters
    ----------
    counts : ndarray of shape (n_sets, n_scores)
    scores : ndarray of shape (n_scores,)
    start : ndarray, optional
        `at` of another fit.

    Examples
    --------
    >>> import numpy as np
    >>> z = np.linspace(-6, 6, 200)
    >>> positive, negative = np.exp(-((z - 1.5) ** 2) / 2), np.exp(-((z + 1.5) ** 2) / 2)  # log L = 3 z
    >>> counts = 100 * np.array([0.7 * positive + 0.3 * negative, 0.4 * positive + 0.6 * negative])
    >>> likelihood(counts, z).shares.round(3)
    array([0.7, 0.4])
    """
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit

    sizes = counts.sum(axis=1)
    part, pooled = sizes / sizes.sum(), counts.sum(axis=0) / sizes.sum()
    share = counts / sizes.sum()
    middle = pooled @ scores
    unit = float(np.sqrt(pooled @ (scores - middle) ** 2)) or 1.0
    z = (scores - middle) / unit

    def objective(at: Floats) -> tuple[float, Floats]:
        """Negative mean log likelihood by log odds of the shares, log scale and shift."""
        inner, scale, shift = at[:-2], np.exp(at[-2]), at[-1]
        log_ratio = scale * z + shift
        theta = expit(inner)
        log_own = np.logaddexp(log_expit(inner)[:, None] + log_ratio, log_expit(-inner)[:, None])
        mean = part @ theta
        log_all = np.logaddexp(np.log(mean) + log_ratio, np.log1p(-mean))
        own = expit(inner[:, None] + log_ratio)
        whole = expit(np.log(mean) - np.log1p(-mean) + log_ratio)
        value = float(pooled @ log_all - np.sum(share * log_own))
        by_ratio = pooled * whole - np.sum(share * own, axis=0)
        # (L - 1) theta (1 - theta) / (theta L + 1 - theta) = posterior - theta
        by_theta = (pooled @ (whole - mean)) / (mean * (1 - mean)) * part * theta * (1 - theta)
        by_share = by_theta - np.sum(share * (own - theta[:, None]), axis=1)
        return value, np.concatenate([by_share, [by_ratio @ z * scale, by_ratio.sum()]])

    order = np.argsort(np.argsort(counts @ z / sizes)) / max(len(sizes) - 1, 1)
    starts = (
        [start] if start is not None else [np.append(spread * (2 * order - 1), [0.5, 0.0]) for spread in (0.7, 2.0)]
    )
    bounds = [(-7.0, 7.0)] * len(sizes) + [(-3.0, 4.0), (-8.0, 8.0)]
    fits = [minimize(objective, at, jac=True, method="L-BFGS-B", bounds=bounds) for at in starts]
    best = min(fits, key=lambda fit: fit.fun)
    return Likelihood(expit(best.x[:-2]), np.exp(best.x[-2]) * z + best.x[-1], best.x)

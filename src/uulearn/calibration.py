"""Label-free calibration: from scores to class likelihood ratios, by the likelihood of the set memberships.

A row at x of the pooled rows belongs to set k with probability proportional to n_k (theta_k L + 1 - theta_k), where
L = p_P(x) / p_N(x). A link from scores to L that is positive and monotone, log L a straight line (`Link`) or a rising
one of several pieces (`RisingLink`), is fitted to the observed memberships, which needs no label.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import floats, number
from uulearn.priors import ONE_CLASS, Floats
from uulearn.sets import Sets

CELLS = 5_000
"""From so many rows on, rows of a set with neighbouring scores are fitted as one."""
PIECES = 8
"""Pieces of a rising link, each with as many rows; with more, or fewer, benchmarks find worse log losses."""


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


class RisingLink(NamedTuple):
    """log L as a rising line of straight pieces: it bends where over-confident scores need it, and never ties two.

    Examples
    --------
    >>> import numpy as np
    >>> link = RisingLink(knots=np.array([1.0]), slopes=np.array([2.0, 0.5]), shift=-1.0)
    >>> link.log_ratio(np.array([0.0, 1.0, 3.0]))
    array([-1.,  1.,  2.])
    """

    knots: Floats
    slopes: Floats
    shift: float

    def log_ratio(self, scores: Floats) -> Floats:
        """Log of the class likelihood ratio at each score."""
        return np.asarray(_pieces(np.asarray(scores, dtype=float), self.knots) @ self.slopes + self.shift)

    def score_at(self, log_ratio: float) -> float:
        """The score at which log L has this value.

        Examples
        --------
        >>> import numpy as np
        >>> RisingLink(np.array([1.0]), np.array([2.0, 0.5]), -1.0).score_at(2.0)
        3.0
        """
        at_knots = self.log_ratio(self.knots)
        piece = int(np.searchsorted(at_knots, log_ratio))
        start = max(piece - 1, 0)
        return float(self.knots[start] + (log_ratio - at_knots[start]) / self.slopes[piece])

    def moved(self, cut: float) -> "RisingLink":
        """The link of scores that are lower by `cut`.

        Examples
        --------
        >>> import numpy as np
        >>> RisingLink(np.array([1.0]), np.array([2.0, 0.5]), -1.0).moved(3.0).shift
        2.0
        """
        return RisingLink(self.knots - cut, self.slopes, float(self.log_ratio(np.array([cut]))[0]))


def _pieces(scores: Floats, knots: Floats) -> Floats:
    """How far each score reaches from 0 into each piece: the columns of a line with bends at the knots."""
    ends = np.concatenate([[-np.inf], knots, [np.inf]])
    reach = np.clip(scores[:, None], ends[:-1], ends[1:])
    return np.asarray(reach - np.clip(0.0, ends[:-1], ends[1:]))


def fit_rising_link(scores: Floats, sets: Sets, *, free_shift: bool = True) -> RisingLink:
    """The rising link that makes the set memberships most likely, with a slight preference for a plain one.

    The log likelihood, of a number of rows that is the sum of their weights, pays for slopes that differ from piece to
    piece, for a spread of the log ratios far from 1 and for log odds at score 0 far from 0, each by half of its square
    (of slopes the logarithm). Some thousand rows overrule that; a handful do not, and leave the scores about as they
    are.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores: a model's own fitted scores would confirm themselves.
    sets : Sets
    free_shift : bool, default=True
        False keeps even odds at score 0.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> rng = np.random.default_rng(0)
    >>> sets = match_sets(np.repeat(["U", "V"], 4000), {"U": 0.9, "V": 0.2}, 0.5)
    >>> truth = rng.random(8000) < sets.share  # never shown to the fit
    >>> scores = rng.normal(size=8000) + 2 * truth  # log L = 2 * score - 2
    >>> fit_rising_link(scores, sets).log_ratio(np.array([0.0, 1.0, 2.0])).round(1)
    array([-2.2, -0.1,  2.1])
    """
    from scipy.optimize import minimize
    from scipy.special import logit

    z, sets = _gathered(np.asarray(scores, dtype=float), sets)
    centre = np.average(z, weights=sets.weight)
    unit = float(np.sqrt(np.average((z - centre) ** 2, weights=sets.weight))) or 1.0
    knots = _quantiles(z / unit, sets.weight)
    columns, even = _pieces(z / unit, knots), float(-logit(sets.priors.prior))
    total = sets.weight.sum()

    def objective(at: Floats) -> tuple[float, Floats]:
        bent, slopes, shift = at[:PIECES], np.exp(at[:PIECES]), at[PIECES] if free_shift else 0.0
        value, by_ratio = membership_loss(columns @ slopes + shift + even, sets)
        bends, mean = np.diff(bent), bent.mean()
        by_slope = slopes * (by_ratio @ columns) + mean / PIECES / total
        by_slope[1:] += bends / total
        by_slope[:-1] -= bends / total
        penalty = (bends @ bends + mean**2 + shift**2) / 2 / total
        return value + penalty, np.append(by_slope, by_ratio.sum() + shift / total)[: len(at)]

    plain = fit_link(z / unit, sets, shift=None if free_shift else even)
    start = np.append(np.full(PIECES, np.log(plain.scale)), plain.shift - even)[: PIECES + free_shift]
    bounds = ([(-6.0, 6.0)] * PIECES + [(-20.0, 20.0)])[: len(start)]
    best = minimize(objective, np.clip(start, -6, 6), jac=True, method="L-BFGS-B", bounds=bounds).x
    shift = best[PIECES] if free_shift else 0.0
    return RisingLink(knots * unit, np.exp(best[:PIECES]) / unit, float(shift + even))


def _gathered(z: Floats, sets: Sets) -> tuple[Floats, Sets]:
    """The same scores with rows of one set that are neighbours as one row of their weight: as good, and few."""
    if len(z) <= CELLS:
        return z, sets
    cell = np.empty(len(z), dtype=np.intp)
    cell[np.argsort(z)] = np.arange(len(z)) * CELLS // len(z)
    where = sets.index * CELLS + cell
    mass = np.asarray(np.bincount(where, sets.weight), dtype=np.float64)
    kept = np.flatnonzero(mass)
    mean = np.bincount(where, sets.weight * z)[kept] / mass[kept]
    return mean, Sets(sets.priors, sets.labels, kept // CELLS, mass[kept])


def _quantiles(z: Floats, weight: Floats) -> Floats:
    """Scores that part the rows into pieces of equal weight."""
    order = np.argsort(z)
    below = np.cumsum(weight[order])
    return np.asarray(z[order][np.searchsorted(below, below[-1] * np.arange(1, PIECES) / PIECES)])


def shift_prior(proba: ArrayLike, prior: float, new_prior: float) -> Any:
    """Probabilities at another target prior: the odds times new_prior (1 - prior) / (prior (1 - new_prior)).

    That is Bayes' rule where the classes look the same and only their shares differ.

    Parameters
    ----------
    proba : array-like of shape (n_rows,) or (n_rows, 2)
        Probabilities of the positive class at `prior`, or of (negative, positive).
    prior, new_prior : float

    Returns
    -------
    ndarray of the shape of `proba`

    Examples
    --------
    >>> shift_prior([0.5, 0.9], 0.5, 0.1)
    array([0.1, 0.5])
    """
    given = floats("proba", proba)
    if np.asarray(proba).dtype == np.float32:
        given = np.asarray(proba)
    if not np.all((given >= 0) & (given <= 1)) or given.ndim not in (1, 2) or (given.ndim == 2 and given.shape[1] != 2):
        raise ValueError(
            "proba must hold probabilities in [0, 1], one or a pair (negative, positive) a row; got an array of shape "
            f"{given.shape} with values from {np.min(given, initial=np.inf):g} to {np.max(given, initial=-np.inf):g}. "
            "Pass what predict_proba returns."
        )
    factor = given.dtype.type(np.exp(prior_step(prior, new_prior)))
    positive = given if given.ndim == 1 else given[:, 1]
    negative = 1 - given if given.ndim == 1 else given[:, 0]
    shifted = positive * factor / (positive * factor + negative)
    return shifted if given.ndim == 1 else np.column_stack([1 - shifted, shifted])


def prior_step(prior: float, new_prior: float) -> float:
    """What log odds change by when the target prior does.

    Parameters
    ----------
    prior, new_prior : float

    Examples
    --------
    >>> prior_step(0.5, 0.5), round(prior_step(0.5, 0.75), 3)
    (0.0, 1.099)
    """
    old, new = (
        number(name, value, low=0.0, high=1.0, open_low=True, open_high=True, why=ONE_CLASS)
        for name, value in (("prior", prior), ("new_prior", new_prior))
    )
    return float(np.log(new / (1 - new)) - np.log(old / (1 - old)))

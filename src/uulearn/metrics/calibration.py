"""Are the probabilities right? Shares of positives by probability, and how far apart the two are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import integer, number
from uulearn.metrics.estimates import Estimate
from uulearn.metrics.margins import matched
from uulearn.metrics.moments import class_coefficients, units
from uulearn.metrics.profile import RESAMPLES, Profile, profile, rank, resampled
from uulearn.priors import Floats, Priors
from uulearn.sets import generator

BINS = 15
"""Bins of equal mass of the expected calibration error."""


@dataclass(frozen=True)
class CalibrationCurve:
    """Shares of positives by probability, with an interval of each; NaN where a bin holds none of the target.

    Attributes
    ----------
    probability, share : ndarray of shape (n_bins,)
        Mean probability in each bin, and the share of positives in it.
    low, high : ndarray of shape (n_bins,)
        Interval of the share.
    mass : ndarray of shape (n_bins,)
        Share of the target that is in each bin; by chance it may be below 0.
    error : Estimate
        Expected calibration error over these bins.
    """

    probability: Floats
    share: Floats
    low: Floats
    high: Floats
    mass: Floats
    error: Estimate


def calibration_bins(found: Profile, bins: int = BINS) -> list[slice]:
    """Runs of cells that hold about the same share of all rows each."""
    pooled = np.cumsum(found.mass.sum(axis=0))
    ends = np.unique(np.searchsorted(pooled, np.linspace(0, pooled[-1], bins + 1)[1:-1] - 1e-9 * pooled[-1]) + 1)
    ends = ends[ends < len(pooled)]
    return [slice(*pair) for pair in zip([0, *ends], [*ends, len(pooled)], strict=True)]


def calibration_error(
    found: Profile, confidence: float, resamples: int, *, bins: int = BINS, seed: int = 0
) -> Estimate:
    """Expected calibration error: how far probabilities and shares of positives are apart, a mean over bins.

    The plain sum of the absolute gaps d_b counts noise as miscalibration: with spread s_b, a gap of mu looks like
    ``f(mu, s) = s sqrt(2 / pi) exp(-mu^2 / (2 s^2)) + mu (1 - 2 Phi(-mu / s))`` on average. What that adds is taken off
    at ``mu_b = |d_b| sqrt(max(0, 1 - B / sum_b d_b^2 / s_b^2))``, which is 0 where all B gaps together are no larger
    than noise. The estimate is cut at 0; the lower end of the interval leaves room for all gaps to be noise, and so is
    on the safe side.

    Parameters
    ----------
    found : Profile
        Of probabilities.
    confidence : float
    resamples, bins, seed : int
    """
    from scipy.special import ndtr

    starts = [part.start for part in calibration_bins(found, bins)]

    def gaps(shares: Floats, priors: Priors) -> Floats:
        positive, negative = np.array(class_coefficients(found.sets, priors)) @ shares
        each = priors.prior * positive * (1 - found.middle) - (1 - priors.prior) * negative * found.middle
        return np.asarray(np.add.reduceat(each, starts))

    here = gaps(found.shares(), found.sets.priors)
    size = np.abs(here)
    drawn = resampled(found, gaps, resamples, seed, size=len(starts))
    spread = np.maximum(drawn.std(axis=0, ddof=1), np.finfo(float).tiny)
    signal = np.sqrt(np.fmax(0.0, 1 - len(starts) / np.sum((here / spread) ** 2))) if size.any() else 0.0
    mu = size * signal
    looks = spread * np.sqrt(2 / np.pi) * np.exp(-0.5 * (mu / spread) ** 2) + mu * (1 - 2 * ndtr(-mu / spread))
    value = float(np.fmax(0.0, size.sum() - np.nansum(looks - mu)))
    noise = np.quantile(np.abs(drawn - here).sum(axis=1), (1 + confidence) / 2)
    totals = np.abs(drawn).sum(axis=1)
    reach = np.quantile(totals, (1 + confidence) / 2) - totals.mean()
    low = np.minimum(value, np.maximum(0.0, size.sum() - noise))
    return Estimate(value, float(totals.std(ddof=1)), float(low), float(value + reach))


def calibration_curve(
    y: ArrayLike,
    proba: ArrayLike,
    *,
    set_priors: Any,
    prior: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    bins: int = BINS,
    random_state: Any = 0,
) -> CalibrationCurve:
    """What share of the rows of a probability is positive, bin by bin, without a label.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    proba : array-like of shape (n_rows,) or (n_rows, 2)
        Probabilities of the positive class, of a classifier that was not trained on these rows.
    set_priors, prior, sample_weight, groups, confidence
        As in `evaluate`.
    bins : int, default=15
        Bins of equal mass, of all rows.
    random_state : int, Generator, RandomState or None
        Of the resamples that the intervals come from.

    Returns
    -------
    CalibrationCurve

    Examples
    --------
    >>> labeled = {"set_priors": {0: 0.0, 1: 1.0}, "prior": 0.5, "bins": 2}
    >>> curve = calibration_curve([0, 0, 1, 0, 1, 1], [0.2, 0.3, 0.4, 0.6, 0.8, 0.7], **labeled)
    >>> curve.probability, curve.share.round(2)
    (array([0.3, 0.7]), array([0.33, 0.67]))
    """
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    integer("bins", bins, low=1)
    sets, scored = matched(y, None, proba, set_priors, prior, sample_weight)
    assert scored.proba is not None
    found = profile(sets, rank(scored.proba), units(sets, groups))
    starts = [part.start for part in calibration_bins(found, bins)]
    mass, probability, share = _table(found, starts, found.shares(), sets.priors)
    drawn = [_table(found, starts, *each)[2] for each in found.resampled(RESAMPLES, generator(random_state))]
    low, high = np.nanquantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    error = calibration_error(found, confidence, RESAMPLES, bins=bins)
    low, high = np.fmin(low, share), np.fmax(high, share)
    return CalibrationCurve(probability[::-1], share[::-1], low[::-1], high[::-1], mass[::-1], error)


def _table(found: Profile, starts: list[int], shares: Floats, priors: Priors) -> tuple[Floats, Floats, Floats]:
    """Of each bin: its share of the target, the mean probability in it, and the share of positives.

    They are sums of signed weights: on few rows a bin may have a negative share of the target, and is not looked at.
    """
    positive, negative = np.array(class_coefficients(found.sets, priors)) @ shares
    positive, negative = priors.prior * positive, (1 - priors.prior) * negative
    truly = np.add.reduceat(positive, starts)
    mass = truly + np.add.reduceat(negative, starts)
    claimed = np.add.reduceat(found.middle * found.mass.sum(axis=0), starts)
    pooled = np.add.reduceat(found.mass.sum(axis=0), starts)
    share = np.divide(truly, mass, out=np.full_like(mass, np.nan), where=mass > 0)
    return mass, claimed / pooled, share

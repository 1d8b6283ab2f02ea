"""Curves of unlabeled rows, ROC and precision-recall, and the numbers that sum them up.

The raw curves are sums of signed weights and so go up and down; the true ones rise and stay in [0, 1]. They are
replaced by the nearest curves that do (isotonic regression), in each resample too, which bands and standard errors
come from.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import number
from uulearn.metrics.estimates import Estimate
from uulearn.metrics.margins import matched
from uulearn.metrics.moments import class_coefficients, units
from uulearn.metrics.profile import RESAMPLES, Profile, profile, rank, resampled
from uulearn.priors import Floats, Priors
from uulearn.sets import Sets, generator


@dataclass(frozen=True)
class Curve:
    """A label-free curve with a pointwise band.

    Attributes
    ----------
    x, y : ndarray of shape (n_points,)
        False and true positive rate, or recall and precision.
    low, high : ndarray of shape (n_points,)
        Band of y at each x.
    thresholds : ndarray of shape (n_points,)
        Scores from this one on are called positive.
    area : Estimate
        AUC of the curve as drawn, or average precision.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    thresholds: Floats
    area: Estimate


def roc_curve(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    set_priors: object,
    prior: float = 0.5,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    random_state: object = 0,
) -> Curve:
    """True against false positive rate at every threshold, without a label.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,)
    set_priors, prior, sample_weight, groups, confidence
        As in `evaluate`; the target prior moves nothing here.
    random_state : int, Generator, RandomState or None
        Of the resamples that the band comes from.

    Returns
    -------
    Curve

    Examples
    --------
    >>> curve = roc_curve([1, 1, 0, 0], [2.0, 0.5, 1.0, -1.0], set_priors={0: 0.0, 1: 1.0})
    >>> curve.x, curve.y, curve.area.value
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]), 0.75)
    """
    found = _profile(y, scores, set_priors, prior, sample_weight, groups)
    return _curve(found, _rates, _area_under, confidence, random_state)


def precision_recall_curve(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    set_priors: object,
    prior: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    random_state: object = 0,
) -> Curve:
    """Precision against recall at every threshold, without a label.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,)
    set_priors, prior, sample_weight, groups, confidence
        As in `evaluate`.
    random_state : int, Generator, RandomState or None
        Of the resamples that the band comes from.

    Returns
    -------
    Curve

    Examples
    --------
    >>> curve = precision_recall_curve([1, 1, 0, 0], [2.0, 0.5, 1.0, -1.0], set_priors={0: 0.0, 1: 1.0}, prior=0.5)
    >>> curve.x, curve.y.round(2), round(curve.area.value, 3)
    (array([0. , 0.5, 0.5, 1. , 1. ]), array([1.  , 1.  , 0.5 , 0.67, 0.5 ]), 0.833)
    """
    found = _profile(y, scores, set_priors, prior, sample_weight, groups)
    return _curve(found, _recall_and_precision, _step_area, confidence, random_state)


def _profile(
    y: ArrayLike,
    scores: ArrayLike,
    set_priors: object,
    prior: float,
    weight: ArrayLike | None,
    groups: ArrayLike | None,
) -> Profile:
    sets, scored = matched(y, scores, None, set_priors, prior, weight)
    return profile(sets, rank(scored.z), units(sets, groups))


def _curve(
    found: Profile,
    points: Callable[[Floats, Floats, float], tuple[Floats, Floats]],
    area: Callable[[Floats, Floats], float],
    confidence: float,
    random_state: object,
) -> Curve:
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    x, y = points(*_cumulative(found.sets, found.shares()), found.sets.priors.prior)
    others, areas = np.empty((RESAMPLES, len(x))), np.empty(RESAMPLES)
    for i, (shares, priors) in enumerate(found.resampled(RESAMPLES, generator(random_state))):
        x_i, y_i = points(*_cumulative(found.sets, shares, priors), priors.prior)
        others[i], areas[i] = _at(x, x_i, y_i), area(x_i, y_i)
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    if np.isnan(found.unit.factor).any():  # a set of one row or group has no spread
        others[:], areas[:] = np.nan, np.nan
    low, high = np.quantile(others, tails, axis=0)
    ends = np.quantile(areas, tails)
    summary = Estimate(area(x, y), float(areas.std(ddof=1)), float(ends[0]), float(ends[1]))
    thresholds = np.concatenate([[np.inf], found.lowest])
    return Curve(x, y, np.minimum(low, y), np.maximum(high, y), thresholds, summary)


def _at(x: Floats, x_other: Floats, y_other: Floats) -> Floats:
    """Another curve at these x: its mean height where it rises upright."""
    keep = np.concatenate([np.diff(x_other) > 0, [True]])
    first = np.concatenate([[True], np.diff(x_other) > 0])
    if first.sum() != keep.sum():
        return np.asarray(np.interp(x, x_other, y_other))
    return np.asarray(np.interp(x, x_other[keep], (y_other[keep] + y_other[first]) / 2))


def _cumulative(sets: Sets, shares: Floats, priors: Priors | None = None) -> tuple[Floats, Floats]:
    """True and false positive rate when the cells down to each one are called positive, from (0, 0) to (1, 1)."""
    from scipy.optimize import isotonic_regression

    raw = np.cumsum(np.array(class_coefficients(sets, priors)) @ shares, axis=1)
    hit, alarm = (np.concatenate([[0.0], np.clip(isotonic_regression(rate).x, 0, 1)[:-1], [1.0]]) for rate in raw)
    return hit, alarm


def _rates(hit: Floats, alarm: Floats, prior: float) -> tuple[Floats, Floats]:
    return alarm, hit


def _recall_and_precision(hit: Floats, alarm: Floats, prior: float) -> tuple[Floats, Floats]:
    called = prior * hit + (1 - prior) * alarm
    precision = np.divide(prior * hit, called, out=np.ones_like(called), where=called > 0)
    return hit, precision


def _area_under(x: Floats, y: Floats) -> float:
    return float(np.trapezoid(y, x)) if hasattr(np, "trapezoid") else float(np.diff(x) @ (y[1:] + y[:-1]) / 2)


def _step_area(recall: Floats, precision: Floats) -> float:
    """Average precision: the precision at each threshold, weighed by the recall it adds."""
    return float(np.diff(recall) @ precision[1:])


def average_precision(found: Profile, confidence: float, resamples: int, seed: int = 0) -> Estimate:
    """Area under the monotone precision-recall curve, with the spread of its resamples.

    Parameters
    ----------
    found : Profile
    confidence : float
    resamples, seed : int
    """

    def area(shares: Floats, priors: Priors) -> float:
        return _step_area(*_recall_and_precision(*_cumulative(found.sets, shares, priors), priors.prior))

    drawn = resampled(found, area, resamples, seed)
    low, high = np.quantile(drawn, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(area(found.shares(), found.sets.priors), float(drawn.std(ddof=1)), float(low), float(high))

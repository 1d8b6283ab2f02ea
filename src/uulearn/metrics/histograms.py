"""How the scores of the sets are distributed, and the classes behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import integer, number
from uulearn.metrics.intervals import normal_quantile
from uulearn.metrics.margins import matched
from uulearn.metrics.moments import class_means, set_means, units
from uulearn.priors import Floats


@dataclass(frozen=True)
class ScoreHistogram:
    """Densities of scores by bin.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
    labels : ndarray of shape (n_sets,)
    shares : ndarray of shape (n_sets,)
        Set priors.
    sets : ndarray of shape (n_sets, n_bins)
    classes, low, high : ndarray of shape (2, n_bins)
        Of the positive and of the negative class, with an interval; by chance a bar may be below 0, and where many are,
        the priors are wrong.
    """

    edges: Floats
    labels: NDArray[Any]
    shares: Floats
    sets: Floats
    classes: Floats
    low: Floats
    high: Floats


def score_histogram(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    set_priors: Any,
    prior: float = 0.5,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    bins: int = 30,
) -> ScoreHistogram:
    """Densities of the scores in every set, and in the two classes that the sets are mixtures of.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,)
    set_priors, prior, sample_weight, groups, confidence
        As in `evaluate`; the target prior moves nothing here.
    bins : int, default=30
        Bins of equal width; the outermost hold all that is beyond the 1st and the 99th percentile.

    Returns
    -------
    ScoreHistogram

    Examples
    --------
    >>> found = score_histogram([0, 0, 1, 1], [-1.0, 0.5, 1.0, 2.0], set_priors={0: 0.0, 1: 1.0}, bins=1)
    >>> found.classes.ravel() * (found.edges[1] - found.edges[0])
    array([1., 1.])
    """
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    integer("bins", bins, low=1)
    sets, scored = matched(y, scores, None, set_priors, prior, sample_weight)
    low, high = np.quantile(scored.z, [0.01, 0.99])
    edges = np.linspace(low, high if high > low else low + 1.0, bins + 1)
    which = np.clip(np.searchsorted(edges, scored.z, side="right") - 1, 0, bins - 1)
    unit, width = units(sets, groups), np.diff(edges)
    densities, centre, reach = np.empty((len(sets.labels), bins)), np.empty((2, bins)), np.empty((2, bins))
    for at in range(bins):

        def inside(rows: Any, at: int = at) -> Floats:
            return np.asarray(which[rows] == at, dtype=np.float64)[None]

        densities[:, at] = set_means(sets, inside)[0]
        found = class_means(sets, inside, unit)
        centre[:, at] = found.values[:2]
        reach[:, at] = normal_quantile(confidence) * np.sqrt(np.diag(found.covariance)[:2])
    return ScoreHistogram(
        edges,
        sets.labels,
        sets.priors.shares,
        densities / width,
        centre / width,
        (centre - reach) / width,
        (centre + reach) / width,
    )

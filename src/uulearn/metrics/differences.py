"""Two classifiers on the same unlabeled rows: the difference of a metric, far surer than either value."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import number
from uulearn.metrics.definitions import METRICS, Metric, Scored, chosen, gradient, predicted
from uulearn.metrics.estimates import Estimate, Report
from uulearn.metrics.evaluation import cell_auc, influence_variance
from uulearn.metrics.intervals import normal
from uulearn.metrics.margins import matched
from uulearn.metrics.moments import Function, Part, Units, class_means, prior_covariance, set_means, units
from uulearn.metrics.profile import auc, profile, rank
from uulearn.priors import Floats, Priors
from uulearn.sets import Sets

RESAMPLED = ("average_precision", "calibration_error")
"""Metrics of resamples, which are not drawn in pairs."""


def error(sets: Sets, z: Floats) -> float:
    """The label-free estimate of the classification error alone.

    Parameters
    ----------
    sets : Sets
    z : ndarray of shape (n_rows,)
        Scores, cut at 0.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> error(match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5), np.array([2.0, 1.0, 0.5, -1.0]))
    0.25
    """
    plus, minus = sets.priors.coefficients(sets.sizes)
    means = set_means(sets, lambda rows: predicted(z[rows])[None])[0]
    return float(sets.priors.prior - (plus - minus) @ means)


def error_difference(sets: Sets, z: Floats, other: Floats, groups: ArrayLike | None = None) -> tuple[float, float]:
    """Error of the scores z minus error of the other scores on the same rows, with its paired standard error.

    Parameters
    ----------
    sets : Sets
    z, other : ndarray of shape (n_rows,)
        Scores, cut at 0. Rows that both put on one side add nothing, so the difference is far surer than either error.
    groups : array-like of shape (n_rows,), optional
        Rows of one group are not independent.

    Returns
    -------
    difference, standard_error : float

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> error_difference(labeled, np.array([2.0, 1.0, 0.5, -1.0]), np.array([2.0, 1.0, -1.5, -1.0]))
    (0.25, 0.25)
    """
    found = _difference(METRICS["error"], sets, Scored(z), Scored(other), units(sets, groups))
    return found[0], float(np.sqrt(found[1]))


def compare(
    y: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    proba: bool = False,
    set_priors: Any,
    prior: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    metrics: Iterable[str] | str | None = None,
    costs: tuple[float, float] | None = None,
    loss: Any = (),
) -> Report:
    """Every metric of a first classifier minus that of a second, on the same unlabeled rows, with paired error bars.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    first, second : array-like of shape (n_rows,)
        Decision values of either, cut at 0; or probabilities.
    proba : bool, default=False
        Whether they are probabilities, cut at 1/2.
    set_priors, prior, sample_weight, groups, confidence, costs, loss
        As in `evaluate`.
    metrics : str or iterable of str, optional
        As in `evaluate`, but for average precision and calibration error, whose resamples do not come in pairs.

    Returns
    -------
    Report
        Differences; of an error, below 0 means that the first is better.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat([0, 1], 2000)
    >>> truth = rng.random(4000) < np.where(sets == 1, 0.9, 0.4)
    >>> good = np.where(truth, 1.0, -1.0) + rng.normal(size=4000)
    >>> worse = good + rng.normal(size=4000)
    >>> compare(sets, good, worse, set_priors=(0.4, 0.9), prior=0.3, metrics="error")
    metric              estimate  standard error  95 % interval
    error                -0.0999          0.0158  -0.1308 to -0.0690
    """
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    found = chosen(metrics, proba, costs, loss, scores=not proba)
    refused = [name for name in found if name in RESAMPLED and metrics is not None]
    if refused:
        raise ValueError(
            f"metrics must have paired standard errors to be compared; {refused[0]!r} has none. Evaluate each "
            "classifier, or compare the AUC."
        )
    given: list[tuple[Any, Any]] = [(None, one) if proba else (one, None) for one in (first, second)]
    (sets, one), (_, other) = (matched(y, *pair, set_priors, prior, sample_weight) for pair in given)
    unit = units(sets, groups)
    differences: dict[str, Estimate] = {}
    for name, metric in found.items():
        if name not in RESAMPLED:
            value, variance = (_auc_difference if metric is None else _by_means(metric))(sets, one, other, unit)
            differences[name] = normal(value, float(np.sqrt(variance)), confidence)
    return Report(differences, confidence)


def _by_means(metric: Metric) -> Callable[[Sets, Scored, Scored, Units], tuple[float, float]]:
    return lambda *given: _difference(metric, *given)


def _difference(metric: Metric, sets: Sets, one: Scored, other: Scored, unit: Units) -> tuple[float, float]:
    """Difference of a function of class means, and its variance: both classifiers' functions are one longer list."""
    functions: list[Function] = [metric.rows(one), metric.rows(other)]

    def rows(part: Part) -> Floats:
        return np.concatenate([function(part) for function in functions])

    means = class_means(sets, rows, unit)
    p = len(means.values) // 4

    def value(P: Any, N: Any, pi: Any) -> Any:
        return metric.value(P[:p], N[:p], pi) - metric.value(P[p:], N[p:], pi)

    difference, slopes = gradient(value, means)
    return difference, float(np.maximum(0.0, slopes @ means.covariance @ slopes))


def _auc_difference(sets: Sets, one: Scored, other: Scored, unit: Units) -> tuple[float, float]:
    rankings = [rank(one.z), rank(other.z)]
    (value, influence), (value_other, influence_other) = (auc(sets, ranking) for ranking in rankings)
    profiles = [profile(sets, ranking, unit) for ranking in rankings]

    def by_priors(priors: Priors) -> Floats:
        return np.array([cell_auc(profiles[0], priors) - cell_auc(profiles[1], priors)])

    variance = influence_variance(sets, influence - influence_other, unit)
    return value - value_other, variance + float(prior_covariance(sets.priors, by_priors).sum())

"""From class means with their covariance to an estimate with its interval."""

import numpy as np

from uulearn.metrics.definitions import Metric, gradient
from uulearn.metrics.estimates import Contradiction, Estimate
from uulearn.metrics.moments import ClassMeans

ROUNDING = 1e-12
SURE = 0.01
"""Below this p-value an estimate beyond its bounds is called a contradiction."""


def normal_quantile(confidence: float) -> float:
    """How many standard errors a two-sided normal interval of this confidence reaches.

    Examples
    --------
    >>> round(normal_quantile(0.95), 4)
    1.96
    """
    from scipy.special import ndtri

    return float(ndtri(0.5 + confidence / 2))


def normal(value: float, standard_error: float, confidence: float) -> Estimate:
    """An estimate whose error is normal."""
    reach = normal_quantile(confidence) * standard_error
    return Estimate(value, standard_error, value - reach, value + reach)


def interval(metric: Metric, means: ClassMeans, confidence: float) -> Estimate:
    """The metric at these class means: a normal interval for a mean, Fieller's for a ratio.

    Examples
    --------
    >>> from uulearn.metrics.definitions import METRICS
    >>> means = ClassMeans(np.array([0.8, 0.1, 0.3]), np.diag([0.01, 0.01, 0.0]) ** 2)
    >>> print(interval(METRICS["precision"], means, 0.95))
    0.7742 (standard error 0.0176, interval 0.7410 to 0.8102)
    """
    value, slopes = gradient(metric.value, means)
    standard_error = float(np.sqrt(np.maximum(0.0, slopes @ means.covariance @ slopes)))
    if metric.bottom is None:
        return normal(value, standard_error, confidence)
    top, bottom = (gradient(part, means) for part in (metric.top, metric.bottom))
    by = np.array([top[1], bottom[1]])
    covariance = by @ means.covariance @ by.T
    if abs(bottom[0]) < ROUNDING:  # 0 but for the rounding of sums
        value = standard_error = np.nan
        if not covariance[1, 1] > ROUNDING**2:
            return Estimate(np.nan, np.nan, np.nan, np.nan)
    low, high = fieller((top[0], bottom[0]), covariance, normal_quantile(confidence))
    return Estimate(value, standard_error, low, high)


def fieller(terms: tuple[float, float], covariance: np.ndarray, quantile: float) -> tuple[float, float]:
    """The values in [0, 1] of a ratio that its two terms do not contradict (Fieller's theorem).

    A value r is contradicted where top - r bottom, whose mean is 0 at the true ratio, is further from 0 than `quantile`
    of its standard errors. So the interval holds also where the denominator may be 0, of which a standard error of the
    ratio knows nothing. Where nothing in [0, 1] is left, the nearest end of it is both ends.

    Parameters
    ----------
    terms : (float, float)
        Numerator and denominator.
    covariance : ndarray of shape (2, 2)
    quantile : float

    Examples
    --------
    >>> low, high = fieller((0.1, 0.2), np.array([[1e-4, 0], [0, 1e-4]]), 1.96)
    >>> round(low, 3), round(high, 3)
    (0.395, 0.615)
    >>> fieller((0.1, 0.2), np.array([[1.0, 0], [0, 1.0]]), 1.96)
    (0.0, 1.0)
    """
    (top, bottom), q2 = terms, quantile**2
    square = bottom**2 - q2 * covariance[1, 1]
    middle = top * bottom - q2 * covariance[0, 1]
    constant = top**2 - q2 * covariance[0, 0]
    if not np.isfinite([square, middle, constant]).all():
        return np.nan, np.nan
    # square r^2 - 2 middle r + constant <= 0
    root = middle**2 - square * constant
    if square <= 0 and (root <= 0 or square == 0):
        return 0.0, 1.0
    ends = sorted((middle + sign * np.sqrt(max(root, 0.0))) / square for sign in (-1, 1))
    if square > 0:
        kept = [(max(ends[0], 0.0), min(ends[1], 1.0))]
    else:
        kept = [(0.0, min(ends[0], 1.0)), (max(ends[1], 0.0), 1.0)]
    kept = [(low, high) for low, high in kept if low <= high]
    if not kept:
        nearest = float(np.clip(top / bottom, 0.0, 1.0))
        return nearest, nearest
    return float(kept[0][0]), float(kept[-1][1])


def contradiction(name: str, metric: Metric, estimate: Estimate) -> Contradiction | None:
    """That this estimate is beyond its bounds by more than chance, if it is.

    Examples
    --------
    >>> from uulearn.metrics.definitions import METRICS
    >>> contradiction("tpr", METRICS["tpr"], normal(1.2, 0.05, 0.95)).bound
    1.0
    """
    from scipy.special import ndtr

    if metric.bottom is not None or not estimate.standard_error > ROUNDING:
        return None
    low, high = metric.bounds
    bound = float(np.clip(estimate.value, low, high))
    p_value = float(ndtr(-abs(estimate.value - bound) / estimate.standard_error))
    return Contradiction(name, estimate.value, bound, p_value) if p_value < SURE else None

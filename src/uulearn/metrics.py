"""How good a classifier is on unlabeled rows, with error bars and without a label.

Everything rests on one fact: for any function h of a row, the coefficients of the risk turn its set means m_k into
its class means, ``E_P[h] = sum_k (a_k / pi) m_k`` and ``E_N[h] = sum_k (b_k / (1 - pi)) m_k``. Rates are such means,
the other metrics are functions of rates, and the AUC is a mean over pairs of rows. Each estimate is a sum over rows of
an influence, which gives its standard error (delta method; for the AUC the projection of DeLong).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import floats, number
from uulearn.priors import Floats
from uulearn.sets import Sets, match_sets


@dataclass(frozen=True)
class Estimate:
    """A label-free estimate with its standard error and a normal interval; nothing is clipped."""

    value: float
    standard_error: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} (standard error {self.standard_error:.4f}, interval {self.low:.4f} to {self.high:.4f})"
        )


@dataclass(frozen=True, repr=False)
class Report(Mapping[str, Estimate]):
    """Label-free estimates by name; also readable as attributes.

    Examples
    --------
    >>> report = Report({"error": Estimate(0.25, 0.05, 0.15, 0.35)})
    >>> report
    metric             estimate  standard error  95 % interval
    error                0.2500          0.0500  0.1500 to 0.3500
    >>> report.error.value, report["error"].standard_error, float(report.error)
    (0.25, 0.05, 0.25)
    """

    estimates: dict[str, Estimate]
    confidence: float = 0.95

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_"):  # asked for by copy and pickle, before there are any estimates
            raise AttributeError(name)
        if name not in self.estimates:
            raise AttributeError(f"this report has no {name!r}; it has {', '.join(self.estimates)}")
        return self.estimates[name]

    def __repr__(self) -> str:
        head = f"{'metric':<16}  {'estimate':>9}  {'standard error':>14}  {100 * self.confidence:g} % interval"
        rows = [
            f"{name:<16}  {e.value:>9.4f}  {e.standard_error:>14.4f}  {e.low:.4f} to {e.high:.4f}"
            for name, e in self.items()
        ]
        return "\n".join([head, *rows])


RATES: dict[str, Callable[[float, float, float], tuple[float, float, float]]] = {
    "error": lambda t, f, pi: (pi * (1 - t) + (1 - pi) * f, -pi, 1 - pi),
    "balanced_error": lambda t, f, pi: ((1 - t + f) / 2, -0.5, 0.5),
    "tpr": lambda t, f, pi: (t, 1, 0),
    "fpr": lambda t, f, pi: (f, 0, 1),
    "precision": lambda t, f, pi: _ratio(pi * t, pi * t + (1 - pi) * f, (pi, 0), (pi, 1 - pi)),
    "recall": lambda t, f, pi: (t, 1, 0),
    "f1": lambda t, f, pi: _ratio(2 * pi * t, pi + pi * t + (1 - pi) * f, (2 * pi, 0), (pi, 1 - pi)),
}
"""Metric: (true positive rate, false positive rate, prior) -> (value, its derivative by either rate)."""


def _ratio(
    top: float, bottom: float, d_top: tuple[float, float], d_bottom: tuple[float, float]
) -> tuple[float, float, float]:
    if bottom == 0:
        return np.nan, np.nan, np.nan
    value = top / bottom
    slopes = [(dt - value * db) / bottom for dt, db in zip(d_top, d_bottom, strict=True)]
    return value, slopes[0], slopes[1]


def evaluate(
    y: ArrayLike,
    *,
    scores: ArrayLike | None = None,
    proba: ArrayLike | None = None,
    set_priors: Any,
    prior: float,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Report:
    """Error, balanced error, TPR, FPR, precision, recall, F1 and AUC of a classifier on unlabeled rows.

    Use rows the classifier was not trained on, or out-of-fold scores: of two sets, those of scikit-learn's
    cross_val_predict. It takes the sets for the classes, so with more of them fit and score each fold in a loop.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,), optional
        Decision values, cut at 0.
    proba : array-like of shape (n_rows,) or (n_rows, 2), optional
        Probabilities of the positive class, cut at 1/2; one of `scores` and `proba` must be given.
    set_priors : mapping or sequence
        Share of positives of each set; a sequence is in the order of the sorted set labels.
    prior : float
        Share of positives of the target.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows of one group are not independent (a patient, a day); standard errors then count groups.
    confidence : float, default=0.95
        Level of the intervals.

    Returns
    -------
    Report
        A mapping from the name of the metric to its `Estimate`. Values are unbiased (ratios nearly so), never
        clipped: on few rows an error may come out below 0. Standard errors are NaN where a set has a single row
        or group.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(["A", "B"], [3000, 2000])
    >>> truth = rng.random(5000) < np.where(sets == "A", 0.9, 0.4)  # never shown to evaluate
    >>> scores = np.where(truth, 1.0, -1.0) + rng.normal(size=5000)
    >>> report = evaluate(sets, scores=scores, set_priors={"A": 0.9, "B": 0.4}, prior=0.3)
    >>> print(report.tpr, report.fpr, sep="\\n")
    0.8386 (standard error 0.0095, interval 0.8200 to 0.8572)
    0.1626 (standard error 0.0209, interval 0.1217 to 0.2035)
    """
    z = _margins(scores, proba)
    sets = match_sets(y, set_priors, prior, sample_weight)
    if len(z) != len(sets.index):
        name = "scores" if proba is None else "proba"
        raise ValueError(
            f"{name} and y must have the same length; got {len(z)} {name} for {len(sets.index)} rows. Score the rows "
            "that y names."
        )
    return evaluate_sets(sets, z, groups=groups, confidence=confidence)


def evaluate_sets(sets: Sets, z: Floats, *, groups: ArrayLike | None = None, confidence: float = 0.95) -> Report:
    """`evaluate` for rows already matched to their sets and scores cut at 0.

    Parameters
    ----------
    sets : Sets
    z : ndarray of shape (n_rows,)
    groups, confidence
        As in `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> evaluate_sets(labeled, np.array([2.0, 1.0, 0.5, -1.0])).error.value
    0.25
    """
    from scipy.special import ndtri

    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    group_of = None if groups is None else group_index(groups, len(z))
    small_sample = _small_sample(sets, group_of)
    quantile = float(ndtri(0.5 + confidence / 2))

    def estimate(value: float, influence: Floats) -> Estimate:
        error = _standard_error(sets, influence * small_sample[sets.index], group_of)
        return Estimate(float(value), error, float(value) - quantile * error, float(value) + quantile * error)

    to_positive, to_negative = _class_means(sets)
    predicted = _predicted(z)
    means = _set_means(sets, predicted)
    hit, alarm = float(to_positive @ means), float(to_negative @ means)
    centred = predicted - means[sets.index]
    found = {}
    for name, metric in RATES.items():
        value, by_hit, by_alarm = metric(hit, alarm, sets.priors.prior)
        found[name] = estimate(value, (by_hit * to_positive + by_alarm * to_negative)[sets.index] * centred)
    found["auc"] = estimate(*_auc(sets, z, to_positive, to_negative))
    return Report(found, confidence)


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
    >>> error(match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5), np.array([2.0, 1.0, 0.5, -1.0]))
    0.25
    """
    to_positive, to_negative = _class_means(sets)
    means = _set_means(sets, _predicted(z))
    pi = sets.priors.prior
    return float(pi * (1 - to_positive @ means) + (1 - pi) * (to_negative @ means))


def error_difference(sets: Sets, z: Floats, other: Floats) -> tuple[float, float]:
    """Error of the scores z minus error of the other scores on the same rows, with its paired standard error.

    Parameters
    ----------
    sets : Sets
    z, other : ndarray of shape (n_rows,)
        Scores, cut at 0. Rows that both put on one side add nothing, so the difference is far surer than either error.

    Returns
    -------
    difference, standard_error : float

    Examples
    --------
    >>> import numpy as np
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> error_difference(labeled, np.array([2.0, 1.0, 0.5, -1.0]), np.array([2.0, 1.0, -1.5, -1.0]))
    (0.25, 0.25)
    """
    to_positive, to_negative = _class_means(sets)
    pi = sets.priors.prior
    slope = (1 - pi) * to_negative - pi * to_positive
    change = _predicted(z) - _predicted(other)
    means = _set_means(sets, change)
    influence = (slope * _small_sample(sets, None))[sets.index] * (change - means[sets.index])
    return float(slope @ means), _standard_error(sets, influence, None)


def _predicted(z: Floats) -> Floats:
    """1 where positive is predicted, 0 where negative, 1/2 on the boundary."""
    return np.where(z == 0, 0.5, z > 0)


def _margins(scores: ArrayLike | None, proba: ArrayLike | None) -> Floats:
    if (scores is None) == (proba is None):
        raise ValueError(
            f"give either scores (cut at 0) or proba (cut at 1/2); got {'neither' if scores is None else 'both'}."
        )
    name, cut = ("scores", 0.0) if proba is None else ("proba", 0.5)
    z = floats(name, scores if proba is None else proba)
    given = np.asarray(scores)
    if given.dtype == bool or (given.dtype.kind in "iu" and np.all((given == 0) | (given == 1))):
        kind = "booleans" if given.dtype == bool else "zeros and ones"
        raise TypeError(
            f"scores must be decision values, cut at 0; got {kind}. Pass them as proba, which is cut at 1/2."
        )
    if name == "proba" and z.ndim == 2 and z.shape[1] == 2:
        z = z[:, 1]
    if z.ndim != 1:
        raise ValueError(
            f"{name} must hold one number a row; got an array of shape {z.shape}. Pass the column of the positive "
            "class."
        )
    if not np.all(np.isfinite(z)):
        raise ValueError(f"{name} must be finite; got NaN or infinity. Drop these rows or mend the model.")
    if name == "proba" and np.any((z < 0) | (z > 1)):
        raise ValueError(
            f"proba must lie in [0, 1]; got values from {z.min():g} to {z.max():g}. Pass decision values as scores."
        )
    return z - cut


def _class_means(sets: Sets) -> tuple[Floats, Floats]:
    """What turns set means into the mean over the positive and over the negative class."""
    plus, minus = sets.priors.coefficients(sets.sizes)
    return plus / sets.priors.prior, minus / (1 - sets.priors.prior)


def _set_means(sets: Sets, h: Floats) -> Floats:
    return np.bincount(sets.index, weights=sets.weight * h, minlength=len(sets.labels)) / sets.sizes


def group_index(groups: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Groups of the rows as numbers from 0 on.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
    n_rows : int

    Examples
    --------
    >>> group_index(["ward", "home", "ward"], 3).tolist()
    [1, 0, 1]
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must name the group of each of {n_rows} rows; got an array of shape {values.shape}. Give a row "
            "that belongs to none a group of its own."
        )
    try:
        names, index = np.unique(values, return_inverse=True)
    except TypeError:
        raise TypeError(
            "groups must hold names of one type; got names that cannot be ordered. Name every group alike."
        ) from None
    if names.dtype.kind == "f" and np.isnan(names[-1]):
        raise ValueError(
            "groups must name the group of each row; got NaN. Give a row that belongs to none a group of its own."
        )
    return index


def _small_sample(sets: Sets, group_of: NDArray[np.intp] | None) -> Floats:
    """sqrt(n / (n - 1)) for the n independent rows or groups of each set: a mean was taken out of their influences."""
    seen = sets.weight > 0
    member = sets.index[seen]
    if group_of is not None:
        member = np.unique(group_of[seen] * len(sets.labels) + member) % len(sets.labels)
    n = np.bincount(member, minlength=len(sets.labels)).astype(float)
    return np.asarray(np.sqrt(np.divide(n, n - 1, out=np.full_like(n, np.nan), where=n > 1)))


def _standard_error(sets: Sets, influence: Floats, group_of: NDArray[np.intp] | None) -> float:
    """Standard error of a sum over rows of weight / n_k times an influence that is centred in each set."""
    term: Floats = (sets.weight / sets.sizes[sets.index]) * influence
    if group_of is not None:
        term = np.asarray(np.bincount(group_of, weights=term), dtype=np.float64)
    return float(np.sqrt(term @ term))


def _auc(sets: Sets, z: Floats, to_positive: Floats, to_negative: Floats) -> tuple[float, Floats]:
    """AUC as a mean over pairs of signed weights, with the influence of each row (DeLong's projection)."""
    row = sets.weight / sets.sizes[sets.index]
    order = np.argsort(z, kind="stable")
    new = np.concatenate([[True], np.diff(z[order]) != 0])
    tie = np.empty(len(z), dtype=np.intp)
    tie[order] = np.cumsum(new) - 1

    def below(mass: Floats) -> Floats:
        """Mass at scores below each row's, counting ties half."""
        per_value = np.bincount(tie, weights=mass)
        return (np.cumsum(per_value) - per_value / 2)[tie]

    positive, negative = to_positive[sets.index] * row, to_negative[sets.index] * row
    beats, beaten = below(negative), 1 - below(positive)
    influence = to_positive[sets.index] * beats + to_negative[sets.index] * beaten
    return float(positive @ beats), influence - _set_means(sets, influence)[sets.index]

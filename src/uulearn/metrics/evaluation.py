"""All metrics of one classifier on unlabeled rows, with error bars."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import integer, number
from uulearn.metrics.calibration import calibration_error
from uulearn.metrics.curves import average_precision
from uulearn.metrics.definitions import Metric, Scored, chosen
from uulearn.metrics.estimates import Estimate, Report
from uulearn.metrics.intervals import contradiction, interval, normal
from uulearn.metrics.margins import matched
from uulearn.metrics.moments import (
    ClassMeans,
    Units,
    class_coefficients,
    class_means,
    combined_covariance,
    prior_covariance,
    units,
)
from uulearn.metrics.profile import RESAMPLES, Profile, Ranking, auc, profile, rank
from uulearn.priors import Floats, Priors
from uulearn.sets import Sets


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
    metrics: Iterable[str] | str | None = None,
    costs: tuple[float, float] | None = None,
    loss: Any = (),
    resamples: int = RESAMPLES,
) -> Report:
    """How good a classifier is on unlabeled rows: every metric with a standard error and an interval.

    Use rows the classifier was not trained on, or out-of-fold scores: of two sets, those of scikit-learn's
    cross_val_predict. It takes the sets for the classes, so with more of them fit and score each fold in a loop.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,), optional
        Decision values, cut at 0.
    proba : array-like of shape (n_rows,) or (n_rows, 2), optional
        Probabilities of the positive class, cut at 1/2 where there are no scores.
    set_priors : mapping or sequence
        Share of positives of each set; a sequence is in the order of the sorted set labels. A share may be `Uncertain`.
    prior : float
        Share of positives of the target; may be `Uncertain`.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows of one group are not independent (a patient, a day); standard errors then count groups.
    confidence : float, default=0.95
        Level of the intervals.
    metrics : str or iterable of str, optional
        Some of `metrics.NAMES`; all that scores (or probabilities) allow by default.
    costs : (float, float), optional
        Of a false positive and of a false negative; adds the metric "cost", their mean over the target.
    loss : Loss, str or iterable of them, optional
        Adds the risk of the scores under each, such as "logistic_risk".
    resamples : int, default=200
        Resamples behind the error bars of average precision and calibration error; all others are closed forms.

    Returns
    -------
    Report
        A mapping from the name of the metric to its `Estimate`. Values are unbiased (ratios nearly so) and not clipped:
        on few rows an error may come out below 0. Standard errors are NaN where a set has a single row or group.
        Intervals of ratios (precision, F1, negative predictive value) are Fieller's, within [0, 1]. Average precision
        is that of the monotone curve; of the calibration error, what noise adds is taken off.
        `contradictions` lists what no classifier can have.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(["A", "B"], [3000, 2000])
    >>> truth = rng.random(5000) < np.where(sets == "A", 0.9, 0.4)  # never shown to evaluate
    >>> scores = np.where(truth, 1.0, -1.0) + rng.normal(size=5000)
    >>> evaluate(sets, scores=scores, set_priors={"A": 0.9, "B": 0.4}, prior=0.3, metrics=["tpr", "fpr", "precision"])
    metric              estimate  standard error  95 % interval
    tpr                   0.8386          0.0095  0.8200 to 0.8572
    fpr                   0.1626          0.0209  0.1217 to 0.2035
    precision             0.6885          0.0288  0.6356 to 0.7493
    """
    found = chosen(metrics, proba is not None, costs, loss, scores=scores is not None)
    sets, scored = matched(y, scores, proba, set_priors, prior, sample_weight)
    return judge(sets, scored, found, groups=groups, confidence=confidence, resamples=resamples)


def evaluate_sets(
    sets: Sets,
    z: Floats,
    proba: Floats | None = None,
    *,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    metrics: Iterable[str] | str | None = None,
    costs: tuple[float, float] | None = None,
    loss: Any = (),
    resamples: int = RESAMPLES,
) -> Report:
    """`evaluate` for rows already matched to their sets and scores cut at 0.

    Parameters
    ----------
    sets : Sets
    z : ndarray of shape (n_rows,)
    proba : ndarray of shape (n_rows,), optional
    groups, confidence, metrics, costs, loss, resamples
        As in `evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn.sets import match_sets
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> evaluate_sets(labeled, np.array([2.0, 1.0, 0.5, -1.0])).error.value
    0.25
    """
    found = chosen(metrics, proba is not None, costs, loss)
    return judge(sets, Scored(z, proba), found, groups=groups, confidence=confidence, resamples=resamples)


def judge(
    sets: Sets,
    scored: Scored,
    metrics: dict[str, Metric | None],
    *,
    groups: ArrayLike | None,
    confidence: float,
    resamples: int,
) -> Report:
    """These metrics of what a classifier says of the rows."""
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    integer("resamples", resamples, low=2)
    for one in (scored.z, scored.proba):
        if one is not None and len(one) != len(sets.index):
            raise ValueError(
                f"scores and the rows of the sets must have the same length; got {len(one)} for {len(sets.index)} "
                "rows. Score the rows that the sets are of."
            )
    judged = _Judged(sets, scored, units(sets, groups))
    found, contradictions = {}, []
    for name, metric in metrics.items():
        if metric is None:
            found[name] = judged.ranked(name, confidence, resamples)
            continue
        found[name] = interval(metric, judged.means(metric), confidence)
        beyond = contradiction(name, metric, found[name])
        # Recall is the TPR, and specificity the FPR, by another name: nothing is said twice.
        if beyond is not None and name not in ("recall", "specificity"):
            contradictions.append(beyond)
    return Report(found, confidence, tuple(contradictions))


class _Judged:
    """Rows whose metrics are asked for; what several of them share is computed once."""

    def __init__(self, sets: Sets, scored: Scored, unit: Units) -> None:
        self.sets, self.scored, self.unit = sets, scored, unit
        self._means: dict[Any, ClassMeans] = {}
        self._profiles: dict[str, tuple[Ranking, Profile]] = {}

    def means(self, metric: Metric) -> ClassMeans:
        """Class means of the functions that a metric needs."""
        if metric.rows not in self._means:
            self._means[metric.rows] = class_means(self.sets, metric.rows(self.scored), self.unit)
        return self._means[metric.rows]

    def ranking(self, kind: str) -> tuple[Ranking, Profile]:
        """The order and the profile of the scores, or of the probabilities."""
        z, proba = self.scored
        if kind not in self._profiles:
            order = self._profiles["scores"][0].order if kind == "proba" and "scores" in self._profiles else None
            values = proba if kind == "proba" and proba is not None else z
            same = order is not None and _rises(values, order)
            ranking = Ranking(values, order) if order is not None and same else rank(values)
            self._profiles[kind] = ranking, profile(self.sets, ranking, self.unit)
        return self._profiles[kind]

    def ranked(self, name: str, confidence: float, resamples: int) -> Estimate:
        """A metric of the order of the scores, or of the bins of the probabilities."""
        if name == "calibration_error":
            return calibration_error(self.ranking("proba")[1], confidence, resamples)
        ranking, found = self.ranking("scores")
        if name == "average_precision":
            return average_precision(found, confidence, resamples)
        value, variance = auc_with_variance(self.sets, ranking, found, self.unit)
        return normal(value, float(np.sqrt(variance)), confidence)


def _rises(values: Floats, order: Any) -> bool:
    """Whether an order is that of these values too."""
    step = 1 << 18
    return all(
        bool(np.all(np.diff(values[order[start : start + step + 1]]) >= 0)) for start in range(0, len(order), step)
    )


def auc_with_variance(sets: Sets, ranking: Ranking, found: Profile, unit: Units) -> tuple[float, float]:
    """The AUC and its variance: that of its influences, and what uncertain priors add."""
    value, influence = auc(sets, ranking)
    return value, influence_variance(sets, influence, unit) + float(
        prior_covariance(sets.priors, lambda priors: np.array([cell_auc(found, priors)])).sum()
    )


def influence_variance(sets: Sets, influence: Floats, unit: Units) -> float:
    """Variance of the sum over sets of the mean influence in each."""
    ones = np.ones((1, len(sets.labels)))
    return float(combined_covariance(sets, lambda rows: influence[rows][None], unit, ones)[0, 0])


def cell_auc(found: Profile, priors: Priors) -> float:
    """The AUC by cells, for its derivatives by the priors."""
    positive, negative = np.array(class_coefficients(found.sets, priors)) @ found.shares()
    return float(positive @ (negative.sum() - np.cumsum(negative) + negative / 2))

"""Label-free scorers for scikit-learn's searches and cross-validation."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from uulearn._checks import choose
from uulearn.metrics.definitions import METRICS, NAMES, OF_PROBABILITIES, RANKED, chosen
from uulearn.metrics.evaluation import evaluate_sets
from uulearn.metrics.profile import RESAMPLES
from uulearn.sets import rematch_sets


@dataclass(frozen=True)
class Scorer:
    """scorer(estimator, X, y) -> a label-free metric, of which more is better: losses are negated.

    Attributes
    ----------
    metric : str
    sign : int
        -1 for a metric of which less is better.
    options : dict
        Further arguments of `evaluate`, such as `costs`.
    """

    metric: str
    sign: int
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The metric of a fitted classifier on rows whose sets y names."""
        judged = _classifier(estimator)
        if not hasattr(judged, "priors_"):
            raise TypeError(
                f"scorer({self.metric!r}) must be given a classifier trained from unlabeled sets (or a pipeline or "
                f"search around one); got {type(judged).__name__}. Score others with scikit-learn's own scorers."
            )
        judged._refuse_if_unknown(f"scorer({self.metric!r})")
        judged._refuse_moved_target()
        proba = np.asarray(estimator.predict_proba(X))[:, 1] if self.metric in OF_PROBABILITIES else None
        z = np.asarray(estimator.decision_function(X) if proba is None else proba - 0.5, dtype=float)
        sets = rematch_sets(judged._column(y, len(z)), judged.set_labels_, judged.priors_, sample_weight)
        wanted: Iterable[str] = () if self.metric in ("cost", "risk") else (self.metric,)
        # Of the resampled metrics only the value of the calibration error depends on the resamples.
        resamples = RESAMPLES if self.metric == "calibration_error" else 2
        report = evaluate_sets(sets, z, proba, metrics=wanted, resamples=resamples, **self.options)
        return self.sign * next(iter(report.values())).value


def _classifier(estimator: Any) -> Any:
    """The classifier inside pipelines and searches, which knows its priors."""
    while True:
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator


def scorer(metric: str, *, costs: tuple[float, float] | None = None, loss: Any = None) -> Scorer:
    """A scorer by name, for `GridSearchCV(..., scoring=)` and its kin; several make a dictionary.

    Parameters
    ----------
    metric : str
        One of `metrics.NAMES`, "cost" (with `costs`) or "risk" (with `loss`). What should be small is negated, so that
        a search always takes the largest.
    costs : (float, float), optional
        Of a false positive and of a false negative.
    loss : Loss or str, optional

    Returns
    -------
    Scorer

    Examples
    --------
    >>> scorer("auc").sign, scorer("log_loss").sign, scorer("cost", costs=(1, 5)).metric
    (1, -1, 'cost')
    """
    extra = {"cost": costs, "risk": loss}
    choose("metric", metric, dict.fromkeys((*NAMES, *extra)))
    for name, given in extra.items():
        argument = {"cost": "costs", "risk": "loss"}[name]
        if (metric == name) != (given is not None):
            rule = f"needs {argument}" if metric == name else f"takes no {argument}"
            raise ValueError(f"scorer({metric!r}) {rule}; got {given!r}. {argument} belongs to scorer({name!r}).")
    options: dict[str, Any] = {}
    if metric in extra:
        options = {"costs": costs} if metric == "cost" else {"loss": loss}
        chosen((), True, **options)
    better = RANKED.get(metric, metric in METRICS and METRICS[metric].greater_is_better)
    return Scorer(metric, 1 if better else -1, options)

"""The metrics as data: which functions of a row each needs, and how class means become its value.

Class means are P[0], P[1], ... over the positive class and N[0], N[1], ... over the negative one. Values are analytic
functions of them and of pi, so that a step along the imaginary axis gives their derivatives to the last digit.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from uulearn._checks import choose, number, quoted
from uulearn.losses import Loss, get
from uulearn.metrics.moments import ClassMeans, Function
from uulearn.priors import Floats

TINY = 1e-20
"""Step along the imaginary axis; nothing is subtracted, so it may be as small as that."""

Value = Callable[[Any, Any, Any], Any]
"""(P, N, pi) -> a number."""


class Scored(NamedTuple):
    """Scores of the rows, cut at 0, and their probabilities where there are some."""

    z: Floats
    proba: Floats | None = None


@dataclass(frozen=True)
class Metric:
    """A smooth function of class means.

    Attributes
    ----------
    rows : callable
        rows(scored) -> what turns some rows into the values of the functions whose class means are asked for.
    top, bottom : callable
        (P, N, pi) -> numerator and denominator, linear in P and N; of a mean the denominator is None.
    bounds : (float, float)
        What no true classifier is beyond.
    greater_is_better : bool
    """

    rows: Callable[[Scored], Function]
    top: Value
    bottom: Value | None = None
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool = False

    def value(self, P: Any, N: Any, pi: Any) -> Any:
        """The metric at these class means."""
        top = self.top(P, N, pi)
        return top if self.bottom is None else top / self.bottom(P, N, pi)


def _signs(scored: Scored) -> Function:
    """1 where positive is predicted, 0 where negative, 1/2 on the boundary."""
    return lambda rows: predicted(scored.z[rows])[None]


def predicted(z: Floats) -> Floats:
    """1 where positive is predicted, 0 where negative, 1/2 on the boundary."""
    return np.asarray(0.5 + 0.5 * np.sign(z))


def _log_losses(scored: Scored) -> Function:
    proba = _probabilities(scored)
    tiny = np.finfo(np.float64).eps  # as scikit-learn does

    def function(rows: Any) -> Floats:
        p = np.clip(proba[rows], tiny, 1 - tiny)
        return np.asarray(-np.log(np.array([p, 1 - p])))

    return function


def _squares(scored: Scored) -> Function:
    proba = _probabilities(scored)
    return lambda rows: np.square(np.array([1 - proba[rows], proba[rows]]))


def _probabilities(scored: Scored) -> Floats:
    assert scored.proba is not None  # asked for by no metric without them
    return scored.proba


def _risk(P: Any, N: Any, pi: Any) -> Any:
    """Of what a row costs as a positive (function 0) and as a negative (function 1)."""
    return pi * P[0] + (1 - pi) * N[1]


ANY = (-np.inf, np.inf)
METRICS: dict[str, Metric] = {
    "error": Metric(_signs, lambda P, N, pi: pi * (1 - P[0]) + (1 - pi) * N[0]),
    "balanced_error": Metric(_signs, lambda P, N, pi: (1 - P[0] + N[0]) / 2),
    "tpr": Metric(_signs, lambda P, N, pi: P[0], greater_is_better=True),
    "fpr": Metric(_signs, lambda P, N, pi: N[0]),
    "specificity": Metric(_signs, lambda P, N, pi: 1 - N[0], greater_is_better=True),
    "precision": Metric(
        _signs, lambda P, N, pi: pi * P[0], lambda P, N, pi: pi * P[0] + (1 - pi) * N[0], greater_is_better=True
    ),
    "recall": Metric(_signs, lambda P, N, pi: P[0], greater_is_better=True),
    "f1": Metric(
        _signs,
        lambda P, N, pi: 2 * pi * P[0],
        lambda P, N, pi: pi + pi * P[0] + (1 - pi) * N[0],
        greater_is_better=True,
    ),
    "negative_predictive_value": Metric(
        _signs,
        lambda P, N, pi: (1 - pi) * (1 - N[0]),
        lambda P, N, pi: (1 - pi) * (1 - N[0]) + pi * (1 - P[0]),
        greater_is_better=True,
    ),
    "log_loss": Metric(_log_losses, _risk, bounds=(0.0, np.inf)),
    "brier": Metric(_squares, _risk),
}
"""Functions of class means; `ranking` adds those of the order of the scores."""
OF_RATES = {name: metric for name, metric in METRICS.items() if metric.rows is _signs}
"""Those that are functions of the true and the false positive rate and of pi."""
OF_PROBABILITIES = ("log_loss", "brier", "calibration_error")
RANKED = {"auc": True, "average_precision": True, "calibration_error": False}
"""Metrics of the order of the scores or of bins of them, and whether greater is better."""
NAMES = (*list(METRICS)[:9], "auc", "average_precision", *OF_PROBABILITIES)
"""All metrics that need no further argument, in the order of a report."""


def cost(costs: Any) -> Metric:
    """The mean cost of the mistakes, pi c_minus (1 - TPR) + (1 - pi) c_plus FPR.

    Parameters
    ----------
    costs : (float, float)
        Of a false positive and of a false negative.
    """
    if not isinstance(costs, Sequence | np.ndarray) or isinstance(costs, str) or len(costs) != 2:
        raise TypeError(f"costs must be a pair (of a false positive, of a false negative); got {costs!r}. Give both.")
    false_positive, false_negative = (
        number(f"costs[{i}]", each, low=0, open_high=True) for i, each in enumerate(costs)
    )
    return Metric(
        _signs,
        lambda P, N, pi: pi * false_negative * (1 - P[0]) + (1 - pi) * false_positive * N[0],
        bounds=(0.0, max(false_positive, false_negative)),
    )


def risk_of(loss: Loss) -> Metric:
    """The risk of the scores under a loss: pi E_P[loss(z)] + (1 - pi) E_N[loss(-z)]."""

    def rows(scored: Scored) -> Function:
        return lambda part: np.array([loss.value(scored.z[part]), loss.value(-scored.z[part])])

    return Metric(rows, _risk, bounds=ANY)


def chosen(
    metrics: Iterable[str] | str | None, proba: bool, costs: Any = None, loss: Any = (), *, scores: bool = True
) -> dict[str, Metric | None]:
    """The metrics asked for by name, in order; None stands for those of the ranking.

    Parameters
    ----------
    metrics : str, iterable of str or None
        All that can be had by default.
    proba : bool
        Whether there are probabilities.
    costs : pair or None
    scores : bool
        Whether there are decision values.
    loss : Loss or str, or iterable of them
        Each adds the risk under it.
    """
    if metrics is None:
        names = [name for name in NAMES if proba or name not in OF_PROBABILITIES]
    else:
        names = [metrics] if isinstance(metrics, str) else list(metrics)
    known = dict.fromkeys(NAMES)
    for name in names:
        choose("metrics", name, known)
        if name in OF_PROBABILITIES and not proba:
            raise ValueError(
                f"metrics must be of scores where only scores are given; {name!r} needs probabilities. Pass proba."
            )
    found: dict[str, Metric | None] = {name: METRICS.get(name) for name in names}
    if costs is not None:
        found["cost"] = cost(costs)
    if not scores and not (isinstance(loss, Sequence) and not loss):
        raise ValueError(
            f"loss must be that of decision values; got loss={loss!r} beside probabilities alone. Pass scores as well, "
            "or take metrics='log_loss'."
        )
    for each in [loss] if isinstance(loss, str | Loss) else loss:
        name = each if isinstance(each, str) else type(each).__name__.lower()
        found[f"{name}_risk"] = risk_of(get(each))
    if not found:
        raise ValueError(f"metrics must name at least one of {quoted(NAMES)}; got none. Leave it out for all.")
    return found


def gradient(function: Value, means: ClassMeans) -> tuple[float, Floats]:
    """Value of a function of class means, and its derivative by each of them and by pi.

    Examples
    --------
    >>> means = ClassMeans(np.array([0.8, 0.1, 0.3]), np.zeros((3, 3)))
    >>> value, slopes = gradient(METRICS["error"].value, means)
    >>> round(value, 3), slopes.round(3)
    (0.13, array([-0.3,  0.7,  0.1]))
    """
    at = means.values.astype(complex)
    p = len(at) // 2
    slopes = np.empty(len(at))
    with np.errstate(divide="ignore", invalid="ignore"):
        for i in range(len(at)):
            moved = at.copy()
            moved[i] += 1j * TINY
            slopes[i] = np.imag(function(moved[:p], moved[p:-1], moved[-1])) / TINY
        value = float(np.real(function(at[:p], at[p:-1], at[-1])))
    return value, slopes if np.isfinite(value) else np.full_like(slopes, np.nan)

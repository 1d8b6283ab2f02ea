"""The cut of a score, chosen without a label: for given costs, or for a precision or recall that is required.

The rates of a cut at c are class means of the row function 1[score > c], and class means need no label: they are signed
sums over the rows (see `metrics`). Sums with signs are noisy and need not fall as the cut rises, which true rates do;
each rate is therefore replaced by the closest curve that falls (isotonic regression, every row counting alike).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import floats, number
from uulearn.metrics import Report, evaluate_sets
from uulearn.metrics.definitions import OF_RATES
from uulearn.priors import Floats
from uulearn.risk import row_weights
from uulearn.sets import Sets, match_sets


class Cut(NamedTuple):
    """A cut and what it is expected to do at the target prior.

    Attributes
    ----------
    threshold : float
        Rows that score above it are predicted positive.
    report : Report
        Label-free error, precision, recall and so on of that cut on the rows it was chosen on, with standard errors.
    """

    threshold: float
    report: Report


def choose_threshold(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    set_priors: Any,
    prior: float,
    costs: tuple[float, float] | None = None,
    precision: float | None = None,
    recall: float | None = None,
    confidence: float = 0.5,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Cut:
    """Choose where to cut a score for the target prior, from unlabeled rows.

    Say one of three things. `costs`: the least expected cost, ``costs[0] (1 - pi) FPR + costs[1] pi (1 - TPR)``.
    `precision`: the lowest cut, thus the most recall, that reaches it. `recall`: the highest cut, thus the best
    precision, that reaches it.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : array-like of shape (n_rows,)
        Scores or probabilities of rows the classifier was not trained on, or out-of-fold ones.
    set_priors, prior
        As in `uulearn.metrics.evaluate`.
    costs : (false positive, false negative), optional
    precision, recall : float in (0, 1), optional
    confidence : float in [.5, 1), default=.5
        How sure a required precision or recall is to be reached: its one-sided lower bound must. One half asks the
        estimate itself. The bound is that of a cut fixed in advance; to pick among cuts makes it a little optimistic.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows of one group are not independent; standard errors then count groups.

    Returns
    -------
    Cut
        Its `threshold`, and the label-free `report` of that cut.

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import choose_threshold
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(["A", "B"], [6000, 4000])
    >>> truth = rng.random(10000) < np.where(sets == "A", 0.9, 0.4)  # never shown to choose_threshold
    >>> scores = np.where(truth, 1.0, -1.0) + rng.normal(size=10000)
    >>> given = {"set_priors": {"A": 0.9, "B": 0.4}, "prior": 0.3}
    >>> cut = choose_threshold(sets, scores, **given, recall=0.95)
    >>> round(cut.threshold, 1), round(float(np.mean(scores[truth] > cut.threshold)), 2)
    (-0.6, 0.94)
    """
    wish, value = _wish(costs, precision, recall)
    margin = number("confidence", confidence, low=0.5, high=1.0, open_high=True)
    z = floats("scores", scores)
    sets = match_sets(y, set_priors, prior, sample_weight)
    if z.shape != sets.index.shape or not np.all(np.isfinite(z)):
        raise ValueError(
            f"scores must be one finite number for each of {len(sets.index)} rows; got an array of shape {z.shape}"
            f"{'' if np.all(np.isfinite(z)) else ' with NaN or infinity'}. Score the rows that y names."
        )
    if not np.all(sets.weight > 0):
        seen = np.flatnonzero(sets.weight > 0)
        z, sets, groups = z[seen], sets.take(seen), None if groups is None else np.asarray(groups)[seen]
    cuts, hit, alarm = falling_rates(z, sets)
    pi = sets.priors.prior
    if wish == "costs":
        dear = value[0] * (1 - pi) * alarm + value[1] * pi * (1 - hit)
        best = np.flatnonzero(np.isclose(dear, dear.min(), rtol=0, atol=1e-12))
        threshold = float(cuts[best[len(best) // 2]])
    else:
        threshold = _required(wish, value, margin, cuts, (hit, alarm), z, sets, groups)
    cut = evaluate_sets(sets, np.where(z > threshold, 1.0, -1.0), groups=groups, metrics=OF_RATES)
    order = evaluate_sets(sets, z, groups=groups, metrics=("auc", "average_precision"))
    return Cut(threshold, Report({**cut, **order}, cut.confidence, cut.contradictions))


def falling_rates(scores: Floats, sets: Sets) -> tuple[Floats, Floats, Floats]:
    """Cuts between the scores, from low to high, with the TPR and FPR of each as curves that fall.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
    sets : Sets

    Returns
    -------
    cuts, tpr, fpr : ndarray of shape (n_different_scores + 1,)

    Examples
    --------
    >>> import numpy as np
    >>> labeled = match_sets([0, 1, 0, 1], {0: 0.0, 1: 1.0}, 0.5)
    >>> falling_rates(np.array([1.0, 2.0, 3.0, 4.0]), labeled)
    (array([-inf,  1.5,  2.5,  3.5,  inf]), array([1. , 1. , 0.5, 0.5, 0. ]), array([1. , 0.5, 0.5, 0. , 0. ]))
    """
    from sklearn.isotonic import isotonic_regression

    values, tie = np.unique(scores, return_inverse=True)
    rows = np.concatenate([[1.0], np.bincount(tie, sets.weight), [1.0]])
    pi = sets.priors.prior
    curves = []
    for column, share in zip(row_weights(sets), (pi, 1 - pi), strict=True):
        rate = 1 - np.concatenate([[0.0], np.cumsum(np.bincount(tie, column))]) / share
        counted = (rows[1:] + rows[:-1]) / 2
        curves.append(isotonic_regression(rate, sample_weight=counted, y_min=0, y_max=1, increasing=False))
    cuts = np.concatenate([[-np.inf], (values[1:] + values[:-1]) / 2, [np.inf]])
    return cuts, curves[0], curves[1]


def _wish(costs: Any, precision: Any, recall: Any) -> tuple[str, Any]:
    given = {"costs": costs, "precision": precision, "recall": recall}
    said = {name: value for name, value in given.items() if value is not None}
    if len(said) != 1:
        raise ValueError(
            f"give one of costs, precision and recall; got {' and '.join(said) or 'none'}. Each of them alone "
            "determines the cut."
        )
    name, value = said.popitem()
    if name != "costs":
        return name, number(name, value, low=0.0, high=1.0, open_low=True, open_high=True)
    pair = floats("costs", value)
    if pair.shape != (2,) or not np.all(np.isfinite(pair)) or np.any(pair <= 0):
        raise ValueError(
            f"costs must be a pair (of a false positive, of a false negative) of positive numbers; got {value!r}. Only "
            "their ratio matters: (1, 5) makes a missed positive five times as dear."
        )
    return name, pair


def _required(
    wish: str,
    value: float,
    confidence: float,
    cuts: Floats,
    rates: tuple[Floats, Floats],
    z: Floats,
    sets: Sets,
    groups: Any,
) -> float:
    """The cut that gives away least of the other quantity while the wish is met."""
    from scipy.special import ndtri

    hit, alarm = rates
    pi, inner = sets.priors.prior, np.isfinite(cuts)
    positive = pi * hit + (1 - pi) * alarm
    found = hit if wish == "recall" else np.divide(pi * hit, positive, out=np.zeros_like(hit), where=positive > 0)
    near = np.flatnonzero((found >= value) & inner)
    order = near[::-1] if wish == "recall" else near
    quantile = float(ndtri(confidence))
    best = float(found[inner].max(initial=0.0)) if not quantile else -np.inf
    # A bound moves slowly along the cuts, so that a few hundred of them are as good as all.
    for place in order[:: max(1, len(order) // 300)]:
        called = np.where(z > cuts[place], 1.0, -1.0)
        estimate = evaluate_sets(sets, called, groups=groups, metrics=wish)[wish]
        bound = estimate.value - quantile * estimate.standard_error if quantile else value
        if bound >= value:
            return float(cuts[place])
        best = np.fmax(best, bound)
    raise ValueError(
        f"no cut reaches {wish} {value:g}{f' with confidence {confidence:g}' if quantile else ''} on these rows; the "
        f"best that one does is {best:.3f}. Ask for less, or bring more rows or a better classifier."
    )

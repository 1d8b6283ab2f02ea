"""Set priors from a few labeled rows of each set: counting, with intervals that hold for small counts."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import choose, number
from uulearn.estimation.result import SetPriors
from uulearn.sets import kinds

INTERVALS = {"wilson": "wilson", "exact": "exact"}
"""Interval: its name in scipy; "exact" is Clopper and Pearson's."""


def priors_from_labels(
    y: ArrayLike, labels: ArrayLike, *, positive: Any = 1, interval: str = "wilson", confidence: float = 0.95
) -> SetPriors:
    """Share of positives of each set, counted on a few labeled rows drawn from it at random.

    50 to 200 rows a set give standard errors of .07 to .03 at a share of 1/2; the classifier itself still trains on
    unlabeled rows.

    Parameters
    ----------
    y : array-like of shape (n_labeled,)
        The set each labeled row came from.
    labels : array-like of shape (n_labeled,)
        The class of each of these rows.
    positive : default=1
        The class counted as positive.
    interval : {"wilson", "exact"}, default="wilson"
        "wilson" covers about as often as it says, "exact" (Clopper and Pearson) never less.
    confidence : float, default=0.95

    Returns
    -------
    SetPriors
        Standard errors are sqrt(p (1 - p) / n) at Wilson's centre, which is never 0 or 1.

    Examples
    --------
    >>> priors_from_labels(["A"] * 50 + ["B"] * 50, [1] * 40 + [0] * 10 + [1] * 15 + [0] * 35)
    set                share  standard error  95 % interval
    'A'               0.8000          0.0587  0.6696 to 0.8876
    'B'               0.3000          0.0657  0.1910 to 0.4375
    """
    from scipy.special import ndtri
    from scipy.stats import binomtest

    kind = choose("interval", interval, INTERVALS)
    level = number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    sets, classes = np.asarray(y), np.asarray(labels)
    if sets.ndim != 1 or classes.shape != sets.shape or len(sets) == 0:
        raise ValueError(
            f"labels must give the class of each row that y names the set of; got shapes {classes.shape} and "
            f"{sets.shape}. Pass the labeled rows alone, one label a row."
        )
    for name, given, what in (("labels", classes, "a class"), ("y", sets, "a set")):
        if any(value is None or value != value for value in given.tolist()):
            raise ValueError(f"{name} must name {what} for every row; got NaN or None. Drop the rows without one.")
    if positive not in classes.tolist() or len(kinds(classes)) > 2:
        raise ValueError(
            f"labels must hold two classes, one of them positive={positive!r}; got {kinds(classes).tolist()[:6]!r}. "
            "Say which class is positive."
        )
    names = kinds(sets)
    if len(names) < 2:
        raise ValueError(f"y must name at least two sets; got {names.tolist()!r}. Label rows of a second set.")
    z = float(ndtri(0.5 + level / 2))
    shares, intervals, variances = {}, {}, []
    for name in names.tolist():
        hits = classes[sets == name] == positive
        found = binomtest(int(hits.sum()), len(hits)).proportion_ci(level, kind)
        centre = (hits.sum() + z * z / 2) / (len(hits) + z * z)
        shares[name], intervals[name] = float(hits.mean()), (float(found.low), float(found.high))
        variances.append(centre * (1 - centre) / len(hits))
    return SetPriors(shares, intervals, np.diag(variances), "labels", confidence=level)

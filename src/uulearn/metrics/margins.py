"""Checked scores and probabilities of rows, beside the sets these came from."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import floats
from uulearn.metrics.definitions import Scored
from uulearn.priors import Floats
from uulearn.sets import Sets, match_sets


def matched(
    y: ArrayLike,
    scores: ArrayLike | None,
    proba: ArrayLike | None,
    set_priors: Any,
    prior: Any,
    sample_weight: ArrayLike | None,
) -> tuple[Sets, Scored]:
    """Rows matched to their sets, and what a classifier says of them."""
    scored = as_scored(scores, proba)
    sets = match_sets(y, set_priors, prior, sample_weight)
    for name, given in (("scores", scores), ("proba", proba)):
        if given is not None and len(np.asarray(given)) != len(sets.index):
            raise ValueError(
                f"{name} and y must have the same length; got {len(np.asarray(given))} {name} for {len(sets.index)} "
                "rows. Score the rows that y names."
            )
    return sets, scored


def as_scored(scores: ArrayLike | None, proba: ArrayLike | None) -> Scored:
    """Scores cut at 0, from decision values if there are some, else from probabilities."""
    if scores is None and proba is None:
        raise ValueError("give scores (cut at 0) or proba (cut at 1/2), or both; got neither.")
    given = np.asarray(scores)
    if given.dtype == bool or (given.dtype.kind in "iu" and np.all((given == 0) | (given == 1))):
        kind = "booleans" if given.dtype == bool else "zeros and ones"
        raise TypeError(
            f"scores must be decision values, cut at 0; got {kind}. Pass them as proba, which is cut at 1/2."
        )
    p = None if proba is None else _column("proba", proba)
    if p is not None and np.any((p < 0) | (p > 1)):
        raise ValueError(
            f"proba must lie in [0, 1]; got values from {p.min():g} to {p.max():g}. Pass decision values as scores."
        )
    if scores is not None:
        return Scored(_column("scores", scores), p)
    assert p is not None
    return Scored(p - 0.5, p)


def _column(name: str, values: ArrayLike) -> Floats:
    z = floats(name, values)
    if name == "proba" and z.ndim == 2 and z.shape[1] == 2:
        z = z[:, 1]
    if z.ndim != 1:
        raise ValueError(
            f"{name} must hold one number a row; got an array of shape {z.shape}. Pass the column of the positive "
            "class."
        )
    if not np.all(np.isfinite(z)):
        raise ValueError(f"{name} must be finite; got NaN or infinity. Drop these rows or mend the model.")
    return z

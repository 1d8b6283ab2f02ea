"""The difference of two errors on the same rows, whose standard error can count groups."""

import numpy as np
from numpy.typing import ArrayLike

from uulearn.metrics import error_difference, evaluate_sets
from uulearn.priors import Floats
from uulearn.sets import Sets


def paired_difference(sets: Sets, z: Floats, other: Floats, groups: ArrayLike | None = None) -> tuple[float, float]:
    """Error of the scores z minus error of the other scores, with its paired standard error.

    Parameters
    ----------
    sets : Sets
    z, other : ndarray of shape (n_rows,)
        Scores, cut at 0.
    groups : array-like of shape (n_rows,), optional
        Rows of one group are not independent.

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> z, other = np.array([2.0, 1.0, 0.5, -1.0]), np.array([2.0, 1.0, -1.5, -1.0])
    >>> paired_difference(labeled, z, other), paired_difference(labeled, z, other, groups=[0, 1, 2, 3])
    ((0.25, 0.25), (0.25, 0.25))
    """
    difference, standard_error = error_difference(sets, z, other)
    if groups is not None:
        # The change of a decision, -1, 0 or 1, taken for a score has half the difference, plus 1/2, for its error.
        change = np.sign(np.sign(z) - np.sign(other))
        standard_error = 2 * evaluate_sets(sets, change, groups=groups).error.standard_error
    return difference, standard_error

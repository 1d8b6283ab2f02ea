"""Rows held out of a training: a share of every set, in whole units."""

import numpy as np
from numpy.typing import NDArray

from uulearn.sets import Sets

Units = NDArray[np.intp]


def units_of_sets(sets: Sets, units: Units) -> list[Units]:
    """The units (rows, or groups of rows that must not part) of each set, those of some weight."""
    counted = sets.weight > 0
    return [np.unique(units[counted & (sets.index == k)]) for k in range(len(sets.labels))]


def hold_out(sets: Sets, units: Units, fraction: float, seed: int) -> NDArray[np.intp]:
    """Rows of about this share of the units of each set, and of one at least; none if a set has none to spare.

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U"] * 20 + ["V"] * 3, {"U": 0.9, "V": 0.4}, 0.3)
    >>> np.bincount(sets.index[hold_out(sets, np.arange(23), 0.1, seed=0)])
    array([2, 1])
    """
    of_sets, rng = units_of_sets(sets, units), np.random.default_rng(seed)
    if fraction and min(len(own) for own in of_sets) > 1:
        chosen = [rng.choice(own, max(1, round(fraction * len(own))), replace=False) for own in of_sets]
        held = np.isin(units, np.concatenate(chosen)) & (sets.weight > 0)
        if len(np.unique(sets.index[~held & (sets.weight > 0)])) == len(sets.labels):
            return np.flatnonzero(held)
    return np.empty(0, dtype=np.intp)

"""The scores of all sets by cells, from the highest to the lowest: what curves and their bands are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uulearn.metrics.moments import BLOCK, Units, class_coefficients, moved_priors
from uulearn.priors import Floats, Priors
from uulearn.sets import Sets

RESAMPLES = 200
"""Resamples behind a band or a standard error that has no closed form."""
CELLS = 1_000
"""The most cells; so fine a step of a curve cannot be seen, and hardly be felt in an area."""


class Ranking(NamedTuple):
    """The order of the rows by a score, lowest first."""

    score: Floats
    order: NDArray[np.intp]

    def runs(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows in order, some at a time, with the number of each one's distinct value; equal scores stay together."""
        n, start, number = len(self.order), 0, 0
        while start < n:
            end = min(start + BLOCK, n)
            if end < n:
                last = self.score[self.order[end - 1]]
                end = int(np.searchsorted(self.score, last, side="right", sorter=self.order))
            rows = self.order[start:end]
            z = self.score[rows]
            tie = np.concatenate([[0], np.cumsum(z[1:] != z[:-1])])
            yield rows, tie
            number += int(tie[-1]) + 1
            start = end


def rank(score: Floats) -> Ranking:
    """The rows by their score."""
    return Ranking(score, np.argsort(score))


def auc(sets: Sets, ranking: Ranking) -> tuple[float, Floats]:
    """The AUC, a mean over pairs of signed weights in which ties count half, and the influence of each row.

    The influence is DeLong's projection: the share of the other class that the row is on the right side of.

    Parameters
    ----------
    sets : Sets
    ranking : Ranking

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> labeled = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> auc(labeled, rank(np.array([2.0, 0.0, 1.0, -1.0])))
    (0.75, array([1. , 0.5, 0.5, 1. ]))
    """
    to_positive, to_negative = class_coefficients(sets)
    influence = np.empty(len(sets.index))
    below = np.zeros(2)
    value = 0.0
    for rows, tie in ranking.runs():
        k = sets.index[rows]
        row = sets.weight[rows] / sets.sizes[k]
        positive, negative = to_positive[k] * row, to_negative[k] * row
        beneath = []
        for at, mass in enumerate((positive, negative)):
            per_value = np.bincount(tie, mass)
            running = np.cumsum(per_value)
            beneath.append((below[at] + running - per_value / 2)[tie])
            below[at] += running[-1]
        value += float(positive @ beneath[1])
        influence[rows] = to_positive[k] * beneath[1] + to_negative[k] * (1 - beneath[0])
    return value, influence


@dataclass(frozen=True)
class Profile:
    """How much of each set lies in each cell of the scores.

    Attributes
    ----------
    lowest : ndarray of shape (n_cells,)
        Least score of each cell, falling: as a threshold, it says positive to this cell and all before it.
    middle : ndarray of shape (n_cells,)
        Mean score of each cell.
    mass, square : ndarray of shape (n_sets, n_cells)
        Sum of the weights, and of their squares.
    cell : ndarray of shape (n_rows,) or None
        Cell of each row, kept where groups tie rows together.
    """

    sets: Sets
    unit: Units
    lowest: Floats
    middle: Floats
    mass: Floats
    square: Floats
    cell: NDArray[np.intp] | None

    def shares(self, mass: Floats | None = None) -> Floats:
        """Share of each set in each cell."""
        mass = self.mass if mass is None else mass
        return np.asarray(mass / mass.sum(axis=-1, keepdims=True))

    def resampled(self, n: int, rng: np.random.Generator) -> Iterator[tuple[Floats, Priors]]:
        """Shares as they could have been, and priors as they could be: a Bayesian bootstrap.

        Rows (or groups) get exponential weights. Summed over the independent rows of a cell these are gamma, so no row
        is looked at again.
        """
        priors = self.sets.priors
        errors = np.append(priors.standard_errors, priors.prior_standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.where(self.mass > 0, self.square / self.mass, 0.0)
            shape = np.where(self.mass > 0, self.mass**2 / self.square, 0.0)
        member = self._members()
        for _ in range(n):
            moved = moved_priors(priors, errors * rng.standard_normal(len(errors))) if errors.any() else priors
            if member is None:
                mass = scale * rng.standard_gamma(shape)
            else:
                mass = (member @ rng.standard_exponential(member.shape[1])).reshape(self.mass.shape)
            yield self.shares(np.maximum(mass, np.finfo(float).tiny * (self.mass > 0))), moved

    def _members(self) -> Any:
        """Weight of each group in each set and cell, as a sparse matrix; None where rows are on their own."""
        if self.unit.of is None or self.cell is None:
            return None
        from scipy.sparse import csr_array

        at = self.sets.index * self.mass.shape[1] + self.cell
        return csr_array((self.sets.weight, (at, self.unit.of)), shape=(self.mass.size, int(self.unit.of.max()) + 1))


def profile(sets: Sets, ranking: Ranking, unit: Units) -> Profile:
    """Cells of about as many rows each, or of one score each where the scores are few.

    Parameters
    ----------
    sets : Sets
    ranking : Ranking
    unit : Units

    Examples
    --------
    >>> from uulearn.metrics.moments import units
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets([0, 0, 1, 1], (0.9, 0.4), 0.3)
    >>> found = profile(sets, rank(np.array([2.0, 1.0, 1.0, 0.0])), units(sets, None))
    >>> found.lowest, found.mass.tolist()
    (array([2., 1., 0.]), [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    """
    score, order = ranking
    n = len(order)
    at = np.unique(np.linspace(0, n, min(n, CELLS) + 1).astype(int)[:-1])
    lowest = np.unique(score[order[at]])
    m, cells = len(sets.labels), len(lowest)
    flat_mass, flat_square = np.zeros(m * cells), np.zeros(m * cells)
    total = np.zeros(cells)
    cell_of = np.empty(n, dtype=np.intp) if unit.of is not None else None
    for start in range(0, n, BLOCK):
        rows = order[start : start + BLOCK]
        z, weight = score[rows], sets.weight[rows]
        cell = cells - np.searchsorted(lowest, z, side="right")
        where = sets.index[rows] * cells + cell
        flat_mass += np.bincount(where, weight, m * cells)
        flat_square += np.bincount(where, weight**2, m * cells)
        total += np.bincount(cell, weight * z, cells)
        if cell_of is not None:
            cell_of[rows] = cell
    mass, square = flat_mass.reshape(m, cells), flat_square.reshape(m, cells)
    pooled = mass.sum(axis=0)
    middle = np.divide(total, pooled, out=lowest[::-1].copy(), where=pooled > 0)
    return Profile(sets, unit, lowest[::-1].copy(), middle, mass, square, cell_of)


def resampled(
    found: Profile, function: Callable[[Floats, Priors], Any], resamples: int, seed: int, *, size: int | None = None
) -> Floats:
    """A number (or `size` of them) of shares and priors in each resample.

    NaN where a set has one row or group, and so no spread.
    """
    if np.isnan(found.unit.factor).any():
        return np.full(resamples if size is None else (resamples, size), np.nan)
    return np.array([function(*each) for each in found.resampled(resamples, np.random.default_rng(seed))])

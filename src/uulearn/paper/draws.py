"""Who sees which rows: for one seed, every method draws from the same rows in the same way."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uulearn.baselines import draw_labeled_rows
from uulearn.paper.problems import Problem
from uulearn.paper.spec import Cell
from uulearn.priors import Priors
from uulearn.sets import Sets, make_unlabeled_sets, match_sets

Rows = NDArray[np.intp]
SMALL = 0.1
"""Share of the training rows that small PN has labels of."""
POOL, UNLABELED, LABELED, SHIFTED, ALL = range(5)
"""What a seed is mixed with, so that draws for different ends are independent."""


class Draw(NamedTuple):
    """Rows to train on (positions, ascending) with their sets; rows that judge, where there are no test rows."""

    seed: int
    rows: Rows
    sets: Sets
    tests: Rows | None = None


def unlabeled(problem: Problem, cell: Cell, seed: int) -> Draw:
    """The two unlabeled sets: disjoint as far as the classes last."""
    pool, shares, sizes = _pool(problem, cell, seed), cell.shares, cell.sizes
    assert shares is not None
    assert sizes is not None
    names, taken = make_unlabeled_sets(
        np.zeros((len(pool), 1)), problem.y[pool], shares, sizes, overlap="allow", random_state=_dice(seed, UNLABELED)
    )[1:]
    loose = Priors(cell.told, prior=cell.prior, allow_out_of_range=cell.factors is not None)
    tests = np.setdiff1d(pool, pool[taken]) if cell.subsample else None
    return _draw(seed, pool[taken], names, loose, cell.prior, tests)


def _pool(problem: Problem, cell: Cell, seed: int) -> Rows:
    """All rows, or those drawn first."""
    if not cell.subsample:
        return np.arange(len(problem.y))
    nothing = np.zeros((len(problem.y), 1))
    return make_unlabeled_sets(nothing, problem.y, (cell.prior,), (cell.subsample,), random_state=_dice(seed, POOL))[2]


def small(problem: Problem, cell: Cell, seed: int) -> Draw:
    """Few labelled rows at the target prior."""
    return _labeled(problem, cell, seed, cell.prior, SMALL, LABELED)


def shifted(problem: Problem, cell: Cell, seed: int) -> Draw:
    """Few labelled rows, theta of them positive."""
    assert cell.shares is not None
    return _labeled(problem, cell, seed, cell.shares[0], SMALL, SHIFTED)


def everything(problem: Problem, cell: Cell, seed: int) -> Draw:
    """All training rows with their labels, or as many as the cell says, at the target prior."""
    if cell.labeled is None:
        return _draw(seed, np.arange(len(problem.y)), problem.y, (0.0, 1.0), cell.prior)
    return _labeled(problem, cell, seed, cell.prior, cell.labeled / len(problem.y), ALL)


def _labeled(problem: Problem, cell: Cell, seed: int, prior: float, share: float, what: int) -> Draw:
    nothing = np.zeros((len(problem.y), 1))
    _, labels, taken = draw_labeled_rows(nothing, problem.y, prior, share=share, random_state=_dice(seed, what))
    return _draw(seed, taken, labels, (0.0, 1.0), cell.prior)


def _draw(
    seed: int, rows: Rows, names: NDArray[np.intp], shares: object, prior: float, tests: Rows | None = None
) -> Draw:
    order = np.argsort(rows, kind="stable")
    return Draw(seed, rows[order], match_sets(names[order], shares, prior), tests)


def _dice(seed: int, what: int) -> np.random.Generator:
    return np.random.default_rng([seed, what])

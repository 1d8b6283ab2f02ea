"""Which rows make up which batch: every batch holds the sets in the ratio of their sizes, drawn without replacement.

All tables of an epoch are made at once from (seed, epoch) alone, so that a resumed run draws what an uninterrupted one
would have drawn, and a step only slices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uulearn.risk import Columns

Rows = NDArray[np.intp]
BLOCK = 1024
"""Rows read side by side, at most, from a table that is not in memory."""
HANDFUL, FEWEST = 16, 4
"""Places of a table that each set of a window comes from, at least, as neighbours may be alike: usually, and where rows
must be read together."""


@dataclass(frozen=True)
class Member:
    """One of the networks trained together: its rows and their weights, its seed and, if not the recipe's, its pace.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Rows of the table, ascending.
    columns : Columns
        Two weights for each of them.
    index : ndarray of shape (n,)
        The set each of them came from: 0, 1, ...
    seed : int
        Of the start and of the order of rows.
    rate : float
        Factor on the learning rate.
    weight_decay : float or None
    """

    rows: Rows
    columns: Columns
    index: NDArray[np.intp]
    seed: int
    rate: float = 1.0
    weight_decay: float | None = None


class Window(NamedTuple):
    """Rows of the table to hold at a time, ascending (None for all of a table in memory), and the steps they serve."""

    rows: Rows | None
    number: int
    steps: int


class Tables(NamedTuple):
    """All batches of a window: (steps, members, batch) row numbers within it, and the two weights of each row."""

    rows: NDArray[np.int64]
    plus: NDArray[np.float32]
    minus: NDArray[np.float32]


class Batches:
    """The batches of all epochs.

    Parameters
    ----------
    members : sequence of Member
    batch_size : int
        Rows of all sets in a batch; each set keeps at least one.
    window : int or None
        Rows of the table held at a time; None for a table in memory.
    together : int
        Rows of the table that are read together or not at all, as the row groups of a Parquet file.
    rank, world : int
        Number of this process, and of all that train together: each holds its share of every set.

    Examples
    --------
    >>> one = Member(np.arange(6), Columns(np.ones(6), np.ones(6)), np.array([0, 0, 0, 0, 1, 1]), seed=0)
    >>> batches = Batches([one], 3)
    >>> tables = [batches.tables(0, window) for window in batches.windows(0)][0]
    >>> tables.rows.shape, np.sort(tables.rows.ravel())
    ((2, 1, 3), array([0, 1, 2, 3, 4, 5]))
    """

    def __init__(
        self,
        members: Sequence[Member],
        batch_size: int,
        window: int | None = None,
        *,
        together: int = 1,
        rank: int = 0,
        world: int = 1,
    ) -> None:
        counts = np.array([np.bincount(member.index) for member in members])
        smallest = counts.min(axis=0)
        self.steps = max(1, int(smallest.sum()) // batch_size)
        self.takes = np.maximum(1, smallest // self.steps // world)
        self.members = [_share(member, rank, world) for member in members]
        self.sizes = [np.bincount(member.index) for member in self.members]
        self.in_memory, self.together = window is None, together
        if window is not None:
            # Rows of any member, each once, and their sets.
            self.rows, first = np.unique(np.concatenate([member.rows for member in self.members]), return_index=True)
            self.index = np.concatenate([member.index for member in self.members])[first]
            self.parts = min(self.steps, -(-len(self.rows) // window))

    def windows(self, epoch: int) -> Iterator[Window]:
        """The windows of an epoch, one after another; a table in memory is one window."""
        if self.in_memory:
            yield Window(None, 0, self.steps)
            return
        hands: list[list[Rows]] = [[] for _ in range(self.parts)]
        for k in range(len(self.takes)):
            own, rng = self.rows[self.index == k], np.random.default_rng([self.members[0].seed, epoch, k])
            if len(own) < HANDFUL * self.parts:  # too few to go round
                for hand in hands:
                    hand.append(own)
                continue
            size = min(BLOCK, len(own) // (HANDFUL * self.parts))
            size = max(size, min(self.together, len(own) // (FEWEST * self.parts)))
            blocks = rng.permutation(-(-len(own) // size))
            for hand, dealt in zip(hands, np.array_split(blocks, self.parts), strict=True):
                hand += [own[b * size : (b + 1) * size] for b in dealt]
        ends = self.steps * np.arange(self.parts + 1) // self.parts
        for part, hand in enumerate(hands):
            yield Window(np.sort(np.concatenate(hand)), part, int(ends[part + 1] - ends[part]))

    def tables(self, epoch: int, window: Window) -> Tables:
        """The batches of one window."""
        drawn = [self._drawn(*one, epoch, window) for one in zip(self.members, self.sizes, strict=True)]
        rows, plus, minus = (np.stack(each, axis=1) for each in zip(*drawn, strict=True))
        return Tables(rows, plus, minus)

    def _drawn(self, member: Member, sizes: NDArray[np.intp], epoch: int, window: Window) -> Tables:
        """The batches of one member: its rows in a fresh order, from the start again where they run out."""
        rng = np.random.default_rng([member.seed, epoch, window.number])
        if window.rows is None:
            inside, at = np.arange(len(member.rows)), member.rows
        else:
            place = np.searchsorted(member.rows, window.rows)  # both ascend; a window is far the shorter
            at = np.flatnonzero(member.rows[np.minimum(place, len(member.rows) - 1)] == window.rows)
            inside = place[at]
        index = member.index[inside]
        rows, weights = [], []
        for k, take in enumerate(self.takes):
            own, scale = np.flatnonzero(index == k), sizes[k] / take  # a batch stands for all rows
            if not len(own):  # other members have rows of the set here: these only fill the batch
                own, scale = np.arange(len(index)), 0.0
            picked = np.resize(rng.permutation(own), (window.steps, take))
            rows.append(at[picked])
            weights.append([column[inside[picked]] * scale for column in member.columns])
        plus, minus = np.concatenate(weights, axis=2).astype(np.float32)
        return Tables(np.concatenate(rows, axis=1).astype(np.int64), plus, minus)


def _share(member: Member, rank: int, world: int) -> Member:
    """What one of several processes trains on: every so-manieth row of a set; of a small one, a part of each weight."""
    if world == 1:
        return member
    own = [np.flatnonzero(member.index == k) for k in range(1 + member.index.max())]
    kept = np.sort(np.concatenate([rows[rank::world] if len(rows) >= world else rows for rows in own]))
    index = member.index[kept]
    weight = np.array([1 if len(rows) >= world else 1 / world for rows in own])[index]
    columns = Columns(*(column[kept] * weight for column in member.columns))
    return replace(member, rows=member.rows[kept], columns=columns, index=index)

"""Batches hold the sets in the ratio of their sizes, use every row once an epoch, and stand for the whole risk."""

from dataclasses import replace

import numpy as np
import pytest

from uulearn.nn.batches import HANDFUL, Batches, Member
from uulearn.risk import Columns, row_weights
from uulearn.sets import match_sets


def member(sizes, *, seed=0, first=0):
    """Rows of so many sets, shuffled and with gaps, and the columns of their risk with weights of their own."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    sets = match_sets(y, np.linspace(0.9, 0.2, len(sizes)), 0.3, rng.uniform(0.5, 2, len(y)))
    return Member(first + 3 * np.arange(len(y)), row_weights(sets), sets.index, seed)


def epoch_of(batches, epoch=0):
    """All batches of an epoch, with row numbers of the table: (steps, members, batch), the weights likewise."""
    parts = []
    for window in batches.windows(epoch):
        tables = batches.tables(epoch, window)
        assert len(tables.rows) == window.steps
        parts.append((tables.rows if window.rows is None else window.rows[tables.rows], tables.plus, tables.minus))
    return [np.concatenate(part) for part in zip(*parts, strict=True)]


def sets_of(one, rows):
    return one.index[np.searchsorted(one.rows, rows)]


def risk(one, rows, plus, minus):
    """The two parts of the risk of a batch, for a loss that is a different number on every row."""
    loss = np.random.default_rng(1).uniform(size=(2, one.rows.max() + 1))
    return np.array([(plus * loss[0][rows]).sum(-1), (minus * loss[1][rows]).sum(-1)])


def whole(one):
    return risk(one, one.rows, *one.columns)


SIZES = [(400, 200), (200, 400), (300, 150, 150), (100, 200, 300)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("window", [None, 250])
def test_an_epoch(sizes, window):
    """Every batch holds the sets in the ratio of their sizes, and every row is in one batch."""
    one = member(sizes)
    batches = Batches([one], 60, window)
    rows, _, _ = epoch_of(batches)
    assert rows.shape == (batches.steps, 1, 60) == (10, 1, 60)
    for batch in rows:
        assert np.bincount(sets_of(one, batch[0])).tolist() == [size // 10 for size in sizes]
    if window is None:
        assert np.sort(rows, axis=None).tolist() == one.rows.tolist()


@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_batches_average_to_the_risk(sizes):
    """Where sizes divide, the mean of the parts over the batches of an epoch is that of all rows, exactly."""
    one = member(sizes)
    rows, plus, minus = epoch_of(Batches([one], 60))
    assert risk(one, rows, plus, minus).mean(1)[:, 0] == pytest.approx(whole(one), rel=1e-6)


@pytest.mark.parametrize("world", [1, 2, 3])
@pytest.mark.parametrize("window", [None, 60])
@pytest.mark.parametrize("sizes", [(103, 61), (190, 5), (200, 2), (97, 50, 31)], ids=str)
def test_unbiased(sizes, window, world):
    """Whatever the sizes, the batches of many epochs average to the risk of all rows; processes add up."""
    one, found = member(sizes), []
    ranks = [Batches([one], 32, window, rank=rank, world=world) for rank in range(world)]
    for epoch in range(200):
        found.append(sum(risk(one, *epoch_of(batches, epoch)).mean(1)[:, 0] for batches in ranks))
    error = np.std(found, axis=0) / 200**0.5
    assert np.all(abs(np.mean(found, axis=0) - whole(one)) <= 4.5 * error + 1e-6)
    assert np.all(error < 0.05 * abs(whole(one)))


def test_weights_go_with_their_rows():
    """A drawn row has its own two weights, up by the rows of its set that it stands for."""
    one = member((103, 61))
    batches = Batches([one], 32)
    rows, plus, minus = epoch_of(batches)
    at = np.searchsorted(one.rows, rows)
    scale = (np.array([103, 61]) / batches.takes)[one.index[at]]
    for drawn, column in ((plus, one.columns.plus), (minus, one.columns.minus)):
        assert drawn == pytest.approx(column[at] * scale, rel=1e-6)


@pytest.mark.parametrize("sizes", [(600, 3), (40, 2), (5, 1)], ids=str)
@pytest.mark.parametrize("batch_size", [4, 64, 5000])
def test_small_sets(sizes, batch_size):
    """A set too small for its share has a row in every batch, its rows in turn; a batch may hold all rows."""
    one = member(sizes)
    rows, _, _ = epoch_of(Batches([one], batch_size))
    index = sets_of(one, rows)
    assert np.all((index == 1).any(-1))
    if batch_size == 5000:
        assert np.sort(rows, axis=None).tolist() == one.rows.tolist()
    used = np.bincount(np.searchsorted(one.rows, rows[index == 1]), minlength=len(one.rows))[one.index == 1]
    assert used.max() - used.min() <= 1


class TestSeeds:
    """The order is a function of (seed, epoch) alone."""

    @pytest.mark.parametrize("window", [None, 250])
    def test_same(self, window):
        """Batches made anew, in any order of epochs, are the same."""
        one, other = (Batches([member((400, 200))], 60, window) for _ in range(2))
        later = epoch_of(one, 3)
        for epoch, found in ((0, epoch_of(one, 0)), (3, later)):
            for a, b in zip(epoch_of(other, epoch), found, strict=True):
                assert a.tolist() == b.tolist()

    @pytest.mark.parametrize("window", [None, 250])
    def test_different(self, window):
        """Another epoch, another member's seed or another seed give another order."""
        a, b = member((400, 200)), member((400, 200), seed=1)
        together = Batches([a, b], 60, window)
        orders = [epoch_of(together, epoch)[0][:, k] for epoch in (0, 1) for k in (0, 1)]
        assert len({tuple(order.ravel()) for order in orders}) == 4

    def test_members_do_not_disturb_each_other(self):
        """Each of several members has the batches it would have alone."""
        members = [member((400, 200), seed=0), member((400, 200), seed=7, first=1)]
        together = epoch_of(Batches(members, 60))
        for k, one in enumerate(members):
            for drawn, alone in zip(together, epoch_of(Batches([one], 60)), strict=True):
                assert drawn[:, k].tolist() == alone[:, 0].tolist()


class TestWindows:
    """Of a table that is not in memory a window at a time is held."""

    def test_cover(self):
        """The windows of an epoch share out the rows, ascending and about equal, in proportion to their steps."""
        one = member((4000, 2000))
        batches = Batches([one], 60, 1000)
        windows = list(batches.windows(0))
        assert len(windows) == 6
        assert sum(window.steps for window in windows) == batches.steps
        assert np.sort(np.concatenate([window.rows for window in windows])).tolist() == one.rows.tolist()
        for window in windows:
            assert np.all(np.diff(window.rows) > 0)
            assert len(window.rows) <= 1.1 * 1000
            shares = np.bincount(sets_of(one, window.rows))
            assert shares == pytest.approx([4000 / 6, 2000 / 6], rel=0.1)
        assert next(batches.windows(1)).rows.tolist() != windows[0].rows.tolist()

    def test_neighbours_are_read_together_but_from_many_places(self):
        """A window is made of blocks, so that it is quick to read, from all over each set, so that it is mixed."""
        size = 60_000
        one = Member(np.arange(size), Columns(np.ones(size), np.ones(size)), np.repeat([0, 1], [40_000, 20_000]), 0)
        for window in Batches([one], 100, 20_000).windows(0):
            starts = 1 + np.count_nonzero(np.diff(window.rows) > 1)
            assert HANDFUL <= starts <= len(window.rows) / 100
            for k in (0, 1):
                own = window.rows[one.index[window.rows] == k]
                spread = np.ptp(own) / (one.index == k).sum()
                assert spread > 0.5

    def test_small_set(self):
        """A set with too few rows to go round is in every window, whole."""
        one = member((6000, 50))
        for window in Batches([one], 60, 500).windows(0):
            assert np.bincount(sets_of(one, window.rows))[1] == 50

    def test_large_batches(self):
        """Every window serves a step: a batch larger than a window makes windows as large as itself."""
        windows = list(Batches([member((400, 200))], 300, 50).windows(0))
        assert [window.steps for window in windows] == [1, 1]

    def test_folds(self):
        """Members of different rows share the windows: none is larger, each draws its own rows alone."""
        one = member((4000, 2000))
        halves = [np.arange(0, 6000, 2), np.arange(1, 6000, 2)]
        members = [
            replace(one, rows=one.rows[half], columns=Columns(*(c[half] for c in one.columns)), index=one.index[half])
            for half in halves
        ]
        batches = Batches(members, 60, 1000)
        assert max(len(window.rows) for window in batches.windows(0)) <= 1.1 * 1000
        rows, _, _ = epoch_of(batches)
        for k, each in enumerate(members):
            assert set(rows[:, k].ravel()) <= set(each.rows)
            assert np.unique(rows[:, k]).size > 0.9 * len(each.rows)

    def test_a_window_without_a_members_set(self):
        """A member with no row of a set in a window has batches of the usual size, without weight in its place."""
        one = member((4000, 200))
        few = (one.index == 0) | (np.arange(4200) == np.flatnonzero(one.index == 1)[0])
        lone = replace(one, rows=one.rows[few], columns=Columns(*(c[few] for c in one.columns)), index=one.index[few])
        batches = Batches([one, lone], 60, 500)
        rows, plus, minus = (part[:, 1] for part in epoch_of(batches))
        assert set(rows.ravel()) <= set(lone.rows)
        kinds = sets_of(lone, rows)[:, -1]
        assert set(kinds) == {0, 1}
        for column in (plus, minus):
            assert not column[kinds == 0, -1].any()
            assert column[kinds == 1, -1].all()


class TestRanks:
    """Processes that train together share out every set."""

    @pytest.mark.parametrize("sizes", [(400, 200), (103, 62), (97, 50, 31)], ids=str)
    @pytest.mark.parametrize("world", [2, 3])
    def test_disjoint(self, sizes, world):
        """Each row belongs to one process, each process has its share of every set, and all take the same steps."""
        one = member(sizes)
        ranks = [Batches([one], 30, rank=rank, world=world) for rank in range(world)]
        owned = [batches.members[0] for batches in ranks]
        assert np.sort(np.concatenate([part.rows for part in owned])).tolist() == one.rows.tolist()
        counts = np.array([np.bincount(part.index) for part in owned])
        assert np.ptp(counts, axis=0).max() <= 1
        assert len({(batches.steps, *batches.takes) for batches in ranks}) == 1
        for part, batches in zip(owned, ranks, strict=True):
            assert set(epoch_of(batches)[0].ravel()) <= set(part.rows)

    def test_a_batch_is_that_of_one_process(self):
        """Where sizes divide, a global batch has the rows and weights that one process would give it."""
        one = member((40, 20))
        lone = epoch_of(Batches([one], 5000))
        parts = [epoch_of(Batches([one], 5000, rank=rank, world=2)) for rank in (0, 1)]
        joint = [np.concatenate(each, axis=-1).ravel() for each in zip(*parts, strict=True)]
        for ours, theirs in zip(joint, lone, strict=True):
            assert ours[np.argsort(joint[0])] == pytest.approx(theirs.ravel()[np.argsort(lone[0].ravel())], rel=1e-6)

    def test_tiny_sets(self):
        """A set of fewer rows than processes is held by all, for a part of its weight each."""
        one = member((50, 1))
        columns = [Batches([one], 10, rank=rank, world=3).members[0].columns for rank in range(3)]
        assert sum(part.plus.sum() for part in columns) == pytest.approx(one.columns.plus.sum())
        assert sum(part.minus.sum() for part in columns) == pytest.approx(one.columns.minus.sum())

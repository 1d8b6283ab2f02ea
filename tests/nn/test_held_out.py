"""Rows held out: a share of every set, in whole units, and never the last of a set."""

import numpy as np
import pytest

from uulearn.nn.held_out import hold_out, units_of_sets
from uulearn.sets import match_sets

SETS = match_sets(np.repeat([0, 1], [60, 30]), (0.9, 0.4), 0.3)
ROWS = np.arange(90)


@pytest.mark.parametrize(("fraction", "counts"), [(0.1, [6, 3]), (0.5, [30, 15]), (0.001, [1, 1])])
def test_a_share_of_each_set(fraction, counts):
    """At least one row of each; another seed holds out others."""
    held = hold_out(SETS, ROWS, fraction, 0)
    assert np.bincount(SETS.index[held]).tolist() == counts
    assert held.tolist() == hold_out(SETS, ROWS, fraction, 0).tolist() != hold_out(SETS, ROWS, fraction, 1).tolist()


def test_nothing():
    """Not asked for, or not to be had: one row in a set, or one group in all."""
    short = match_sets(np.repeat([0, 1], [60, 1]), (0.9, 0.4), 0.3)
    for sets, units, fraction in ((SETS, ROWS, 0.0), (short, ROWS[:61], 0.1), (SETS, np.zeros(90, int), 0.1)):
        assert len(hold_out(sets, units, fraction, 0)) == 0


def test_groups_in_both_sets_stay_whole():
    """A group held out for one set is held out of the other, too."""
    held = hold_out(SETS, ROWS % 15, 0.2, 0)
    assert not set(ROWS[held] % 15) & set(np.delete(ROWS, held) % 15)


def test_rows_of_no_weight_are_not_counted():
    """They are neither held out nor units of their set."""
    weighted = match_sets(np.repeat([0, 1], [60, 30]), (0.9, 0.4), 0.3, np.r_[np.zeros(50), np.ones(40)])
    assert [len(own) for own in units_of_sets(weighted, ROWS)] == [10, 30]
    assert np.all(weighted.weight[hold_out(weighted, ROWS, 0.5, 0)] > 0)

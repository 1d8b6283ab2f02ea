"""What trainings of one fit share, and what tells one from another."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from uulearn.losses import get
from uulearn.nn.engine import Table
from uulearn.nn.networks import factory
from uulearn.nn.plan import Pace, Plan
from uulearn.nn.recipes import Recipe
from uulearn.nn.rows import as_rows
from uulearn.risk import get_correction, row_weights
from uulearn.sets import match_sets

ROWS = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
SETS = match_sets(np.repeat([0, 1], 10), (0.9, 0.4), 0.3, np.r_[0, np.ones(19)])
EVERY = np.arange(20)


def plan(**changes):
    table = Table(as_rows(changes.pop("rows", ROWS)), (3,), torch.float32, torch.device("cpu"))
    made = Plan(
        table,
        factory(torch.nn.Linear(3, 1)),
        [Pace(), Pace()],
        Recipe(),
        get("sigmoid"),
        get_correction("none"),
        compiled=False,
        seed=0,
        held_out=np.array([3, 15]),
    )
    return replace(made, **changes)


def fingerprint(one, sets=SETS, epochs=2):
    selections = [one.member(sets, EVERY, row_weights(sets))]
    return one._fingerprint(one.trainer(selections, epochs=epochs), selections)


def test_members_leave_out_rows_of_no_weight():
    """They, and rows held out, which have none, are not trained on; each set keeps the sums of its two columns."""
    columns = row_weights(SETS)
    member = plan().member(SETS, EVERY, columns)
    assert member.rows.tolist() == list(range(1, 20))
    for whole, part in zip(columns, member.columns, strict=True):
        np.testing.assert_allclose(np.bincount(SETS.index, whole), np.bincount(member.index, part))


def test_every_network_has_its_own_seed():
    """Members and folds alike; the same again from the same seed."""
    one = plan()
    selections = [one.member(SETS, EVERY, row_weights(SETS))] * 2
    seeds = [[member.seed for member in one.trainer(selections, epochs=1).batches.members] for _ in range(2)]
    assert len(set(seeds[0])) == 4
    assert seeds[0] == seeds[1]


CHANGES = {
    "seed": {"seed": 1},
    "recipe": {"recipe": Recipe(momentum=0.5)},
    "pace": {"paces": [Pace(), Pace(0.5)]},
    "loss": {"loss": get("logistic")},
    "correction": {"correction": get_correction("abs")},
    "one row": {"rows": np.r_[ROWS[:7], ROWS[7:8] + 1, ROWS[8:]]},
    "start": {"make": factory(torch.nn.Linear(3, 1))},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_another_training_has_another_fingerprint(changes):
    """Whatever would change the weights changes the fingerprint."""
    make = plan().make
    assert fingerprint(plan(make=make)) == fingerprint(plan(make=make))
    assert fingerprint(plan(make=make)) != fingerprint(plan(**{"make": make, **changes}))


def test_a_module_that_brings_its_weights_is_known_by_its_shape():
    """Made anew by the same script, it has other weights: its checkpoint is gone on from, and no other module's."""
    alike, other = (factory(torch.nn.Sequential(torch.nn.Linear(3, k), torch.nn.Linear(k, 1))) for k in (4, 5))
    again = factory(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)))
    brought = [fingerprint(plan(make=make, own_start=False)) for make in (alike, again, other)]
    assert brought[0] == brought[1] != brought[2]


def test_weights_and_epochs_are_part_of_the_fingerprint():
    """As are the sets."""
    one = plan()
    heavier = match_sets(np.repeat([0, 1], 10), (0.9, 0.4), 0.3, np.r_[0, 2, np.ones(18)])
    assert len({fingerprint(one), fingerprint(one, heavier), fingerprint(one, epochs=3)}) == 3

"""Which epoch is kept, and when training stops, without a label."""

import numpy as np
import pytest
import torch

from uulearn.metrics import error
from uulearn.nn.watch import Watch, check_finite
from uulearn.sets import match_sets

SETS = match_sets(np.repeat([0, 1], 200), (1, 0), 0.5)
TRUTH = np.where(SETS.index == 0, 1.0, -1.0)


class Scripted:
    """Stands for a trainer whose networks err on so many rows of a set in each epoch."""

    def __init__(self, mistakes):
        self.mistakes, self.epoch, self.kept, self.recalled = mistakes, 0, {}, False

    def scores(self, rows):
        scores = TRUTH.copy()
        scores[: self.mistakes[self.epoch - 1]] *= -1
        return scores[None, rows]

    def keep(self, **more):
        self.kept = more

    def recall(self):
        self.recalled = True


def watched(mistakes, **options):
    """What is recorded and kept of a training of these errors."""
    trainer, records = Scripted(mistakes), []
    watch = Watch(trainer, np.arange(400), SETS, **options)
    for epoch in range(1, 1 + len(mistakes)):
        trainer.epoch = epoch
        records.append({"epoch": epoch, "loss": 0.0})
        if watch(records[-1]):
            break
    return watch, trainer, records


def test_the_error_is_recorded():
    """It is the label-free error of the mean score, with its standard error."""
    _, trainer, records = watched([40, 0])
    assert records[0]["error"] == pytest.approx(error(SETS, trainer.scores(slice(None))[0]) + 0.1)
    assert records[1]["error"] == pytest.approx(0)
    assert 0 < records[0]["error_se"] < 0.1


@pytest.mark.parametrize(
    ("mistakes", "kept"),
    [
        ([90, 60, 30], 3),  # better and better
        ([90, 30, 60, 60], 2),  # then significantly worse
        ([90, 30, 30, 60], 3),  # of two alike, the later one
        ([30, 31, 32, 33, 34, 35], 2),  # a creeping loss is compared with the least, not with the last
    ],
)
def test_the_latest_epoch_near_the_least_is_kept(mistakes, kept):
    """Near is within one paired standard error, about the square root of the rows that changed sides."""
    watch, trainer, _ = watched(mistakes)
    assert watch.finish(restore=True) == kept
    assert trainer.recalled
    assert watch.finish(restore=False) == len(mistakes)


def test_patience():
    """Training stops after so many significantly worse epochs in a row."""
    assert len(watched([30, 90, 90, 30, 90, 90, 90, 90], patience=3)[2]) == 7
    assert len(watched([30, 90, 90, 30, 90, 90, 90, 90])[2]) == 8


def test_nothing_held_out_keeps_the_last():
    """And records no error."""
    trainer, record = Scripted([5, 5]), {"epoch": 1, "loss": 0.0}
    watch = Watch(trainer, np.arange(0), SETS.take(np.arange(0)), after=lambda record: True)
    assert watch(record)
    assert record == {"epoch": 1, "loss": 0.0}
    trainer.epoch = 2
    assert watch.finish(restore=True) == 2
    assert not trainer.recalled


def test_what_is_kept_can_be_checkpointed():
    """All of it is tensors."""
    assert {type(value) for value in watched([30, 20])[1].kept.values()} == {torch.Tensor}


@pytest.mark.parametrize("loss", [np.nan, np.inf, -np.inf])
def test_a_loss_that_is_no_number(loss):
    """It ends the training with a way out."""
    with pytest.raises(ValueError, match=r"must stay finite; it is -?(nan|inf) in epoch 7\. Standardise X"):
        check_finite({"epoch": 7, "loss": loss})

"""After every epoch: the label-free error of the rows held out, the epoch to keep, when to stop."""

from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from uulearn.metrics import error_difference
from uulearn.nn.engine import Table, Trainer, score
from uulearn.sets import Sets

Record = dict[str, Any]


class Labeled(NamedTuple):
    """Rows whose classes are known, and which of them are positive; they are only reported."""

    table: Table
    positive: NDArray[np.bool_]


class Watch:
    """Watches the training of networks whose mean score is the classifier's.

    Parameters
    ----------
    trainer : Trainer
    held_out : ndarray of int
        Rows of the table that are not trained on; may be none.
    sets : Sets
        The sets of those rows.
    test : Labeled or None
    patience : int or None
        Stop after so many epochs that are significantly worse than the best.
    after : callable
        after(record); a true value ends the training.
    """

    def __init__(
        self,
        trainer: Trainer,
        held_out: NDArray[np.intp],
        sets: Sets,
        *,
        test: Labeled | None = None,
        patience: int | None = None,
        after: Callable[[Record], bool] = lambda record: False,
    ) -> None:
        self.trainer, self.held_out, self.sets = trainer, held_out, sets
        self.test, self.patience, self.after = test, patience, after

    def __call__(self, record: Record) -> bool:
        """Add to the record of an epoch; whether to stop."""
        check_finite(record)
        stop = False
        if len(self.held_out):
            scores = self.trainer.scores(self.held_out).mean(axis=0).astype(float)
            # Predicting no positive at all errs on exactly the share of positives: no variance comes from it.
            excess, deviation = error_difference(self.sets, scores, -np.ones(len(scores)))
            record |= {"error": self.sets.priors.prior + excess, "error_se": deviation}
            stop = self._keep(record["epoch"], scores)
        if self.test is not None:
            rows = np.arange(len(self.test.positive))
            scores = score(self.trainer.networks, self.test.table, rows).mean(axis=0)
            record["test_error"] = float(np.mean((scores > 0) != self.test.positive))
        return self.after(record) or stop

    def _keep(self, epoch: int, scores: NDArray[np.float64]) -> bool:
        """Keep these networks unless an earlier epoch was significantly better; whether to stop."""
        trainer = self.trainer
        least = trainer.kept.get("least")
        if least is not None:
            excess, deviation = error_difference(self.sets, scores, least.numpy())
            if excess > deviation:
                waited = trainer.kept["waited"] = trainer.kept["waited"] + 1
                return self.patience is not None and int(waited) >= self.patience
            if excess > 0:
                scores = least.numpy()
        trainer.keep(least=torch.from_numpy(scores), waited=torch.tensor(0), epoch=torch.tensor(epoch))
        return False

    def finish(self, *, restore: bool) -> int:
        """Go back to the networks kept, if wanted; the epoch they are of."""
        if not len(self.held_out) or not restore:
            return self.trainer.epoch
        self.trainer.recall()
        return int(self.trainer.kept["epoch"])


def check_finite(record: Record) -> None:
    """Refuse to go on from weights that are no numbers."""
    if not isfinite(record["loss"]):
        raise ValueError(
            f"the loss must stay finite; it is {record['loss']} in epoch {record['epoch']}. Standardise X, lower "
            "learning_rate, or bound the risk: loss='sigmoid', or correction='abs'."
        )


def go_on(record: Record) -> bool:
    """What watches a training that nothing is picked from."""
    check_finite(record)
    return False

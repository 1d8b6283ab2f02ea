"""What all trainings of one fit share, and how each of them is set up, resumed and run."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from uulearn.losses import Loss
from uulearn.nn.batches import Member
from uulearn.nn.engine import Table, Trainer, run
from uulearn.nn.networks import Factory, Networks
from uulearn.nn.progress import Bar
from uulearn.nn.recipes import Recipe
from uulearn.risk import Columns, Correction
from uulearn.sets import Sets

Chosen = NDArray[np.intp]
Judge = Callable[[dict[str, Any]], bool]


@dataclass(frozen=True)
class Pace:
    """What a member has of its own: a factor on the learning rate, a weight decay if not the recipe's."""

    rate: float = 1.0
    weight_decay: float | None = None


@dataclass
class Plan:
    """The trainings of one fit: of folds, of rounds, and at last of all rows.

    Attributes
    ----------
    table : Table
    make : callable
        make(shape) -> a fresh module.
    paces : list of Pace
        One for each member.
    recipe : Recipe
    loss : Loss
    correction : Correction
    compiled : bool
    seed : int
    held_out : ndarray of int
        Rows that no training sees.
    own_start : bool
        Whether the networks' first weights are this plan's own choice. A module that brings its weights has others in
        another process, and its checkpoint is gone on from all the same.
    checkpoint : Path or None
        Folder of the states.
    stage : int
        Trainings begun, which number the files in that folder.
    """

    table: Table
    make: Factory
    paces: list[Pace]
    recipe: Recipe
    loss: Loss
    correction: Correction
    compiled: bool
    seed: int
    held_out: Chosen
    own_start: bool = True
    checkpoint: Path | None = None
    stage: int = 0

    def member(self, sets: Sets, rows: Chosen, columns: Columns) -> Member:
        """What networks for these rows train on: those of some weight."""
        part = sets if len(rows) == len(sets.index) else sets.take(rows)
        if np.all(part.weight > 0):  # a long table is not copied
            return Member(rows, columns, part.index, 0)
        kept = np.flatnonzero(part.weight)
        return Member(rows[kept], Columns(columns.plus[kept], columns.minus[kept]), part.index[kept], 0)

    def trainer(self, selections: list[Member], *, epochs: int, start: Networks | None = None) -> Trainer:
        """All members on every selection of rows, each with a seed of its own."""
        each = [
            replace(
                selection,
                seed=int(np.random.default_rng([self.seed, j, k]).integers(2**31)),
                rate=pace.rate,
                weight_decay=pace.weight_decay,
            )
            for j, selection in enumerate(selections)
            for k, pace in enumerate(self.paces)
        ]
        table = self.table
        networks = Networks(self.make, table.shape, [member.seed for member in each], table.device)
        if start is not None:
            networks.copy_from(start)
        return Trainer(networks, table, each, self.recipe, epochs, self.loss, self.correction, compiled=self.compiled)

    def run(self, trainer: Trainer, selections: list[Member], judge: Judge, bar: Bar, name: str) -> list[Any]:
        """Train to the end, from the checkpoint if there is one; the record of every epoch."""
        self.stage += 1
        if self.checkpoint is None:
            return run(trainer, judge, bar=bar, name=name)
        path = self.checkpoint / f"training-{self.stage}.safetensors"
        return run(trainer, judge, path=path, fingerprint=self._fingerprint(trainer, selections), bar=bar, name=name)

    def _fingerprint(self, trainer: Trainer, selections: list[Member]) -> str:
        """What a checkpoint must agree on to be gone on from; not the number of processes."""
        table, networks = self.table, trainer.networks
        facts: list[Any] = [repr(self.recipe), repr(self.loss), repr(self.correction), repr(self.paces)]
        facts += [self.seed, trainer.epochs, str(table.dtype), table.shape]
        facts += [(name, list(value.shape)) for name, value in networks.state().items()]
        digest = hashlib.blake2b(json.dumps(facts).encode(), digest_size=16)
        arrays: list[NDArray[Any]] = [array for each in selections for array in (each.rows, each.index, *each.columns)]
        if self.own_start:
            arrays += [value.cpu().numpy() for value in networks.state().values()]
        if table.whole is None:  # a table on disk is known by some of its rows
            arrays.append(table.rows.take(np.linspace(0, table.rows.shape[0] - 1, 64).astype(np.intp)))
        else:
            arrays.append(table.whole.cpu().view(torch.uint8).numpy())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()

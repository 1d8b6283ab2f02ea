"""The repetitions of an experiment: networks of one kind, trained side by side on rows of one table."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn.losses import Loss
from uulearn.nn import hardware
from uulearn.nn.batches import Member
from uulearn.nn.engine import COMPILE_FROM, Table, Trainer, run, score
from uulearn.nn.models import MLP, MODELS
from uulearn.nn.networks import Networks, factory
from uulearn.nn.recipes import Recipe
from uulearn.nn.rows import as_rows
from uulearn.nn.watch import check_finite
from uulearn.risk import get_correction

LINEAR = "linear"
PAUSE = 10.0
"""Seconds between two checkpoints: what a kill costs at most, as all networks are written to the disk."""
Record = dict[str, Any]


class Stack:
    """K networks, one a member.

    Parameters
    ----------
    module : {"linear", "mlp", "allconv", "resnet32"}
    X : ndarray of shape (n_rows, ...)
        Rows of all members.
    members : sequence of Member
    recipe : Recipe
    loss : Loss
    correction : str
    precision : str, default="auto"

    Examples
    --------
    >>> from uulearn import losses
    >>> from uulearn.risk import Columns
    >>> X, halves = np.array([[-1.0], [1.0], [-2.0], [2.0]]), np.array([0.5, 0.5])
    >>> columns = Columns(np.array([0, 0.5, 0, 0.5]), np.array([0.5, 0, 0.5, 0]))
    >>> member = Member(np.arange(4), columns, np.array([0, 1, 0, 1]), seed=0)
    >>> stack = Stack("linear", X, [member, member], Recipe(epochs=50, batch_size=4), losses.get("logistic"), "none")
    >>> len(stack.run()), (stack.scores() > 0).astype(int)
    (50, array([[0, 1, 0, 1],
           [0, 1, 0, 1]]))
    """

    def __init__(
        self,
        module: str,
        X: NDArray[Any],
        members: Sequence[Member],
        recipe: Recipe,
        loss: Loss,
        correction: str,
        precision: str = "auto",
    ) -> None:
        device, shape = hardware.device("auto"), X.shape[1:]
        make = partial(MLP, hidden=()) if module == LINEAR else factory(MODELS[module])
        networks = Networks(make, shape, [member.seed for member in members], device)
        operations = 6.0 * networks.size * sum(len(member.rows) for member in members) * recipe.epochs
        large = operations > COMPILE_FROM
        table = self._table(X, hardware.dtype(precision, device, large), device)
        correct = get_correction(correction)
        self.trainer = Trainer(networks, table, members, recipe, recipe.epochs, loss, correct, compiled=large)

    @staticmethod
    def _table(X: NDArray[Any], dtype: Any, device: Any) -> Table:
        return Table(as_rows(X), X.shape[1:], dtype, device)

    def table(self, X: NDArray[Any]) -> Table:
        """Other rows, laid out to be scored again and again."""
        own = self.trainer.table
        return self._table(X, own.dtype, own.device)

    def run(
        self,
        after: Callable[[Record], None] = lambda record: None,
        *,
        path: Path | None = None,
        fingerprint: str = "",
        pause: float = PAUSE,
    ) -> list[Record]:
        """Train to the last epoch, from the checkpoint at `path` if there is one; `after` may add to the records."""

        def watch(record: Record) -> bool:
            check_finite(record)
            after(record)
            return False

        return run(self.trainer, watch, path=path, fingerprint=fingerprint, pause=pause)

    def scores(self, table: Table | None = None) -> NDArray[np.float32]:
        """Scores (members, rows) of a table, that in training by default."""
        chosen = self.trainer.table if table is None else table
        return self.trainer.scores(np.arange(chosen.rows.shape[0]), chosen)

    def own_scores(self, rows: Sequence[NDArray[np.intp]]) -> list[NDArray[np.float32]]:
        """Scores of each member on rows of its own, of the table in training."""
        networks, table = self.trainer.networks, self.trainer.table
        return [score(networks.select([k]), table, own)[0] for k, own in enumerate(rows)]

    def lines(self) -> list[tuple[NDArray[np.float64], float]]:
        """Weights and intercept of each member, of a linear module."""
        state = self.trainer.networks.parameters
        weights, intercepts = (state[f"output.{name}"].cpu().double().numpy() for name in ("weight", "bias"))
        return [(one.ravel(), float(shift.ravel()[0])) for one, shift in zip(weights, intercepts, strict=True)]

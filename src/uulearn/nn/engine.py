"""The training loop: K networks on their batches, one compiled step, the one formula of `risk` as objective."""

import time
import warnings
from collections.abc import Callable, Sequence
from itertools import count, pairwise
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from uulearn.losses import Loss
from uulearn.nn import checkpoint, distributed
from uulearn.nn.batches import Batches, Member, Window
from uulearn.nn.networks import Networks
from uulearn.nn.progress import Bar
from uulearn.nn.recipes import OPTIMIZERS, Recipe
from uulearn.nn.rows import Rows, prefetched
from uulearn.risk import Columns, Correction, Risk

COMPILE_FROM = 2e12
"""Operations of a training from which a compiled step pays, and the rounding of bfloat16 is worth its speed."""
WINDOW_BYTES = 256 * 2**20
SCORED, SCORED_IN_TURN = 1024, 32
"""Rows scored at a time; short batches are filled up, so that the score of a row never depends on the others."""
BETAS, EPSILON = (0.9, 0.999), 1e-7
CACHE_BYTES = 11 * 2**20
"""Parameters that train side by side on a processor: with more, every step would fetch them from memory anew."""
State = dict[str, Tensor]
_NUMBERS = count()


class Table:
    """The rows as tensors: those of an array are kept in the dtype of the products, others are read when asked."""

    def __init__(self, rows: Rows, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self.rows, self.shape, self.dtype, self.device = rows, shape, dtype, device
        self.whole = self._tensor(np.arange(rows.shape[0])) if rows.in_memory else None

    def _tensor(self, rows: NDArray[np.intp]) -> Tensor:
        found = torch.from_numpy(self.rows.take(rows)).to(self.device, self.dtype)
        return found.reshape(-1, *self.shape)

    def hold(self, window: Window) -> Tensor:
        """The rows of a window."""
        if window.rows is not None:
            return self._tensor(window.rows)
        assert self.whole is not None  # only the window of a table in memory names no rows
        return self.whole

    def take(self, rows: NDArray[np.intp]) -> Tensor:
        """Some rows, in the order asked for."""
        return self._tensor(rows) if self.whole is None else self.whole[torch.from_numpy(rows)]


class Group(NamedTuple):
    """Networks that train side by side: which of all, and views of their state."""

    part: slice
    parameters: State
    copies: State
    buffers: State
    slots: State


class Trainer:
    """K networks in training.

    Parameters
    ----------
    networks : Networks
    table : Table
    members : sequence of Member
        What each network is trained on.
    recipe : Recipe
    epochs : int
    loss : Loss
    correction : Correction
    compiled : bool
        Compile the step, which takes some ten seconds.

    Attributes
    ----------
    epoch, turns : int
        Epochs and steps done.
    """

    def __init__(
        self,
        networks: Networks,
        table: Table,
        members: Sequence[Member],
        recipe: Recipe,
        epochs: int,
        loss: Loss,
        correction: Correction,
        *,
        compiled: bool = False,
    ) -> None:
        start = distributed.agreed({name: value.cpu() for name, value in networks.state().items()})
        for name, value in networks.state().items():
            value.copy_(start[name])
        self.networks, self.table, self.recipe, self.epochs = networks, table, recipe, epochs
        self.loss, self.correction, self.epoch, self.turns = loss, correction, 0, 0
        row_bytes = 4 * int(np.prod(table.shape))
        window = None if table.whole is not None else max(64, WINDOW_BYTES // row_bytes)
        self.batches = Batches(
            members,
            recipe.batch_size,
            window,
            together=table.rows.together,
            rank=distributed.rank(),
            world=distributed.world(),
        )
        slots = () if recipe.optimizer == "sgd" and not recipe.momentum else OPTIMIZERS[recipe.optimizer]
        self.slots = {
            f"{slot}.{name}": torch.zeros_like(value) for slot in slots for name, value in networks.parameters.items()
        }
        decay = [recipe.weight_decay if m.weight_decay is None else m.weight_decay for m in members]
        self.decay = torch.tensor(decay, dtype=torch.float32, device=table.device)
        self.pace = np.array([member.rate for member in members])
        self.seed = members[0].seed
        self.kept: State = {}
        self.copies = {
            name: value.to(table.dtype)
            for name, value in networks.parameters.items()
            if value.ndim > 2 and value.dtype != table.dtype and networks.together is not None
        }
        self.groups = [self._group(part) for part in self._parts()]
        self.compiled = compiled and distributed.world() == 1
        self._step = self._together if networks.together is not None else self._alone
        self._score = networks.one
        if self.compiled:
            self._compile()

    def _parts(self) -> list[slice]:
        """Which networks train side by side: as many as a processor's cache holds, or each on its own."""
        count, most = len(self.networks), 1
        if self.networks.together is not None:
            own = sum(value[0].nbytes for value in self.networks.parameters.values())
            most = count if self.table.device.type == "cuda" else max(1, CACHE_BYTES // own)
        ends = np.linspace(0, count, -(-count // most) + 1).round().astype(int).tolist()
        return [slice(*pair) for pair in pairwise(ends)]

    def _group(self, part: slice) -> Group:
        """Views of the state of some networks."""
        networks = self.networks
        states = (networks.parameters, self.copies, networks.buffers, self.slots)
        return Group(part, *({name: value[part] for name, value in state.items()} for state in states))

    def state(self) -> State:
        """All that a checkpoint must hold: parameters, buffers and what the optimiser remembers; not copies."""
        groups = {"parameters": self.networks.parameters, "buffers": self.networks.buffers, "slots": self.slots}
        groups["kept"] = self.kept
        return {f"{group}.{name}": value for group, values in groups.items() for name, value in values.items()}

    @property
    def rows(self) -> int:
        """Rows of an epoch, of all networks and processes."""
        return len(self.networks) * self.batches.steps * int(self.batches.takes.sum()) * distributed.world()

    def keep(self, **more: Tensor) -> None:
        """Remember the networks as they are now, with tensors that belong to them."""
        self.kept = {name: value.clone() for name, value in self.networks.state().items()} | more

    def recall(self) -> None:
        """Go back to the networks last kept."""
        for name, value in self.networks.state().items():
            value.copy_(self.kept[name])

    def restore(self, state: State) -> None:
        """Take over the state of a checkpoint."""
        prefix = "kept."
        for name, value in self.state().items():
            if not name.startswith(prefix):
                value.copy_(state[name])
        self.kept = {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}

    def train_epoch(self, advance: Callable[[int], None] = lambda steps: None) -> NDArray[np.float64]:
        """One pass over the rows; the mean risk of the batches of each network."""
        table, batches = self.table, self.batches
        losses, at = torch.zeros(len(self.networks), device=table.device), 0
        rates = torch.from_numpy(self._rates()).to(table.device)
        windows = (
            (window, table.hold(window), batches.tables(self.epoch, window)) for window in batches.windows(self.epoch)
        )
        for name, value in self.copies.items():
            value.copy_(self.networks.parameters[name])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(hash((self.seed, self.epoch, distributed.rank())) % 2**63)
            for window, rows, drawn in windows if batches.in_memory else prefetched(windows):
                index, plus, minus = (torch.from_numpy(part).to(table.device) for part in drawn)
                for number, group in enumerate(self.groups):
                    part = group.part
                    for step in range(window.steps):
                        drawn_rows, weights = index[step, part], (plus[step, part], minus[step, part])
                        losses[part] += self._step(group, rows, drawn_rows, *weights, rates[at + step, part])
                        if step % 32 == 31 and number == len(self.groups) - 1:
                            advance(32)
                at += window.steps
        self.epoch, self.turns = self.epoch + 1, self.turns + batches.steps
        return np.asarray(losses.cpu().double() / at)

    def _rates(self) -> NDArray[np.float32]:
        """Learning rates of this epoch, (steps, members); Adam's bias corrections are part of them, as in Keras."""
        steps = self.batches.steps
        rates = self.recipe.rates(self.epoch, self.epochs, steps)
        if self.recipe.optimizer == "adam":
            turn = self.turns + np.arange(1, steps + 1)
            rates = rates * np.sqrt(1 - BETAS[1] ** turn) / (1 - BETAS[0] ** turn)
        return np.outer(rates, self.pace).astype(np.float32)

    def _risk(self, scores: Tensor, plus: Tensor, minus: Tensor) -> tuple[Tensor, Tensor]:
        """The corrected risk of each network; parts are summed over processes first."""
        risks = []
        for k in range(len(scores)):
            risk = Risk(Columns(plus[k], minus[k]), self.loss, self.correction)
            parts = distributed.total(torch.stack(risk.parts(scores[k])))
            risks.append(risk.combine((parts[0], parts[1])))
        each = torch.stack(risks)
        return each.sum(), each.detach()

    def _together(
        self, group: Group, table: Tensor, index: Tensor, plus: Tensor, minus: Tensor, rates: Tensor
    ) -> Tensor:
        rows = table.index_select(0, index.flatten()).view(*index.shape, *table.shape[1:])
        return self._fused(*group[1:], rows, plus, minus, rates, self.decay[group.part])

    def _fused(
        self,
        parameters: State,
        copies: State,
        buffers: State,
        slots: State,
        rows: Tensor,
        plus: Tensor,
        minus: Tensor,
        rates: Tensor,
        decay: Tensor,
    ) -> Tensor:
        """One step of networks side by side: what is compiled."""
        together = self.networks.together
        assert together is not None

        def objective(values: State) -> Any:
            found = together({**values, **buffers}, rows, True)
            total, each = self._risk(found.scores, plus, minus)
            return total, (each, found.buffers)

        gradients, (risks, fresh) = torch.func.grad(objective, has_aux=True)({**parameters, **copies})
        self._update(parameters, distributed.reduce_gradients(gradients), slots, rates, decay)
        for name, value in copies.items():
            value.copy_(parameters[name])
        for name, value in fresh.items():
            buffers[name].copy_(value)
        return risks

    def _alone(self, group: Group, table: Tensor, index: Tensor, plus: Tensor, minus: Tensor, rates: Tensor) -> Tensor:
        """One step of one network."""
        values = {name: value[0].detach().requires_grad_() for name, value in group.parameters.items()}
        buffers = {name: value[0] for name, value in group.buffers.items()}
        scores = self._score({**values, **buffers}, table.index_select(0, index[0]), True, self.table.dtype)
        total, risk = self._risk(scores[None], plus, minus)
        found = torch.autograd.grad(total, list(values.values()), allow_unused=True)
        gradients = {
            name: torch.zeros_like(value[None]) if gradient is None else gradient[None]
            for (name, value), gradient in zip(values.items(), found, strict=True)
        }
        with torch.no_grad():
            reduced = distributed.reduce_gradients(gradients)
            self._update(group.parameters, reduced, group.slots, rates, self.decay[group.part])
        return risk

    def _update(self, parameters: State, gradients: State, slots: State, rates: Tensor, decay: Tensor) -> None:
        """One step of the optimiser, in place; weight decay is for kernels alone."""
        for name, value in parameters.items():
            gradient, wide = gradients[name], (-1, *[1] * (value.ndim - 1))
            if value.ndim > 2:
                gradient = gradient + decay.view(wide) * value
            if self.recipe.optimizer == "adam":
                mean, square = slots[f"mean.{name}"], slots[f"square.{name}"]
                mean.copy_(BETAS[0] * mean + (1 - BETAS[0]) * gradient)
                square.copy_(BETAS[1] * square + (1 - BETAS[1]) * gradient * gradient)
                gradient = mean / (square.sqrt() + EPSILON)
            elif self.recipe.momentum:
                velocity = slots[f"momentum.{name}"]
                velocity.copy_(self.recipe.momentum * velocity + gradient)
                gradient = gradient + self.recipe.momentum * velocity
            value.sub_(rates.view(wide) * gradient)

    def _compile(self) -> None:
        """Compile what every step runs; where that fails, at the first step at the latest, train without."""
        name = "_fused" if self.networks.together is not None else "_score"
        eager = getattr(self, name)
        quick, untried = None, {group.part.stop - group.part.start for group in self.groups}

        def guarded(*arguments: Any) -> Any:
            nonlocal quick
            state, dice = {key: value.clone() for key, value in self.state().items()}, torch.get_rng_state()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    quick = quick or torch.compile(_own_code(eager), dynamic=False)
                    found = quick(*arguments)
                untried.discard(len(next(iter(arguments[0].values()))) if name == "_fused" else 1)
                if not untried:
                    setattr(self, name, quick)
            except Exception:  # no compiler, or a module it cannot read: slower, not wrong
                self.compiled = False
                torch.set_rng_state(dice)
                for key, value in self.state().items():
                    value.copy_(state[key])
                for key, value in self.copies.items():
                    value.copy_(self.networks.parameters[key])
                setattr(self, name, eager)
                found = eager(*arguments)
            return found

        setattr(self, name, guarded)

    def scores(self, rows: NDArray[np.intp], table: Table | None = None) -> NDArray[np.float32]:
        """Scores (members, rows) of some rows, of the table in training or of another."""
        return score(self.networks, table or self.table, rows)


def _own_code(method: Any) -> Any:
    """The method with code of its own, for torch keeps what it compiled by code.

    Shared, a fit would run the compiled step of an earlier one with another loss (torch does not look at what the
    function under `torch.func.grad` closes over), and the ninth fit of a process would run none.
    """
    function = method.__func__
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(_NUMBERS)}")
    fresh = FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)
    return MethodType(fresh, method.__self__)


def score(networks: Networks, table: Table, rows: NDArray[np.intp]) -> NDArray[np.float32]:
    """Scores (members, rows) of some rows of a table, with running statistics."""
    found = np.empty((len(networks), len(rows)), dtype=np.float32)
    size = SCORED if networks.together is not None else SCORED_IN_TURN
    with torch.no_grad():
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            x = table.take(np.resize(part, size) if len(part) < size else part)
            x = x.expand(len(networks), *x.shape)
            batch = networks.scores(x, training=False, dtype=table.dtype).scores
            found[:, start : start + len(part)] = batch[:, : len(part)].cpu().numpy()
    return found


def run(
    trainer: Trainer,
    after: Callable[[dict[str, Any]], bool] = lambda record: False,
    *,
    path: Path | None = None,
    fingerprint: str = "",
    pause: float = 0.0,
    bar: Bar | None = None,
    name: str = "training",
) -> list[dict[str, Any]]:
    """Train to the last epoch, from the checkpoint at `path` if there is one; the record of every epoch.

    Parameters
    ----------
    trainer : Trainer
    after : callable
        after(record) adds to the record of an epoch ("epoch", "loss", "seconds"); True ends the training.
    path : Path, optional
        Checkpoint, written after every epoch by the first process.
    fingerprint : str
        What the checkpoint must be of.
    pause : float
        Seconds between two checkpoints, at least; the last epoch always leaves one.
    bar : Bar, optional
    name : str
        What the bar calls this training.
    """
    history: list[dict[str, Any]] = []
    found = None
    if path is not None:  # which other machines may not see
        found = distributed.agreed(checkpoint.read(path, fingerprint) if distributed.rank() == 0 else None)
    if found is not None:
        trainer.restore(found[0])
        history = found[1]["history"]
        trainer.epoch, trainer.turns = len(history), len(history) * trainer.batches.steps
    ended = found is not None and found[1]["ended"]
    if bar is not None:
        bar.begin(name, trainer.batches.steps, trainer.epochs, trainer.epoch, trainer.rows)
    written = time.perf_counter()
    while trainer.epoch < trainer.epochs and not ended:
        start = time.perf_counter()
        loss = trainer.train_epoch((lambda steps: None) if bar is None else bar.advance)
        record = {"epoch": trainer.epoch, "loss": float(loss.mean()), "seconds": time.perf_counter() - start}
        ended = bool(distributed.agreed(after(record)))
        history.append(record)
        if bar is not None:
            bar.report(record)
        last = ended or trainer.epoch == trainer.epochs
        if path is not None and distributed.rank() == 0 and (last or time.perf_counter() - written >= pause):
            written = time.perf_counter()
            facts = {"fingerprint": fingerprint, "history": history, "ended": ended}
            checkpoint.write(path, trainer.state(), facts)
    return history

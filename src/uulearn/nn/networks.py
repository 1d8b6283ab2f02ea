"""K networks of one kind as one set of stacked tensors: made, scored and differentiated together or in turn."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from uulearn._checks import choose, quoted
from uulearn.nn.models import MODELS, Named, Stacked

Factory = Callable[[tuple[int, ...]], nn.Module]
_PURE = (
    *(nn.Linear, nn.Flatten, nn.Unflatten, nn.Identity, nn.Sequential, nn.LayerNorm),
    *(nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SELU, nn.SiLU, nn.Mish, nn.Softplus, nn.Tanh, nn.Sigmoid, nn.Hardtanh),
)
"""Modules, and no subclass, whose K copies are one batched operation each, without running statistics or dice."""


def factory(module: Any) -> Factory:
    """What makes a fresh network for rows of a shape: from a name, a module, or a callable that takes the shape."""
    if isinstance(module, str):
        return choose("module", module, MODELS)
    if isinstance(module, nn.Module):
        return lambda shape: deepcopy(module)
    if callable(module):
        return module
    raise TypeError(
        f"module must be one of {quoted(MODELS)}, a torch module, or a callable that takes the shape of a row and "
        f"makes one; got {module!r}."
    )


class Networks:
    """K networks of one kind; `parameters` and `buffers` hold all of them, each tensor with a leading dimension K.

    Parameters that require no gradient are buffers: they stay as they are.

    Parameters
    ----------
    make : callable
        make(shape) -> module that scores rows of that shape.
    shape : tuple of int
    seeds : sequence of int
        One for each network.
    device : torch.device

    Examples
    --------
    >>> networks = Networks(factory("mlp"), (10,), [0, 1], torch.device("cpu"))
    >>> networks.scores(torch.zeros(2, 5, 10), training=False).scores.shape
    torch.Size([2, 5])
    """

    def __init__(self, make: Factory, shape: tuple[int, ...], seeds: Sequence[int], device: torch.device) -> None:
        copies = []
        for seed in seeds:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(seed)
                copies.append(_made(make, shape))
        if not isinstance(copies[0], nn.Module):
            raise TypeError(f"module must make a torch module; got {type(copies[0]).__name__}.")
        self.shape, self.device = shape, device
        self.template = copies[0].to(device)
        trained = {name for name, value in self.template.named_parameters() if value.requires_grad}
        states = [{**dict(copy.named_parameters()), **dict(copy.named_buffers())} for copy in copies]
        self.parameters = _stack(states, device, [name for name in states[0] if name in trained])
        self.buffers = _stack(states, device, [name for name in states[0] if name not in trained])
        if not self.parameters:
            raise ValueError("module must have parameters to train; got a module without any. Give it a layer.")
        self._pure = all(type(part) in _PURE for part in self.template.modules())
        self._check()

    @property
    def together(self) -> Callable[[Named, Tensor, bool], Stacked] | None:
        """What scores all networks in one go; None if they must take turns.

        A module may bring it: a method `stacked(state, x, training)` of its very class, like that of `models.MLP`.
        """
        if "stacked" in vars(type(self.template)):  # not inherited: a subclass may have another `forward`
            return self.template.stacked  # type: ignore[return-value]
        return self._mapped if self._pure else None

    def __len__(self) -> int:
        return len(next(iter(self.parameters.values())))

    @property
    def size(self) -> int:
        """Entries of the kernels of one network: a row costs about six operations each."""
        return sum(value[0].numel() for value in self.parameters.values() if value.ndim > 2)

    def state(self) -> dict[str, Tensor]:
        """Parameters and buffers of all networks."""
        return {**self.parameters, **self.buffers}

    def _check(self) -> None:
        """One score a row, or a refusal that says what came out."""
        try:
            with torch.no_grad():
                found = self.scores(torch.zeros(len(self), 2, *self.shape, device=self.device), training=False).scores
        except (RuntimeError, ValueError, IndexError, TypeError, AttributeError) as error:
            raise ValueError(
                f"module must score rows of shape {self.shape}; it failed on two rows of zeros: {error} Give a module "
                "made for this shape, or a callable that takes the shape and makes one."
            ) from error
        if found.shape != (len(self), 2):
            raise ValueError(
                f"module must give one score a row, of shape (n,) or (n, 1); got {tuple(found.shape[1:])} for 2 rows. "
                "End it with a layer of one output."
            )

    def select(self, members: Sequence[int]) -> "Networks":
        """Some of the networks, as networks of their own."""
        some, kept = copy(self), list(members)
        some.parameters = {name: value[kept] for name, value in self.parameters.items()}
        some.buffers = {name: value[kept] for name, value in self.buffers.items()}
        return some

    def copy_from(self, other: "Networks") -> None:
        """Take over the state of as many networks of the same kind."""
        given_state = other.state()
        for name, value in self.state().items():
            given = given_state.get(name)
            if given is None or given.shape != value.shape:
                raise ValueError(
                    "module, members and the shape of rows must be as before, with warm_start and with partial_fit; "
                    f"{name} has changed. Fit a new estimator instead."
                )
            value.copy_(given)

    def member(self, k: int) -> dict[str, Tensor]:
        """Parameters and buffers of one network, as views."""
        return {name: value[k] for name, value in self.state().items()}

    def scores(self, x: Tensor, *, training: bool, dtype: torch.dtype = torch.float32) -> Stacked:
        """Scores of K networks on K batches x of shape (K, n, ...), with matrix products in `dtype`."""
        if self.together is not None:
            return self.together(self.state(), x.to(dtype), training)
        with torch.no_grad():
            found = [self.one(self.member(k), x[k], training, dtype) for k in range(len(self))]
        return Stacked(torch.stack(found), {})

    def one(self, state: Named, x: Tensor, training: bool, dtype: torch.dtype) -> Tensor:
        """Scores of one network on one batch; running statistics are updated in `state`."""
        if x.ndim == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        self.template.train(training)
        given = dict(state)
        with torch.autocast(x.device.type, dtype=torch.bfloat16, enabled=dtype == torch.bfloat16):
            found = functional_call(self.template, given, (x,))
        for name, value in state.items():  # a module may put new tensors in the place of its buffers
            if training and given[name] is not value:
                value.copy_(given[name].detach())
        found = found.float()
        return found.squeeze(1) if found.ndim == 2 and found.shape[1] == 1 else found

    def _mapped(self, state: Named, x: Tensor, training: bool) -> Stacked:
        quick = x.dtype == torch.bfloat16

        def run(own: Named, rows: Tensor) -> Tensor:
            with torch.autocast(rows.device.type, dtype=torch.bfloat16, enabled=quick):
                found = functional_call(self.template, dict(own), (rows if quick else rows.float(),))
            return found.float().squeeze(1) if found.ndim == 2 else found.float()

        return Stacked(vmap(run)(dict(state), x), {})


def _made(make: Factory, shape: tuple[int, ...]) -> nn.Module:
    try:
        module = make(shape)
    except Exception as error:
        raise ValueError(
            f"module must be a callable that takes the shape of a row and makes a torch module; it failed on {shape}: "
            f"{error} Give a module, or a callable of one argument."
        ) from error
    if isinstance(module, nn.Module) and any(nn.parameter.is_lazy(value) for value in module.parameters()):
        raise ValueError(
            "module must have parameters of known shapes; got a lazy layer. Score one batch with it before, or "
            "name its sizes."
        )
    return module


def _stack(copies: list[dict[str, Tensor]], device: torch.device, names: list[str]) -> dict[str, Tensor]:
    return {name: torch.stack([copy[name].detach() for copy in copies]).to(device) for name in names}

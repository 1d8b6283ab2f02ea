"""One process is the same path as many: sums over processes, with the gradients that make the whole one training."""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from math import prod
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch import distributed as dist

T = TypeVar("T")


def start() -> None:
    """Join the other processes if a launcher such as torchrun says that there are some."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and dist.is_available() and not dist.is_initialized():
        backend = "gloo"
        if torch.cuda.is_available():
            backend = "cpu:gloo,cuda:nccl"
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        dist.init_process_group(backend, timeout=timedelta(minutes=10))
        atexit.register(_leave)


def _leave() -> None:
    """End the group while Python is whole: gloo's threads that outlive it abort the process now and then."""
    if dist.is_initialized():
        dist.destroy_process_group()


def world() -> int:
    """Number of processes that train together."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def rank() -> int:
    """Number of this process; process 0 alone writes."""
    return dist.get_rank() if world() > 1 else 0


@contextmanager
def _all_present() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:
        raise RuntimeError(
            f"all {world()} processes must train to the end; another one has ended, so process {rank()} stops. Start "
            "the same command again: with a checkpoint, training goes on from its last whole epoch."
        ) from error


def _sum(x: Tensor) -> Tensor:
    x = x.detach().contiguous().clone()
    with _all_present():
        dist.all_reduce(x)
    return x


class _Total(torch.autograd.Function):
    """Sum over processes; its gradient goes to every process's own share (identity), or comes from all (sum)."""

    @staticmethod
    def forward(x: Tensor, shared: bool) -> Tensor:
        return _sum(x)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.shared = inputs[1]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return (_sum(gradients[0]) if ctx.shared else gradients[0]), None


def total(x: Tensor) -> Tensor:
    """Sum over processes of a term of the objective: each process differentiates by its own share of it."""
    return _Total.apply(x, False) if world() > 1 else x


class Moments(NamedTuple):
    """Of the rows of all processes: mean and (biased) variance, with gradients, and how many values each is of."""

    mean: Tensor
    var: Tensor
    values: int


def moments(x: Tensor, axes: list[int]) -> Moments | None:
    """Moments over these axes, for batches of one size in all processes; None in a lone process."""
    if world() == 1:
        return None
    x = x.float()
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    count = world() * (x.numel() // prod(shape))
    mean = _Total.apply(x.sum(axes), True) / count
    var = _Total.apply((x - mean.view(shape)).square().sum(axes), True) / count
    return Moments(mean, var, count)


def normalised(x: Tensor, found: Moments, weight: Tensor | None, bias: Tensor | None, epsilon: float) -> Tensor:
    """Batch normalisation of axis 1 by these moments: the kernels of torch know no gradient by given ones."""
    wide = [1, -1] + [1] * (x.ndim - 2)
    slope = torch.rsqrt(found.var + epsilon) if weight is None else weight * torch.rsqrt(found.var + epsilon)
    result = (x.float() - found.mean.view(wide)) * slope.view(wide)
    return (result if bias is None else result + bias.view(wide)).to(x.dtype)


def reduce_gradients(gradients: dict[str, Tensor]) -> dict[str, Tensor]:
    """The gradients summed over processes, in one message."""
    if world() == 1:
        return gradients
    flat = _sum(torch.cat([gradient.flatten() for gradient in gradients.values()]))
    parts = flat.split([gradient.numel() for gradient in gradients.values()])
    return {name: part.view_as(gradient) for (name, gradient), part in zip(gradients.items(), parts, strict=True)}


def agreed(value: T) -> T:
    """The first process's value, in every process: its seeds, weights and checkpoint are those of all."""
    if world() == 1:
        return value
    shared = [value]
    with _all_present():
        dist.broadcast_object_list(shared, 0)
    return shared[0]


def shared_norms(module: nn.Module) -> nn.Module:
    """The module with its batch norms replaced by ones whose statistics are those of all processes."""
    for name, part in module.named_children():
        if isinstance(part, nn.modules.batchnorm._BatchNorm):
            setattr(module, name, _SharedNorm(part))
        else:
            shared_norms(part)
    return module


class _SharedNorm(nn.modules.batchnorm._BatchNorm):
    """A batch norm of torch with the statistics of all processes; torch's own, SyncBatchNorm, is for GPUs alone.

    Parameters and buffers keep their names, so that a checkpoint serves any number of processes.
    """

    def __init__(self, norm: Any) -> None:
        super().__init__(norm.num_features, norm.eps, norm.momentum, norm.affine, norm.track_running_stats)
        self._parameters, self._buffers, self.training = norm._parameters, norm._buffers, norm.training

    def _check_input_dim(self, input: Tensor) -> None:
        """Any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        found = moments(input, [axis for axis in range(input.ndim) if axis != 1]) if self.training else None
        if found is None:
            return super().forward(input)
        if self.num_batches_tracked is not None:
            with torch.no_grad():
                self.num_batches_tracked.add_(1)
                share = 1 / self.num_batches_tracked if self.momentum is None else self.momentum
                unbiased = found.var * (found.values / (found.values - 1))
                for running, new in ((self.running_mean, found.mean), (self.running_var, unbiased)):
                    assert running is not None
                    running.add_(share * (new - running))
        return normalised(input, found, self.weight, self.bias, self.eps)

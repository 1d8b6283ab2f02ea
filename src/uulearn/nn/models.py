"""The paper's networks as plain modules: a row of features or an image in, one score out.

Kernels start as LeCun normals and biases at zero, and batch normalisation has the constants of Keras, which the paper
used: momentum .99 and epsilon 1e-3.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod, sqrt
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from uulearn.nn.distributed import moments, normalised

EPSILON, MOMENTUM = 1e-3, 0.99
Named = Mapping[str, Tensor]


class Stacked(NamedTuple):
    """Scores of K networks, shape (K, n), and the running statistics that one training batch leaves behind."""

    scores: Tensor
    buffers: dict[str, Tensor]


class BatchNorm(nn.Module):
    """Batch normalisation over all dimensions but the second, with statistics in float32.

    While several processes train together, the statistics are those of the global batch. The running variance is of
    the very variance that normalises a batch, as in `MLP`; torch, and Keras for images only, take n / (n - 1) of it.

    Parameters
    ----------
    features : int
    epsilon, momentum : float
        The running statistics become momentum * old + (1 - momentum) * new.

    Examples
    --------
    >>> norm = BatchNorm(3)
    >>> norm(torch.randn(8, 3)).mean(0).abs().max().item() < 1e-6
    True
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, features: int, epsilon: float = EPSILON, momentum: float = MOMENTUM) -> None:
        super().__init__()
        self.epsilon, self.momentum = epsilon, momentum
        self.weight, self.bias = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x: Tensor) -> Tensor:
        weight, bias = self.weight, self.bias
        if not self.training:
            return functional.batch_norm(x, self.running_mean, self.running_var, weight, bias, False, 0.0, self.epsilon)
        found = moments(x, [axis for axis in range(x.ndim) if axis != 1])
        if found is None:  # one process: the native kernel
            mean, var = torch.zeros_like(self.running_mean), torch.zeros_like(self.running_var)
            result = functional.batch_norm(x, mean, var, weight, bias, True, 1.0, self.epsilon)
            var = var * (1 - len(mean) / x.numel())  # torch hands out the unbiased one
        else:
            (mean, var, _), result = found, normalised(x, found, weight, bias, self.epsilon)
        with torch.no_grad():
            self.running_mean.lerp_(mean, 1 - self.momentum)
            self.running_var.lerp_(var, 1 - self.momentum)
        return result


class MLP(nn.Module):
    """The paper's fully connected network d-300-300-300-300-1: batch norm, then ReLU, after each hidden layer.

    `stacked` is its mathematics for K networks at once, a batched matrix product a layer; `forward` is the case K = 1.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of a row; images are flattened.
    hidden : sequence of int, default=(300, 300, 300, 300)

    Examples
    --------
    >>> MLP(10)(torch.zeros(5, 10)).shape
    torch.Size([5])
    """

    def __init__(self, shape: int | Sequence[int], hidden: Sequence[int] = (300, 300, 300, 300)) -> None:
        super().__init__()
        sizes = [shape if isinstance(shape, int) else prod(shape), *hidden]
        self.linear = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in pairwise(sizes))
        self.norm = nn.ModuleList(BatchNorm(b) for b in hidden)
        self.output = nn.Linear(sizes[-1], 1)
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        state = {name: value[None] for name, value in [*self.named_parameters(), *self.named_buffers()]}
        found = self.stacked(state, x[None], self.training)
        with torch.no_grad():
            for name, fresh in found.buffers.items():
                self.get_buffer(name).copy_(fresh[0])
        return found.scores[0]

    def stacked(self, state: Named, x: Tensor, training: bool) -> Stacked:
        """Scores of K networks on K batches.

        Parameters
        ----------
        state : mapping of str to Tensor
            Parameters and buffers by name, each with a leading dimension K.
        x : Tensor of shape (K, n, ...)
            Its dtype is that of the matrix products; everything else is float32.
        training : bool
            Normalise by the batch rather than by the running statistics.
        """
        x = x.flatten(2).transpose(1, 2)
        buffers = {}
        for layer in range(len(self.linear)):
            x = torch.bmm(state[f"linear.{layer}.weight"].to(x.dtype), x)
            scale, shift = f"norm.{layer}.weight", f"norm.{layer}.bias"
            names = [f"norm.{layer}.running_mean", f"norm.{layer}.running_var"]
            z = x.float()
            mean, var = (state[name] for name in names)
            if training:
                found = moments(z, [2])
                mean = z.mean(2) if found is None else found.mean
                var = (z - mean[:, :, None]).square().mean(2) if found is None else found.var
                for name, new in zip(names, (mean, var), strict=True):
                    buffers[name] = MOMENTUM * state[name] + (1 - MOMENTUM) * new.detach()
            slope = state[scale] * torch.rsqrt(var + EPSILON)
            z = z * slope[:, :, None] + (state[shift] - mean * slope)[:, :, None]
            x = z.relu().to(x.dtype)
        weight, bias = state["output.weight"], state["output.bias"]
        return Stacked((x.float() * weight.transpose(1, 2)).sum(1) + bias, buffers)


def _conv(a: int, b: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(a, b, size, stride, padding=size // 2, bias=False)


def _scores(output: nn.Linear, x: Tensor) -> Tensor:
    """Scores in float32, as the loss must see them."""
    with torch.autocast(x.device.type, enabled=False):
        return output(x.float()).squeeze(1)


class AllConvNet(nn.Module):
    """The paper's all convolutional net of 12 layers: nine convolutions, then 1000-1000-1.

    Batch norm and ReLU follow every layer but the last.

    Parameters
    ----------
    shape : (channels, height, width)

    Examples
    --------
    >>> AllConvNet((3, 32, 32))(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2])
    """

    LAYERS = (
        *((96, 3, 1), (96, 3, 1), (96, 3, 2)),
        *((192, 3, 1), (192, 3, 1), (192, 3, 2)),
        *((192, 3, 1), (192, 1, 1), (10, 1, 1)),
    )

    def __init__(self, shape: Sequence[int] = (3, 32, 32)) -> None:
        super().__init__()
        channels, height, width = shape
        layers: list[nn.Module] = []
        for out, size, stride in self.LAYERS:
            layers += [_conv(channels, out, size, stride), BatchNorm(out), nn.ReLU()]
            channels, height, width = out, -(-height // stride), -(-width // stride)
        layers.append(nn.Flatten())
        features = channels * height * width
        for out in (1000, 1000):
            layers += [nn.Linear(features, out, bias=False), BatchNorm(out), nn.ReLU()]
            features = out
        self.layers, self.output = nn.Sequential(*layers), nn.Linear(features, 1)
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        return _scores(self.output, self.layers(x))


class _Block(nn.Module):
    """A pre-activation building block: two of (batch norm, ReLU, 3x3 convolution), added to a shortcut."""

    def __init__(self, a: int, b: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = BatchNorm(a), _conv(a, b, stride=stride)
        self.norm2, self.conv2 = BatchNorm(b), _conv(b, b)
        self.shortcut = _conv(a, b, 1, stride) if a != b else None

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm1(x).relu()
        # Where the shape changes, the shortcut starts from the activated input, as in the pre-activation paper's code.
        kept = x if self.shortcut is None else self.shortcut(inner)
        return kept + self.conv2(self.norm2(self.conv1(inner)).relu())


class ResNet32(nn.Module):
    """The paper's pre-activation ResNet of 32 layers: 5 blocks each of 16, 32 and 64 channels, then global averages.

    Parameters
    ----------
    shape : (channels, height, width)

    Examples
    --------
    >>> ResNet32((3, 32, 32))(torch.zeros(2, 3, 32, 32)).shape
    torch.Size([2])
    """

    def __init__(self, shape: Sequence[int] = (3, 32, 32)) -> None:
        super().__init__()
        self.first = _conv(shape[0], 16)
        widths = [16, *[16] * 5, *[32] * 5, *[64] * 5]
        self.blocks = nn.Sequential(*(_Block(a, b, 1 + (a != b)) for a, b in pairwise(widths)))
        self.norm, self.output = BatchNorm(64), nn.Linear(64, 1)
        initialise(self)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm(self.blocks(self.first(x))).relu()
        return _scores(self.output, x.float().mean((2, 3)))


def initialise(module: nn.Module, generator: torch.Generator | None = None) -> None:
    """LeCun normal kernels and zero biases, in place: a kernel's variance is 1 / (inputs of a unit).

    Like Keras, the normal is cut at two standard deviations and widened to keep its variance.
    """
    cut = 0.87962566103423978  # standard deviation of a unit normal cut at +-2
    for part in module.modules():
        if isinstance(part, (nn.Linear, nn.Conv2d)):
            std = 1 / sqrt(part.weight[0].numel()) / cut
            nn.init.trunc_normal_(part.weight, std=std, a=-2 * std, b=2 * std, generator=generator)
            if part.bias is not None:
                nn.init.zeros_(part.bias)


MODELS: dict[str, Any] = {"mlp": MLP, "allconv": AllConvNet, "resnet32": ResNet32}

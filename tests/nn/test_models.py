"""The networks are the paper's, with the constants of Keras; stacked ones are the same networks side by side."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from uulearn.nn import models
from uulearn.nn.distributed import Moments
from uulearn.nn.models import MLP, AllConvNet, BatchNorm, ResNet32, initialise

K, N, SHAPE, HIDDEN = 3, 12, (2, 4), (7, 5)


def plain(state):
    """A network of torch's own modules with this state of an MLP; its batch norms have the constants of Keras."""
    layers = []
    for a, b in zip((8, *HIDDEN), HIDDEN, strict=False):
        layers += [nn.Linear(a, b, bias=False), nn.BatchNorm1d(b, eps=1e-3, momentum=0.01), nn.ReLU()]
    network = nn.Sequential(nn.Flatten(), *layers, nn.Linear(HIDDEN[-1], 1))
    parts = [part for part in network if isinstance(part, (nn.Linear, nn.BatchNorm1d))]
    names = ["linear.0", "norm.0", "linear.1", "norm.1", "output"]
    with torch.no_grad():
        for part, name in zip(parts, names, strict=True):
            for own, value in [*part.named_parameters(), *part.named_buffers()]:
                if own != "num_batches_tracked":
                    value.copy_(state[f"{name}.{own}"])
    return network, dict(zip(names, parts, strict=True))


@pytest.fixture
def stacked():
    """K states with nothing left at 0 or 1, and a batch for each."""
    torch.manual_seed(0)
    network = MLP(SHAPE, HIDDEN)
    names = [*dict(network.named_parameters()), *dict(network.named_buffers())]
    state = {name: torch.rand(K, *network.state_dict()[name].shape) + 0.1 for name in names}
    for name in names:
        if "linear" in name or "output" in name:
            state[name] = state[name] - 0.6
    return network, state, torch.randn(K, N, *SHAPE)


@pytest.mark.parametrize("training", [False, True])
def test_stacked_is_one_after_another(stacked, training):
    """Scores, gradients and running statistics are those of K networks in torch; the running variance is biased."""
    network, state, x = stacked
    trained = {name: value.clone().requires_grad_("running" not in name) for name, value in state.items()}
    found = network.stacked(trained, x, training)
    weights = torch.randn(K, N)
    (found.scores.tanh() * weights).sum().backward()
    assert set(found.buffers) == ({name for name in state if "running" in name} if training else set())
    for k in range(K):
        one, parts = plain({name: value[k] for name, value in state.items()})
        one.train(training)
        scores = one(x[k]).squeeze(1)
        torch.testing.assert_close(found.scores[k], scores)
        (scores.tanh() * weights[k]).sum().backward()
        for name, part in parts.items():
            for own, value in part.named_parameters():
                torch.testing.assert_close(trained[f"{name}.{own}"].grad[k], value.grad, rtol=1e-4, atol=1e-5)
            if training and "norm" in name:
                torch.testing.assert_close(found.buffers[f"{name}.running_mean"][k], part.running_mean)
                old = 0.99 * state[f"{name}.running_var"][k]
                biased = old + (part.running_var - old) * (N - 1) / N
                torch.testing.assert_close(found.buffers[f"{name}.running_var"][k], biased)


@pytest.mark.parametrize("training", [False, True])
def test_forward_is_the_stack_of_one(stacked, training):
    """Called as a module the network scores as in a stack, and a training batch moves its running statistics."""
    network, state, x = stacked
    network.load_state_dict({name: value[1] for name, value in state.items()})
    expected = network.stacked({name: value[1:2] for name, value in state.items()}, x[1:2], training)
    torch.testing.assert_close(network.train(training)(x[1]), expected.scores[0])
    for name, value in network.named_buffers():
        torch.testing.assert_close(value, expected.buffers[name][0] if training else state[name][1])


def test_low_precision_is_for_the_products_alone(stacked):
    """With a batch in bfloat16 scores and statistics are float32, and within its rounding of the others."""
    network, state, x = stacked
    exact, rounded = (network.stacked(state, x.to(dtype), True) for dtype in (torch.float32, torch.bfloat16))
    assert {value.dtype for value in (rounded.scores, *rounded.buffers.values())} == {torch.float32}
    assert 0 < (rounded.scores - exact.scores).abs().max() < 0.05 * exact.scores.abs().max()


class TestBatchNorm:
    """One rule for every number of dimensions and for one process or many."""

    @pytest.mark.parametrize("size", [(6, 4), (6, 4, 3, 5)])
    def test_is_that_of_torch(self, size):
        """Values and gradients are torch's; the running variance is of the biased one, n - 1 parts of n."""
        torch.manual_seed(0)
        ours, theirs = BatchNorm(4), (nn.BatchNorm1d if len(size) == 2 else nn.BatchNorm2d)(4, eps=1e-3, momentum=0.01)
        for norm in (ours, theirs):
            with torch.no_grad():
                norm.weight.copy_(torch.arange(1.0, 5))
                norm.bias.copy_(torch.arange(4.0))
        for turn in range(3):
            x = [torch.randn(size, generator=torch.Generator().manual_seed(turn)).requires_grad_() for _ in range(2)]
            y = [norm(one) for norm, one in zip((ours, theirs), x, strict=True)]
            torch.testing.assert_close(*y)
            for one in y:
                one.square().sum().backward()
            torch.testing.assert_close(x[0].grad, x[1].grad)
        n = x[0].numel() // 4
        untouched = 0.99**3
        torch.testing.assert_close(ours.running_mean, theirs.running_mean)
        torch.testing.assert_close((ours.running_var - untouched) * n / (n - 1), theirs.running_var - untouched)
        theirs.running_var.copy_(ours.running_var)
        torch.testing.assert_close(ours.eval()(x[0]), theirs.eval()(x[0]))

    def test_images_are_rows(self):
        """An image of one pixel is a row of features: both ways the norm is that of the MLP."""
        torch.manual_seed(0)
        x = torch.randn(9, 4)
        flat, image = BatchNorm(4), BatchNorm(4)
        torch.testing.assert_close(flat(x), image(x[:, :, None, None])[:, :, 0, 0])
        torch.testing.assert_close(flat.running_var, 0.99 + 0.01 * x.var(0, correction=0))
        torch.testing.assert_close(flat.running_var, image.running_var)

    @pytest.mark.parametrize("size", [(6, 4), (6, 4, 3, 5)])
    def test_many_processes_take_the_same_steps(self, size, monkeypatch):
        """By moments, as many processes go, values, gradients and running statistics are those of one process."""

        def of_one(x, axes):
            return Moments(x.mean(axes), x.var(axes, correction=0), x.numel() // x.shape[1])

        results = []
        for known in (lambda x, axes: None, of_one):
            monkeypatch.setattr(models, "moments", known)
            torch.manual_seed(0)
            norm, x = BatchNorm(4), torch.randn(size).requires_grad_()
            y = norm(x)
            (y * torch.randn(size)).sum().backward()
            results.append([y, x.grad, norm.weight.grad, norm.bias.grad, norm.running_mean, norm.running_var])
        torch.testing.assert_close(*results, rtol=1e-4, atol=1e-6)


def weighted_layers(network):
    """Shapes of the kernels in the order they act, without the shortcuts, which are no layers of their own."""
    return [
        tuple(part.weight.shape)
        for name, part in network.named_modules()
        if isinstance(part, (nn.Linear, nn.Conv2d)) and "shortcut" not in name
    ]


def flow(network, shape):
    """Shapes of what each convolution and dense layer gives for one image, in the order they act."""
    seen = []
    for name, part in network.named_modules():
        if isinstance(part, (nn.Linear, nn.Conv2d)) and "shortcut" not in name:
            part.register_forward_hook(lambda *found: seen.append(tuple(found[-1].shape[1:])))
    network.eval()(torch.zeros(1, *shape))
    return seen


def count(network):
    return sum(value.numel() for value in network.parameters())


def test_the_fully_connected_network():
    """784-300-300-300-300-1 without biases but the last; two numbers a unit of batch norm."""
    network = MLP((1, 28, 28))
    assert weighted_layers(network) == [(300, 784), (300, 300), (300, 300), (300, 300), (1, 300)]
    assert count(network) == 784 * 300 + 3 * 300 * 300 + 4 * 2 * 300 + 300 + 1


def test_the_all_convolutional_net():
    """[C(3*3, 96)]*2-C(3*3, 96, 2)-[C(3*3, 192)]*2-C(3*3, 192, 2)-C(3*3, 192)-C(1*1, 192)-C(1*1, 10)-1000-1000-1."""
    network, (a, b) = AllConvNet(), (96, 192)
    convolutions = [(a, 3, 3), (a, a, 3), (a, a, 3), (b, a, 3), (b, b, 3), (b, b, 3), (b, b, 3), (b, b, 1), (10, b, 1)]
    dense = [(1000, 640), (1000, 1000), (1, 1000)]
    assert weighted_layers(network) == [(out, into, size, size) for out, into, size in convolutions] + dense
    sides = [32, 32, 16, 16, 16, 8, 8, 8, 8]
    images = [(out, side, side) for (out, _, _), side in zip(convolutions, sides, strict=True)]
    assert flow(network, (3, 32, 32)) == [*images, (1000,), (1000,), (1,)]
    kernels = sum(out * into * size * size for out, into, size in convolutions) + sum(out * into for out, into in dense)
    assert count(network) == kernels + 2 * (sum(out for out, _, _ in convolutions) + 2000) + 1
    assert sum(isinstance(part, BatchNorm) for part in network.modules()) == 11


def test_the_residual_network():
    """C(3*3, 16)-[C(3*3, 16), C(3*3, 16)]*5-[C(3*3, 32)]*10-[C(3*3, 64)]*10-global averages-1: 32 layers."""
    network = ResNet32()
    widths = [3, *[16] * 11, *[32] * 10, *[64] * 10]
    convolutions = [(out, into, 3, 3) for into, out in pairwise(widths)]
    layers = weighted_layers(network)
    assert len(layers) == 32
    assert sorted(layers) == sorted([*convolutions, (1, 64)])
    sides = [32] * 11 + [16] * 10 + [8] * 10
    images = [(width, side, side) for width, side in zip(widths[1:], sides, strict=True)]
    assert flow(network, (3, 32, 32)) == [*images, (1,)]
    norms = 2 * (16 * 11 + 32 * 10 + 64 * 10)  # one before every convolution but the first, and one before averaging
    kernels = sum(int(np.prod(layer)) for layer in layers)
    assert count(network) == kernels + norms + (16 * 32 + 32 * 64) + 1


def test_blocks_act_before_they_convolve():
    """No ReLU lies on the way from block to block; where the shape changes, the way starts from the active input."""
    network, kinds = ResNet32((3, 8, 8)).eval(), set()
    for block in network.blocks:
        x = torch.randn(2, block.conv1.in_channels, 4, 4)
        active = block.norm1(x).relu()
        residual = block.conv2(block.norm2(block.conv1(active)).relu())
        torch.testing.assert_close(block(x) - residual, x if block.shortcut is None else block.shortcut(active))
        kinds.add((block.shortcut is None, block.conv1.stride))
    assert kinds == {(True, (1, 1)), (False, (2, 2))}


@pytest.mark.parametrize("name", models.MODELS)
def test_a_score_a_row(name):
    """Every model makes one score a row, in training as later, for shapes other than the paper's too."""
    network = models.MODELS[name]((2, 8, 12))
    for training in (True, False):
        assert network.train(training)(torch.randn(3, 2, 8, 12)).shape == (3,)


def test_lecun_normal():
    """Kernels are normals cut at two deviations of variance 1 / inputs; biases are zero."""
    torch.manual_seed(0)
    network = nn.Sequential(nn.Conv2d(16, 400, 5), nn.Flatten(), nn.Linear(300, 700))
    initialise(network)
    for part in (network[0], network[2]):
        kernel, inputs = part.weight.detach().double(), part.weight[0].numel()
        assert kernel.mean().abs() < 5 * (inputs * kernel.numel()) ** -0.5
        assert kernel.var() * inputs == pytest.approx(1, abs=0.01)
        assert kernel.abs().max() * inputs**0.5 == pytest.approx(2 / 0.87962566, abs=0.001)
        assert not part.bias.any()

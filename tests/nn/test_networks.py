"""K networks of any kind as one set of stacked tensors."""

import numpy as np
import pytest
import torch
from torch import nn

from uulearn.nn.models import MLP
from uulearn.nn.networks import Networks, factory

CPU, SHAPE, K, N = torch.device("cpu"), (2, 4), 3, 6


class Own(nn.Sequential):
    """A container whose forward is its own: what its parts compute is not all it does."""

    def forward(self, x):
        return 3 * super().forward(x) + torch.rand(())


class Skewed(nn.Linear):
    """A linear layer, in name."""

    def forward(self, x):
        return super().forward(x) + torch.rand(())


class Branch(MLP):
    """The paper's network with another forward."""

    def forward(self, x):
        return 5 * super().forward(x)


class Named(nn.Module):
    """A module with a part that happens to be called stacked."""

    def __init__(self):
        super().__init__()
        self.stacked = nn.Linear(8, 1)

    def forward(self, x):
        return self.stacked(x.flatten(1)).squeeze(1)


class Frozen(nn.Module):
    """A fixed first layer under one to train."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 5).requires_grad_(False), nn.Linear(5, 1)

    def forward(self, x):
        return self.last(self.first(x.flatten(1)).relu())


def dense(*more, **options):
    return nn.Sequential(nn.Flatten(), nn.Linear(8, 5), *more, nn.Linear(5, 1), **options)


# Makers of modules; whether K of them are computed together.
KINDS = {
    "mlp": (lambda shape: MLP(shape, (5, 5)), True),
    "sequential": (lambda shape: dense(nn.ReLU(), nn.Sequential(nn.LayerNorm(5), nn.Tanh())), True),
    "batch norm": (lambda shape: dense(nn.BatchNorm1d(5), nn.ReLU()), False),
    "dropout": (lambda shape: dense(nn.Dropout(0.5)), False),
    "convolutions": (lambda shape: nn.Sequential(nn.Unflatten(2, (2, 2)), nn.Conv2d(2, 1, 2), nn.Flatten()), False),
    "a forward of its own": (lambda shape: Named(), False),
    "frozen layers": (lambda shape: Frozen(), False),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


def networks(make, seeds=range(K)):
    return Networks(make, SHAPE, list(seeds), CPU)


def module_of(made, k, make):
    """One of the networks as a module of its own."""
    module = make(SHAPE)
    module.load_state_dict(made.member(k))
    return module.eval()


def test_scores(kind):
    """Together or in turn, the scores are those of each network on its own batch."""
    make, together = kind
    made, x = networks(make), torch.randn(K, N, *SHAPE)
    assert (made.together is not None) == together
    assert len(made) == K
    found = made.scores(x, training=False).scores
    for k in range(K):
        torch.testing.assert_close(found[k], module_of(made, k, make)(x[k]).reshape(N))


def test_seeds(kind):
    """A network depends on its own seed alone, and making it leaves torch's random numbers alone."""
    make, _ = kind
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    made = networks(make)
    assert torch.rand(3).equal(expected)
    alone = networks(make, [1])
    for name, value in made.parameters.items():
        assert value[1].equal(alone.parameters[name][0])
    assert any(not value[0].equal(value[1]) for value in made.parameters.values())


@pytest.mark.parametrize("make", [lambda shape: Own(nn.Linear(8, 1)), lambda shape: Skewed(8, 1)])
def test_a_class_of_the_users_own_is_taken_whole(make):
    """What derives from a known module may do anything: it is called as it is, one network at a time."""
    assert Networks(make, (8,), [0, 1], CPU).together is None


def test_a_subclass_keeps_its_forward():
    """A network derived from the paper's, with another forward, scores by that."""
    base, derived = (networks(lambda shape, kind=kind: kind(shape, (5,))) for kind in (MLP, Branch))
    x = torch.randn(K, N, *SHAPE)
    expected = 5 * base.scores(x, training=False).scores
    torch.testing.assert_close(derived.scores(x, training=False).scores, expected)


def test_frozen_parameters_are_not_trained():
    """Parameters that require no gradient are no parameters to train."""
    made = networks(KINDS["frozen layers"][0])
    assert set(made.parameters) == {"last.weight", "last.bias"}
    assert set(made.buffers) == {"first.weight", "first.bias"}


def test_size():
    """A row costs six operations for each entry of a kernel of one network."""
    assert networks(KINDS["mlp"][0]).size == 8 * 5 + 5 * 5 + 5


def test_select(kind):
    """Some of the networks, as networks that no longer change with them."""
    make, _ = kind
    made, x = networks(make), torch.randn(K, N, *SHAPE)
    scores = made.scores(x, training=False).scores
    some = made.select([2, 0])
    for value in made.parameters.values():
        value.zero_()
    torch.testing.assert_close(some.scores(x[[2, 0]], training=False).scores, scores[[2, 0]])


def test_copy_from(kind):
    """The state of networks of the same kind is taken over; of another kind it is refused."""
    make, _ = kind
    made, other, x = networks(make), networks(make, [7, 8, 9]), torch.randn(K, N, *SHAPE)
    made.copy_from(other)
    torch.testing.assert_close(made.scores(x, training=False).scores, other.scores(x, training=False).scores)
    with pytest.raises(ValueError, match="module, members and the shape of rows must be as before"):
        made.copy_from(networks(make, [7, 8]))


def test_bfloat16(kind):
    """Matrix products may be in bfloat16; scores are float32, and close."""
    make, _ = kind
    made, x = networks(make), torch.randn(K, 100, *SHAPE)
    exact, rounded = (
        made.scores(x, training=False, dtype=dtype).scores.detach() for dtype in (torch.float32, torch.bfloat16)
    )
    assert rounded.dtype == torch.float32
    assert 0 < (exact - rounded).abs().max() < 0.05 * exact.abs().max()


def test_running_statistics_are_of_the_state():
    """A training batch moves the running statistics in the state of the network it is of, as torch would."""
    make = KINDS["batch norm"][0]
    made, x = networks(make), torch.randn(N, *SHAPE)
    module = module_of(made, 1, make).train()
    before = {name: value.clone() for name, value in made.buffers.items()}
    module(x)
    made.one(made.member(1), x, True, torch.float32)
    for name, value in module.named_buffers():
        assert value.equal(made.buffers[name][1])
        assert not value.equal(before[name][1])
        assert made.buffers[name][0].equal(before[name][0])


class TestFactory:
    """What a user may give as module."""

    def test_a_module_keeps_its_weights(self):
        """All networks start from the weights a module has, and it is left as it was."""
        module = dense()
        made = Networks(factory(module), SHAPE, [0, 1], CPU)
        for name, value in module.named_parameters():
            assert made.parameters[name].equal(torch.stack([value, value]))
            made.parameters[name].zero_()
            assert value.any()

    def test_a_class_takes_the_shape(self):
        """A class, as any callable, is called with the shape of a row."""
        assert Networks(factory(MLP), SHAPE, [0], CPU).parameters["linear.0.weight"].shape == (1, 300, 8)

    @pytest.mark.parametrize(
        ("module", "kind", "match"),
        [
            ("resnet", ValueError, "module must be one of .* Did you mean 'resnet32'?"),
            (3, TypeError, "module must be one of 'mlp', .*, a torch module, or a callable .*; got 3"),
            (lambda shape: np.zeros(3), TypeError, "module must make a torch module; got ndarray"),
            (nn.ReLU(), ValueError, "module must have parameters to train"),
            (dense().requires_grad_(False), ValueError, "module must have parameters to train"),
            (nn.Linear(9, 1), ValueError, r"module must score rows of shape \(2, 4\); it failed"),
            (nn.Sequential(nn.Flatten(), nn.Linear(8, 2)), ValueError, r"one score a row.*got \(2, 2\) for 2 rows"),
            (nn.Linear(4, 1), ValueError, "one score a row"),
        ],
    )
    def test_refusals(self, module, kind, match):
        """Anything else is refused in one sentence that says what came."""
        with pytest.raises(kind, match=match):
            Networks(factory(module), SHAPE, [0], CPU)

import math
import pickle

import numpy as np
import pytest
import reference

from uulearn import losses
from uulearn.losses import BY_NAME, Loss, get


class Savage(Loss):
    """A user's own loss: 1 / (1 + exp(z))^2, bounded, neither convex nor symmetric."""

    bounded = True

    def value(self, z):
        return losses.Sigmoid().value(z) ** 2

    def derivative(self, z):
        s = losses.Sigmoid().value(z)
        return -2 * s * s * (1 - s)

    def curvature(self, z):
        s = losses.Sigmoid().value(z)
        return 2 * s * s * (1 - s) * (2 - 3 * s)


class SquaredHinge(Loss):
    """A user's own loss: max(0, 1 - z)^2, convex but not linear-odd."""

    convex = True

    def value(self, z):
        return (0.5 * (abs(1 - z) + (1 - z))) ** 2

    def derivative(self, z):
        return -(abs(1 - z) + (1 - z))

    def curvature(self, z):
        return (z < 1) * (2 + 0 * z)


LOSSES = {
    **BY_NAME,
    "ramp, smoothed": BY_NAME["ramp"].smoothed(0.25),
    "double hinge, smoothed": BY_NAME["double_hinge"].smoothed(0.25),
    "double hinge, very smooth": BY_NAME["double_hinge"].smoothed(1.5),
    "the user's own": Savage(),
    "the user's own, convex": SquaredHinge(),
}
"""Every law runs over every member: a loss that joins BY_NAME is thereby tested."""

TRAINABLE = {name: loss for name, loss in LOSSES.items() if loss.differentiable}


def over(members):
    return pytest.mark.parametrize("loss", [pytest.param(loss, id=name) for name, loss in members.items()])


def margins(loss, low=-8.0, high=8.0, n=401):
    """Random margins, none within .001 of a kink."""
    z = np.random.default_rng(0).uniform(low, high, n)
    for kink in loss.kinks:
        z = z[np.abs(z - kink) > 1e-3]
    return z


def slope(function, z, step):
    return (function(z + step) - function(z - step)) / (2 * step)


def eps(dtype):
    return float(np.finfo(dtype).eps)


GRID = np.arange(-5000, 5001) / 1000


def is_convex(loss):
    return bool(np.all(np.diff(loss.value(GRID), 2) > -1e-12))


def is_symmetric(loss):
    return np.allclose(loss.value(GRID) + loss.value(-GRID), 1, rtol=0, atol=1e-14)


def is_linear_odd(loss):
    return np.allclose(loss.value(GRID) - loss.value(-GRID), -GRID, rtol=0, atol=1e-14)


def is_bounded(loss):
    values = loss.value(np.concatenate([GRID, [-1e4, -100.0, 100.0, 1e4]]))
    return bool(np.all((values >= 0) & (values <= 1)))


def found_kinks(loss):
    """Where the value jumps, or its slope does by more than a curvature could bend it over a step of .001."""
    turns = GRID[1:-1][np.abs(np.diff(loss.value(GRID), 2) / 1e-3) > 0.05]
    runs = np.split(turns, np.flatnonzero(np.diff(turns) > 0.01) + 1)
    return tuple(round(float(run.mean()), 6) for run in runs if len(run))


def is_calibrated(loss):
    """For every class probability but 1/2, the best margin of the wrong sign (or 0) is worse than the best."""
    z = np.concatenate([-np.geomspace(1e-3, 30, 2000)[::-1], [0.0], np.geomspace(1e-3, 30, 2000)])
    for eta in (0.02, 0.2, 0.45, 0.55, 0.8, 0.98):
        conditional = eta * loss.value(z) + (1 - eta) * loss.value(-z)
        if not conditional[z * (2 * eta - 1) <= 0].min() > conditional.min() + 1e-9:
            return False
    return True


FACTS = {
    "convex": is_convex,
    "symmetric": is_symmetric,
    "linear_odd": is_linear_odd,
    "bounded": is_bounded,
    "kinks": found_kinks,
    "smooth": lambda loss: not found_kinks(loss),
    "calibrated": is_calibrated,
}


@pytest.mark.parametrize("fact", FACTS)
@over(LOSSES)
def test_facts(loss, fact):
    """What a loss says of itself is so."""
    assert getattr(loss, fact) == FACTS[fact](loss)


@pytest.mark.parametrize("fact", FACTS)
def test_lies_are_found_out(fact):
    """A loss that states the opposite of every fact is caught on each."""

    class Reversed(Loss):
        """The absolute value, which is least at 0 and so no guide to the sign."""

        symmetric = linear_odd = bounded = True

        def value(self, z):
            return abs(z)

        def derivative(self, z):
            return np.sign(z)

        def curvature(self, z):
            return 0 * z

    assert getattr(Reversed(), fact) != FACTS[fact](Reversed())


@pytest.mark.parametrize("name", reference.LOSSES)
def test_formula(name):
    """Every loss of the paper has the value of its formula."""
    z = np.concatenate([np.random.default_rng(0).uniform(-30, 30, 200), [-1.0, 0.0, 1.0]])
    assert BY_NAME[name].value(z) == pytest.approx([reference.LOSSES[name](margin) for margin in z], abs=1e-15)


@over(LOSSES)
def test_derivative(loss):
    """The derivative is the central difference of the value, away from kinks."""
    z = margins(loss)
    assert loss.derivative(z) == pytest.approx(slope(loss.value, z, 1e-5), abs=1e-8)


@over(LOSSES)
def test_curvature(loss):
    """The curvature is the central difference of the derivative, away from kinks."""
    z = margins(loss)
    assert loss.curvature(z) == pytest.approx(slope(loss.derivative, z, 1e-5), abs=1e-8)


@over({name: loss for name, loss in TRAINABLE.items() if loss.kinks})
def test_at_a_kink(loss):
    """At a kink the derivative is the mean of both sides and the curvature is 0."""
    kinks = np.array(loss.kinks)
    assert loss.derivative(kinks) == pytest.approx(slope(loss.value, kinks, 1e-4))
    assert loss.curvature(kinks).tolist() == [0] * len(kinks)


FAR = [-1e4, -300.0, -90.0, -1.0, 0.0, 1.0, 90.0, 300.0, 1e4]


@pytest.mark.parametrize("what", ["value", "derivative", "curvature"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@over(LOSSES)
def test_stable(loss, dtype, what):
    """At margins of 1e4 nothing overflows, the dtype is kept, and float32 agrees with float64."""
    found = getattr(loss, what)(np.array(FAR, dtype=dtype))
    assert found.dtype == dtype
    assert np.all(np.isfinite(found))
    exact = getattr(loss, what)(np.array(FAR))
    assert found == pytest.approx(exact, rel=4 * eps(dtype), abs=eps(dtype))


@pytest.mark.parametrize("what", ["value", "derivative", "curvature"])
@over(BY_NAME)
def test_whole_numbers(loss, what):
    """Small integer types give what floats give, up to their ends: nothing wraps around."""
    z = np.array([-128, -100, -1, 0, 1, 100, 127], dtype=np.int8)
    # NumPy 1 makes half-precision floats of them.
    assert getattr(loss, what)(z) == pytest.approx(getattr(loss, what)(z.astype(float)), rel=2e-3, abs=2e-3)


FAR_VALUES = {
    "sigmoid": (1, 0),
    "logistic": (1e4, 0),
    "squared": (10001**2 / 4, 9999**2 / 4),
    "ramp": (1, 0),
    "double_hinge": (1e4, 0),
    "zero_one": (1, 0),
    "ramp, smoothed": (1, 0),
    "double hinge, smoothed": (1e4, 0),
    "double hinge, very smooth": (1e4, 0),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FAR_VALUES)
def test_no_digit_is_lost_far_out(name, dtype):
    """At -1e4 and 1e4 the value is right to the last digit: large numbers do not cancel."""
    found = LOSSES[name].value(np.array([-1e4, 1e4], dtype=dtype))
    assert found == pytest.approx(np.array(FAR_VALUES[name]), rel=eps(dtype), abs=0)


@pytest.mark.parametrize("what", ["value", "derivative", "curvature"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@over(LOSSES)
def test_torch(loss, dtype, what):
    """A torch tensor gives what the NumPy array gives, in its dtype, without warnings and at any margin."""
    torch = pytest.importorskip("torch")
    z = np.concatenate([margins(loss), FAR]).astype(dtype)
    found = getattr(loss, what)(torch.from_numpy(z))
    assert found.dtype == getattr(torch, dtype)
    expected = getattr(loss, what)(z)
    assert found.numpy() == pytest.approx(expected, rel=8 * eps(dtype), abs=2 * eps(dtype))


@over(LOSSES)
def test_autograd(loss):
    """Differentiating the value in torch gives the derivative: at 0 too, where training starts, and far out."""
    torch = pytest.importorskip("torch")
    z = np.concatenate([margins(loss), [margin for margin in [*FAR, -2.0, 2.0] if margin not in loss.kinks]])
    leaf = torch.from_numpy(z).requires_grad_()
    total = loss.value(leaf).sum()
    # A loss that only scores may cut the graph.
    (found,) = torch.autograd.grad(total, leaf) if total.requires_grad else (torch.zeros_like(leaf),)
    assert found.numpy() == pytest.approx(loss.derivative(z), abs=1e-12)


@over(LOSSES)
def test_scalars(loss):
    """A plain number is as good as an array."""
    assert float(loss.value(0.3)) == loss.value(np.array([0.3]))[0]


@pytest.mark.parametrize("width", [0.01, 0.25, 1.0])
@over(TRAINABLE)
def test_smoothed(loss, width):
    """smoothed(width) is smooth, keeps all other facts and differs only within `width` of a kink."""
    smooth = loss.smoothed(width)
    if not loss.kinks:
        assert smooth is loss
        return
    assert smooth.smooth
    assert not smooth.kinks
    assert all(getattr(smooth, fact) == getattr(loss, fact) for fact in FACTS if fact not in ("smooth", "kinks"))
    gap = np.abs(smooth.value(GRID) - loss.value(GRID))
    near = np.min(np.abs(GRID[:, None] - np.array(loss.kinks)), axis=1) < width
    assert gap[~near].max() < 1e-15
    assert 0 < gap[near].max() <= width / 4
    # The joint leaves the lines without a jump.
    edges = np.array([kink + side * width for kink in loss.kinks for side in (-1, 1)])
    assert smooth.derivative(edges - 1e-9) == pytest.approx(smooth.derivative(edges + 1e-9), abs=1e-6)


@over({name: loss for name, loss in LOSSES.items() if loss.probability(np.zeros(1)) is not None})
def test_probability(loss):
    """The probability of a score is the class probability for which that score minimises the expected loss."""
    z = np.linspace(-0.99, 0.99, 67)
    eta = loss.probability(z)
    assert eta * loss.derivative(z) - (1 - eta) * loss.derivative(-z) == pytest.approx(np.zeros(67), abs=1e-12)
    far = loss.probability(np.array(FAR))
    assert np.all((far >= 0) & (far <= 1))
    assert np.all(np.diff(far) >= 0)


def test_which_losses_fix_a_probability():
    """The logistic and the squared loss do; the least of the others depends on the sign alone."""
    assert [name for name, loss in BY_NAME.items() if loss.probability(np.zeros(1)) is not None] == [
        "logistic",
        "squared",
    ]


@pytest.mark.parametrize("name", BY_NAME)
def test_get(name):
    """A loss is found by its name; an instance stands for itself; zero-one alone cannot be trained with."""
    assert get(name) is BY_NAME[name]
    assert get(BY_NAME[name]) is BY_NAME[name]
    assert BY_NAME[name].differentiable == (name != "zero_one")
    assert get(Savage(), trainable=True) == Savage()


@over({name: loss for name, loss in LOSSES.items() if type(loss).__module__ == "uulearn.losses"})
def test_value_object(loss):
    """Two losses are equal when they compute the same; repr and pickle give a loss back."""
    same = eval(repr(loss), vars(losses))
    assert same == loss == pickle.loads(pickle.dumps(loss))
    assert hash(same) == hash(loss)
    assert sum(loss == other for other in LOSSES.values()) == 1


def test_smoothing_nothing():
    """A width of 0 is the loss with its kinks."""
    assert BY_NAME["ramp"].smoothed(0) == BY_NAME["ramp"]
    assert math.isclose(BY_NAME["ramp"].smoothed(0.5).value(np.array([1.0]))[0], 0.5 / 8)

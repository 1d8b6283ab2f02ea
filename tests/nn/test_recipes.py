"""Learning rates by step, and the settings of the paper."""

import numpy as np
import pytest

from uulearn import losses
from uulearn.nn.recipes import Recipe, get, house, paper

SIGMOID, LOGISTIC = losses.get("sigmoid"), losses.get("logistic")


def rates(recipe, epochs, steps):
    """All learning rates of a training."""
    return np.concatenate([recipe.rates(epoch, epochs, steps) for epoch in range(epochs)])


def test_decay_is_by_iteration():
    """As in Keras the rate is divided by 1 + decay * (steps so far), not epochs so far."""
    found = rates(Recipe(schedule="decay", learning_rate=0.1, decay=0.01), 3, 50)
    assert found == pytest.approx([0.1 / (1 + 0.01 * step) for step in range(150)])


@pytest.mark.parametrize("warmup", [0, 1, 2.5])
def test_cosine(warmup):
    """The rate rises by equal steps to its largest value, then falls as half a cosine to 0 at the last step."""
    found, steps, epochs = rates(Recipe(learning_rate=0.3, warmup=warmup), 8, 20), 20, 8
    top = max(1, round(warmup * steps)) - 1
    assert found[: top + 1] == pytest.approx(0.3 * np.arange(1, top + 2) / (top + 1))
    part = np.arange(epochs * steps - top) / (epochs * steps - top - 1)
    assert found[top:] == pytest.approx(0.3 * (1 + np.cos(np.pi * part)) / 2, abs=1e-12)
    assert np.argmax(found) == top


@pytest.mark.parametrize(("epochs", "steps"), [(1, 1), (1, 7), (2, 1), (3, 2)])
def test_short_trainings(epochs, steps):
    """The shortest training has positive rates, but for its last step, none above the largest."""
    found = rates(Recipe(learning_rate=0.3, warmup=5), epochs, steps)
    assert len(found) == epochs * steps
    assert np.all(found[:-1] > 0)
    assert np.all(found <= 0.3)
    assert found.max() > 0.1


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(schedule="decay", decay=0.1)], ids=["cosine", "decay"])
def test_constant(recipe):
    """Without its schedule a recipe keeps its largest rate, and all else."""
    assert set(rates(recipe.constant(), 2, 30)) == {recipe.learning_rate}
    assert recipe.constant().weight_decay == recipe.weight_decay


# The rows of the paper's appendix and of its authors' code: optimiser, rate, Keras penalty, batch.
PAPER = {
    "mlp": ("sgd", 1e-3, 1e-4, 128),
    "allconv": ("adam", 1e-3, 1e-5, 500),
    "resnet32": ("adam", 1e-5, 5e-3, 500),
}


@pytest.mark.parametrize(("loss", "part"), [(SIGMOID, 1), (LOGISTIC, 0.1)], ids=["sigmoid", "logistic"])
@pytest.mark.parametrize("module", PAPER)
def test_settings_of_the_paper(module, loss, part):
    """200 epochs, no momentum; a penalty l2 * W^2 has the gradient 2 * l2 * W; the logistic loss learns at a tenth."""
    optimizer, rate, l2, batch_size = PAPER[module]
    found = paper(module, loss, 0.8)
    assert (found.optimizer, found.batch_size, found.epochs, found.momentum) == (optimizer, batch_size, 200, 0)
    assert found.learning_rate == pytest.approx(rate * part)
    assert found.weight_decay == pytest.approx(2 * l2)
    assert found.steps == 0


@pytest.mark.parametrize(
    ("shares", "decay"), [((0.9, 0.1), 0), ((0.8, 0.2), 1e-4), ((0.7, 0.3), 5e-4), ((0.9, 0.4), 5e-4), ((1, 0), 0)]
)
def test_decay_of_the_paper(shares, decay):
    """The closer the set priors, the faster the rate decays."""
    found = paper("mlp", SIGMOID, float(np.ptp(shares)))
    assert (found.schedule, found.decay) == ("decay", decay)


def test_a_module_of_the_users_own():
    """The paper's settings for any other module are those of its fully connected network."""
    assert paper(object(), SIGMOID, 0.8) == paper("mlp", SIGMOID, 0.8)


def test_get():
    """A recipe is chosen by name, or taken as it is."""
    assert get("paper", "mlp", SIGMOID, 0.5) == paper("mlp", SIGMOID, 0.5)
    assert get("house", "mlp", SIGMOID, 0.5) == house("mlp", SIGMOID, 0.5)
    assert get(Recipe(epochs=3), "mlp", SIGMOID, 0.5) == Recipe(epochs=3)
    with pytest.raises(
        ValueError, match=r"recipe must be one of 'paper', 'house'; got 'papr'\. Did you mean 'paper'\?"
    ):
        get("papr", "mlp", SIGMOID, 0.5)

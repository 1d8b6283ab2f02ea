import numpy as np
import pytest

pytest.importorskip("torch")

from uulearn import losses
from uulearn.nn.batches import Member
from uulearn.nn.recipes import Recipe
from uulearn.nn.stack import Stack
from uulearn.risk import row_weights
from uulearn.sets import match_sets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)).astype(np.float32)
SETS = match_sets(np.repeat([0, 1], [120, 80]), (0.9, 0.4), 0.3)
RECIPE = Recipe(learning_rate=0.05, batch_size=50, epochs=4)


def members(n):
    rows = [np.sort(np.random.default_rng(seed).choice(300, 200, replace=False)) for seed in range(n)]
    return [Member(own, row_weights(SETS), SETS.index, seed) for seed, own in enumerate(rows)]


def stack(n=2, recipe=RECIPE, module="mlp"):
    return Stack(module, X, members(n), recipe, losses.get("sigmoid"), "none")


class Killed(Exception):
    pass


def test_goes_on_where_it_was(tmp_path):
    """Ended in the middle of an epoch's judgement and begun anew, a training comes to the same networks."""
    whole = stack()
    history = whole.run()

    def stop(record):
        if record["epoch"] == 3:
            raise Killed

    path = tmp_path / "state.safetensors"
    with pytest.raises(Killed):
        stack().run(stop, path=path, fingerprint="one", pause=0)
    again = stack()
    seen = []
    found = again.run(seen.append, path=path, fingerprint="one", pause=0)
    assert [record["epoch"] for record in seen] == [3, 4]
    assert [record["loss"] for record in found] == [record["loss"] for record in history]
    np.testing.assert_array_equal(again.scores(), whole.scores())


def test_a_long_pause_leaves_the_end(tmp_path):
    """However long the pause between checkpoints, the last epoch leaves one: a finished training is not run again."""
    path, seen = tmp_path / "state.safetensors", []
    first = stack()
    first.run(path=path, fingerprint="one", pause=1e9)
    again = stack()
    again.run(seen.append, path=path, fingerprint="one")
    assert seen == []
    np.testing.assert_array_equal(again.scores(), first.scores())


def test_scores():
    """Own rows are scored as all rows are; other rows with a table of their own."""
    trained = stack()
    trained.run()
    every = trained.scores()
    own = trained.own_scores([np.arange(7), np.array([5, 250])])
    np.testing.assert_array_equal(own[0], every[0, :7])
    np.testing.assert_array_equal(own[1], every[1, [5, 250]])
    np.testing.assert_array_equal(trained.scores(trained.table(X[:9])), every[:, :9])


def test_lines():
    """The lines of linear networks are their scores."""
    trained = stack(module="linear")
    trained.run()
    scores = np.stack([X @ weights + intercept for weights, intercept in trained.lines()])
    np.testing.assert_allclose(trained.scores(), scores, atol=1e-5)


def test_no_numbers():
    """A training whose loss is no number any more is refused."""
    X[0, 0], kept = np.nan, X[0, 0]
    try:
        with pytest.raises(ValueError, match="the loss must stay finite"):
            Stack(
                "linear",
                X,
                [Member(np.arange(200), row_weights(SETS), SETS.index, 0)],
                RECIPE,
                losses.get("sigmoid"),
                "none",
            ).run()
    finally:
        X[0, 0] = kept

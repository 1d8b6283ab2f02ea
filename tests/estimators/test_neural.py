"""Networks from unlabeled sets: what they read, hold out, keep, resume and go on from."""

import copy
import os
import pickle
import socket
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from roster import blobs, smooth
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from torch import nn
from torch.utils.data import TensorDataset

from uulearn import UUNeuralClassifier
from uulearn.baselines import BiasedClassifier, CCNClassifier
from uulearn.estimators import neural as neural_module
from uulearn.metrics import error
from uulearn.nn import recipes
from uulearn.nn.models import MLP
from uulearn.sets import match_sets

# A few steps of training are enough for most of what is tested here, and too few to find a boundary.
pytestmark = pytest.mark.filterwarnings("ignore:Every held-out row is predicted")
PRIORS: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}
SMALL = partial(MLP, hidden=(16,))
X, SETS, TRUTH = blobs()


def neural(module: Any = smooth, **options: Any) -> UUNeuralClassifier:
    plain = {"epochs": 4, "learning_rate": 0.1, "refine": 0, "random_state": 0}
    return UUNeuralClassifier(module, **{**PRIORS, **plain, **options})


def failures(estimator: Any) -> dict[str, str]:
    reason = "steps on batches of other rows: a weight is a repetition on expectation; the roster tests whole batches"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks(
    [UUNeuralClassifier(SMALL, set_priors=(0, 1), prior=0.5, epochs=25, batch_size=32, learning_rate=0.03)],
    expected_failed_checks=failures,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


def test_the_recipe_says_how_often_to_refine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless told otherwise: twice in the house recipe, for a long table of long sets, and never in the paper's."""
    few = [0, 1, 2, -3, -2, -1]
    assert neural(refine=None).fit(X, SETS).n_rounds_ == 0
    monkeypatch.setattr(recipes, "LONG", len(X) // 2)
    assert neural(refine=None).fit(X, SETS).n_rounds_ == 2
    assert neural(refine=None).fit(X[few], SETS[few]).n_rounds_ == 0
    assert neural(refine=None, recipe="paper").fit(X, SETS).n_rounds_ == 0
    assert neural(refine=1).fit(X, SETS).n_rounds_ == 1


# ---- learning --------------------------------------------------------------------------------------------------------


def test_the_network_of_the_paper_learns() -> None:
    """Batch norm, small batches and the sigmoid loss: near the Bayes error, with probabilities of the target."""
    new, _, truth = blobs((0.3, 0.3001), (2000, 2000), seed=9)
    clf = neural(SMALL, epochs=40, refine=1).fit(X, SETS)
    proba, scores = clf.predict_proba(new), clf.decision_function(new)
    assert np.mean(clf.predict(new) != truth) < 0.20
    assert abs(proba[:, 1].mean() - 0.3) < 0.08
    assert np.array_equal(proba.argmax(axis=1) == 1, scores > 0)
    assert scores.dtype == proba.dtype == np.float32


@pytest.mark.parametrize("recipe", [BiasedClassifier, CCNClassifier])
def test_comparison_methods_train_networks(recipe: Any) -> None:
    """Recipes hand their columns to a network as to any classifier."""
    clf = recipe(neural(), **PRIORS).fit(X, SETS)
    assert clf.score(X, SETS) == pytest.approx(1 - clf.evaluate(X, SETS).error.value)
    assert not np.array_equal(clf.decision_function(X), neural().fit(X, SETS).decision_function(X))


def test_bfloat16_is_near_float32() -> None:
    """Matrix products of 8 bits give nearly the same classifier."""
    scores = [neural(precision=one).fit(X, SETS).decision_function(X) for one in ("bfloat16", "float32")]
    assert 0.99 < np.corrcoef(scores)[0, 1] < 1


# ---- what is held out ------------------------------------------------------------------------------------------------


@pytest.fixture
def held_out(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Rows that fits hold out, as they go."""
    found, make_plan = [], neural_module.make_plan

    def spy(clf: Any, rows: Any, sets: Any, seed: int, chosen: Any, *others: Any) -> Any:
        found.append(chosen)
        return make_plan(clf, rows, sets, seed, chosen, *others)

    monkeypatch.setattr(neural_module, "make_plan", spy)
    return found


@pytest.mark.parametrize("refine", [0, 1])
def test_held_out_rows_train_nothing(held_out: list[np.ndarray], refine: int) -> None:
    """A tenth of each set is held out; the weights do not depend on it, the choice of the epoch does."""
    clf = neural(restore_best=False, refine=refine).fit(X, SETS)
    assert np.bincount(SETS[held_out[0]]).tolist() == [60, 30]
    moved = X.copy()
    moved[held_out[0]] += 100
    other = neural(restore_best=False, refine=refine).fit(moved, SETS)
    assert np.array_equal(clf.decision_function(X), other.decision_function(X))
    assert clf.history_[0]["loss"] == other.history_[0]["loss"]
    assert [record["error"] for record in clf.history_] != [record["error"] for record in other.history_]


def test_groups_are_held_out_whole(held_out: list[np.ndarray]) -> None:
    """No group is on both sides, however few there are."""
    groups = np.arange(len(X)) % 4
    neural().fit(X, SETS, groups=groups)
    trained = np.delete(np.arange(len(X)), held_out[0])
    assert not set(groups[held_out[0]]) & set(groups[trained])


def test_a_set_of_few_rows_costs_the_others_nothing(held_out: list[np.ndarray]) -> None:
    """A tenth of each set, at least one row or group: of thirty groups beside five, three and one."""
    neural().fit(X[:603], SETS[:603])
    assert np.bincount(SETS[held_out[0]]).tolist() == [60, 1]
    groups = np.where(SETS == 0, np.arange(len(X)) % 30, 30 + np.arange(len(X)) % 5)
    neural().fit(X, SETS, groups=groups)
    assert [len(np.unique(groups[held_out[1]][SETS[held_out[1]] == k])) for k in (0, 1)] == [3, 1]


def test_a_network_that_predicts_one_class_warns() -> None:
    """As from features that swamp a module without norms, or after too few steps."""
    with pytest.warns(UserWarning, match=r"Every held-out row is predicted 0: .* Centre and scale X"):
        neural(learning_rate=1e-3).fit(X + 1000, SETS)


def test_rows_of_no_weight_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A set of many rows with three that count is a set of three: no round of refinement, no refusal."""
    monkeypatch.setattr(recipes, "LONG", 100)
    weight = np.where((SETS == 1) & (np.cumsum(SETS) > 3), 0.0, 1.0)
    assert neural(refine=None).fit(X, SETS, sample_weight=weight).n_rounds_ == 0


def test_the_history_is_label_free() -> None:
    """Each epoch has the error of the held-out rows; labels, where given, are reported and change nothing."""
    plain = neural().fit(X, SETS)
    told = neural().fit(X, SETS, test=(X, TRUTH))
    assert [record["epoch"] for record in plain.history_] == [1, 2, 3, 4]
    assert plain.history_[0].keys() == {"epoch", "loss", "seconds", "error", "error_se"}
    assert told.history_[0].keys() - plain.history_[0].keys() == {"test_error"}
    assert np.array_equal(plain.decision_function(X), told.decision_function(X))
    chosen = told.history_[told.best_epoch_ - 1]["test_error"]
    assert chosen == np.mean(told.predict(X) != TRUTH)


def test_the_epoch_kept_is_the_one_that_predicts() -> None:
    """`best_epoch_` says whose scores come back; without `restore_best` it is the last."""
    seen: list[np.ndarray] = []
    options = {"epochs": 12, "learning_rate": 10.0, "callbacks": [lambda clf, record: seen.append(clf.predict(X))]}
    best, last = (neural(restore_best=one, **options).fit(X, SETS) for one in (True, False))
    assert best.best_epoch_ < last.best_epoch_ == 12
    assert np.array_equal(best.predict(X), seen[best.best_epoch_ - 1])
    assert np.array_equal(last.predict(X), seen[-1])


def test_without_held_out_rows_the_last_epoch_is_kept() -> None:
    """And the loss must fix the probabilities."""
    clf = neural(loss="logistic", validation_fraction=0).fit(X, SETS)
    assert clf.best_epoch_ == 4
    assert "error" not in clf.history_[0]
    assert clf.predict_proba(X).shape == (len(X), 2)


def test_callbacks_see_a_classifier_and_may_end_the_fit() -> None:
    """It predicts, is scored and can be copied as it is after that epoch."""
    seen: list[Any] = []

    def look(clf: Any, record: Any) -> bool:
        seen.append((record["epoch"], clf.score(X, SETS), copy.deepcopy(clf)))
        return record["epoch"] == 2

    clf = neural(restore_best=False, callbacks=[look]).fit(X, SETS)
    assert [epoch for epoch, _, _ in seen] == [1, 2]
    assert seen[0][2].score(X, SETS) == seen[0][1] != seen[1][1] == clf.score(X, SETS)


# ---- what rows come from ---------------------------------------------------------------------------------------------


def as_memmap(folder: Any) -> Any:
    X.astype(np.float32).tofile(folder / "X.bin")
    return np.memmap(folder / "X.bin", np.float32, "r", shape=X.shape)


def as_dataset(folder: Any) -> Any:
    return TensorDataset(torch.tensor(X, dtype=torch.float32), torch.zeros(len(X)))


@pytest.mark.parametrize("source", [as_memmap, as_dataset], ids=["memmap", "Dataset"])
def test_rows_may_be_read_as_they_are_needed(source: Any, tmp_path: Any) -> None:
    """A table on disk gives the classifier of the table in memory, and is predicted from likewise."""
    rows, plain = source(tmp_path), neural(refine=1).fit(X, SETS)
    clf = neural(refine=1).fit(rows, SETS)
    np.testing.assert_allclose(clf.decision_function(rows), plain.decision_function(X), rtol=1e-5, atol=1e-6)
    assert clf.n_features_in_ == 3


def test_parquet_files_name_sets_and_features(tmp_path: Any) -> None:
    """`y` may be a column of the file; it is no feature, and files to predict need not have it."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"x{j}": X[:, j].astype(np.float32) for j in range(3)}
    full, bare, mixed = tmp_path / "full.parquet", tmp_path / "bare.parquet", tmp_path / "mixed.parquet"
    parquet.write_table(pyarrow.table(columns | {"village": np.where(SETS == 0, "east", "west")}), full)
    parquet.write_table(pyarrow.table(columns), bare)
    parquet.write_table(pyarrow.table(dict(reversed(columns.items()))), mixed)
    clf = neural(set_priors={"east": 0.9, "west": 0.4}).fit(full, "village")
    plain = neural().fit(X, SETS)
    assert clf.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    for file in (full, bare):
        np.testing.assert_allclose(clf.decision_function(file), plain.decision_function(X), rtol=1e-5, atol=1e-6)
    assert clf.score(full, "village") == pytest.approx(plain.score(X, SETS))
    assert clf.evaluate(full, "village").error.value == pytest.approx(1 - clf.score(full, "village"))
    with pytest.raises(ValueError, match=r"columns it had at fit, in their order; got others\. Write them"):
        clf.predict(mixed)


def conv(shape: tuple[int, ...]) -> nn.Module:
    return nn.Sequential(nn.Conv2d(shape[0], 4, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 4 * 6, 1))


def test_images_may_come_flat() -> None:
    """(n, c, h, w), flat rows with `image_shape`, tensors and bytes are the same images."""
    images = np.random.default_rng(0).integers(0, 9, (len(X), 1, 4, 6), dtype=np.uint8)
    flat = images.reshape(len(X), -1).astype(float)
    clf = neural(conv).fit(images, SETS)
    expected = clf.decision_function(images)
    for rows in (flat, torch.tensor(images), torch.tensor(images, dtype=torch.bfloat16)):
        assert np.array_equal(clf.decision_function(rows), expected)
    assert np.array_equal(neural(conv, image_shape=(1, 4, 6)).fit(flat, SETS).decision_function(flat), expected)
    assert clf.n_features_in_ == 24


def test_networks_for_images_guess_the_shape() -> None:
    """A flat row of 3 * 8 * 8 entries is a square image of three channels."""
    rows, sets = np.random.default_rng(0).normal(size=(12, 192)), np.repeat([0, 1], 6)
    clf = neural("resnet32", epochs=1, batch_size=6).fit(rows, sets)
    assert clf.networks_.shape == (3, 8, 8)
    assert np.all(np.isfinite(clf.decision_function(rows)))


# ---- members ---------------------------------------------------------------------------------------------------------


def test_members_are_an_ensemble() -> None:
    """The score is the mean of the members'; combine="best" predicts by the one that errs least on held-out rows."""
    mean, best = (neural(members=3, combine=one).fit(X, SETS) for one in ("mean", "best"))
    each = mean.member_scores(X)
    assert each.shape == (3, len(X))
    assert len({scores.tobytes() for scores in each}) == 3
    np.testing.assert_array_equal(mean.decision_function(X), each.mean(axis=0))
    assert np.array_equal(best.member_scores(X), each)
    np.testing.assert_allclose(best.decision_function(X), each[best.best_member_], rtol=1e-5, atol=1e-6)


def test_the_best_member_errs_least(held_out: list[np.ndarray]) -> None:
    """On the rows held out, without a label."""
    clf = neural(members=3, combine="best", learning_rate=(1e-6, 0.1, 1e-6)).fit(X, SETS)
    rows = held_out[0]
    sets = match_sets(SETS, (0.9, 0.4), 0.3).take(rows)
    errors = [error(sets, scores) for scores in clf.member_scores(X[rows])]
    assert clf.best_member_ == np.argmin(errors) == 1


def test_members_may_differ_in_pace() -> None:
    """Learning rates and weight decays by member: each trains as it would alone."""
    paces = {"learning_rate": (0.1, 0.02), "weight_decay": [0.0, 0.5]}
    both = neural(members=2, restore_best=False, **paces).fit(X, SETS).member_scores(X)
    alike = neural(members=2, restore_best=False, learning_rate=0.02, weight_decay=0.5).fit(X, SETS).member_scores(X)
    alone = neural(restore_best=False, weight_decay=0.0).fit(X, SETS).decision_function(X)
    np.testing.assert_allclose(both[0], alone, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(both[1], alike[1], rtol=1e-4, atol=1e-5)


# ---- going on --------------------------------------------------------------------------------------------------------


class Killed(BaseException):
    """What a callback cannot raise by accident."""


@pytest.mark.parametrize("options", [{}, {"refine": 1, "members": 2, "combine": "best"}], ids=["plain", "refined"])
def test_the_same_fit_goes_on_from_its_checkpoint(options: Any, tmp_path: Any) -> None:
    """Killed in its third epoch and started again, it ends with the very weights of an uninterrupted fit."""

    def kill(clf: Any, record: Any) -> None:
        if record["epoch"] == 3:
            raise Killed

    whole = neural(**options).fit(X, SETS)
    with pytest.raises(Killed):
        neural(checkpoint=tmp_path, callbacks=[kill], **options).fit(X, SETS)
    epochs: list[int] = []
    again = neural(checkpoint=tmp_path, callbacks=[lambda clf, record: epochs.append(record["epoch"])], **options)
    again.fit(X, SETS)
    assert epochs == [3, 4]
    assert np.array_equal(again.member_scores(X), whole.member_scores(X))
    assert [record["loss"] for record in again.history_] == [record["loss"] for record in whole.history_]
    assert again.best_epoch_ == whole.best_epoch_
    done = neural(checkpoint=tmp_path, callbacks=[kill], **options).fit(X, SETS)
    assert np.array_equal(done.decision_function(X), whole.decision_function(X))


def test_partial_fit_trains_on_what_comes() -> None:
    """Epoch by epoch on parts of the rows, it learns; sets without rows yet are named by `classes`."""
    clf = neural(set_priors=(0.9, 0.4, 0.2), validation_fraction=0, loss="logistic")
    rows, sets, _ = blobs((0.9, 0.4, 0.2), (600, 300, 300))
    clf.partial_fit(rows[:900], sets[:900], classes=[0, 1, 2])
    assert clf.set_labels_.tolist() == [0, 1, 2]
    for part in range(20):
        clf.partial_fit(rows[part % 3 :: 3], sets[part % 3 :: 3])
    assert clf.best_epoch_ == len(clf.history_) == 21
    assert np.mean(clf.predict(X) == TRUTH) > 0.75


def test_partial_fit_goes_on_from_fit() -> None:
    """One small step from where the fit ended."""
    clf = neural(members=2, combine="best").fit(X, SETS)
    before = clf.member_scores(X)
    after = clf.set_params(learning_rate=1e-6).partial_fit(X, SETS).member_scores(X)
    assert not np.array_equal(before, after)
    np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-3)


def test_warm_start_begins_where_the_last_fit_ended() -> None:
    """Without it, a second fit is the first again."""
    clf = neural().fit(X, SETS)
    before = clf.decision_function(X)
    assert np.array_equal(clf.fit(X, SETS).decision_function(X), before)
    clf.set_params(warm_start=True, epochs=1, learning_rate=1e-7).fit(X, SETS)
    np.testing.assert_allclose(clf.decision_function(X), before, rtol=1e-4, atol=1e-4)


def test_a_module_starts_from_its_own_weights() -> None:
    """It is copied, by the fit and by `clone`; the user's own stays as it was."""
    module = smooth((3,))
    kept = [value.clone() for value in module.parameters()]
    clf = neural(module, epochs=1, learning_rate=1e-7).fit(X, SETS)
    with torch.no_grad():
        expected = module(torch.tensor(X, dtype=torch.float32))[:, 0].numpy()
    np.testing.assert_allclose(clf.decision_function(X), expected, rtol=1e-4, atol=1e-4)
    assert all(torch.equal(a, b) for a, b in zip(kept, module.parameters(), strict=True))
    assert np.array_equal(clone(clf).fit(X, SETS).decision_function(X), clf.decision_function(X))


def test_fitted_networks_pickle_whatever_made_them() -> None:
    """A lambda cannot be pickled, as Python says; the networks it made can."""
    clf = neural(lambda shape: smooth(shape)).fit(X, SETS)
    networks = pickle.loads(pickle.dumps(clf.networks_))
    assert np.array_equal(networks.parameters["0.weight"], clf.networks_.parameters["0.weight"])
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(clf)


# ---- many processes --------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
import numpy as np
from roster import blobs, smooth
from uulearn import UUNeuralClassifier
X, sets, _ = blobs(sizes=(200, 100))
clf = UUNeuralClassifier(smooth, set_priors=(0.9, 0.4), prior=0.3, epochs=2, refine=1).fit(X, sets)
np.save(sys.argv[1], clf.decision_function(X))
"""


def test_processes_end_with_the_same_networks(tmp_path: Any) -> None:
    """Under a launcher that sets what torchrun sets, even without a seed."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "PYTHONPATH": "tests"}
    ranks = [
        subprocess.Popen([sys.executable, "-c", SCRIPT, str(tmp_path / rank)], env=os.environ | shared | {"RANK": rank})
        for rank in ("0", "1")
    ]
    assert [rank.wait(timeout=120) for rank in ranks] == [0, 0]
    first, second = (np.load(tmp_path / f"{rank}.npy") for rank in (0, 1))
    assert np.array_equal(first, second)

"""The state of a training is on disk whole or not at all, and training goes on from it bit for bit."""

import json
import multiprocessing
import os
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from uulearn import losses
from uulearn.nn import checkpoint
from uulearn.nn.batches import Member
from uulearn.nn.engine import Table, Trainer, run
from uulearn.nn.models import MLP
from uulearn.nn.networks import Networks
from uulearn.nn.recipes import Recipe
from uulearn.nn.rows import as_rows
from uulearn.risk import Columns, get_correction

TENSORS = {
    "whole numbers": torch.arange(6).view(2, 3),
    "number": torch.tensor(0.1),
    "a part of another": torch.arange(6.0).view(2, 3)[:, 1],
    "low precision": torch.ones(2, dtype=torch.bfloat16),
}
FACTS = {"fingerprint": "abc", "history": [{"epoch": 1, "loss": 0.1 + 0.2}], "ended": False}


class TestFile:
    """One file, written in one step."""

    def test_round_trip(self, tmp_path):
        """Tensors and facts come back as they were, to the last bit; the folder is made if need be."""
        path = tmp_path / "runs" / "one" / "a.safetensors"
        assert checkpoint.read(path, "abc") is None
        checkpoint.write(path, TENSORS, FACTS)
        tensors, facts = checkpoint.read(path, "abc")
        assert facts == FACTS
        assert tensors.keys() == TENSORS.keys()
        for name, value in TENSORS.items():
            assert tensors[name].dtype == value.dtype
            assert tensors[name].equal(value)

    def test_no_half_file(self, tmp_path, monkeypatch):
        """A write that fails leaves the state before; what a killed process has left is swept up."""
        path = tmp_path / "a.safetensors"
        checkpoint.write(path, TENSORS, FACTS)
        (tmp_path / ".a.safetensors.12ab.part").write_bytes(b"half")

        def full(*_):
            raise OSError("full")

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="full"):
                checkpoint.write(path, {}, FACTS | {"ended": True})
        assert checkpoint.read(path, "abc")[1] == FACTS
        checkpoint.write(path, {}, FACTS | {"ended": True})
        assert checkpoint.read(path, "abc")[1]["ended"]
        assert os.listdir(tmp_path) == ["a.safetensors"]

    @pytest.mark.parametrize(
        "content",
        [
            lambda path: path.write_bytes(b""),
            lambda path: path.write_text("not a checkpoint"),
            lambda path: save_file({}, path),
            lambda path: save_file(TENSORS | {"a part of another": torch.ones(1)}, path, {"format": "pt"}),
            lambda path: save_file({}, path, {"uulearn": "not JSON"}),
            lambda path: save_file({}, path, {"uulearn": "{}"}),
            lambda path: save_file({}, path, {"uulearn": "[]"}),
            lambda path: path.mkdir(),
        ],
        ids=["empty", "text", "no facts", "another's", "no JSON", "no fingerprint", "a list", "folder"],
    )
    def test_foreign_files(self, tmp_path, content):
        """What is no checkpoint is refused, and left as it is."""
        path = tmp_path / "a.safetensors"
        content(path)
        with pytest.raises(ValueError, match=r"own files; a\.safetensors in it is not one\. Give another folder\."):
            checkpoint.read(path, "abc")
        assert path.exists()

    def test_cut_file(self, tmp_path):
        """A file cut short by whatever else is no checkpoint."""
        path = tmp_path / "a.safetensors"
        checkpoint.write(path, TENSORS, FACTS)
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(ValueError, match="is not one"):
            checkpoint.read(path, "abc")

    def test_another_training(self, tmp_path):
        """The checkpoint of another training is refused with both ways out."""
        path = tmp_path / "a.safetensors"
        checkpoint.write(path, TENSORS, FACTS)
        with pytest.raises(
            ValueError, match=r"is of another\. Give another folder, or delete the files to start anew\."
        ):
            checkpoint.read(path, "abd")

    def test_a_file_for_a_folder(self, tmp_path):
        """A file where the folder should be is refused before anything is trained."""
        (tmp_path / "notes").write_text("mine")
        with pytest.raises(ValueError, match="checkpoint must be a folder; got the file notes"):
            checkpoint.read(tmp_path / "notes" / "a.safetensors", "abc")


KINDS = {
    "mlp": lambda shape: MLP(shape, (5, 5)),
    "dropout": lambda shape: nn.Sequential(nn.Linear(8, 5), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 1)),
}
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 8)).astype(np.float32)
COLUMNS = Columns(*RNG.normal(size=(2, 120)) / 60)


def trainer(kind, recipe):
    members = [Member(np.arange(120), COLUMNS, np.arange(120) % 2, seed) for seed in (0, 1)]
    cpu = torch.device("cpu")
    networks, table = Networks(KINDS[kind], (8,), [0, 1], cpu), Table(as_rows(X), (8,), torch.float32, cpu)
    return Trainer(networks, table, members, recipe, 4, losses.get("sigmoid"), get_correction("relu"))


class Stopped(Exception):
    pass


def after(made, stop=None):
    """Adds to the record, keeps the networks of the second epoch, and stops short."""

    def act(record):
        record["twice"] = 2 * record["epoch"]
        if record["epoch"] == 2:
            made.keep(scores=torch.tensor([0.1, 0.2]))
        if record["epoch"] == stop:
            raise Stopped

    return act


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stop", [1, 2, 3, 4])
def test_going_on(tmp_path, kind, optimizer, stop):
    """Stopped in any epoch and started again, training ends in the state, kept networks and records it would have."""
    recipe, path = Recipe(optimizer=optimizer, batch_size=24), tmp_path / "a.safetensors"
    whole = trainer(kind, recipe)
    expected = run(whole, after(whole))
    cut = trainer(kind, recipe)
    with pytest.raises(Stopped):
        run(cut, after(cut, stop), path=path, fingerprint="abc")
    again = trainer(kind, recipe)
    history = run(again, after(again), path=path, fingerprint="abc")
    assert again.state().keys() == whole.state().keys()
    assert len(whole.kept) > 1
    for name, value in again.state().items():
        assert value.equal(whole.state()[name]), name
    drop_time = [[{**record, "seconds": 0} for record in records] for records in (history, expected)]
    assert drop_time[0] == drop_time[1]


@pytest.mark.parametrize("last", [2, 4])
def test_nothing_is_left_to_do(tmp_path, last):
    """A training that has ended, early too, is not trained on; its records and its networks are there."""
    path, trained = tmp_path / "a.safetensors", trainer("mlp", Recipe(batch_size=24))
    history = run(trained, lambda record: record["epoch"] == last, path=path, fingerprint="abc")
    assert len(history) == last
    again = trainer("mlp", Recipe(batch_size=24))
    again.train_epoch = None
    assert run(again, path=path, fingerprint="abc") == json.loads(json.dumps(history))
    assert all(value.equal(trained.state()[name]) for name, value in again.state().items())


def test_another_recipe_is_another_training(tmp_path):
    """A checkpoint is not gone on from under another fingerprint."""
    path, recipe = tmp_path / "a.safetensors", Recipe(batch_size=24)
    run(trainer("mlp", recipe), path=path, fingerprint="abc")
    with pytest.raises(ValueError, match="of this very training"):
        run(trainer("mlp", replace(recipe, momentum=0.5)), path=path, fingerprint="abd")


FIT = """
import numpy as np
import torch
from torch import nn
from uulearn import UUNeuralClassifier

torch.set_num_threads(1)
rng = np.random.default_rng(0)
y = np.repeat([0, 1], [150, 90])
X = rng.normal(size=(240, 8)) + (rng.random(240) < np.array([0.9, 0.4])[y])[:, None]
clf = UUNeuralClassifier(
    lambda shape: nn.Sequential(nn.Linear(8, 9), nn.BatchNorm1d(9), nn.Dropout(0.5), nn.Linear(9, 1)),
    set_priors=(0.9, 0.4), prior=0.3, epochs=25, batch_size=40, refine=1, random_state=0, checkpoint=folder,
)
clf.fit(X, y)
np.savez(result, scores=clf.decision_function(X), **{n: v.numpy() for n, v in clf.networks_.parameters.items()})
"""


def start(**names):
    """The command, in a process of its own."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch._dynamo", "uulearn.estimators.neural"])
    process = context.Process(target=exec, args=(FIT, names))
    process.start()
    return process


def versions(folder):
    """Which checkpoints there are, and when each was written."""
    return [(path.name, path.stat().st_mtime_ns) for path in sorted(folder.glob("*.safetensors"))]


def test_killed(tmp_path):
    """Killed at any moments and started again with the same command, a fit ends with the weights of one left alone."""
    names, folder = {"result": str(tmp_path / "whole.npz"), "folder": None}, tmp_path / "folder"
    whole = start(**names)
    whole.join()
    assert whole.exitcode == 0
    names = {"result": str(tmp_path / "cut.npz"), "folder": str(folder)}
    rng, kills, stages, process = np.random.default_rng(0), 0, set(), start(**names)
    while kills < 9 and process.is_alive():
        for _ in range(4):  # epochs of progress
            before = versions(folder)
            while process.is_alive() and versions(folder) == before:
                time.sleep(0.002)
        time.sleep(rng.uniform(0, 0.03))
        process.kill()
        process.join()
        if process.exitcode == 0:
            break
        kills += 1
        stages.add(len(versions(folder)))
        process = start(**names)
    process.join()
    assert process.exitcode == 0
    assert kills > 5
    assert stages == {1, 2}
    ours, theirs = (np.load(tmp_path / name) for name in ("cut.npz", "whole.npz"))
    assert sorted(ours) == sorted(theirs)
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)

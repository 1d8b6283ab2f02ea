"""Two processes are one training: the same gradients, the same networks, one writer, one end."""

import json
import multiprocessing
import socket
import subprocess
import sys

import pytest
import torch

from uulearn.nn import distributed

JOB = """
import os
import signal
from datetime import timedelta
from pathlib import Path

import numpy as np
import torch
from torch import nn

from uulearn import losses
from uulearn.nn import distributed
from uulearn.nn.batches import Member
from uulearn.nn.engine import Table, Trainer, run
from uulearn.nn.models import MLP, BatchNorm
from uulearn.nn.networks import Networks
from uulearn.nn.recipes import Recipe
from uulearn.nn.rows import as_rows
from uulearn.risk import Columns, get_correction

torch.set_num_threads(1)
rng = np.random.default_rng(0)
y = rng.permutation(np.repeat([0, 1], [80, 40]))
X = (3 + rng.normal(size=(120, 1, 2, 4))).astype(np.float32)
columns = Columns(*rng.normal([[-0.3], [0.3]], 1, (2, 120)) / 60)  # one part is below zero, which is corrected


def net(*first, **norm):
    return nn.Sequential(*first, nn.ReLU(), nn.Flatten(), nn.Linear(9, 1))


KINDS = {
    "mlp": lambda: MLP((1, 2, 4), (9, 9)),
    "images": lambda: net(nn.Conv2d(1, 3, 2, bias=False), BatchNorm(3)),
    "images, torch": lambda: net(nn.Conv2d(1, 3, 2, bias=False), nn.BatchNorm2d(3)),
    "rows, torch": lambda: net(nn.Flatten(), nn.Linear(8, 9, False), nn.BatchNorm1d(9)),
    "plain norm": lambda: net(nn.Flatten(), nn.Linear(8, 9, False), nn.BatchNorm1d(9, momentum=None, affine=False)),
    "no norm": lambda: net(nn.Flatten(), nn.Linear(8, 9)),
}


def trainer(kind, correction="none", epochs=1, rate=1.0, batch_size=120):
    members = [Member(np.arange(120), columns, y, seed) for seed in (0, 1)]
    cpu = torch.device("cpu")
    networks = Networks(lambda shape: distributed.shared_norms(KINDS[kind]()), (1, 2, 4), [0, 1], cpu)
    recipe = Recipe(learning_rate=rate, momentum=0.0, weight_decay=0.0, schedule="decay", batch_size=batch_size)
    table = Table(as_rows(X), (1, 2, 4), torch.float32, cpu)
    return Trainer(networks, table, members, recipe, epochs, losses.get("sigmoid"), get_correction(correction))


distributed.start()
"""
STEP = """
states = {}
for kind in KINDS:
    for correction in ("none", "relu", "abs"):
        made = trainer(kind, correction)
        states[f"{kind}, {correction}, risk"] = torch.from_numpy(made.train_epoch())
        states |= {f"{kind}, {correction}, {name}": value for name, value in made.state().items()}
torch.save(states, f"{folder}/{distributed.world()}-{distributed.rank()}.pt")
"""
RUN = """
made = trainer("rows, torch", epochs=4, rate=0.1)
path = Path(folder) / f"rank-{distributed.rank()}" / "a.safetensors"  # each on a machine of its own


def after(record):
    if record["epoch"] == killed and distributed.rank() == distributed.world() - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return record["epoch"] >= stop + distributed.rank()


try:
    run(made, after, path=path, fingerprint="abc")
    torch.save(made.state(), f"{folder}/{distributed.world()}-{distributed.rank()}.pt")
except RuntimeError as error:
    Path(f"{folder}/{distributed.rank()}.txt").write_text(str(error))
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def together(code, world=2, **names):
    """Exit codes of so many processes that run the code as a launcher would start them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch._dynamo", "uulearn.estimators.neural"])
    places = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(world)}
    ranks = [places | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(world)]
    codes = [f"import os\nos.environ.update({place})\n{JOB}\n{code}" for place in ranks]
    processes = [context.Process(target=exec, args=(each, dict(names))) for each in codes]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        process.kill()
    return [process.exitcode for process in processes]


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """What one step on all rows makes of every kind of network: by one process, and by each of two."""
    folder = str(tmp_path_factory.mktemp("steps"))
    assert together(STEP, 1, folder=folder) == [0]
    assert together(STEP, 2, folder=folder) == [0, 0]
    return [torch.load(f"{folder}/{name}.pt") for name in ("1-0", "2-0", "2-1")]


def test_gradients(steps):
    """Of the same global batch two processes take the gradients of one to 1e-6, and both alike, whatever acts on it."""
    one, first, second = steps
    assert first.keys() == one.keys()
    risks = {name: value for name, value in one.items() if name.endswith("risk")}
    assert len(risks) == 18
    for kind in {name.rsplit(", ", 2)[0] for name in risks}:
        by_correction = [risks[f"{kind}, {correction}, risk"] for correction in ("none", "relu", "abs")]
        assert torch.all(by_correction[0] + 0.1 < by_correction[1])
        assert torch.all(by_correction[1] + 0.1 < by_correction[2])
    for name, value in one.items():
        torch.testing.assert_close(first[name], value, rtol=1e-6, atol=1e-6, msg=name)
        assert first[name].equal(second[name]), name


def test_running_statistics(steps):
    """They are among what agrees, have moved, and have the names that one process gives them."""
    one, first, _ = steps
    moved = [name for name in one if "running_mean" in name and one[name].abs().min() > 0]
    counted = [name for name in first if "num_batches" in name]
    assert len(moved) == 3 * (2 + 1 + 3)
    assert len(counted) == 3 * 3
    assert all(first[name].tolist() == [1, 1] for name in counted)


class TestRun:
    """Checkpoints, ends and kills of a training of two processes."""

    @staticmethod
    def states(folder, *names):
        return [torch.load(folder / f"{name}.pt") for name in names]

    def test_one_writer(self, tmp_path):
        """The first process alone writes, and says for all when training ends."""
        assert together(RUN, folder=str(tmp_path), killed=0, stop=2) == [0, 0]
        assert (tmp_path / "rank-0" / "a.safetensors").exists()
        assert not (tmp_path / "rank-1").exists()
        first, second = self.states(tmp_path, "2-0", "2-1")
        assert all(first[name].equal(second[name]) for name in first)
        assert set(first["buffers.2.num_batches_tracked"].tolist()) == {2}

    @pytest.mark.parametrize("world", [1, 2])
    def test_killed(self, tmp_path, world):
        """A killed process ends the others with one clear sentence; any number of processes goes on from there."""
        options = {"folder": str(tmp_path), "stop": 4}
        assert together(RUN, 1, killed=0, **options) == [0]
        (whole,) = self.states(tmp_path, "1-0")
        (tmp_path / "rank-0" / "a.safetensors").unlink()
        first, second = together(RUN, killed=3, **options)
        assert (first, second) == (0, -9)
        assert (tmp_path / "0.txt").read_text() == (
            "all 2 processes must train to the end; another one has ended, so process 0 stops. Start the same command "
            "again: with a checkpoint, training goes on from its last whole epoch."
        )
        assert together(RUN, world, killed=0, **options) == [0] * world
        (again,) = self.states(tmp_path, f"{world}-0")
        for name, value in again.items():
            torch.testing.assert_close(value, whole[name], rtol=1e-5, atol=1e-5, msg=name)

    def test_more_processes(self, tmp_path):
        """What one process has begun two go on with."""
        options = {"folder": str(tmp_path), "killed": 0, "stop": 4}
        assert together(RUN, 1, **options) == [0]
        (tmp_path / "rank-0" / "a.safetensors").unlink()
        assert together(RUN, 1, **options | {"killed": 3}) == [-9]
        assert together(RUN, 2, **options) == [0, 0]
        whole, again = self.states(tmp_path, "1-0", "2-0")
        for name, value in again.items():
            torch.testing.assert_close(value, whole[name], rtol=1e-5, atol=1e-5, msg=name)


FIT = """
import os

import numpy as np
import torch
from torch import nn
from uulearn import UUNeuralClassifier

torch.manual_seed(int(os.environ["RANK"]))
rng = np.random.default_rng(0)
y = np.repeat(["a", "b"], [200, 100])
X = rng.normal(size=(300, 8)) + (rng.random(300) < np.repeat([0.9, 0.4], [200, 100]))[:, None]
clf = UUNeuralClassifier(
    nn.Sequential(nn.Linear(8, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 1)),
    set_priors={"a": 0.9, "b": 0.4}, prior=0.3, correction="abs", epochs=20, batch_size=100, learning_rate=0.1,
    random_state=0, checkpoint="folder",
)
scores = clf.fit(X, y).decision_function(X).tolist()
os.write(1, f"{scores}\\n".encode())  # in one piece, as two processes say it at once
"""


def test_torchrun(tmp_path):
    """A script around the estimator, under torchrun, trains one network in all processes, and says nothing more.

    The module starts from weights that each process has drawn for itself: the first one's are taken.
    """
    (tmp_path / "fit.py").write_text(FIT)
    command = ["-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={free_port()}", "fit.py"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first == second
    assert len(list((tmp_path / "folder").iterdir())) == 1


def test_a_lone_process_pays_nothing():
    """Without a launcher there is one process, and sums are what they are."""
    assert (distributed.world(), distributed.rank(), distributed.agreed(7)) == (1, 0, 7)
    x = torch.ones(2)
    assert distributed.total(x) is x
    assert distributed.moments(x, [0]) is None

"""Experiments run, skip what is recorded, go on after a kill."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from uulearn import results
from uulearn.paper import problems, reproduce, runner, work
from uulearn.paper.runner import STATES, plan
from uulearn.paper.specs import SPECS, find
from uulearn.paper.work import Task, checkpoint

SMALL = {"methods": ["uu", "ccn"], "datasets": ["mnist"]}
SCRIPT = "from uulearn.paper import reproduce; reproduce({!r}, 'smoke', output={!r}, {})"


def plain(path):
    """The runs of a file by their keys, without what no two runs share."""
    return {run.key: replace(run, seconds=0) for run in results.read(path)}


def test_smoke(smoke):
    """Every experiment runs to its end on stand-ins; all of them together in less than 90 seconds of one core."""
    folder, outcomes, seconds = smoke
    for name, outcome in outcomes.items():
        assert outcome.path == folder / f"{name}.jsonl"
        assert (outcome.recorded, outcome.ran, outcome.absent) == (0, outcome.planned, {})
        assert len(results.read(outcome.path)) == outcome.planned
    assert {path.name for path in folder.iterdir()} == {f"{name}.jsonl" for name in SPECS}
    assert seconds < 90


def test_records(runs):
    """A record says what stood in for the data, how it falls short of the paper, and what the paper got."""
    for run in runs:
        titles = run.more["titles"]
        assert titles["data"]
        assert titles["method"]
        if run.data != "gauss":
            assert run.more["reduced"][0].startswith("scikit-learn's handwritten digits")
            assert "stand-in" in run.more["data"]
    by = {(run.experiment, run.method, run.seed): run for run in runs if run.data in ("mnist", "gauss")}
    uu = by["figure-2", "uu", 1]
    assert (uu.more["paper"], uu.more["log"]) == ([2.55, 0.11, "bold"], [2.67])
    assert len(uu.curve) == uu.more["recipe"]["epochs"] == 3
    assert uu.error == uu.curve[-1]
    assert set(by["table-3", "uu", 0].more["chosen"]) == {"learning_rate", "epochs"}
    assert set(by["table-3", "ber", 0].more["chosen"]) == {"C"}
    assert len(by["figure-1", "uu", 0].more["line"]) == 3
    assert by["table-1", "load", 0].more["loaded"]["features"] == 64


def test_methods_differ(runs):
    """No two methods of a cell gave the same curves, but for corrections that nothing called for."""
    groups = {}
    for run in runs:
        if run.curve and "nnuu" not in run.method and run.data in ("mnist", "gauss"):
            groups.setdefault((run.experiment, str(run.setting), run.seed), []).append(run)
    for (experiment, _, _), found in groups.items():
        curves = {tuple(run.curve) for run in found}
        if experiment == "figure-1":
            assert len(curves) == len(found)


def test_nothing_is_run_twice(smoke, tmp_path):
    """What is recorded is skipped, and the file is left as it is."""
    shutil.copy(smoke[0] / "figure-5.jsonl", tmp_path)
    before = (tmp_path / "figure-5.jsonl").read_bytes()
    outcome = reproduce("figure-5", "smoke", output=tmp_path)
    assert (outcome.recorded, outcome.ran) == (outcome.planned, 0)
    assert (tmp_path / "figure-5.jsonl").read_bytes() == before


@pytest.mark.parametrize(("name", "kept"), [("figure-4", 3), ("figure-1", 7), ("table-3", 5)])
def test_lost_lines_come_again(smoke, tmp_path, name, kept):
    """From any number of finished runs, even one of a pair trained together, the same records come."""
    narrow = {"datasets": ["pendigits"]} if name == "table-3" else {}
    whole = [run for run in results.read(smoke[0] / f"{name}.jsonl") if run.data in narrow.get("datasets", [run.data])]
    for run in whole[:kept]:
        results.append(tmp_path / f"{name}.jsonl", run)
    outcome = reproduce(name, "smoke", output=tmp_path, **narrow)
    assert (outcome.recorded, outcome.ran) == (kept, len(whole) - kept)
    found = plain(tmp_path / f"{name}.jsonl")
    assert found == {run.key: replace(run, seconds=0) for run in whole}


def test_processes(smoke, tmp_path):
    """Two processes come to the same records as one."""
    outcome = reproduce("figure-3", "smoke", output=tmp_path, jobs=2, methods=["oracle", "uu"])
    found, whole = plain(outcome.path), plain(smoke[0] / "figure-3.jsonl")
    assert len(found) == outcome.ran == outcome.planned
    assert found == {key: whole[key] for key in found}


def test_interrupted(smoke, tmp_path, monkeypatch):
    """Interrupted between two records, the trained networks are still there, and are not trained again."""
    real, trained = results.append, []

    def failing(path, run):
        if run.method == "uu" and run.seed == 1:
            raise KeyboardInterrupt
        real(path, run)

    options = {**SMALL, "methods": ["uu"]}
    monkeypatch.setattr(runner.results, "append", failing)
    with pytest.raises(KeyboardInterrupt):
        reproduce("figure-2", "smoke", output=tmp_path, **options)
    assert len(list((tmp_path / STATES).iterdir())) == 1
    monkeypatch.setattr(runner.results, "append", real)
    reproduce("figure-2", "smoke", output=tmp_path, **options, tell=trained.append)
    found, whole = plain(tmp_path / "figure-2.jsonl"), plain(smoke[0] / "figure-2.jsonl")
    assert found == {key: whole[key] for key in found}
    assert len(found) == 4
    assert not (tmp_path / STATES).exists()


def test_leftovers(tmp_path):
    """What a kill left of trainings that are recorded is cleared away."""
    task = Task("figure-4", "smoke", 2, "uu")
    outcome = reproduce("figure-4", "smoke", output=tmp_path, methods=["uu"])
    path = checkpoint(task, tmp_path / STATES)
    path.parent.mkdir()
    for left in (path, path.with_name(f".{path.name}.0a1b.part")):
        left.write_bytes(b"half")
    assert task in plan(SPECS["figure-4"], "smoke")
    assert reproduce("figure-4", "smoke", output=tmp_path, methods=["uu"]).ran == 0
    assert not path.parent.exists()
    assert outcome.ran == 8


def killed(name, folder, times, seed, options=""):
    """Start an experiment so often in a process of its own and kill each at a random moment; then let it end."""
    rng, done = random.Random(seed), 0
    command = [sys.executable, "-c", SCRIPT.format(name, str(folder), options)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    while done < times:
        process = subprocess.Popen(command, env=environment)
        while not (folder / f"{name}.jsonl").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(rng.uniform(0, 4.0))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            done += 1
        process.wait()
        if process.returncode == 0:
            return done
    subprocess.run(command, env=environment, check=True)
    return done


def test_killed(smoke, tmp_path):
    """Killed at a random moment and run again, an experiment ends with the records of an uninterrupted run."""
    killed("figure-5", tmp_path, times=1, seed=0)
    assert plain(tmp_path / "figure-5.jsonl") == plain(smoke[0] / "figure-5.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"figure-5.jsonl"}


@pytest.mark.slow
def test_killed_ten_times(smoke, tmp_path):
    """So it does after ten kills."""
    for name in ("table-3", "figure-2"):
        assert killed(name, tmp_path, times=5, seed=1) > 0
        assert plain(tmp_path / f"{name}.jsonl") == plain(smoke[0] / f"{name}.jsonl")


def test_data_that_is_not_there(tmp_path):
    """A data set that cannot be had is left out with its reason; what was asked for beside it runs."""
    told = []
    outcome = reproduce("table-1", "cpu", data_dir=tmp_path, output=tmp_path / "out", tell=told.append)
    assert outcome.ran == 0
    assert list(outcome.absent) == ["mnist", "fashion-mnist", "svhn", "cifar10"]
    assert "svhn needs train_32x32.mat" in outcome.absent["svhn"]
    assert "[3/4] table-1 cpu svhn 0.27 load: svhn is not to be had" in told


def test_a_file_in_the_way(tmp_path):
    """A file that is no record of runs is left alone."""
    (tmp_path / "figure-4.jsonl").write_text("mine\n")
    with pytest.raises(results.ResultsError, match="line 1: a run must be one JSON object"):
        reproduce("figure-4", "smoke", output=tmp_path)
    assert (tmp_path / "figure-4.jsonl").read_text() == "mine\n"
    with pytest.raises(NotADirectoryError, match="output must be a folder"):
        reproduce("figure-4", "smoke", output=tmp_path / "figure-4.jsonl")


@pytest.mark.filterwarnings("ignore:Every held-out row is predicted")  # of networks that are hardly trained
def test_house_recipe(tmp_path):
    """The methods that are only run when named run too: this library's own recipe, and the corrections."""
    outcome = reproduce(
        "figure-2", "smoke", output=tmp_path, methods=["uu-house", "nnuu-relu", "ccn-pooled"], datasets=["mnist"]
    )
    runs = results.read(outcome.path)
    assert {run.method for run in runs} == {"uu-house", "nnuu-relu", "ccn-pooled"}
    assert all(np.isfinite(run.error) and len(run.curve) == 3 for run in runs)


def test_records_keep_no_folder(tmp_path, monkeypatch):
    """Where somebody keeps the data is nobody's business: a record names the files alone."""
    found = replace(problems.dataset("mnist", True, None), source=str(tmp_path / "mnist" / "train.gz") + " and 3 more")
    monkeypatch.setattr(work, "dataset", lambda *given: found)
    task = next(task for task in plan(find("table-1"), "smoke") if task.cell.data == "mnist")
    (run,) = work.work(task, None, tmp_path)
    assert run.more["data"] == "train.gz and 3 more"

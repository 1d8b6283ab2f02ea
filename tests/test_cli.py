import functools
import subprocess
import sys

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")

import official
from typer.testing import CliRunner

import uulearn
from uulearn import cli, demo
from uulearn.cli import screen
from uulearn.cli.app import app
from uulearn.demo import digits

TINY = digits.Size(sets=(60, 120), target=60, folds=2, trees=5)
COMMAND = [sys.executable, "-c", "from uulearn.cli import main; main()"]


def run(*arguments):
    return CliRunner().invoke(app, arguments, prog_name="uulearn", env={"COLUMNS": "80"})


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(demo, "run", functools.partial(demo.run, size=TINY))


def test_version():
    """Nothing but the name and the version, from a process of its own."""
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"uulearn {uulearn.__version__}\n"
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help(arguments):
    """Without a verb the verbs are shown."""
    done = run(*arguments)
    assert done.exit_code == 0
    assert "demo" in done.stdout


@pytest.mark.parametrize(
    ("verb", "example"),
    [
        ("demo", "uulearn demo --output digits --seed 3"),
        ("data", "uulearn data --data ~/benchmarks"),
        ("reproduce", "uulearn reproduce figure-1"),
        ("report", "uulearn report results --output figures"),
    ],
)
def test_help_has_examples(verb, example):
    """The help of a verb shows how it is called."""
    done = run(verb, "--help")
    assert done.exit_code == 0
    assert example in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn"], "No such command 'learn'"),
        (["demo", "--seed", "-1"], "--seed"),
        (["demo", "--seed", "one"], "--seed"),
        (["demo", "--outputs", "x"], "--outputs"),
        (["demo", "extra"], "extra"),
        (["data", "extra"], "extra"),
        (["reproduce"], "Missing argument 'SPEC'"),
        (["reproduce", "figure-1", "--jobs", "0"], "--jobs"),
        (["reproduce", "figure-1", "--presets", "cpu"], "--presets"),
        (["report"], "Missing argument 'DIR'"),
        (["report", "no/such/folder"], "DIR must be a folder of records; got 'no/such/folder'"),
        (["data", "--data", "no/such/folder"], "data_dir must be a folder of data sets; got 'no/such/folder'"),
    ],
)
def test_bad_usage(arguments, message):
    """What cannot be meant ends with code 2 and a sentence on stderr."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_demo(tiny, tmp_path):
    """Results on stdout, progress on stderr, every file named; a second run overwrites its own files."""
    path = tmp_path / "out"
    for _ in range(2):
        done = run("demo", "--output", str(path), "--seed", "2")
        assert done.exit_code == 0
        for name in (*digits.FILES, demo.FIGURE):
            assert str(path / name) in done.stdout
        for word in (*digits.KINDS, "estimated error", "naive", "oracle", "UU-biased", "metrics.evaluate"):
            assert word in done.stdout
        assert done.stderr.count("\n") == demo.STEPS
        assert done.stderr.startswith(f"[1/{demo.STEPS}] drawing")
        lines = [line for line in done.stdout.splitlines() if str(path) not in line]
        assert max(map(len, lines)) <= 80


def test_demo_on_a_narrow_plain_screen(tiny, tmp_path):
    """Columns are neither cut nor in need of a character that the screen does not have."""
    environment = {"COLUMNS": "40", "LC_ALL": "C"}
    done = CliRunner(charset="ascii").invoke(app, ["demo", "--output", str(tmp_path)], env=environment)
    assert done.exit_code == 0
    for words in ("(95 % interval)", "(no labels)", "(all labels)", *digits.KINDS):
        assert any(words in line for line in done.stdout.splitlines())


def test_demo_refuses_foreign_files(tiny, tmp_path):
    """A file it did not write ends it at once, with code 2, one sentence, and the file untouched."""
    (tmp_path / "set_b.csv").write_text("mine")
    done = run("demo", "--output", str(tmp_path))
    assert done.exit_code == 2
    assert done.stdout == ""
    where = tmp_path / "set_b.csv"
    assert done.stderr == (
        f"uulearn: {where} is in the way: uulearn did not write it. Move it, or choose another folder.\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["set_b.csv"]
    assert where.read_text() == "mine"


def test_demo_refuses_changed_files(tiny, tmp_path):
    """So does a file that was changed since."""
    assert run("demo", "--output", str(tmp_path)).exit_code == 0
    with (tmp_path / "set_a.csv").open("a") as handle:
        handle.write("\n")
    done = run("demo", "--output", str(tmp_path))
    assert done.exit_code == 2
    assert "set_a.csv was changed since uulearn wrote it" in done.stderr


def test_demo_where_nothing_can_be_written(tiny, tmp_path):
    """What the system refuses is passed on as a sentence, with code 1."""
    (tmp_path / "file").write_text("")
    done = run("demo", "--output", str(tmp_path / "file" / "out"))
    assert done.exit_code == 1
    assert (
        done.stderr.splitlines()[-1] == f"uulearn: {tmp_path / 'file' / 'out'} cannot hold the files: Not a directory."
    )


def test_demo_interrupted(tmp_path, monkeypatch):
    """An interrupt while files are written leaves no part of one, no traceback, and the next run works."""
    real = demo.OutputFolder.write

    def interrupted(self, name, content):
        if name == digits.FILES[1]:
            raise KeyboardInterrupt
        return real(self, name, content)

    monkeypatch.setattr(demo, "run", functools.partial(demo.run, size=TINY))
    monkeypatch.setattr(demo.OutputFolder, "write", interrupted)
    done = run("demo", "--output", str(tmp_path))
    assert done.exit_code not in (0, 2)
    assert "Traceback" not in done.output
    assert {file.name for file in tmp_path.iterdir()} == {digits.FILES[0], "uulearn-files.json"}
    monkeypatch.setattr(demo.OutputFolder, "write", real)
    assert run("demo", "--output", str(tmp_path)).exit_code == 0


@pytest.fixture
def two_sources(monkeypatch):
    """Only MNIST and spambase, a few rows each."""
    sources = {name: official.source(name) for name in ("mnist", "spambase")}
    monkeypatch.setattr(sys.modules["uulearn.datasets.survey"], "BY_NAME", sources)


def test_data(two_sources, tmp_path):
    """The table and the places on stdout, one line of progress a data set on stderr; what is missing is no fault."""
    official.write_idx(tmp_path / "mnist")
    done = run("data", "--data", str(tmp_path))
    assert done.exit_code == 0
    assert done.stderr.splitlines()[0] == "[1/9] MNIST"
    head, *rest = done.stdout.splitlines()
    assert head.split() == ["data", "set", "train", "test", "features", "positive"]
    assert rest[0].split() == ["MNIST", "20", "20", "784", "0.500"]
    assert f"  MNIST: {tmp_path / 'mnist' / 'train-images-idx3-ubyte.gz'} and 3 more" in rest
    assert any(line.startswith("  spambase: spambase needs spambase.data") for line in rest)


def test_data_that_is_wrong(two_sources, tmp_path):
    """A file that is not the published one is named, and the code is 1."""
    (tmp_path / "spambase.data").write_text("1,2,0\n")
    done = run("data", "--data", str(tmp_path))
    assert done.exit_code == 1
    assert "Not as published" in done.stdout
    assert "  spambase: the training rows of spambase must have shape (57,)" in done.stdout
    assert "Traceback" not in done.output


def test_data_without_a_folder(monkeypatch):
    """The lines say what to get."""
    monkeypatch.delenv("UULEARN_DATA", raising=False)
    done = run("data")
    assert done.exit_code == 0
    assert "SVHN: Get train_32x32.mat, extra_32x32.mat, test_32x32.mat from http://ufldl" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-9"], "spec must be one of 'figure-1', 'table-1'"),
        (["figure-2", "--preset", "cup"], "preset must be one of 'smoke', 'cpu', 'paper'; got 'cup'"),
        (["figure-2", "--methods", "uu,psvm"], "methods must be one of 'small-pn', 'oracle'"),
        (["figure-2", "--datasets", "usps"], "datasets must be one of 'mnist', 'fashion-mnist'"),
        (["table-1", "--data", "no/such/folder"], "data_dir must be a folder of data sets; got 'no/such/folder'"),
    ],
)
def test_reproduce_what_is_not_there(tmp_path, arguments, message):
    """A name that is not there ends with code 2 and one sentence, and nothing is written."""
    pytest.importorskip("torch")
    done = run("reproduce", *arguments, "--output", str(tmp_path / "out"))
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_reproduce_and_report(tmp_path):
    """Our numbers beside the paper's on stdout, progress with time left on stderr; then the files."""
    pytest.importorskip("torch")
    arguments = ["reproduce", "table-4", "--preset", "smoke", "--methods", "uu", "--datasets", "mnist"]
    done = run(*arguments, "--output", str(tmp_path))
    assert done.exit_code == 0
    assert "2.37 (0.17)*" in done.stdout
    assert f"{tmp_path / 'figure-2.jsonl'}: 4 runs planned, 0 were recorded, 4 ran now" in done.stdout
    assert done.stderr.splitlines()[0] == "[1/2] figure-2 smoke mnist 0.49 0.9 0.1 300 300 uu"
    assert done.stderr.splitlines()[-1].endswith("0 s left")
    assert "4 were recorded, 0 ran now" in run(*arguments, "--output", str(tmp_path)).stdout
    for _ in range(2):
        done = run("report", str(tmp_path))
        assert done.exit_code == 0
        assert str(tmp_path / "report" / "figure-2-smoke.svg") in done.stdout
    (tmp_path / "report" / "table-4-smoke.md").write_text("mine")
    done = run("report", str(tmp_path))
    assert done.exit_code == 2
    assert "table-4-smoke.md was changed since uulearn wrote it" in done.stderr


def test_reproduce_without_the_data(tmp_path):
    """A data set that is not there is named with what to get, and the code is 1."""
    pytest.importorskip("torch")
    done = run("reproduce", "table-1", "--data", str(tmp_path), "--datasets", "svhn", "--output", str(tmp_path / "out"))
    assert done.exit_code == 1
    assert "uulearn: svhn needs train_32x32.mat" in done.stderr
    assert "Traceback" not in done.output


def test_reproduce_beside_foreign_files(tmp_path):
    """A file of records that is none ends it with code 2, and is left as it is; a report finds no record in it."""
    pytest.importorskip("torch")
    path = tmp_path / "figure-4.jsonl"
    path.write_text("mine\n")
    for arguments in (["reproduce", "figure-4", "--preset", "smoke", "--output"], ["report"]):
        done = run(*arguments, str(tmp_path))
        assert done.exit_code == 2
        assert "line 1: a run must be one JSON object" in done.stderr
        assert path.read_text() == "mine\n"
    path.unlink()
    assert "holds no record (*.jsonl) of a run" in run("report", str(tmp_path)).stderr


def test_reproduce_without_torch(monkeypatch, tmp_path):
    """One sentence says what to install."""
    monkeypatch.delattr("uulearn.paper.networks", raising=False)
    monkeypatch.setitem(sys.modules, "uulearn.paper.networks", None)
    done = run("reproduce", "figure-1", "--preset", "smoke", "--output", str(tmp_path))
    assert done.exit_code == 1
    assert 'pip install "uulearn[torch]"' in done.stderr


@pytest.mark.parametrize("package", cli.NEEDED)
def test_missing_extra(monkeypatch, package):
    """One sentence says what to install, and nothing is imported before."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == f'uulearn: the command line needs {package}: pip install "uulearn[cli]"'


def test_progress_on_a_terminal(monkeypatch, capsys):
    """A terminal gets a bar with the step under way, on stderr, and it is cleared away at the end."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with screen.progress(2) as tell:
        tell("one")
        tell("two")
    seen = capsys.readouterr()
    assert seen.out == ""
    assert "two" in seen.err
    assert seen.err.endswith("\x1b[2K")


def test_snippet():
    """The four lines for one's own data run, and fit into 80 columns with their margin."""
    import numpy as np

    rng = np.random.default_rng(0)
    names = {
        "X": rng.normal(size=(90, 3)),
        "X_new": rng.normal(size=(5, 3)),
        "which_set": np.repeat(["a", "b"], [40, 50]),
    }
    exec(screen.SNIPPET, names)
    assert names["clf"].predict(names["X_new"]).shape == (5,)
    lines = screen.SNIPPET.splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) <= 78

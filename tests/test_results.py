import json
import math
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from uulearn.results import Paired, ResultsError, Run, append, paired, read, stamp, summarise

RUN = Run(
    "figure-2",
    "cpu",
    "uu",
    "mnist",
    {"priors": [0.9, 0.1], "rows": 60_000},
    3,
    0.0194,
    [0.2, 0.05, 0.0194],
    12.5,
    {"numpy": "2.0"},
    "a machine, 2 cores",
    {"epochs": "100 of 200"},
)


def runs(method, errors, **facts):
    return [replace(RUN, method=method, seed=seed, error=error, **facts) for seed, error in enumerate(errors)]


def test_round_trip(tmp_path):
    """A run read from a file equals the run that was added, whatever kind of numbers it was made of."""
    odd = replace(
        RUN,
        seed=np.int64(4),
        error=np.float32(0.25),
        curve=np.array([0.5, 0.25]),
        setting={"priors": (np.float64(0.9), 0.1), "wrong": None, "on": np.True_},
    )
    file = tmp_path / "folder" / "runs.jsonl"
    for run in (RUN, odd, replace(RUN, curve=None, more={})):
        append(file, run)
    assert read(file) == [RUN, odd, replace(RUN, curve=None, more={})]
    assert file.read_text().count("\n") == 3
    assert odd.curve == [0.5, 0.25]
    assert type(odd.seed) is int


def test_no_file(tmp_path):
    """A file that is not there yet holds no runs."""
    assert read(tmp_path / "runs.jsonl") == []


def test_stamp():
    """Versions of what is installed, and the machine; together they complete a run."""
    found = stamp()
    assert found["versions"]["numpy"] == np.__version__
    assert {"python", "uulearn", "scipy", "scikit-learn"} <= found["versions"].keys()
    assert found["machine"].endswith(" cores")
    assert replace(RUN, **found).machine == found["machine"]


def test_the_key_leaves_out_the_outcome():
    """Same question, same key; the order of a setting's names does not matter."""
    again = replace(RUN, error=0.5, seconds=1, curve=None, setting={"rows": 60_000, "priors": (0.9, 0.1)})
    assert again.key == RUN.key
    assert replace(RUN, seed=4).key != RUN.key
    assert replace(RUN, preset="paper").key != RUN.key


def test_cut_anywhere(tmp_path):
    """Wherever a kill cuts the last line, it is dropped, and the next run stands on a line of its own."""
    file = tmp_path / "runs.jsonl"
    first, second, third = runs("uu", [0.1, 0.2, 0.3])
    append(file, first)
    kept = file.stat().st_size
    append(file, second)
    content = file.read_bytes()
    for size in range(kept, len(content) + 1):
        file.write_bytes(content[:size])
        # With everything but its line end the run is whole.
        found = [first, second] if size >= len(content) - 1 else [first]
        assert read(file) == found
        append(file, third)
        assert read(file) == [*found, third]


def test_a_long_tail(tmp_path):
    """A broken last line may be longer than one block of the file."""
    file = tmp_path / "runs.jsonl"
    append(file, RUN)
    with file.open("ab") as handle:
        handle.write(b'{"curve": [' + b"0.5, " * 40_000)
    append(file, replace(RUN, seed=9))
    assert [run.seed for run in read(file)] == [3, 9]
    file.write_bytes(b"\0" * 200_000)
    append(file, RUN)
    assert read(file) == [RUN]


SCRIPT = """
import sys
from uulearn.results import Run, append
file, name, count = sys.argv[1:]
for seed in range(int(count)):
    append(file, Run("e", "cpu", name, "d", {"long": "x" * 3000}, seed, 0.5, [0.5] * 200, 1, {}, "m"))
    print(seed, flush=True)
"""


def writer(file, name, count):
    return subprocess.Popen([sys.executable, "-c", SCRIPT, str(file), name, str(count)], stdout=subprocess.PIPE)


def test_processes_take_turns(tmp_path):
    """Two processes adding at the same time leave every line whole."""
    file = tmp_path / "runs.jsonl"
    both = [writer(file, name, 60) for name in "ab"]
    for process in both:
        process.communicate()
        assert process.returncode == 0
    found = read(file)
    assert sorted((run.method, run.seed) for run in found) == [(name, seed) for name in "ab" for seed in range(60)]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_killed(tmp_path):
    """A process killed at a random moment leaves every run that it had said was added, and a file to go on with."""
    file = tmp_path / "runs.jsonl"
    chance = random.Random(0)
    for attempt in range(3):
        process = writer(file, f"attempt {attempt}", 10**6)
        process.stdout.readline()
        time.sleep(chance.random() / 10)
        process.send_signal(signal.SIGKILL)
        said = len(process.communicate()[0].splitlines()) + 1
        assert said - 1 <= sum(run.method == f"attempt {attempt}" for run in read(file)) <= said + 1
    append(file, RUN)
    assert read(file)[-1] == RUN


def line(**changed):
    facts = json.loads(RUN.line()) | changed
    return json.dumps({name: value for name, value in facts.items() if value != "gone"}).encode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            b'{"error": 0.\n' + line() + b"\n",
            r"""runs\.jsonl, line 1: a run must be one JSON object; got '{"error": 0\.'""",
        ),
        (line() + b"\n\n[1]\n", r"runs\.jsonl, line 3: a run must be one JSON object; got '\[1\]'\. Mend or drop the"),
        (line() + b"\n\xff\n" + line(), r"line 2: a run must be one JSON object; got '\ufffd'"),
        (line(seed="gone", error="gone") + b"\n", r"line 1: a run must have the facts of a run; error, seed missing\."),
        (line(colour="red") + b"\n", r"line 1: a run must have the facts of a run; colour unknown\. Mend or drop"),
        (
            line(error=2.37) + b"\n",
            r"line 1: error must be a number in \[0, 1\]; got 2\.37\. It is a share, not a perc",
        ),
        (line(error=2.37), r"line 1: error must be a number in \[0, 1\]; got 2\.37\."),
    ],
    ids=["cut in the middle", "a list", "no text", "missing", "unknown", "percent", "percent without line end"],
)
def test_broken_files(tmp_path, content, sentence):
    """Any fault but a last line cut short is refused, with the number of the line."""
    (tmp_path / "runs.jsonl").write_bytes(content)
    with pytest.raises(ResultsError, match=sentence):
        read(tmp_path / "runs.jsonl")


@pytest.mark.parametrize(
    ("changed", "kind", "sentence"),
    [
        ({"error": math.nan}, ValueError, r"error must be a number in \[0, 1\]; got nan\. It is a share"),
        ({"error": None}, TypeError, r"error must be a number in \[0, 1\]; got None"),
        ({"curve": [0.1, 7]}, ValueError, r"curve must be a number in \[0, 1\]; got 7\. It is a share"),
        ({"seed": -1}, ValueError, r"seed must be a whole number of at least 0; got -1"),
        ({"seconds": -1}, ValueError, r"seconds must be a number in \[0, inf\]; got -1"),
        ({"method": None}, TypeError, r"method must be text; got None\. Give its name"),
        ({"setting": "(.9, .1)"}, TypeError, r"setting must be a mapping; got '\(\.9, \.1\)'\. Give names and values"),
        ({"setting": {"pi": math.inf}}, TypeError, r"setting\['pi'\] must hold text, finite numbers, .*; got inf"),
        ({"more": {"f": {1: 2}}}, TypeError, r"more\['f'\] must hold text, .*; got {1: 2}\. Leave it out"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, dict) else None,
)
def test_no_such_run(changed, kind, sentence):
    """A run that could not be read back is not made."""
    with pytest.raises(kind, match=sentence):
        replace(RUN, **changed)


def test_summarise():
    """Mean and standard deviation by group, in the order of the file; one run has no deviation."""
    found = [*runs("uu", [0.02, 0.04]), *runs("ccn", [0.5]), *runs("uu", [0.3, 0.1], setting={"priors": [0.8, 0.2]})]
    by_method, both = summarise(found, ["method"]), summarise(found)
    assert [(one.key["method"], one.n) for one in by_method] == [("uu", 4), ("ccn", 1)]
    assert by_method[0].mean == pytest.approx(0.115)
    assert by_method[0].std == pytest.approx(np.std([0.02, 0.04, 0.3, 0.1], ddof=1))
    assert math.isnan(by_method[1].std)
    assert [one.key["setting"] for one in both] == [RUN.setting, RUN.setting, {"priors": [0.8, 0.2]}]
    assert summarise([]) == []


def test_paired():
    """scipy's paired t-test, over the seeds that both have, in any order."""
    rng = np.random.default_rng(0)
    a, b = rng.uniform(0.1, 0.2, 10), rng.uniform(0.12, 0.22, 9)
    found = paired(reversed(runs("uu", a)), runs("ccn", b), level=0.95)
    wanted = stats.ttest_rel(a[:9], b)
    interval = wanted.confidence_interval(0.95)
    assert found.n == 9
    assert found.p_value == pytest.approx(wanted.pvalue)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))
    assert found.difference == pytest.approx(np.mean(a[:9] - b))
    back = paired(runs("ccn", b), runs("uu", a), level=0.95)
    assert (back.difference, back.low, back.high) == pytest.approx((-found.difference, -found.high, -found.low))


def test_paired_without_spread():
    """Runs that differ by the same amount every time differ for certain; equal ones not at all."""
    a = runs("uu", [0.25, 0.5])
    assert paired(a, runs("ccn", [0.25, 0.5])) == Paired(0, 0, 0, 1, 2)
    assert paired(a, runs("ccn", [0.5, 0.75])) == Paired(-0.25, -0.25, -0.25, 0, 2)


UU = runs("uu", [0.1, 0.2])


@pytest.mark.parametrize(
    ("compare", "sentence"),
    [
        (lambda: summarise([*UU, UU[0]]), r"a run must come once; got {\"data\": \"mnist\", .* twice\. Drop one"),
        (lambda: summarise(UU, ["colour"]), r"by must be a list of facts of a run, curve, .*; got \['colour'\]"),
        (lambda: summarise(UU, "seed"), r"by must be a list of facts of a run, .*; got 'seed'"),
        (lambda: paired(UU, [*UU, UU[1]]), r"b must have one run a seed; got two of seed 1\. Pick one method"),
        (lambda: paired(UU, UU[:1]), r"a and b must have two seeds or more in common; got 1\. Run both on the same"),
        (lambda: paired(UU, UU, level=99), r"level must be a number in \(0, 1\); got 99"),
    ],
    ids=["twice", "unknown fact", "text", "two of a seed", "one pair", "level"],
)
def test_refused(compare, sentence):
    """What cannot be summed up or compared is refused."""
    with pytest.raises(ValueError, match=sentence):
        compare()

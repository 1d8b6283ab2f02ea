"""The record of one run, and the file of runs: one JSON line a run, added as soon as the run is finished."""

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from uulearn import __version__
from uulearn._checks import integer, number
from uulearn._files import append_line

PACKAGES = ("numpy", "scipy", "scikit-learn", "torch", "xgboost")


class ResultsError(ValueError):
    """Runs cannot be read or compared; the message names the place."""


@dataclass(frozen=True)
class Run:
    """What one training gave, with everything needed to repeat it.

    Attributes
    ----------
    experiment, preset, method, data : str
        What was run: ``"table-3"``, ``"cpu"``, ``"uu"``, ``"pendigits"``.
    setting : mapping of str to JSON values
        What the experiment varies: priors, sizes, factors.
    seed : int
        Runs of one seed saw the same rows, whatever the method.
    error : float
        Final error on the test rows, a share from 0 to 1.
    curve : sequence of float or None
        The error after each epoch, where there are epochs.
    seconds : float
    versions : mapping of str to str
    machine : str
    more : mapping
        Facts of this experiment alone, such as how its preset falls short of the paper.

    Notes
    -----
    Arguments are brought to what JSON gives back, so that a run equals itself read from a file.

    Examples
    --------
    >>> run = Run("figure-1", "cpu", "uu", "gauss", {"theta": (0.9, 0.4)}, 0, np.float64(0.07), None, 1.5, {}, "mine")
    >>> run.setting, run.error
    ({'theta': [0.9, 0.4]}, 0.07)
    """

    experiment: str
    preset: str
    method: str
    data: str
    setting: Mapping[str, Any]
    seed: int
    error: float
    curve: Sequence[float] | None
    seconds: float
    versions: Mapping[str, str]
    machine: str
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        share = " It is a share, not a percentage."
        for name in ("experiment", "preset", "method", "data", "machine"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"{name} must be text; got {getattr(self, name)!r}. Give its name.")
        for name in ("setting", "versions", "more"):
            if not isinstance(getattr(self, name), Mapping):
                raise TypeError(f"{name} must be a mapping; got {getattr(self, name)!r}. Give names and values.")
        curve = self.curve
        plain = {
            **{name: _plain(name, getattr(self, name)) for name in ("setting", "versions", "more")},
            "seed": integer("seed", self.seed, low=0),
            "error": number("error", self.error, low=0, high=1, why=share),
            "seconds": number("seconds", self.seconds, low=0),
            "curve": None if curve is None else [number("curve", one, low=0, high=1, why=share) for one in curve],
        }
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def key(self) -> str:
        """What tells a run from every other: all but its outcome. A finished key need not be run again."""
        return _text({name: getattr(self, name) for name in KEY})

    def line(self) -> bytes:
        """The run as one line of JSON, without a line end."""
        return json.dumps(asdict(self), allow_nan=False).encode()


KEY = ("experiment", "preset", "method", "data", "setting", "seed")
REQUIRED = {one.name for one in fields(Run)} - {"more"}


def _plain(name: str, value: Any) -> Any:
    """`value` as JSON would give it back, or a refusal."""
    if isinstance(value, np.generic):
        return _plain(name, value.item())
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(f"{name}[{key!r}]", entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(name, entry) for entry in value]
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise TypeError(f"{name} must hold text, finite numbers, lists and mappings; got {value!r}. Leave it out.")


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def stamp() -> dict[str, Any]:
    """The versions and the machine, for `Run(..., **stamp())`.

    Examples
    --------
    >>> sorted(stamp()), sorted(stamp()["versions"])[:2]
    (['machine', 'versions'], ['numpy', 'python'])
    """
    return {
        "versions": {"python": platform.python_version(), "uulearn": __version__, **_installed()},
        "machine": f"{_processor()}, {os.cpu_count()} cores",
    }


def _installed() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def append(path: str | Path, run: Run) -> None:
    """Add a finished run; when this returns, it is on the disk.

    A line that a kill cut short is dropped first. Several processes may add to one file.

    Parameters
    ----------
    path : str or Path
        Made if it is not there, with its folder.
    run : Run
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    append_line(path, run.line(), lambda tail: _parsed(tail) is not None)


def read(path: str | Path) -> list[Run]:
    """The finished runs; a last line cut short by a kill is none, and a file that is not there holds none.

    Parameters
    ----------
    path : str or Path

    Raises
    ------
    ResultsError
        If any other line is broken; the message gives its number.
    """
    path = Path(path)
    if not path.exists():
        return []
    *lines, tail = path.read_bytes().split(b"\n")
    runs = [_run(path, count, line) for count, line in enumerate(lines, 1) if line.strip()]
    return [*runs, _run(path, len(lines) + 1, tail)] if _parsed(tail) is not None else runs


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        facts = json.loads(line)
    except ValueError:
        return None
    return facts if isinstance(facts, dict) else None


def _run(path: Path, count: int, line: bytes) -> Run:
    facts = _parsed(line)
    if facts is None:
        shown = line[:40].decode(errors="replace")
        raise ResultsError(
            f"{path}, line {count}: a run must be one JSON object; got {shown!r}. Mend or drop the line."
        )
    missing, unknown = sorted(REQUIRED - facts.keys()), sorted(facts.keys() - REQUIRED - {"more"})
    if missing or unknown:
        fault = f"{', '.join(missing)} missing" if missing else f"{', '.join(unknown)} unknown"
        raise ResultsError(f"{path}, line {count}: a run must have the facts of a run; {fault}. Mend or drop the line.")
    try:
        return Run(**facts)
    except (TypeError, ValueError) as problem:
        raise ResultsError(f"{path}, line {count}: {problem} Mend or drop the line.") from None


class Summary(NamedTuple):
    """Mean and standard deviation (n - 1; NaN for one run) of the errors of the runs that share `key`."""

    key: dict[str, Any]
    mean: float
    std: float
    n: int


def summarise(runs: Iterable[Run], by: Sequence[str] = ("data", "setting", "method")) -> list[Summary]:
    """Mean error by the given facts, in the order in which they first come.

    Parameters
    ----------
    runs : iterable of Run
        No run twice.
    by : sequence of str
        Facts of a run.

    Examples
    --------
    >>> runs = [Run("e", "cpu", "uu", "mnist", {}, seed, 0.01 * seed, None, 1, {}, "") for seed in (1, 2, 3)]
    >>> [(one.key, round(one.mean, 6), round(one.std, 6), one.n) for one in summarise(runs, ["method"])]
    [({'method': 'uu'}, 0.02, 0.01, 3)]
    """
    names = {one.name for one in fields(Run)}
    if isinstance(by, str) or not set(by) <= names:
        raise ResultsError(f"by must be a list of facts of a run, {', '.join(sorted(names))}; got {by!r}. Mend it.")
    groups: dict[str, list[Run]] = {}
    for run in _once(runs):
        groups.setdefault(_text([getattr(run, name) for name in by]), []).append(run)
    return [
        Summary(
            {name: getattr(group[0], name) for name in by},
            float(np.mean(errors := [run.error for run in group])),
            float(np.std(errors, ddof=1)) if len(group) > 1 else math.nan,
            len(group),
        )
        for group in groups.values()
    ]


def _once(runs: Iterable[Run]) -> list[Run]:
    runs = list(runs)
    seen: set[str] = set()
    for run in runs:
        if run.key in seen:
            raise ResultsError(f"a run must come once; got {run.key} twice. Drop one of the lines.")
        seen.add(run.key)
    return runs


class Paired(NamedTuple):
    """A paired t-test: mean difference of the errors, its interval, p-value, number of pairs."""

    difference: float
    low: float
    high: float
    p_value: float
    n: int


def paired(a: Iterable[Run], b: Iterable[Run], level: float = 0.99) -> Paired:
    """Compare two methods on the seeds that both have: the error of `a` minus that of `b`.

    Parameters
    ----------
    a, b : iterable of Run
        One run a seed: one method, data set and setting each.
    level : float, default=0.99
        Of the interval; 0 is outside of it exactly when `p_value` is below ``1 - level``.

    Examples
    --------
    >>> def runs(method, *errors):
    ...     return [Run("e", "cpu", method, "mnist", {}, k, error, None, 1, {}, "") for k, error in enumerate(errors)]
    >>> found = paired(runs("uu", 0.02, 0.03, 0.02), runs("ccn", 0.05, 0.07, 0.06, 0.5))
    >>> round(found.difference, 4), round(found.p_value, 4), found.n
    (-0.0367, 0.0082, 3)
    """
    from scipy.special import stdtr, stdtrit

    level = number("level", level, low=0, high=1, open_low=True, open_high=True)
    first, second = _by_seed("a", a), _by_seed("b", b)
    seeds = sorted(first.keys() & second.keys())
    n = len(seeds)
    if n < 2:
        raise ResultsError(f"a and b must have two seeds or more in common; got {n}. Run both on the same seeds.")
    gaps = np.array([first[seed] - second[seed] for seed in seeds])
    mean, spread = float(gaps.mean()), float(gaps.std(ddof=1) / math.sqrt(n))
    if np.all(gaps == gaps[0]):  # no spread at all: rounding would stand in for it
        return Paired(mean, mean, mean, 1.0 if mean == 0 else 0.0, n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * spread
    return Paired(mean, mean - half, mean + half, float(2 * stdtr(n - 1, -abs(mean) / spread)), n)


def _by_seed(name: str, runs: Iterable[Run]) -> dict[int, float]:
    errors: dict[int, float] = {}
    for run in runs:
        if run.seed in errors:
            raise ResultsError(
                f"{name} must have one run a seed; got two of seed {run.seed}. Pick one method, data set and setting."
            )
        errors[run.seed] = run.error
    return errors

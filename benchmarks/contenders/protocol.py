"""What every contender shares: its options, its rows, and the lines it exchanges with `benchmarks/neural.py`.

A contender builds and warms itself up, says {"ready": true, ...} on stdout, then trains one epoch for every line
"epoch" on stdin and answers {"seconds": ..., "networks": ...}. Any other line, or the end of stdin, ends it.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np

SHARES = {0: 0.1, 1: 0.9}  # set 1 is the paper's U, set 0 its U'
PRIOR = 0.49
FOREVER = 10**6  # epochs: the driver says when to stop

# Libraries print to stdout as they please: answers keep the real one, everything else goes to stderr.
_answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def parser(description: str | None) -> argparse.ArgumentParser:
    """The options all contenders understand."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", required=True, help="npz file with X (float32) and set (0 for U', 1 for U)")
    options.add_argument("--rows", type=int, required=True, help="rows to train on, half of them from each set")
    options.add_argument("--batch", type=int, default=128)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--threads", type=int, default=2)
    options.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    return options


def rows(options: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """The first rows of each set, and the set each came from."""
    with np.load(options.data) as file:
        X, sets = file["X"], file["set"]
    chosen = np.concatenate([np.flatnonzero(sets == k)[: options.rows // 2] for k in SHARES])
    if len(chosen) != options.rows:
        raise SystemExit(f"--rows {options.rows}: half of them must be in each set of {options.data}")
    return np.ascontiguousarray(X[chosen]), sets[chosen]


def coefficients() -> tuple[float, float]:
    """(alpha', alpha): the weights of sets 0 and 1 under a symmetric loss (eq. 12 of the paper)."""
    lower, upper = SHARES[0], SHARES[1]
    return tuple((share + PRIOR - 2 * share * PRIOR) / (upper - lower) for share in (upper, lower))


def say(**message: Any) -> None:
    """One line for the driver."""
    print(json.dumps(message), file=_answers, flush=True)


def ready(contender: str, precision: str, *packages: str) -> None:
    """Built and warm."""
    versions = {"python": platform.python_version(), **{name: version(name) for name in packages}}
    say(ready=True, contender=contender, precision=precision, versions=versions)


def asked() -> bool:
    """Wait, without spinning, until the driver asks for an epoch (true) or ends."""
    return sys.stdin.readline().strip() == "epoch"


def serve(epoch: Callable[[], Any]) -> None:
    """Train one network for one epoch whenever asked, and say how long it took."""
    while asked():
        began = time.perf_counter()
        epoch()
        say(seconds=time.perf_counter() - began, networks=1)

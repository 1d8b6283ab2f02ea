"""Time and memory of evaluating ten million rows without labels, beside scikit-learn's AUC with labels.

    python benchmarks/label_free_speed.py run [--rows 10000000] [--rounds 3]
    python benchmarks/label_free_speed.py report

The contenders take turns. `evaluate` gives eleven metrics with intervals, `roc_auc_score` one number. Peak memory is
what Python allocates on top of the rows, in units of the scores.
"""

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
from record import append, read, stamp
from sklearn.metrics import roc_auc_score

from uulearn.metrics import evaluate

NAME = "label_free_speed"
SHARES = (0.4, 0.9)


def peak(call: Callable[[], Any]) -> int:
    tracemalloc.start()
    call()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def run(rows: int, rounds: int) -> None:
    rng = np.random.default_rng(0)
    sets = rng.integers(0, 2, rows)
    truth = rng.random(rows) < np.array(SHARES)[sets]
    scores = np.where(truth, 1.0, -1.0) + rng.standard_normal(rows)

    def ours() -> Any:
        return evaluate(sets, scores=scores, set_priors=SHARES, prior=0.3)

    def theirs() -> Any:
        return roc_auc_score(truth, scores)

    seconds: dict[str, list[float]] = {"evaluate": [], "roc_auc_score": []}
    for _ in range(rounds):
        for name, call in (("evaluate", ours), ("roc_auc_score", theirs)):
            began = time.perf_counter()
            call()
            seconds[name].append(round(time.perf_counter() - began, 3))
    ratios = [one / other for one, other in zip(*seconds.values(), strict=True)]
    found = {
        "rows": rows,
        "seed": 0,
        "seconds": seconds,
        "ratio_of_best": round(min(seconds["evaluate"]) / min(seconds["roc_auc_score"]), 3),
        "ratio_median": round(float(np.median(ratios)), 3),
        "peak_by_scores": {
            name: round(peak(call) / scores.nbytes, 2) for name, call in (("evaluate", ours), ("roc_auc_score", theirs))
        },
    }
    append(NAME, [found | stamp()])


def report() -> None:
    for row in read(NAME):
        print(
            f"{row['rows']:,} rows: {row['seconds']}; ratio {row['ratio_of_best']} (best), {row['ratio_median']} "
            f"(median); peak memory by scores {row['peak_by_scores']}"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.what == "run":
        run(options.rows, options.rounds)
    report()

"""How often the 95 % intervals of label-free metrics cover the truth: fresh sets with random class counts, known truth.

    python benchmarks/label_free_coverage.py run [--jobs 2]
    python benchmarks/label_free_coverage.py report

Scores are the true log odds of two normal classes two standard deviations apart, so that every metric has a closed form
or an integral. A cell is a choice of set priors, rows a set and target prior, and has 4,000 draws. Cells that are
recorded are skipped.
"""

import argparse
import sys
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
from record import append, read, stamp
from scipy.integrate import quad
from scipy.special import expit, logit, ndtr
from scipy.stats import norm

from uulearn.metrics import evaluate_sets
from uulearn.sets import match_sets

NAME = "label_free_coverage"
METRICS = ("error", "tpr", "fpr", "precision", "f1", "auc", "log_loss")
SHARES = ((0.9, 0.1), (0.7, 0.4), (0.6, 0.5), (0.9, 0.5, 0.2))
ROWS = (500, 2_000, 20_000)
PRIORS = (0.1, 0.3, 0.5)
DRAWS = 4_000


def truth(prior: float) -> dict[str, float]:
    """The metrics of the log odds at this prior, cut at 0."""
    cut = -logit(prior) / 2  # log odds are 2 x + logit(prior) for x normal around 1 or -1
    t, f = float(ndtr(1 - cut)), float(ndtr(-1 - cut))

    def mean(centre: float, sign: float) -> float:
        return quad(lambda x: norm.pdf(x - centre) * np.logaddexp(0, -sign * (2 * x + logit(prior))), -12, 12)[0]

    precision = prior * t / (prior * t + (1 - prior) * f)
    return {
        "error": prior * (1 - t) + (1 - prior) * f,
        "tpr": t,
        "fpr": f,
        "precision": precision,
        "f1": 2 * precision * t / (precision + t),
        "auc": float(ndtr(np.sqrt(2))),
        "log_loss": prior * mean(1, 1) + (1 - prior) * mean(-1, -1),
    }


def cell(setting: tuple[tuple[float, ...], int, float], draws: int = DRAWS) -> dict[str, Any]:
    """Coverage of every metric over all draws of one setting."""
    shares, rows, prior = setting
    y = np.repeat(np.arange(len(shares)), rows)
    sets, exact = match_sets(y, shares, prior), truth(prior)
    seed = [round(1000 * share) for share in shares] + [rows, round(1000 * prior)]
    rng = np.random.default_rng(seed)
    found = np.empty((draws, len(METRICS), 4))
    for draw in range(draws):
        positive = rng.random(len(y)) < sets.share
        z = 2 * (np.where(positive, 1.0, -1.0) + rng.standard_normal(len(y))) + logit(prior)
        report = evaluate_sets(sets, z, expit(z), metrics=METRICS)
        for i, name in enumerate(METRICS):
            one = report[name]
            found[draw, i] = one.value, one.standard_error, one.low, one.high
    result: dict[str, Any] = {"shares": list(shares), "rows": rows, "prior": prior, "draws": draws, "seed": seed}
    for i, name in enumerate(METRICS):
        value, error, low, high = found[:, i].T
        result[name] = {
            "truth": round(exact[name], 6),
            "coverage": float(np.mean((low <= exact[name]) & (exact[name] <= high))),
            "median": round(float(np.nanmedian(value)), 6),
            "spread": round(float(np.nanstd(value)), 6),
            "standard_error": round(float(np.nanmedian(error)), 6),
            "width": round(float(np.nanmedian(high - low)), 6),
        }
    return result | stamp()


def run(options: argparse.Namespace) -> None:
    done = {(tuple(row["shares"]), row["rows"], row["prior"]) for row in read(NAME)}
    wanted = [one for one in product(SHARES, ROWS, PRIORS) if one not in done]
    with get_context("spawn").Pool(options.jobs) as pool:
        for number, row in enumerate(pool.imap_unordered(cell, wanted), 1):
            append(NAME, [row])
            worst = min(row[name]["coverage"] for name in METRICS)
            print(f"{number} of {len(wanted)}: {row['shares']} {row['rows']} {row['prior']} {worst}", file=sys.stderr)


def report(options: argparse.Namespace) -> None:
    rows = sorted(read(NAME), key=lambda row: (-len(row["shares"]), row["shares"], row["rows"], row["prior"]))
    print("| sets | rows a set | prior | " + " | ".join(METRICS) + " |\n" + "|---" * (3 + len(METRICS)) + "|")
    for row in rows:
        cells = [f"{100 * row[name]['coverage']:.1f}" for name in METRICS]
        print("| " + " | ".join([str(tuple(row["shares"])), str(row["rows"]), str(row["prior"]), *cells]) + " |")
    found = np.array([row[name]["coverage"] for row in rows for name in METRICS])
    outside = (found < 0.93) | (found > 0.97)
    print(f"{outside.sum()} of {len(found)} outside 93 to 97 % ({100 * outside.mean():.1f} %); least {found.min():.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    {"run": run, "report": report}[arguments.what](arguments)

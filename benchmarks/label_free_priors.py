"""How close the estimated priors come: of the sets, of the target, and what they cost the classifier.

10 draws of two unlabeled sets at (.9, .1) and (.7, .4) from each table, beside a target of 2,000 rows whose labels fall
positive with probability .2 each. Sets hold 5,000 rows, or as many as can be drawn without sharing any with each other
and the target; the size is recorded. Every method reads the same out-of-fold scores of one cross-fit. The target prior
is estimated with the true set priors and with those estimated ("means, estimated"), beside counting the labels of the
target rows. UUClassifier, refined once, is trained with the true and with the estimated set priors, and judged on the
target rows.
Finished draws are kept; run again to go on.

    python benchmarks/label_free_priors.py [develop|confirm|report] [--draws 10]
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from data import folder, images, load
from joblib import Parallel, delayed, parallel_config
from record import append, read, stamp

from uulearn import UUClassifier, make_unlabeled_sets
from uulearn.estimation import DoubtfulPriorsWarning
from uulearn.estimation.scores import cross_fit, log_odds, unknown_sets
from uulearn.estimation.shares import METHODS, priors_from_scores
from uulearn.estimation.target import one_sample, prior_from_scores
from uulearn.refinement import split
from uulearn.sets import match_sets

NAME = "label_free_priors"
SETTINGS = ((0.9, 0.1), (0.7, 0.4))
TABLES = {"develop": ("pendigits", "letter", "covertype"), "confirm": ("spambase", "usps", "fashion")}
PRIOR, TARGET, ROWS, CONFIDENCE = 0.2, 2_000, 5_000, 0.95
MOST = {"covertype": 20_000, "fashion": 10_000}
"""Rows that the draws of a large table are taken from, at random."""
BOUNDS = {(0.9, 0.1): 0.02, (0.7, 0.4): 0.03}
"""What the mean error of the set priors should stay below."""
TRAINED = ("likelihood", "best-bin")


def rows_of(data: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X, y = images(data)[:2] if data == "fashion" else load(data)
    kept = rng.permutation(len(y))[: MOST.get(data, len(y))]
    return X[kept], y[kept]


def one_draw(data: str, shares: tuple[float, float], seed: int) -> dict[str, Any]:
    began = time.perf_counter()
    rng = np.random.default_rng(seed)
    X, y = rows_of(data, rng)
    n_target = min(TARGET, len(y) // 4)
    positives = int(rng.binomial(n_target, PRIOR))
    pools = [rng.permutation(np.flatnonzero(y == kind)) for kind in (0, 1)]
    target = np.concatenate([pools[1][:positives], pools[0][: n_target - positives]])
    left = np.concatenate([pools[1][positives:], pools[0][n_target - positives :]])
    room = (y[left] == 1).sum() / sum(shares), (y[left] == 0).sum() / (2 - sum(shares))
    size = min(ROWS, int(min(room)) - 1)  # rounding may ask for one row more
    rows, labels, _ = make_unlabeled_sets(
        X[left], y[left], dict(zip("UV", shares, strict=True)), {"U": size, "V": size}, random_state=seed
    )
    truth = dict(zip("UV", shares, strict=True))
    found = set_priors(rows, labels, X[target], truth, seed)
    counted = float(y[target].mean())
    errors = {}
    for name in ("true", *TRAINED):
        priors = truth if name == "true" else found["sets"][name]["shares"]
        told = {"set_priors": priors, "prior": PRIOR, "refine": 1, "calibrate": False, "random_state": seed}
        clf = UUClassifier(**told).fit(rows, labels)
        errors[name] = round(float(np.mean(clf.predict(X[target]) != y[target])), 6)
    return {
        "data": data,
        "shares": shares,
        "seed": seed,
        "size": size,
        "n_target": n_target,
        **found,
        "counted": counted,
        "error": errors,
        "seconds": round(time.perf_counter() - began, 1),
        **stamp(),
    }


def set_priors(
    rows: np.ndarray, labels: np.ndarray, X_target: np.ndarray, truth: dict[str, float], seed: int
) -> dict[str, Any]:
    """Every estimate from one cross-fit."""
    sets = unknown_sets(labels, None)
    folds = split(sets, 5, None, seed)
    inside, outside = cross_fit(None, rows, sets.index == 0, sets.weight, folds, seed, X_target)
    own, new = log_odds(inside), log_odds(outside)
    of_sets, of_target = {}, {}
    options = {"positive_set": "U", "n_bootstrap": 200, "confidence": CONFIDENCE, "groups": None}
    known = match_sets(labels, truth, PRIOR)

    def target_prior(method: str, priors: Any) -> dict[str, float]:
        matched = match_sets(labels, priors, 0.5)
        sample = one_sample(len(X_target), None, known)
        estimate = prior_from_scores(
            own[None], new, matched, sample, set_priors=priors, method=method, confidence=CONFIDENCE
        )
        return {"value": estimate.value, "low": estimate.low, "high": estimate.high}

    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtfulPriorsWarning)  # its sentences are counted below
            estimate = priors_from_scores(sets, own, method=method, rng=np.random.default_rng(seed), **options)
        of_sets[method] = {
            "shares": dict(estimate),
            "intervals": estimate.intervals,
            "doubts": len(estimate.doubts),
        }
        if method == "likelihood":
            of_target["means, estimated"] = target_prior("means", estimate)
    of_target |= {method: target_prior(method, truth) for method in ("means", "em")}
    return {"sets": of_sets, "target": of_target}


def run(tables: tuple[str, ...], draws: int) -> None:
    folder()
    done = {(row["data"], tuple(row["shares"]), row["seed"]) for row in read(NAME)}
    jobs = [job for seed in range(draws) for job in ((data, s, seed) for data in tables for s in SETTINGS)]
    jobs = [job for job in jobs if job not in done]
    print(f"{len(jobs)} draws to go", flush=True)
    with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        for number, row in enumerate(Parallel(return_as="generator_unordered")(delayed(one_draw)(*j) for j in jobs), 1):
            append(NAME, [row])
            print(f"{number}/{len(jobs)} {row['data']} {row['shares']} seed {row['seed']}", flush=True)


def report() -> None:
    """Mean error of the set priors, of the target prior beside counting, coverage, and what it costs the classifier."""
    cases: dict[tuple[str, tuple[float, ...]], list[dict[str, Any]]] = {}
    for row in read(NAME):
        cases.setdefault((row["data"], tuple(row["shares"])), []).append(row)
    for (data, shares), rows in cases.items():
        print(f"\n{data} {shares}: {len(rows)} draws, sets of {rows[0]['size']}, target of {rows[0]['n_target']}")
        truth = dict(zip("UV", shares, strict=True))
        for method in METHODS:
            found = [row["sets"][method] for row in rows]
            gaps = np.array([[one["shares"][k] - truth[k] for k in truth] for one in found])
            ends = np.array([[one["intervals"][k] for k in truth] for one in found])
            covered = np.mean((ends[..., 0] <= list(shares)) & (list(shares) <= ends[..., 1]))
            print(
                f"  set priors, {method}: mean error {np.abs(gaps).mean():.4f} (at most {BOUNDS[shares]}), bias "
                f"{gaps[:, 0].mean():+.3f} and {gaps[:, 1].mean():+.3f}, covered {covered:.0%}, doubted in "
                f"{sum(one['doubts'] > 0 for one in found)}"
            )
        counting = np.mean([abs(row["counted"] - PRIOR) for row in rows])
        for method in rows[0]["target"]:
            found = [row["target"][method] for row in rows]
            wrong = np.mean([abs(one["value"] - PRIOR) for one in found])
            covered = np.mean([one["low"] <= PRIOR <= one["high"] for one in found])
            print(
                f"  target prior, {method}: mean error {wrong:.4f}, {wrong / counting:.2f} times that of counting "
                f"{counting:.4f}, covered {covered:.0%}"
            )
        base = np.array([row["error"]["true"] for row in rows])
        for method in TRAINED:
            more = 100 * (np.array([row["error"][method] for row in rows]) - base)
            spread = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else np.nan
            print(
                f"  classifier, {method}: error {100 * base.mean():.2f} % with true priors, {more.mean():+.2f} points "
                f"(standard error {spread:.2f}) with estimated ones"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=[*TABLES, "report"], default="develop")
    parser.add_argument("--draws", type=int, default=10)
    options = parser.parse_args()
    if options.what != "report":
        run(TABLES[options.what], options.draws)
    report()

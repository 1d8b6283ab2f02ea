"""True error of every estimator and route on four real tables, beside the oracle, the naive cut and both CCN readings.

10 draws of two unlabeled sets from each table, at (.9, .4) with target prior .2 and sets of unequal size, and at
(.7, .3) with target prior .3 and sets of equal size. An eighth of each table is held out and its labels only report:
the error at the target prior is pi * (share of positives missed) + (1 - pi) * (share of negatives taken). The penalty
is chosen by 5-fold cross-validation of the label-free score (the oracle's sets are its classes, so its score is the
accuracy weighted to the prior). "calibrated" is the default of the library; the others do not move their cut to even
odds, as no recipe does. The oracle trains on the labels of the very rows that the sets hold. Finished draws
are kept; run again to go on.

    python benchmarks/tables.py [--draws 10] [--methods METHOD ...] [--report]
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from data import folder, load, standardised
from joblib import Parallel, delayed, parallel_config
from record import append, read, stamp
from scipy import stats
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from uulearn import UUClassifier, UUKernelClassifier, UULinearClassifier, make_unlabeled_sets
from uulearn.baselines import BiasedClassifier, CCNClassifier

SETTINGS = {"(.9, .4), pi .2": ((0.9, 0.4), 0.2, (2, 1)), "(.7, .3), pi .3": ((0.7, 0.3), 0.3, (1, 1))}
ROWS = {"spambase": 1500, "letter": 6000, "pendigits": 6000, "covertype": 6000}
PENALTIES = [0.01, 0.1, 1.0]
KERNEL_PENALTIES = [0.1, 1.0]
LANDMARKS = 300


def searched(clf: Any, parameter: str, seed: int, penalties: list[float] = PENALTIES) -> GridSearchCV:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return GridSearchCV(clf, {parameter: penalties}, cv=folds, error_score="raise")


def kernel(**options: Any) -> UUKernelClassifier:
    return UUKernelClassifier(n_components=LANDMARKS, **options)


def methods(shares: tuple[float, float], prior: float, seed: int) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Name: (which y it trains on, what it is)."""
    here: dict[str, Any] = {"set_priors": shares, "prior": prior}
    plain: dict[str, Any] = {**here, "calibrate": False}
    truth = {"set_priors": (0, 1), "prior": prior}
    return {
        "linear oracle": ("labels", lambda: searched(UULinearClassifier(**truth), "C", seed)),
        "linear": ("sets", lambda: searched(UULinearClassifier(**plain), "C", seed)),
        "linear calibrated": ("sets", lambda: searched(UULinearClassifier(**here), "C", seed)),
        "linear refined": (
            "sets",
            lambda: searched(UULinearClassifier(**plain, refine="auto", random_state=seed), "C", seed),
        ),
        "linear naive": (
            "sets",
            lambda: searched(BiasedClassifier(UULinearClassifier(**here), **here), "estimator__C", seed),
        ),
        "linear ccn": (
            "sets",
            lambda: searched(CCNClassifier(UULinearClassifier(**here), **here), "estimator__C", seed),
        ),
        "linear ccn-pooled": (
            "sets",
            lambda: searched(CCNClassifier(UULinearClassifier(**here), **here, reading="pooled"), "estimator__C", seed),
        ),
        "kernel oracle": (
            "labels",
            lambda: searched(kernel(**truth, random_state=seed), "C", seed, KERNEL_PENALTIES),
        ),
        "kernel": ("sets", lambda: searched(kernel(**plain, random_state=seed), "C", seed, KERNEL_PENALTIES)),
        "kernel calibrated": (
            "sets",
            lambda: searched(kernel(**here, random_state=seed), "C", seed, KERNEL_PENALTIES),
        ),
        "kernel refined": (
            "sets",
            lambda: searched(kernel(**plain, refine="auto", random_state=seed), "C", seed, KERNEL_PENALTIES),
        ),
        "kernel naive": (
            "sets",
            lambda: searched(
                BiasedClassifier(kernel(**here, random_state=seed), **here), "estimator__C", seed, KERNEL_PENALTIES
            ),
        ),
        "kernel ccn": (
            "sets",
            lambda: searched(
                CCNClassifier(kernel(**here, random_state=seed), **here), "estimator__C", seed, KERNEL_PENALTIES
            ),
        ),
        "kernel ccn-pooled": (
            "sets",
            lambda: searched(
                CCNClassifier(kernel(**here, random_state=seed), **here, reading="pooled"),
                "estimator__C",
                seed,
                KERNEL_PENALTIES,
            ),
        ),
        "trees oracle": ("labels", lambda: UUClassifier(**truth, random_state=seed)),
        "trees naive": ("sets", lambda: BiasedClassifier(UUClassifier(**here, random_state=seed), **here)),
        "trees ccn": ("sets", lambda: CCNClassifier(UUClassifier(**here, random_state=seed), **here)),
        "trees ccn-pooled": (
            "sets",
            lambda: CCNClassifier(UUClassifier(**here, random_state=seed), **here, reading="pooled"),
        ),
        "trees weight": ("sets", lambda: UUClassifier(**plain, random_state=seed)),
        "trees weight calibrated": ("sets", lambda: UUClassifier(**here, random_state=seed)),
        "trees unmix calibrated": ("sets", lambda: UUClassifier(**here, route="unmix", random_state=seed)),
        "trees weight refined": ("sets", lambda: UUClassifier(**plain, refine="auto", random_state=seed)),
        "trees unmix": ("sets", lambda: UUClassifier(**plain, route="unmix", random_state=seed)),
        "trees unmix refined": ("sets", lambda: UUClassifier(**plain, route="unmix", refine="auto", random_state=seed)),
    }


def one_draw(data: str, setting: str, seed: int, wanted: list[str]) -> list[dict[str, Any]]:
    """Every wanted method on one draw of the sets."""
    X, y = load(data)
    X = standardised(X)
    shares, prior, ratio = SETTINGS[setting]
    sizes = [ROWS[data] * part // sum(ratio) for part in ratio]
    order = np.random.default_rng(seed).permutation(len(y))
    test, pool = order[: len(y) // 8], order[len(y) // 8 :]
    rows, sets, indices = make_unlabeled_sets(X[pool], y[pool], shares, sizes, random_state=seed)
    labels = y[pool][indices]
    found = []
    for name, (kind, make) in methods(shares, prior, seed).items():
        if name not in wanted:
            continue
        began = time.perf_counter()
        clf = make().fit(rows, sets if kind == "sets" else labels)
        seconds = time.perf_counter() - began
        up = clf.decision_function(X[test]) > 0
        error = prior * np.mean(~up[y[test] == 1]) + (1 - prior) * np.mean(up[y[test] == 0])
        inner = getattr(clf, "best_estimator_", clf)
        found.append(
            {"data": data, "setting": setting, "seed": seed, "method": name, "error": round(float(error), 6)}
            | {"params": getattr(clf, "best_params_", {}), "rounds": getattr(inner, "n_rounds_", 0)}
            | {"clipped": getattr(inner, "clipped_share_", None), "seconds": round(seconds, 2), **stamp()}
        )
    return found


def run(draws: int, names: list[str]) -> None:
    folder()
    done = {(row["data"], row["setting"], row["seed"], row["method"]) for row in read("tables")}
    jobs = [
        (data, setting, seed, missing)
        for seed in range(draws)
        for data in ROWS
        for setting in SETTINGS
        if (missing := [name for name in names if (data, setting, seed, name) not in done])
    ]
    print(f"{len(jobs)} draws to go", flush=True)
    with parallel_config("loky", n_jobs=-1, inner_max_num_threads=1):
        results = Parallel(return_as="generator_unordered")(delayed(one_draw)(*job) for job in jobs)
        for number, rows in enumerate(results, 1):
            append("tables", rows)
            print(f"{number}/{len(jobs)} {rows[0]['data']} {rows[0]['setting']} seed {rows[0]['seed']}", flush=True)


def report() -> None:
    """The table in per cent (mean, standard deviation), and the comparisons that the figures are asked for."""
    errors: dict[tuple[str, str], dict[str, dict[int, float]]] = {}
    for row in read("tables"):
        by_method = errors.setdefault((row["data"], row["setting"]), {})
        by_method.setdefault(row["method"], {})[row["seed"]] = 100 * row["error"]
    cases = [(data, setting) for data in ROWS for setting in SETTINGS if (data, setting) in errors]
    titles = [f"{data} {setting}" for data, setting in cases]
    print("| method | " + " | ".join(titles) + " |\n|---|" + "---|" * len(cases))
    there = [name for name in METHODS if all(name in errors[case] for case in cases)]  # the others are still to run
    for name in there:
        cells = [np.array(list(errors[case][name].values())) for case in cases]
        print(f"| {name} | " + " | ".join(f"{cell.mean():.1f} ({cell.std(ddof=1):.1f})" for cell in cells) + " |")
    for ours, theirs in (pair for pair in COMPARISONS if set(pair) <= set(there)):
        print(f"\n{theirs} minus {ours}, points, paired 95 % interval:")
        for case, title in zip(cases, titles, strict=True):
            print(f"  {title}: {difference(errors[case], ours, theirs)}")
    for plain in ("trees weight", "trees unmix", "linear", "kernel"):
        names = (plain, f"{plain} refined", f"{plain.split()[0]} oracle")
        if not set(names) <= set(there):
            continue
        means = np.array([[np.mean(list(errors[case][name].values())) for name in names] for case in cases])
        closed = (means[:, 0] - means[:, 1]) / (means[:, 0] - means[:, 2])
        print(f"\n{plain}: refinement closes {closed.mean():.2f} of the gap to the oracle on average:")
        print("  " + ", ".join(f"{title} {share:.2f}" for title, share in zip(titles, closed, strict=True)))


METHODS = list(methods((0.9, 0.4), 0.2, 0))
COMPARISONS = [
    (ours, f"{ours.split()[0]} {theirs}")
    for ours in (
        *("linear", "linear calibrated", "linear refined", "kernel", "kernel calibrated"),
        *("trees weight", "trees weight calibrated", "trees unmix calibrated", "trees weight refined"),
    )
    for theirs in ("naive", "ccn", "ccn-pooled")
]


def difference(errors: dict[str, dict[int, float]], ours: str, theirs: str) -> str:
    seeds = sorted(errors[ours].keys() & errors[theirs].keys())
    gap = np.array([errors[theirs][seed] - errors[ours][seed] for seed in seeds])
    half = stats.t.ppf(0.975, len(gap) - 1) * gap.std(ddof=1) / np.sqrt(len(gap))
    return f"{gap.mean():+.1f} [{gap.mean() - half:+.1f}, {gap.mean() + half:+.1f}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD")
    parser.add_argument("--report", action="store_true", help="print the table of the recorded draws only")
    options = parser.parse_args()
    if not options.report:
        run(options.draws, options.methods)
    report()

"""How much the label-free choice among 24 classifiers loses to the best of them, by the rule that chooses.

10 draws of two unlabeled sets from each table, at (.9, .1) and at (.7, .3), target prior .3: 3,000 rows a set, or seven
tenths of the smaller class. Every candidate scores every row in one of five folds that it was not trained on, and each
rule chooses from the same scores. The candidates, trained on all rows of the sets, are judged by the rows that no set
took, weighed to the target prior; what a rule loses is the true error of its choice minus the least of the 24. "labels"
chooses by the labels of the rows of the sets, which no rule may see: what cross-validation costs by itself. Rules were
chosen on the tables of `develop` alone. Candidates do not calibrate, which would cost five more fits each. Images are
reduced to 50 principal components. Finished draws are kept; run again to go on.

    python benchmarks/label_free_choice.py [develop | confirm | report] [--draws 10] [--tables NAME ...]
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np
from data import folder, load, standardised
from record import append, read, stamp
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier

from uulearn import UUClassifier, UUKernelClassifier, UULinearClassifier, UUSearch, make_unlabeled_sets
from uulearn.metrics import error
from uulearn.refinement import split
from uulearn.selection import RULES, rank_sets
from uulearn.sets import Sets, match_sets

NAME = "label_free_choice"
TABLES = {"develop": ("pendigits", "letter", "covertype"), "confirm": ("spambase", "usps", "fashion-mnist")}
SETTINGS = {"(.9, .1)": (0.9, 0.1), "(.7, .3)": (0.7, 0.3)}
TARGETS = {"(.9, .1)": 0.3, "(.7, .3)": 0.8}
"""The most points that the choice should lose on average."""
PRIOR = 0.3
ROWS = {"covertype": 20_000, "fashion-mnist": 10_000}
SET_ROWS = 3_000
COMPONENTS = 50
FOLDS = 5
EXTRA = ("folds", "labels")
"""What the library does not offer: errors averaged over the folds, and the choice by labels."""


def candidates(shares: tuple[float, float], n_columns: int, seed: int) -> dict[str, Any]:
    """Linear, kernel and boosted models, from too stiff to too flexible."""
    told = {"set_priors": shares, "prior": PRIOR, "random_state": seed, "calibrate": False}
    found: dict[str, Any] = {}
    for C in (0.001, 0.03, 1.0):
        for rounds in (0, 1):
            found[f"linear C={C:g} refine={rounds}"] = UULinearClassifier(**told, C=C, refine=rounds)
    for C in (0.03, 1.0):
        found[f"linear sigmoid C={C:g}"] = UULinearClassifier(**told, C=C, loss="sigmoid")
    kernel = {**told, "n_components": 200}
    for width in (0.25, 1.0):
        for C in (0.03, 1.0, 30.0):
            found[f"kernel {width:g}/d C={C:g}"] = UUKernelClassifier(**kernel, C=C, gamma=width / n_columns)
        found[f"kernel {width:g}/d C=1 refine=1"] = UUKernelClassifier(**kernel, gamma=width / n_columns, refine=1)
    for C in (1.0, 30.0):
        found[f"kernel 4/d C={C:g}"] = UUKernelClassifier(**kernel, C=C, gamma=4 / n_columns)
    for leaves in (6, 24):
        trees = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=leaves, early_stopping=False)
        for route, rounds in (("weight", 0), ("unmix", 0), ("weight", 1)):
            found[f"trees {leaves} {route} refine={rounds}"] = UUClassifier(trees, **told, route=route, refine=rounds)
    return found


def rows_of(data: str) -> tuple[np.ndarray, np.ndarray]:
    """The columns and classes of a table, ready to draw from."""
    X, y = load(data)
    order = np.random.default_rng(0).permutation(len(y))[: ROWS.get(data, len(y))]
    X, y = X[order].reshape(len(order), -1).astype(float), y[order]
    if X.shape[1] > 100:
        X = PCA(COMPONENTS, random_state=0).fit_transform(X)
    return standardised(X), y


def one_draw(X: np.ndarray, y: np.ndarray, setting: str, seed: int) -> dict[str, Any]:
    """True error of each candidate, and the choice of each rule."""
    began = time.process_time()
    shares = SETTINGS[setting]
    size = min(SET_ROWS, int(0.7 * np.bincount(y).min()))
    rows, sets, taken = make_unlabeled_sets(X, y, shares, (size, size), random_state=seed)
    left = np.setdiff1d(np.arange(len(y)), taken)
    tried = candidates(shares, X.shape[1], seed)
    search = UUSearch(tried, cv=FOLDS, refit=False, random_state=seed).fit(rows, sets)
    errors = {}
    for name, candidate in tried.items():
        positive = candidate.fit(rows, sets).decision_function(X[left]) > 0
        missed, taken_in = (np.mean(positive[y[left] == kind] != kind) for kind in (1, 0))
        errors[name] = round(100 * float(PRIOR * missed + (1 - PRIOR) * taken_in), 4)
    matched = match_sets(sets, shares, PRIOR)
    return {
        "figure": NAME,
        "setting": setting,
        "seed": seed,
        "size": size,
        "test_rows": len(left),
        "errors": errors,
        "choices": choices(matched, search.scores_, y[taken], seed),
        "cpu_seconds": round(time.process_time() - began, 1),
        **stamp(),
    }


def choices(sets: Sets, scores: dict[str, np.ndarray], labels: np.ndarray, seed: int) -> dict[str, str]:
    """What each rule chooses."""
    chosen = {rule: rank_sets(sets, scores, rule).best for rule in RULES}
    folds = [(sets.take(test), test) for _, test in split(sets, FOLDS, None, seed)]

    def by_folds(name: str) -> float:
        return float(np.mean([error(part, scores[name][test]) for part, test in folds]))

    def by_labels(name: str) -> float:
        positive = scores[name] > 0
        missed, taken_in = (np.mean(positive[labels == kind] != kind) for kind in (1, 0))
        return float(PRIOR * missed + (1 - PRIOR) * taken_in)

    return chosen | {rule: min(scores, key=key) for rule, key in zip(EXTRA, (by_folds, by_labels), strict=True)}


def run(tables: tuple[str, ...], draws: int) -> None:
    folder()
    done = {(row["data"], row["setting"], row["seed"]) for row in read(NAME)}
    for data in tables:
        wanted = [(s, seed) for seed in range(draws) for s in SETTINGS if (data, s, seed) not in done]
        X, y = rows_of(data) if wanted else (None, None)
        for setting, seed in wanted:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # candidates that do not converge are candidates all the same
                row = {"data": data, **one_draw(X, y, setting, seed)}
            append(NAME, [row])
            print(data, setting, seed, f"{row['cpu_seconds']:.0f} s", flush=True)


def report() -> None:
    """Mean points lost, by table and setting, with the standard error over the draws."""
    runs = read(NAME)
    rules = [*RULES, *EXTRA]
    for part, tables in TABLES.items():
        cells = [(data, s) for s in SETTINGS for data in tables]
        lost = {cell: [r for r in runs if (r["data"], r["setting"]) == cell] for cell in cells}
        if not any(lost.values()):
            continue
        print(f"\n{part}: points lost to the best of the candidates, mean (standard error) of the draws")
        print("| rule | " + " | ".join(f"{data} {s}, {len(lost[data, s])} draws" for data, s in cells) + " |")
        print("|---" * (len(cells) + 1) + "|")
        for rule in rules:
            print(f"| {rule} | " + " | ".join(summary(lost[cell], rule) for cell in cells) + " |")
        for s, most in TARGETS.items():
            for rule in rules:
                means = [np.mean(excess(lost[data, s], rule)) for data in tables if lost[data, s]]
                if means:
                    print(f"{s} {rule}: {np.mean(means):.2f} points over the tables (at most {most} wanted)")


def excess(runs: list[dict[str, Any]], rule: str) -> list[float]:
    """True error of the choice minus the least."""
    return [run["errors"][run["choices"][rule]] - min(run["errors"].values()) for run in runs]


def summary(runs: list[dict[str, Any]], rule: str) -> str:
    if not runs:
        return ""
    lost = np.array(excess(runs, rule))
    return f"{lost.mean():.2f}" + (f" ({lost.std(ddof=1) / np.sqrt(len(lost)):.2f})" if len(lost) > 1 else "")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", nargs="?", choices=[*TABLES, "report"], default="develop")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--tables", nargs="+", metavar="NAME", help="some of the tables of the verb only")
    options = parser.parse_args()
    if options.verb != "report":
        run(tuple(options.tables or TABLES[options.verb]), options.draws)
    report()

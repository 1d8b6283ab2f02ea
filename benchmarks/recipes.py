"""Test error of networks trained by the recipes, on MNIST and Fashion-MNIST, all draws of a setting trained together.

develop  variants of the house recipe, 4 draws, on MNIST: sets from 50,000 training rows, judged on the other 10,000
paper    the paper's recipe on MNIST, 10 draws, 200 epochs, judged on the test rows
house    the house recipe, 10 draws: both data sets, symmetric and not, beside naive, ccn and the PN oracle
stopping the epoch that label-free errors of held-out rows keep, beside the best by test labels, 10 draws
report   the table of what has been recorded
cifar    ResNet-32 on CIFAR-10 at (.9, .1), one draw, as many epochs as --epochs says

    python benchmarks/recipes.py develop [variant ...]
    python benchmarks/recipes.py paper [--precision float32] [--only 0.9]
    python benchmarks/recipes.py house
    python benchmarks/recipes.py stopping
    python benchmarks/recipes.py cifar [--epochs 20]
    python benchmarks/recipes.py report

True labels of the 10,000 rows chose the recipe; test labels only report. Killed and started again, a run goes on from
its last epoch; finished runs are skipped.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
import torch
from record import append, read, stamp

from uulearn import UUNeuralClassifier, losses, make_unlabeled_sets
from uulearn.baselines import BiasedClassifier, CCNClassifier
from uulearn.calibration import fit_link, posterior
from uulearn.nn.batches import Member
from uulearn.nn.engine import Table, Trainer, run, score
from uulearn.nn.networks import Networks, factory
from uulearn.nn.recipes import Recipe, get
from uulearn.nn.rows import as_rows
from uulearn.nn.watch import Watch
from uulearn.refinement import split
from uulearn.risk import Columns, get_correction, posterior_weights, row_weights
from uulearn.sets import Sets, at_pooled_prior, match_sets

TEMPORARY = Path("uulearn-runs")
HELD_BACK = 10_000


class Setting(NamedTuple):
    """Sets drawn from the training rows of a data set, and the share of positives to predict at."""

    data: str
    shares: tuple[float, float]
    sizes: tuple[int, int]
    prior: float


class Draw(NamedTuple):
    """One draw of the sets, in the order of their rows, with the true classes (for the oracle alone).

    `of` counts its rows; of a part, it says which rows of the draw they are.
    """

    rows: np.ndarray
    sets: Sets
    truth: np.ndarray
    seed: int
    of: np.ndarray

    def take(self, kept: np.ndarray) -> "Draw":
        return Draw(self.rows[kept], self.sets.take(kept), self.truth[kept], self.seed, self.of[kept])


Method = Callable[[Draw], tuple[Columns, np.ndarray]]
PRIORS = {"mnist": 0.49, "fashion": 0.5}
PAIRS = ((0.9, 0.1), (0.8, 0.2))
DEVELOP = [
    *(Setting("mnist", shares, (25_000, 25_000), 0.49) for shares in PAIRS),
    Setting("mnist", (0.9, 0.4), (20_000, 10_000), 0.2),
]
SYMMETRIC = [Setting(name, shares, (30_000, 30_000), prior) for name, prior in PRIORS.items() for shares in PAIRS]
SKEWED = [Setting(name, (0.9, 0.4), (24_000, 12_000), 0.2) for name in PRIORS]


def uu(draw: Draw) -> tuple[Columns, np.ndarray]:
    """The weights of the paper's Theorem 2."""
    return row_weights(draw.sets), draw.sets.index


def at_pooled(draw: Draw) -> tuple[Columns, np.ndarray]:
    """Those weights for the share of positives among all rows of the draw."""
    sets = at_pooled_prior(draw.sets)
    return row_weights(sets), sets.index


def naive(draw: Draw) -> tuple[Columns, np.ndarray]:
    """The sets taken for classes."""
    return _recipe(BiasedClassifier, draw), draw.sets.index


def ccn(draw: Draw) -> tuple[Columns, np.ndarray]:
    """The sets taken for noisy labels."""
    return _recipe(CCNClassifier, draw), draw.sets.index


def oracle(draw: Draw) -> tuple[Columns, np.ndarray]:
    """The same rows with their labels, weighed to the target prior."""
    classes = match_sets(draw.truth, {0: 0.0, 1: 1.0}, draw.sets.priors.prior)
    return row_weights(classes), classes.index


def _recipe(kind: Any, draw: Draw) -> Columns:
    priors = draw.sets.priors
    return kind(set_priors=list(priors.shares), prior=priors.prior)._columns(draw.sets)


METHODS: dict[str, Method] = {"uu": uu, "naive": naive, "ccn": ccn, "oracle": oracle}


def drawn(y: np.ndarray, setting: Setting, n: int) -> list[Draw]:
    """The draws of a setting: the same rows for every method."""
    found = []
    for seed in range(n):
        names, rows = make_unlabeled_sets(
            np.zeros((len(y), 1)), y, setting.shares, setting.sizes, overlap="allow", random_state=1000 + seed
        )[1:]
        order = np.argsort(rows, kind="stable")
        sets = match_sets(names[order], setting.shares, setting.prior)
        found.append(Draw(rows[order], sets, y[rows[order]], seed, np.arange(len(rows))))
    return found


class Bench:
    """One data set, its draws and a recipe: trains all draws together, judges them on rows with labels."""

    def __init__(
        self,
        name: str,
        X: np.ndarray,
        test: tuple[np.ndarray, np.ndarray],
        recipe: Recipe,
        precision: str,
        prior: float,
    ) -> None:
        device, dtype = torch.device("cpu"), getattr(torch, precision)
        self.name, self.recipe, self.labels, self.prior = name, recipe, test[1].astype(bool), prior
        self.shape = X.shape[1:]
        self.table = Table(as_rows(X), self.shape, dtype, device)
        self.tested = Table(as_rows(test[0]), self.shape, dtype, device)
        self.history: list[dict[str, Any]] = []

    def train(self, members: list[Member], stage: str, every: int = 0, watched: list[Any] | None = None) -> Networks:
        """Networks trained together; test errors after every so many epochs, if any, and at the end.

        `watched` holds a function of the networks and the record for each network, called after every epoch; it is not
        part of a checkpoint, so there is none.
        """
        networks = Networks(factory("mlp"), self.shape, [member.seed for member in members], self.table.device)
        loss, correction = losses.get("sigmoid"), get_correction("none")
        trainer = Trainer(
            networks, self.table, members, self.recipe, self.recipe.epochs, loss, correction, compiled=True
        )
        name = f"{self.name} {stage}"

        def after(record: dict[str, Any]) -> bool:
            last = trainer.epoch == self.recipe.epochs
            if every and (trainer.epoch % every == 0 or last):
                record["test_error"] = self.errors(networks)
            for j, watch in enumerate(watched or ()):
                watch(networks.select([j]), record)
            if last or trainer.epoch % 10 == 0:
                shown = np.mean(record.get("test_error", np.nan))
                progress(f"{name} {trainer.epoch} {record['seconds']:.1f} s, {shown:.3f}")
            return False

        path = None if watched else TEMPORARY / f"{name}.safetensors"
        self.history = run(trainer, after, path=path, fingerprint=f"{name} {self.recipe}")
        return networks

    def errors(self, networks: Networks) -> list[float]:
        """Test error of each network in per cent, at the target prior."""
        wrong = (score(networks, self.tested, np.arange(len(self.labels))) > 0) != self.labels
        weight = np.where(self.labels, self.prior / self.labels.sum(), (1 - self.prior) / (~self.labels).sum())
        return (100 * wrong @ weight).round(3).tolist()

    def refined(self, draws: list[Draw], method: Method, rounds: int, folds: int) -> tuple[Method, float]:
        """What the last round trains on, and the seconds it took to get there.

        In every round each row is weighed by the score of a network that saw the other folds alone.
        """
        parts = [(draw, fold) for draw in draws for fold in split(draw.sets, folds, None, draw.seed)]
        seconds = 0.0
        for turn in range(rounds):
            # What the first networks are for is to rank, as in the estimator: at the pooled prior with less noise.
            first = at_pooled if turn == 0 and method is uu else method
            members = [_member(draw.take(kept), first) for draw, (kept, _) in parts]
            networks = self.train(members, f"folds {turn + 1}")
            seconds += sum(record["seconds"] for record in self.history)
            scores = {draw.seed: np.empty(len(draw.rows)) for draw in draws}
            for j, (draw, (_, judged)) in enumerate(parts):
                scores[draw.seed][judged] = score(networks.select([j]), self.table, draw.rows[judged])[0]
            q = {
                draw.seed: posterior(fit_link(each, draw.sets).log_ratio(each), draw.sets.share)
                for draw, each in ((draw, scores[draw.seed]) for draw in draws)
            }
            method = partial(_by_posterior, q)
        return method, seconds


def _by_posterior(q: dict[int, np.ndarray], draw: Draw) -> tuple[Columns, np.ndarray]:
    """The weights of the refinement, from the posterior of every row of the whole draw."""
    return posterior_weights(q[draw.seed][draw.of], draw.sets), draw.sets.index


def _member(draw: Draw, method: Method) -> Member:
    columns, index = method(draw)
    return Member(draw.rows, columns, index, draw.seed)


def progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def measure(
    what: str,
    setting: Setting,
    recipe: Recipe,
    n: int,
    *,
    method: str = "uu",
    refine: int = 0,
    folds: int = 2,
    precision: str = "bfloat16",
    variant: str = "",
    every: int = 1,
) -> None:
    """Train all draws of one method in one setting, unless that has been done, and append its record."""
    facts = {"what": what, "variant": variant, **setting._asdict(), "method": method, "refine": refine}
    facts |= {"precision": precision, "draws": n, "recipe": vars(recipe)}
    facts |= {"folds": folds} if folds != 2 else {}
    facts = {name: list(value) if isinstance(value, tuple) else value for name, value in facts.items()}
    if any(all(row.get(name) == value for name, value in facts.items()) for row in read("recipes")):
        return
    X, y, *test = data.images(setting.data)
    if what == "develop":
        held = np.random.default_rng(0).permutation(len(y))
        test = [X[held[:HELD_BACK]], y[held[:HELD_BACK]]]
        X, y = X[held[HELD_BACK:]], y[held[HELD_BACK:]]
    symmetric = setting in SYMMETRIC or setting in DEVELOP[:2]
    judged_at = float(np.mean(test[1])) if symmetric else setting.prior
    name = f"{what} {variant} {setting.data} {setting.shares[0]} {setting.shares[1]} {method} {refine} {precision}"
    bench = Bench(name, X, (test[0], test[1]), recipe, precision, judged_at)
    draws = drawn(y, setting, n)
    weighed, seconds = bench.refined(draws, METHODS[method], refine, folds)
    bench.train([_member(draw, weighed) for draw in draws], "all", every)
    history, final = bench.history, np.array(bench.history[-1]["test_error"])
    found = {
        "final": final.tolist(),
        "mean": round(float(final.mean()), 3),
        "std": round(float(final.std(ddof=1)), 3),
        "by_epoch": {r["epoch"]: round(float(np.mean(r["test_error"])), 3) for r in history if "test_error" in r},
        "seconds": round(seconds + sum(record["seconds"] for record in history), 1),
        "threads": torch.get_num_threads(),
    }
    append("recipes", [{**facts, **found, **stamp()}])
    progress(f"{name}: {found['mean']} ({found['std']}) in {found['seconds']} s")


TRIAL = Recipe(learning_rate=0.03, weight_decay=1e-3, epochs=30)
HEAVIER = {"weight_decay": 2e-3}
VARIANTS: dict[str, tuple[dict[str, Any], int, int]] = {  # changes of the trial, rounds of refinement, folds
    "trial": ({}, 0, 2),
    "trial, refined": ({}, 1, 2),
    "decay .002": (HEAVIER, 0, 2),
    "decay .002, refined": (HEAVIER, 1, 2),
    "decay .004": ({"weight_decay": 4e-3}, 0, 2),
    "decay .004, refined": ({"weight_decay": 4e-3}, 1, 2),
    "decay .002, rate .05, refined": ({**HEAVIER, "learning_rate": 0.05}, 1, 2),
    "decay .002, refined by 4 folds": (HEAVIER, 1, 4),
    "decay .002, refined twice": (HEAVIER, 2, 2),
    "decay .002, refined twice by 4 folds": (HEAVIER, 2, 4),
}


def develop(options: argparse.Namespace) -> None:
    for variant in options.variants or VARIANTS:
        changes, refine, folds = VARIANTS[variant]
        for setting in DEVELOP[: options.settings]:
            recipe, draws = replace(TRIAL, **changes), options.draws or 4
            measure("develop", setting, recipe, draws, refine=refine, folds=folds, variant=variant)


def paper(options: argparse.Namespace) -> None:
    for setting in SYMMETRIC[:2]:
        if not options.only or setting.shares[0] in options.only:
            recipe = get("paper", "mlp", losses.get("sigmoid"), setting.shares[0] - setting.shares[1])
            measure("paper", setting, recipe, options.draws or 10, precision=options.precision, every=10)


def house(options: argparse.Namespace) -> None:
    recipe = replace(get("house", "mlp", losses.get("sigmoid"), 0.8), refine=0)  # the draws refine together
    plan = [(setting, "uu", 2) for setting in SYMMETRIC]
    for setting in SKEWED:
        plan += [(setting, "uu", 2), *((setting, method, 0) for method in ("naive", "ccn", "oracle", "uu"))]
    if not options.skewed:
        plan += [(setting, method, 0) for setting in SYMMETRIC for method in ("oracle", "uu")]
    for setting, method, refine in plan[:: -1 if options.backwards else 1]:
        measure("house", setting, recipe, options.draws or 10, method=method, refine=refine)


class Stopping:
    """One network in training, as the estimator's watch sees it: which epoch held-out rows would keep."""

    def __init__(self, table: Table, draw: Draw) -> None:
        held_out = split(draw.sets, 10, None, draw.seed)[0][1]
        self.table, self.rows = table, draw.rows[held_out]
        self.kept: dict[str, Any] = {}
        self.watch = Watch(self, self.rows, draw.sets.take(held_out))  # type: ignore[arg-type]  # as much as it asks of
        self.trained = draw.take(np.setdiff1d(draw.of, held_out))

    def __call__(self, networks: Networks, record: dict[str, Any]) -> None:
        self.networks = networks
        self.watch({**record})

    def scores(self, rows: np.ndarray) -> np.ndarray:
        return score(self.networks, self.table, rows)

    def keep(self, **more: Any) -> None:
        self.kept = more


def stopping(options: argparse.Namespace) -> None:
    recipe = replace(get("house", "mlp", losses.get("sigmoid"), 0.8), refine=0)
    done = {(row["data"], tuple(row["shares"])) for row in read("stopping")}
    for setting in SYMMETRIC:
        if (setting.data, setting.shares) in done:
            continue
        X, y, X_test, y_test = data.images(setting.data)
        bench = Bench(f"stopping {setting}", X, (X_test, y_test), recipe, options.precision, float(np.mean(y_test)))
        ones = [Stopping(bench.table, draw) for draw in drawn(y, setting, options.draws or 10)]
        bench.train([_member(one.trained, uu) for one in ones], "all", 1, ones)
        rows = []
        for seed, one in enumerate(ones):
            errors = [record["test_error"][seed] for record in bench.history]
            epoch = int(one.kept["epoch"])
            found = {"epoch": epoch, "kept": errors[epoch - 1], "best": min(errors), "last": errors[-1]}
            rows.append({**setting._asdict(), "seed": seed, **found, **stamp()})
        append("stopping", rows)
        cost = np.mean([row["kept"] - row["best"] for row in rows])
        progress(f"{setting}: the epoch kept costs {cost:.3f} points against the best by test labels")


def cifar(options: argparse.Namespace) -> None:
    setting = Setting("cifar", (0.9, 0.1), (25_000, 22_000), 0.6)
    X, y, X_test, y_test = data.images("cifar")
    draw = drawn(y, setting, 1)[0]

    def say(clf: Any, record: dict[str, Any]) -> None:
        progress(" ".join(f"{name} {value:.4g}" for name, value in record.items()))

    clf = UUNeuralClassifier(
        "resnet32",
        set_priors=setting.shares,
        prior=setting.prior,
        epochs=options.epochs,
        refine=0,
        checkpoint=TEMPORARY / f"cifar-{options.epochs}",
        callbacks=[say],
        random_state=0,
    )
    clf.fit(X[draw.rows], draw.sets.index, groups=draw.rows, test=(X_test, y_test))
    seconds = sum(record["seconds"] for record in clf.history_)
    facts = {**setting._asdict(), "epochs": options.epochs, "seconds": round(seconds), "kept": clf.best_epoch_}
    facts |= {"threads": torch.get_num_threads(), "recipe": vars(clf.recipe_), "history": clf.history_}
    append("cifar", [{**facts, **stamp()}])


def report(options: argparse.Namespace) -> None:
    """All records as a table: mean test error in per cent, standard deviation over the draws, minutes of one thread."""
    print(
        "| what | data | sets | prior | method | rounds | precision | draws | error | minutes |\n" + "|---" * 10 + "|"
    )
    for row in read("recipes"):
        what = f"{row['what']} {row['variant']}".strip()
        cells = [what, row["data"], tuple(row["shares"]), row["prior"], row["method"], row["refine"], row["precision"]]
        cells += [row["draws"], f"{row['mean']:.2f} ({row['std']:.2f})", f"{row['seconds'] / 60:.0f}"]
        print("| " + " | ".join(map(str, cells)) + " |")
    for row in read("stopping"):
        print(
            f"stopping {row['data']} {tuple(row['shares'])} seed {row['seed']}: {row['kept']} kept, {row['best']} best"
        )


COMMANDS = {"report": report, "develop": develop, "paper": paper, "house": house, "stopping": stopping, "cifar": cifar}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(COMMANDS))
    parser.add_argument("variants", nargs="*", metavar="variant", help="of develop: " + ", ".join(VARIANTS))
    parser.add_argument("--precision", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--only", type=float, nargs="*", default=[], help="only settings with this theta")
    parser.add_argument("--backwards", action="store_true", help="house from its end, beside another process")
    parser.add_argument("--skewed", action="store_true", help="house without the plain symmetric settings")
    parser.add_argument("--epochs", type=int, default=20, help="of cifar")
    parser.add_argument("--settings", type=int, default=3, help="how many of the settings of development")
    arguments = parser.parse_args()
    COMMANDS[arguments.what](arguments)

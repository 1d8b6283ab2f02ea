"""One task of an experiment: a method in a cell, with all its draws; and the records it comes to."""

import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from uulearn.paper.draws import Draw
from uulearn.paper.methods import LOAD, METHODS, Apart, Network
from uulearn.paper.problems import TITLES, Problem, dataset, problem
from uulearn.paper.problems import Path as Folder
from uulearn.paper.spec import Cell, Limit, Preset, narrowed, reductions
from uulearn.paper.specs import SPECS
from uulearn.paper.specs.table_1 import COLUMNS
from uulearn.results import Run, stamp

Tell = Callable[[float, str], None]
AT_ONCE = 4096
"""Rows scored at once."""
CHOOSING = 0.75
"""Share of the time of a task that a choice among three learning rates takes."""
SHOWN = 250
"""Points of each set that the picture of figure 1 shows."""


@dataclass(frozen=True)
class Task:
    """A method in a cell of an experiment, at a preset; small, so that it can be sent to another process."""

    spec: str
    preset: str
    number: int
    method: str

    @property
    def limits(self) -> Preset:
        return SPECS[self.spec].preset(self.preset)

    @property
    def limit(self) -> Limit:
        return self.limits.of(SPECS[self.spec].cells[self.number].data)

    @property
    def cell(self) -> Cell:
        """The cell, with as many rows as the preset allows."""
        return SPECS[self.spec].cells[self.number].scaled(self.limit.scale)

    @property
    def name(self) -> str:
        """What a reader, and the file of a checkpoint, calls it."""
        setting = " ".join(f"{value}" for value in self.cell.setting.values())
        return f"{self.spec} {self.preset} {self.cell.data} {setting} {self.method}"

    @property
    def cost(self) -> float:
        """How long it takes, in some unit: rows times epochs times what a row costs."""
        cell = self.cell
        if self.method == LOAD:
            return 1.0
        rows = sum(cell.sizes or (30_000 * self.limit.scale,))
        return self.limit.draws * (self.limit.epochs or 200) * rows * COSTS.get(cell.data, 1.0)

    def run(self, seed: int, error: float, curve: list[float] | None = None, **more: Any) -> Run:
        """The record of one draw, `seconds` and facts among `more`."""
        cell, seconds = self.cell, more.pop("seconds", 0.0)
        method = METHODS[self.method].title if self.method in METHODS else "as loaded"
        titles = {"data": TITLES.get(cell.data, cell.data), "method": method, "spec": SPECS[self.spec].title}
        paper = {"paper": cell.paper.get(self.method), "log": cell.log.get(self.method)}
        place = [self.number, cell.methods.index(self.method) if self.method in cell.methods else len(cell.methods)]
        facts = {
            "titles": titles,
            "place": place,
            **{name: value for name, value in paper.items() if value is not None},
            **more,
        }
        names = self.spec, self.preset, self.method, cell.data
        return Run(*names, cell.setting, seed, error, curve, seconds, more=facts, **_stamp())

    def planned(self) -> list[str]:
        """What tells its runs from all others, one a seed."""
        return [self.run(seed, 0.0).key for seed in range(self.limit.draws)]


_stamp = cache(stamp)
COSTS = {"gauss": 0.01, "cifar10": 100.0, "svhn": 400.0}
"""Of a row, where the fully connected network costs 1; roughly."""


def work(
    task: Task,
    data_dir: Folder,
    folder: Path,
    tell: Tell = lambda share, text: None,
    done: Collection[Run] = (),
) -> Iterator[Run]:
    """The runs of a task, one for each seed; runs that are done may come once more.

    Parameters
    ----------
    task : Task
    data_dir : path or None
    folder : Path
        For the checkpoints.
    tell : callable
    done : collection of Run
        Those of the task that are recorded.
    """
    known = next((dict(run.more["chosen"]) for run in done if "chosen" in run.more), None)
    if task.method == LOAD:
        yield _loaded(task, data_dir)
        return
    rows, method = problem(task.cell, task.limits.stand_in, data_dir), METHODS[task.method]
    draws = [method.sees(rows, task.cell, seed) for seed in range(task.limit.draws)]
    if isinstance(method, Network):
        yield from _networks(task, method, rows, draws, folder, tell, known)
    else:
        yield from _apart(task, method, rows, draws, tell, known, {run.seed for run in done})


def _networks(
    task: Task, method: Network, rows: Problem, draws: list[Draw], folder: Path, tell: Tell, known: Any
) -> Iterator[Run]:
    from uulearn.paper import networks

    cell, tuning = task.cell, task.limits.tuning
    full, recipe = networks.recipe_of(cell, Limit()), networks.recipe_of(cell, task.limit)
    reduced, facts = reductions(task.limits, cell.data, full.epochs), {}
    if cell.subsample:
        path = checkpoint(task, folder, "choice")
        known = known or networks.tuned(cell, method, rows, draws, recipe, tuning, path, _part(tell, 0, CHOOSING))
        tell = _part(tell, CHOOSING, 1)
        recipe = replace(recipe, decay=0.0, **known)
        reduced = [fact for fact in reduced if " epochs" not in fact]
        facts = {"chosen": known}
    found = networks.train(cell, method, rows, draws, recipe, checkpoint(task, folder), tell)
    facts |= {"reduced": reduced, "data": _named(rows.source), "together": len(found)}
    for draw, one in zip(draws, found, strict=True):
        points = _points(rows, draw) if rows.exact and draw.seed == 0 and task.method == "uu" else {}
        more = {**facts, **one.more, **points, "recipe": asdict(recipe)}
        yield task.run(draw.seed, one.error, one.curve, seconds=one.seconds, **more)


def _part(tell: Tell, start: float, end: float) -> Tell:
    """Tells of one part of a task as of a part."""
    return lambda share, text: tell(start + (end - start) * share, text)


def _apart(
    task: Task, method: Apart, rows: Problem, draws: list[Draw], tell: Tell, known: Any, seeds: set[int]
) -> Iterator[Run]:
    from uulearn.paper import apart

    model, limits = method.model(), task.limits
    options = known or apart.chosen(model, rows, draws, task.limit, limits.tuning)
    reduced = reductions(limits, task.cell.data, 0)
    facts = {"chosen": options} if options else {}
    facts |= {
        "reduced": reduced + (narrowed(limits.tuning) if task.method == "psvm" else []),
        "data": _named(rows.source),
    }
    for draw in (draw for draw in draws if draw.seed not in seeds):
        start = time.perf_counter()
        clf = model.fit(model.make(draw, task.limit, limits.tuning, **options), rows, draw)
        error = round(_error(clf, rows, task.cell, draw), 6)
        tell((draw.seed + 1) / len(draws), f"draw {draw.seed + 1} of {len(draws)}, {100 * error:.2f} %")
        yield task.run(draw.seed, error, model.curve(clf), seconds=time.perf_counter() - start, **facts)


def _error(clf: Any, rows: Problem, cell: Cell, draw: Draw) -> float:
    """The error of a fitted classifier, on the test rows or on those that no set took."""
    from uulearn.paper.networks import tests_of, weighed_error

    if rows.X_test is None or rows.y_test is None:
        X, truth, prior = rows.X[tests_of(draw)], rows.y[tests_of(draw)], cell.prior
    else:
        X, truth, prior = rows.X_test, rows.y_test, float(rows.y_test.mean())
    X = X.reshape(len(X), -1)
    positive = np.concatenate([clf.decision_function(part) > 0 for part in np.array_split(X, 1 + len(X) // AT_ONCE)])
    return weighed_error(positive, truth == 1, prior)


def _loaded(task: Task, data_dir: Folder) -> Run:
    """Table 1: the data set as loaded, and the share of the paper's numbers that differ."""
    start = time.perf_counter()
    found = dataset(task.cell.data, task.limits.stand_in, data_dir)
    test = 0 if found.y_test is None else len(found.y_test)
    facts = dict(zip(COLUMNS, (len(found.y), test, found.features, round(found.prior, 4)), strict=True))
    paper = dict(zip(COLUMNS, task.cell.paper[task.method], strict=True))
    differ = [name for name in COLUMNS if round(facts[name], 2) != paper[name]]
    seconds = time.perf_counter() - start
    reduced = reductions(Preset(stand_in=task.limits.stand_in), task.cell.data, 0)
    return task.run(
        0, len(differ) / len(COLUMNS), seconds=seconds, loaded=facts, data=_named(found.source), reduced=reduced
    )


def _points(rows: Problem, draw: Draw) -> dict[str, Any]:
    """Some points of each set, and of the rows to be predicted, for the picture of figure 1."""
    from uulearn.paper.gaussians import PRIOR, bayes_error, sample

    X, index = rows.X[draw.rows], draw.sets.index
    dice = np.random.default_rng(draw.seed)
    sets = [dice.permutation(X[index == k])[:SHOWN].round(2).tolist() for k in (0, 1)]
    points, truth = sample(2 * SHOWN, PRIOR, dice)
    shown = {"sets": sets, "test": points.round(2).tolist(), "truth": truth.tolist(), "least": round(bayes_error(), 6)}
    return {"points": shown}


def checkpoint(task: Task, folder: Path, stage: str = "training") -> Path:
    """Where the state of a training is kept until its runs are recorded."""
    return folder / f"{task.name} {stage}.safetensors".replace("[", "").replace("]", "").replace(" ", "_")


def _named(source: str) -> str:
    """Where rows are from, without the folder that somebody keeps them in."""
    return PurePath(source).name

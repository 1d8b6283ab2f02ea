"""The networks of an experiment: all draws of a cell trained together, judged after every epoch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from uulearn.losses import get
from uulearn.metrics import error as label_free_error
from uulearn.nn.batches import Member
from uulearn.nn.recipes import Recipe, paper
from uulearn.nn.stack import Stack
from uulearn.paper import gaussians
from uulearn.paper.apart import held_out, part
from uulearn.paper.draws import Draw
from uulearn.paper.methods import Network
from uulearn.paper.problems import Problem
from uulearn.paper.spec import Cell, Limit, Tuning
from uulearn.priors import Priors

Options = dict[str, Any]
Tell = Callable[[float, str], None]
"""Told the share of a training that is done, and what it has come to."""
DIGITS = 6


@dataclass(frozen=True)
class Model:
    """The network of a data set, and what its recipe changes in the paper's."""

    module: str = "mlp"
    changes: Options = field(default_factory=dict)


MODELS = {
    "gauss": Model("linear", {"learning_rate": 0.01, "decay": 0.0, "weight_decay": 0.0, "epochs": 500}),
    "fashion-mnist": Model(changes={"learning_rate": 1e-4}),
    "svhn": Model("allconv"),
    "cifar10": Model("resnet32"),
}
"""The others take the fully connected one."""


@dataclass(frozen=True)
class Finished:
    """What one draw came to; its seconds are its share of those of the draws trained with it."""

    error: float
    curve: list[float]
    seconds: float
    more: Options


def recipe_of(cell: Cell, limit: Limit) -> Recipe:
    """The recipe of a cell: the paper's, as the data set and the limit change it."""
    model = MODELS.get(cell.data, Model())
    gap = 1.0 if cell.shares is None else cell.shares[0] - cell.shares[1]
    recipe = replace(paper(model.module, get(cell.loss), gap), **model.changes)
    recipe = replace(recipe, **limit.changes)
    return recipe if limit.epochs is None else replace(recipe, epochs=min(limit.epochs, recipe.epochs))


def train(
    cell: Cell, method: Network, problem: Problem, draws: Sequence[Draw], recipe: Recipe, path: Path, tell: Tell
) -> list[Finished]:
    """The networks of all draws, from the checkpoint at `path` if it is there."""
    stack = _stack(cell, method, problem, draws, recipe)
    judge = _judge(cell, problem, stack, draws)

    def after(record: Options) -> None:
        record["errors"] = [round(one, DIGITS) for one in judge()]
        shown = 100 * np.mean(record["errors"])
        tell(record["epoch"] / recipe.epochs, f"epoch {record['epoch']} of {recipe.epochs}, {shown:.2f} %")

    history = stack.run(after, path=path, fingerprint=_fingerprint(cell, method, draws, recipe))
    curves = np.array([record["errors"] for record in history]).T.tolist()
    seconds = sum(record["seconds"] for record in history) / len(draws)
    more: list[Options] = [{} for _ in draws]
    if problem.exact:
        more = [{"line": [*weights.round(DIGITS), round(intercept, DIGITS)]} for weights, intercept in stack.lines()]
    return [Finished(curve[-1], curve, seconds, one) for curve, one in zip(curves, more, strict=True)]


def tuned(
    cell: Cell,
    method: Network,
    problem: Problem,
    draws: Sequence[Draw],
    recipe: Recipe,
    tuning: Tuning,
    path: Path,
    tell: Tell,
) -> Options:
    """The learning rate and the epochs of the least mean label-free error at the aim of the method, on held-out rows.

    All draws, with all rates, are trained together on their other rows.
    """
    epochs = tuple(one for one in tuning.epochs if one <= recipe.epochs) or (recipe.epochs,)
    recipe = replace(recipe, learning_rate=max(tuning.rates), decay=0.0, epochs=max(epochs))
    held = [held_out(draw) for draw in draws]
    kept = [part(draw, ~one) for draw, one in zip(draws, held, strict=True)]
    judges = [_aimed(part(draw, one), method.aim) for draw, one in zip(draws, held, strict=True)]
    paces = [rate / recipe.learning_rate for rate in tuning.rates]
    stack = _stack(cell, method, problem, kept, recipe, paces)
    every = [judge for _ in paces for judge in judges]

    def after(record: Options) -> None:
        tell(record["epoch"] / recipe.epochs, f"choosing, epoch {record['epoch']} of {recipe.epochs}")
        if record["epoch"] in epochs:
            scores = stack.own_scores([judge.rows for judge in every])
            found = [label_free_error(judge.sets, one.astype(float)) for judge, one in zip(every, scores, strict=True)]
            record["by_rate"] = np.reshape(found, (len(paces), -1)).mean(axis=1).tolist()

    history = stack.run(after, path=path, fingerprint=f"{paces} {_fingerprint(cell, method, draws, recipe)}")
    table = np.array([record["by_rate"] for record in history if "by_rate" in record])
    epoch, rate = np.unravel_index(int(np.argmin(table)), table.shape)
    return {"learning_rate": tuning.rates[int(rate)], "epochs": epochs[int(epoch)]}


def _aimed(draw: Draw, aim: float | None) -> Draw:
    """The draw for another prior."""
    if aim is None:
        return draw
    return draw._replace(sets=replace(draw.sets, priors=Priors(draw.sets.priors.shares, prior=aim)))


def _stack(
    cell: Cell, method: Network, problem: Problem, draws: Sequence[Draw], recipe: Recipe, paces: Sequence[float] = (1,)
) -> Stack:
    members = [
        Member(draw.rows, method.weigh(draw.sets), draw.sets.index, draw.seed, rate=pace)
        for pace in paces
        for draw in draws
    ]
    loss = method.loss(cell.loss, draws[0].sets)
    return Stack(MODELS.get(cell.data, Model()).module, problem.X, members, recipe, loss, method.correction)


def _judge(cell: Cell, problem: Problem, stack: Stack, draws: Sequence[Draw]) -> Callable[[], list[float]]:
    """What tells the test error of each network."""
    if problem.exact:
        return lambda: [gaussians.exact_error(weights, intercept, cell.prior) for weights, intercept in stack.lines()]
    if problem.X_test is not None and problem.y_test is not None:
        table, truth = stack.table(problem.X_test), problem.y_test == 1
        return lambda: ((stack.scores(table) > 0) != truth).mean(axis=1).tolist()
    rows = [tests_of(draw) for draw in draws]
    return lambda: [
        weighed_error(scores > 0, problem.y[own] == 1, cell.prior)
        for scores, own in zip(stack.own_scores(rows), rows, strict=True)
    ]


def tests_of(draw: Draw) -> Any:
    """The rows that judge a draw where there are no test rows."""
    assert draw.tests is not None
    return draw.tests


def weighed_error(positive: Any, truth: Any, prior: float) -> float:
    """Share of mistakes where a share `prior` of the rows is positive, whatever it is among these.

    Examples
    --------
    >>> truth = np.array([True, True, False, False, False, False])
    >>> weighed_error(np.array([True, False, False, False, False, True]), truth, prior=0.1)
    0.275
    """
    missed, taken = float(np.mean(~positive[truth])), float(np.mean(positive[~truth]))
    return prior * missed + (1 - prior) * taken


def _fingerprint(cell: Cell, method: Network, draws: Sequence[Draw], recipe: Recipe) -> str:
    return f"{cell} {method.title} {[draw.seed for draw in draws]} {recipe}"

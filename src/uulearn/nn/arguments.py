"""From the arguments of a classifier to the plan of its trainings, each argument checked."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from uulearn._checks import choose, integer, number, quoted
from uulearn.losses import Loss, get
from uulearn.nn import distributed, hardware, recipes
from uulearn.nn.engine import COMPILE_FROM, Table
from uulearn.nn.networks import Networks, factory
from uulearn.nn.plan import Chosen, Pace, Plan
from uulearn.nn.rows import Rows
from uulearn.nn.sources import module_shape, read
from uulearn.nn.watch import Labeled
from uulearn.risk import get_correction
from uulearn.sets import Sets


def make_plan(clf: Any, rows: Rows, sets: Sets, seed: int, held_out: Chosen, least: int | None = None) -> Plan:
    """Arguments checked, hardware chosen, rows laid out for the matrix products.

    Parameters
    ----------
    clf : UUNeuralClassifier
    rows : Rows
    sets : Sets
        Without the rows held out: those have weight 0.
    seed : int
    held_out : ndarray of int
    least : int or None
        Rows, or groups, of the smallest set; None where rows come in parts, which say little of how many there will be.
    """
    loss, correction = get(clf.loss, trainable=True), get_correction(clf.correction)
    recipe, paces = _recipe(clf, sets, loss, least)
    shape = module_shape(clf.module, clf.image_shape, rows.shape[1:])
    make, device = factory(clf.module), hardware.device(clf.device)
    if distributed.world() > 1:
        own = make

        def make(shape: tuple[int, ...]) -> Any:
            return distributed.shared_norms(own(shape))

    one = Networks(make, shape, [0], device)
    large = 6.0 * one.size * len(sets.index) * recipe.epochs * len(paces) > COMPILE_FROM
    table = Table(rows, shape, hardware.dtype(clf.precision, device, large), device)
    # The time of networks that take turns, such as convolutional ones, goes to kernels that compiling leaves alone.
    compiled = {"auto": large and one.together is not None}.get(clf.compile, clf.compile)
    own_start = clf.warm_start or not isinstance(clf.module, nn.Module)
    return Plan(table, make, paces, recipe, loss, correction, compiled, seed, held_out, own_start, _folder(clf))


def check(clf: Any) -> None:
    """Refuse arguments that need no rows to be seen wrong."""
    choose("combine", clf.combine, {"mean": 0, "best": 0})
    for name in ("compile", "progress"):
        value = getattr(clf, name)
        if not isinstance(value, bool) and (not isinstance(value, str) or value != "auto"):
            raise ValueError(f"{name} must be True, False or 'auto'; got {value!r}.")
    if clf.patience is not None:
        integer("patience", clf.patience, low=1)
    if not isinstance(clf.callbacks, list | tuple) or not all(callable(one) for one in clf.callbacks):
        raise TypeError(f"callbacks must be a list of callables; got {clf.callbacks!r}. Put them in a list.")


def _recipe(clf: Any, sets: Sets, loss: Loss, least: int | None) -> tuple[recipes.Recipe, list[Pace]]:
    """The recipe, with the arguments that go before it, and what each member has of its own."""
    recipe = recipes.get(clf.recipe, clf.module, loss, float(np.ptp(sets.priors.shares)))
    members = integer("members", clf.members, low=1)
    if clf.batch_size is not None:
        recipe = replace(recipe, batch_size=integer("batch_size", clf.batch_size, low=2))
    recipe = recipe.constant() if least is None else recipe.suited(int(np.count_nonzero(sets.weight)), least)
    if clf.epochs is not None:
        recipe = replace(recipe, epochs=integer("epochs", clf.epochs, low=1))
    rates = _each("learning_rate", clf.learning_rate, recipe.learning_rate, members, open_low=True)
    decays = _each("weight_decay", clf.weight_decay, recipe.weight_decay, members)
    recipe = replace(recipe, learning_rate=max(rates), weight_decay=max(decays))
    return recipe, [Pace(rate / max(rates), decay) for rate, decay in zip(rates, decays, strict=True)]


def _each(name: str, value: Any, default: float, members: int, *, open_low: bool = False) -> list[float]:
    """The number of each member, from one for all or a sequence."""
    if value is None:
        value = default
    given = list(value) if isinstance(value, list | tuple | np.ndarray) else [value] * members
    if len(given) != members:
        raise ValueError(
            f"{name} must be a number, or a sequence with one for each of {members} members; got {len(given)} numbers. "
            "Give as many, or set members."
        )
    return [number(name, one, low=0, open_low=open_low, open_high=True) for one in given]


def _folder(clf: Any) -> Path | None:
    if clf.checkpoint is None:
        return None
    folder = Path(clf.checkpoint)
    if clf.random_state is None:
        raise ValueError(
            "checkpoint needs a random_state, or the same fit, started again, would be another one; got None. Give a "
            "whole number."
        )
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"checkpoint must be a folder; got the file {str(folder)!r}. Give another path.")
    return folder


def labeled(clf: Any, test: Any, table: Table) -> Labeled | None:
    """Checked rows with true classes."""
    if test is None:
        return None
    if not isinstance(test, tuple | list) or len(test) != 2:
        raise TypeError(f"test must be a pair (X, labels); got {type(test).__name__}. Labels are only reported.")
    rows, labels = read(clf, test[0], reset=False), np.asarray(test[1])
    if labels.shape != (rows.shape[0],):
        raise ValueError(
            f"test must be (X, labels), one label a row; got {rows.shape[0]} rows and labels of shape {labels.shape}. "
            "Bring as many."
        )
    other = labels[~np.isin(labels, clf.classes_)]
    if len(other):
        raise ValueError(
            f"test must hold labels that the classifier predicts, {quoted(clf.classes_.tolist())}; got "
            f"{other[0].item()!r}. Name the classes alike, or give classes=(negative, positive)."
        )
    return Labeled(Table(rows, table.shape, table.dtype, table.device), labels == clf.classes_[1])

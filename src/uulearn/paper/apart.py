"""Methods with a model of their own, one fit a draw: BER's net, proportion-SVM, and UU by this library's own recipe."""

from abc import ABC, abstractmethod
from itertools import product
from typing import Any

import numpy as np

from uulearn.baselines import BERClassifier, ProportionSVM, proportion_score
from uulearn.paper.draws import Draw
from uulearn.paper.problems import Problem
from uulearn.paper.spec import Limit, Tuning

HELD_OUT = 0.2
"""Share of the rows of a draw that judge a choice."""
Options = dict[str, Any]


class Model(ABC):
    """How a classifier is made, what is chosen for it, and by which label-free score."""

    score: Any = None
    tuned_on = 3
    """Draws that judge a choice, at most: these fits are slow."""

    @abstractmethod
    def options(self, tuning: Tuning) -> list[Options]:
        """What to choose from."""

    @abstractmethod
    def make(self, draw: Draw, limit: Limit, tuning: Tuning, **options: Any) -> Any:
        """The classifier."""

    def fit(self, clf: Any, problem: Problem, draw: Draw) -> Any:
        """The classifier, trained on the rows of a draw."""
        return clf.fit(_rows(problem, draw.rows), draw.sets.index)

    def curve(self, clf: Any) -> list[float] | None:
        """Its test error by epoch, where there are epochs."""
        return None


def _balanced(clf: Any, X: Any, y: Any) -> float:
    return -float(clf.evaluate(X, y, metrics="balanced_error")["balanced_error"])


class Balanced(Model):
    """BER: the penalty is chosen by what it aims at, the label-free balanced error."""

    score = staticmethod(_balanced)

    def options(self, tuning: Tuning) -> list[Options]:
        return [{"C": C} for C in tuning.C]

    def make(self, draw: Draw, limit: Limit, tuning: Tuning, **options: Any) -> Any:
        return BERClassifier(**_target(draw), random_state=draw.seed, **options)


class Proportion(Model):
    """pSVM: kernel, C and gamma are chosen by the shares of held-out bags, as its authors did."""

    score = staticmethod(proportion_score)
    tuned_on = 1

    def options(self, tuning: Tuning) -> list[Options]:
        linear = [{"kernel": "linear", "C": C} for C in tuning.margin_C]
        return linear + [
            {"kernel": "rbf", "C": C, "times": times} for C, times in product(tuning.margin_C, tuning.gamma)
        ]

    def make(self, draw: Draw, limit: Limit, tuning: Tuning, times: float = 1.0, **options: Any) -> Any:
        clf = ProportionSVM(**_target(draw), n_init=tuning.starts, random_state=draw.seed, **options)
        return clf if times == 1 else _Widened(clf, times)

    def fit(self, clf: Any, problem: Problem, draw: Draw) -> Any:
        X = _rows(problem, draw.rows)
        if isinstance(clf, _Widened):
            clf = clf.by(X)
        return clf.fit(X, draw.sets.index)


class _Widened:
    """A kernel that is so many times as narrow as "scale" says, which only the rows can tell."""

    def __init__(self, clf: Any, times: float) -> None:
        self.clf, self.times = clf, times

    def by(self, X: Any) -> Any:
        return self.clf.set_params(gamma=self.times / (X.shape[1] * (float(X.var()) or 1.0)))


class House(Model):
    """UU as this library trains it unless told otherwise; the epoch is kept that held-out unlabeled rows favour."""

    def options(self, tuning: Tuning) -> list[Options]:
        return [{}]

    def make(self, draw: Draw, limit: Limit, tuning: Tuning, **options: Any) -> Any:
        from uulearn.estimators.neural import UUNeuralClassifier

        return UUNeuralClassifier(**_target(draw), epochs=limit.epochs, progress=False, random_state=draw.seed)

    def fit(self, clf: Any, problem: Problem, draw: Draw) -> Any:
        test = None if problem.X_test is None else (_rows(problem, None), problem.y_test)
        return clf.fit(_rows(problem, draw.rows), draw.sets.index, groups=draw.rows, test=test)

    def curve(self, clf: Any) -> list[float] | None:
        return [record["test_error"] for record in clf.history_ if "test_error" in record] or None


def chosen(model: Model, problem: Problem, draws: list[Draw], limit: Limit, tuning: Tuning) -> Options:
    """The options with the best mean label-free score on held-out rows of some draws."""
    options = model.options(tuning)
    if len(options) == 1:
        return options[0]
    parts = [_parted(draw) for draw in draws[: model.tuned_on]]
    scores = [
        [
            _score(model, model.fit(model.make(kept, limit, tuning, **one), problem, kept), problem, held)
            for one in options
        ]
        for kept, held in parts
    ]
    return options[int(np.argmax(np.mean(scores, axis=0)))]


def _score(model: Model, clf: Any, problem: Problem, held: Draw) -> float:
    X = _rows(problem, held.rows)
    return float(clf.score(X, held.sets.index) if model.score is None else model.score(clf, X, held.sets.index))


def _parted(draw: Draw) -> tuple[Draw, Draw]:
    """The draw without some rows of each set, and those."""
    held = held_out(draw)
    return part(draw, ~held), part(draw, held)


def held_out(draw: Draw) -> Any:
    """Which rows of a draw judge a choice: a share of each set."""
    rng = np.random.default_rng([draw.seed, len(draw.rows)])
    held = np.zeros(len(draw.rows), dtype=bool)
    for k in range(len(draw.sets.labels)):
        own = np.flatnonzero(draw.sets.index == k)
        held[rng.choice(own, max(1, round(HELD_OUT * len(own))), replace=False)] = True
    return held


def part(draw: Draw, kept: Any) -> Draw:
    """Some of the rows of a draw."""
    return draw._replace(rows=draw.rows[kept], sets=draw.sets.take(kept))


def _rows(problem: Problem, rows: Any) -> Any:
    """Training rows, or the test rows, as vectors."""
    X = problem.X_test if rows is None else problem.X[rows]
    assert X is not None
    return X.reshape(len(X), -1)


def _target(draw: Draw) -> Options:
    return {"set_priors": draw.sets.priors.shares.tolist(), "prior": draw.sets.priors.prior}

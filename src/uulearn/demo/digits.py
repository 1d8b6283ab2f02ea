"""Even against odd handwritten digits, learned from two files without labels, beside what labels would have given."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn.baselines import BiasedClassifier
from uulearn.estimators.kernel import UUKernelClassifier
from uulearn.estimators.linear import UULinearClassifier
from uulearn.estimators.reduction import UUClassifier
from uulearn.metrics import Estimate, evaluate
from uulearn.output import OutputFolder
from uulearn.sets import make_unlabeled_sets
from uulearn.tabular import read_table, table_text

SET_PRIORS = (0.9, 0.4)
PRIOR = 0.25
FILES = ("set_a.csv", "set_b.csv", "target.csv")
KINDS = ("linear", "kernel (RBF)", "boosted trees")
PENALTIES = (0.1, 1.0, 10.0)
"""What C is chosen from, by the label-free score."""
STEPS = 1 + 2 * len(KINDS)


@dataclass(frozen=True)
class Size:
    """Rows of the two sets and of the target, folds of the cross-fitting, trees of the boosting."""

    sets: tuple[int, int] = (300, 960)
    target: int = 400
    folds: int = 5
    trees: int = 60


FULL = Size()


@dataclass(frozen=True)
class Line:
    """One kind of classifier: the label-free estimate of its error, its true error, and two to compare it with."""

    kind: str
    estimate: Estimate
    error: float
    naive: float
    oracle: float


@dataclass(frozen=True)
class Comparison:
    """A line for each kind of classifier."""

    size: Size
    lines: tuple[Line, ...]

    @property
    def best(self) -> Line:
        """The line that one would pick without a label."""
        return min(self.lines, key=lambda line: line.estimate.value)


def compare(folder: OutputFolder, seed: int, size: Size, progress: Callable[[str], None]) -> Comparison:
    """Write the files, train from what they say, and count mistakes with the labels that they do not hold."""
    progress("drawing two unlabeled sets of digits")
    truth = _write(folder, seed, size)
    tables = [read_table(folder.path / name).rows for name in FILES]
    X, target = np.concatenate(tables[:2]), tables[2]
    which_set = np.repeat([0, 1], [len(rows) for rows in tables[:2]])
    known, hidden = np.concatenate(truth[:2]), truth[2]

    def mistakes(model: Pipeline) -> float:
        return float(np.mean((model.decision_function(target) > 0) != hidden))

    lines = []
    for kind in KINDS:
        progress(f"{kind}: training without a label")
        strength = _strength(kind, X, which_set, seed, size)
        ours = _model(kind, SET_PRIORS, seed, size, strength, refine="auto")
        error = mistakes(ours.fit(X, which_set))
        progress(f"{kind}: estimating its error without a label")
        estimate = _label_free_error(ours, X, which_set, seed, size)
        naive = mistakes(_model(kind, SET_PRIORS, seed, size, strength, naive=True).fit(X, which_set))
        # Sets whose shares are 0 and 1 are the classes themselves: the same method is then supervised learning.
        oracle = mistakes(_model(kind, (0.0, 1.0), seed, size, strength).fit(X, known.astype(int)))
        lines.append(Line(kind, estimate, error, naive, oracle))
    return Comparison(size, tuple(lines))


def _write(folder: OutputFolder, seed: int, size: Size) -> list[NDArray[np.bool_]]:
    """Write features only; the true classes stay here, in the order of the files."""
    images, digit = load_digits(return_X_y=True)
    X, drawn, indices = make_unlabeled_sets(
        images.astype(int),
        digit % 2 == 0,
        dict(zip(FILES, (*SET_PRIORS, PRIOR), strict=True)),
        dict(zip(FILES, (*size.sets, size.target), strict=True)),
        random_state=seed,
    )
    names = [f"pixel_{row}_{column}" for row in range(8) for column in range(8)]
    for name in FILES:
        folder.write(name, table_text(names, X[drawn == name]).encode())
    return [digit[indices[drawn == name]] % 2 == 0 for name in FILES]


def _strength(kind: str, X: NDArray[Any], which_set: NDArray[Any], seed: int, size: Size) -> float:
    """C with the best label-free score; trees have none."""
    model = _model(kind, SET_PRIORS, seed, size, PENALTIES[0])
    name = f"{model.steps[-1][0]}__C"
    if name not in model.get_params():
        return PENALTIES[0]
    search = GridSearchCV(model, {name: PENALTIES}, cv=_folds(size, seed)).fit(X, which_set)
    return float(search.best_params_[name])


def _model(
    kind: str,
    set_priors: tuple[float, float],
    seed: int,
    size: Size,
    strength: float,
    *,
    refine: int | str = 0,
    naive: bool = False,
) -> Pipeline:
    shared: dict[str, Any] = {"set_priors": set_priors, "prior": PRIOR, "refine": refine, "random_state": seed}
    if kind == "linear":
        classifier: Any = UULinearClassifier(C=strength, **shared)
    elif kind == "kernel (RBF)":
        classifier = UUKernelClassifier(C=strength, **shared)
    else:
        trees = HistGradientBoostingClassifier(max_iter=size.trees)
        classifier = UUClassifier(trees, **shared)
    if naive:
        classifier = BiasedClassifier(classifier, set_priors=set_priors, prior=PRIOR)
    return make_pipeline(StandardScaler(), classifier)


def _label_free_error(model: Pipeline, X: NDArray[Any], which_set: NDArray[Any], seed: int, size: Size) -> Estimate:
    scores = cross_val_predict(model, X, which_set, cv=_folds(size, seed), method="decision_function")
    return evaluate(which_set, scores=scores, set_priors=SET_PRIORS, prior=PRIOR).error


def _folds(size: Size, seed: int) -> StratifiedKFold:
    return StratifiedKFold(size.folds, shuffle=True, random_state=seed)

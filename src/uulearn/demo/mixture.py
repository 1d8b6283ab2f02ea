"""Figure 1 of the paper: four linear classifiers on two Gaussians, with their exact errors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn.baselines import BiasedClassifier, CCNClassifier
from uulearn.estimators.linear import UULinearClassifier
from uulearn.paper.gaussians import CENTRE as CENTRE
from uulearn.paper.gaussians import PRIOR, bayes_error, exact_error, sample

SET_PRIORS = (0.9, 0.4)
SIZES = (2_000, 1_000)
LABELED = 3_000
SHOWN = 700
STEPS = 1


@dataclass(frozen=True)
class Line:
    """A linear classifier: what it was trained on, where it cuts, and how often it is wrong."""

    name: str
    sees: str
    weights: NDArray[np.float64]
    intercept: float
    error: float


@dataclass(frozen=True)
class Comparison:
    """The unlabeled sets (name, share, points), rows of the target, and the lines.

    `least` is the error of the best of all classifiers.
    """

    sets: tuple[tuple[str, float, NDArray[np.float64]], ...]
    test: NDArray[np.float64]
    truth: NDArray[np.bool_]
    lines: tuple[Line, ...]
    least: float


def compare(seed: int, progress: Callable[[str], None]) -> Comparison:
    """Draw the data, train the four lines, compute their errors in closed form."""
    progress("drawing figure 1 of the paper")
    rng = np.random.default_rng(seed)
    sets = [sample(size, share, rng)[0] for size, share in zip(SIZES, SET_PRIORS, strict=True)]
    X, which_set = np.concatenate(sets), np.repeat([0, 1], SIZES)
    labeled, label = sample(LABELED, PRIOR, rng)
    test, truth = sample(SHOWN, PRIOR, rng)
    given: dict[str, Any] = {"set_priors": SET_PRIORS, "prior": PRIOR}
    # Next to no penalty, as in the paper.
    settings: dict[str, Any] = {"loss": "sigmoid", "C": 1e3, "random_state": seed}
    ours = UULinearClassifier(**given, **settings)
    lines = (
        _line(
            "Oracle",
            "sees every label",
            UULinearClassifier(set_priors=(0, 1), prior=PRIOR, **settings).fit(labeled, label),
        ),
        _line("UU", "sees no label", ours.fit(X, which_set)),
        _line("CCN", "sees no label", CCNClassifier(ours, **given).fit(X, which_set).estimator_),
        _line("UU-biased", "takes sets for classes", BiasedClassifier(ours, **given).fit(X, which_set).estimator_),
    )
    named = tuple(zip(("U", "U′"), SET_PRIORS, sets, strict=True))
    return Comparison(named, test, truth == 1, lines, bayes_error())


def _line(name: str, sees: str, fitted: Any) -> Line:
    weights, intercept = fitted.coef_[0], float(fitted.intercept_[0])
    return Line(name, sees, weights, intercept, exact_error(weights, intercept))

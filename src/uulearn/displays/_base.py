"""What all displays share: where to draw, and how it looks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn.sets import rematch_sets

INK, PALE = "#222222", "#8a8a8a"
POSITIVE, NEGATIVE = "#d55e00", "#0072b2"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6b7a", "#7b5ea7")
"""The palette of Okabe and Ito: told apart with any colour vision."""


def axes(ax: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(5.2, 4.6), layout="constrained")[1]


def tidy(ax: Any) -> None:
    """No box around the picture, and a grid that stays behind."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="#e6e6e6", linewidth=0.7)
    ax.set_axisbelow(True)


def chance(ax: Any, start: float, slope: float) -> None:
    """A dashed line that a classifier which knows nothing is on."""
    ax.axline((0, start), slope=slope, color=PALE, linewidth=1, linestyle=(0, (4, 3)), zorder=1)


def facts(estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> dict[str, Any]:
    """The set priors and the target prior of a fitted classifier, as the metrics take them."""
    while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
        estimator = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator.best_estimator_
    if not hasattr(estimator, "priors_"):
        raise TypeError(
            "estimator must be a fitted classifier trained from unlabeled sets, or a pipeline around one; got "
            f"{type(estimator).__name__}. Fit it, or give its scores to from_scores."
        )
    priors = rematch_sets(np.asarray(y), estimator.set_labels_, estimator.priors_, sample_weight).priors
    return {"set_priors": priors, "prior": priors.prior, "sample_weight": sample_weight}


def name_of(estimator: Any, name: str | None) -> str:
    """What a legend calls it."""
    return type(estimator).__name__ if name is None else name

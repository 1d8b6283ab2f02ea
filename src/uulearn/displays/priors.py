"""What wrong priors would do: error and changed decisions, by the factor that the priors are off by."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from uulearn.displays._base import COLOURS, INK, tidy
from uulearn.selection import Sensitivity
from uulearn.selection.wrong_priors import sensitivity


class SensitivityDisplay:
    """Error (left) and share of changed decisions (right) of classifiers told wrong priors, a line for each kind."""

    def __init__(self, result: Sensitivity) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: ArrayLike, *, ax: Any = None, **options: Any) -> Self:
        """Draw what `uulearn.sensitivity` finds.

        Parameters
        ----------
        estimator, X, y, **options
            As there.
        ax : pair of matplotlib axes, optional

        Returns
        -------
        SensitivityDisplay
        """
        return cls(sensitivity(estimator, X, y, **options)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on this pair of axes, or on new ones."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(1, 2, figsize=(9, 3.9), layout="constrained")[1]
        if np.shape(ax) != (2,):
            raise ValueError("ax must be a pair of axes, for errors and for decisions. Leave it out for new ones.")
        self.ax_ = left, right = ax
        self.figure_ = left.figure
        found = self.result
        for (kind, rows), colour in zip(kinds(found).items(), COLOURS, strict=False):
            factor, at = np.array([pair[0] for pair in rows]), np.array([pair[1] for pair in rows])
            error, reach = 100 * found.error[at], 100 * 1.96 * found.standard_error[at]
            left.errorbar(factor, error, yerr=reach, color=colour, marker="o", markersize=4, capsize=2, label=kind)
            right.plot(factor, 100 * found.flipped[at], color=colour, marker="o", markersize=4, label=kind)
        left.axhline(100 * found.error[0], color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
        left.set(title="Error if the stated priors are right", ylabel="label-free error, %")
        right.set(title="Decisions that change", ylabel="rows, %")
        right.set_ylim(bottom=0)
        for one in (left, right):
            one.set_xlabel("factor on what the classifier is told")
            tidy(one)
        left.legend(frameon=False)
        return self


def kinds(found: Sensitivity) -> dict[str, list[tuple[float, int]]]:
    """Rows of the table by the kind of change, each with its factor, in rising order; no change belongs to all."""
    kinds: dict[str, list[tuple[float, int]]] = {}
    stated, prior = found.set_priors[0], found.prior[0]
    high = int(np.argmax(stated))
    for at in range(1, len(found.change)):
        moved = found.set_priors[at]
        if np.array_equal(moved, stated):
            kind, factor = "target prior", found.prior[at] / prior
        else:
            factor = moved[high] / stated[high]
            together = np.allclose(moved, factor * stated)
            kind = "set priors together" if together else "set priors apart: high by f, low by 2 - f"
        kinds.setdefault(kind, [(1.0, 0)]).append((float(factor), at))
    return {kind: sorted(rows) for kind, rows in kinds.items()}

"""The error against the number of rows."""

from typing import Any, Self

from numpy.typing import ArrayLike

from uulearn.displays._base import COLOURS, axes, name_of, tidy
from uulearn.selection.learning import LearningCurve, learning_curve


class LearningCurveDisplay:
    """Label-free error of a classifier trained on more and more rows, with its interval."""

    def __init__(self, curve: LearningCurve, *, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw what `uulearn.selection.learning_curve` finds.

        Parameters
        ----------
        estimator, X, y, **options
            As there.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional
            Several displays may share them.

        Returns
        -------
        LearningCurveDisplay
        """
        return cls(learning_curve(estimator, X, y, **options), name=name_of(estimator, name)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones."""
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        curve = self.curve
        colour = COLOURS[len(self.ax_.lines) % len(COLOURS)]
        self.ax_.fill_between(curve.rows, 100 * curve.low, 100 * curve.high, color=colour, alpha=0.18, linewidth=0)
        self.line_ = self.ax_.plot(
            curve.rows, 100 * curve.error, color=colour, marker="o", markersize=4, label=self.name or "classifier"
        )[0]
        self.ax_.set_xscale("log")
        self.ax_.set_xticks(curve.rows, [f"{rows:,.0f}" for rows in curve.rows])
        self.ax_.set_xticks([], minor=True)
        self.ax_.set(xlabel="rows trained on", ylabel="label-free error, %", title="Learning curve without labels")
        self.ax_.legend(frameon=False)
        tidy(self.ax_)
        return self

"""Are the probabilities right? Shares of positives against probabilities, bin by bin."""

from typing import Any, Self

from numpy.typing import ArrayLike

from uulearn.displays._base import COLOURS, axes, chance, facts, name_of, tidy
from uulearn.metrics import CalibrationCurve, calibration_curve


class CalibrationDisplay:
    """The calibration curve of unlabeled rows: what was said, and what was so, with error bars.

    Points on the diagonal are calibrated. The larger a point, the more of the target is in its bin.
    """

    def __init__(self, curve: CalibrationCurve, *, name: str | None = None) -> None:
        self.curve, self.name = curve, name

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        proba: ArrayLike,
        *,
        set_priors: Any,
        prior: float,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        bins: int = 10,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration curve of probabilities of unlabeled rows.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The set each row came from.
        proba : array-like of shape (n_rows,) or (n_rows, 2)
            Of a classifier that was not trained on these rows.
        set_priors, prior, sample_weight, groups, confidence
            As in `uulearn.metrics.evaluate`.
        bins : int, default=10
            Bins of equal mass.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional

        Returns
        -------
        CalibrationDisplay
        """
        options: dict[str, Any] = {
            "sample_weight": sample_weight,
            "groups": groups,
            "confidence": confidence,
            "bins": bins,
        }
        return cls(calibration_curve(y, proba, set_priors=set_priors, prior=prior, **options), name=name).plot(ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        bins: int = 10,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration curve of a fitted classifier on unlabeled rows it was not trained on.

        Parameters
        ----------
        estimator : classifier or Pipeline
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight, groups, confidence, bins, name, ax
            As in `from_scores`.

        Returns
        -------
        CalibrationDisplay
        """
        more = {"groups": groups, "confidence": confidence, "bins": bins, "name": name_of(estimator, name), "ax": ax}
        return cls.from_scores(y, estimator.predict_proba(X), **facts(estimator, y, sample_weight), **more)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; several displays may share them."""
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        curve = self.curve
        colour = COLOURS[len(self.ax_.containers) % len(COLOURS)]
        reach = [(curve.share - curve.low).clip(0), (curve.high - curve.share).clip(0)]
        label = f"{self.name or 'classifier'}: {curve.error.value:.3f} [{curve.error.low:.3f}, {curve.error.high:.3f}]"
        self.ax_.errorbar(
            curve.probability, curve.share, yerr=reach, fmt="none", ecolor=colour, elinewidth=1.2, alpha=0.6
        )
        size = 15 + 250 * curve.mass.clip(0) / max(1e-12, curve.mass.max())
        self.ax_.scatter(curve.probability, curve.share, s=size, color=colour, alpha=0.85, linewidth=0, label=label)
        chance(self.ax_, 0.0, 1.0)
        self.ax_.set(
            xlim=(-0.02, 1.02),
            ylim=(-0.05, 1.05),
            xlabel="probability of the positive class",
            ylabel="share of positives, estimated without labels",
            title="Calibration without labels",
        )
        legend = self.ax_.legend(title="expected calibration error", loc="upper left", frameon=False)
        for handle in legend.legend_handles:
            handle.set_sizes([40])
        tidy(self.ax_)
        return self

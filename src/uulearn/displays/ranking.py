"""ROC and precision-recall curves with their bands."""

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike

from uulearn.displays._base import COLOURS, axes, chance, facts, name_of, tidy
from uulearn.metrics import Curve, precision_recall_curve, roc_curve


class _CurveDisplay(ABC):
    """A label-free curve, its band and what its area is."""

    def __init__(self, curve: Curve, *, name: str | None = None, prior: float | None = None) -> None:
        self.curve, self.name, self.prior = curve, name, prior

    @staticmethod
    @abstractmethod
    def _curve(y: ArrayLike, scores: ArrayLike, **options: Any) -> Curve:
        """The curve of some scores."""

    @abstractmethod
    def _finish(self, ax: Any) -> None:
        """Draw what the curve is compared with, and name the axes."""

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        set_priors: Any,
        prior: float,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of scores of unlabeled rows.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The set each row came from.
        scores : array-like of shape (n_rows,)
            Of a classifier that was not trained on these rows.
        set_priors, prior, sample_weight, groups, confidence
            As in `uulearn.metrics.evaluate`.
        name : str, optional
            For the legend.
        ax : matplotlib axes, optional

        Returns
        -------
        display
        """
        options = {"set_priors": set_priors, "prior": prior, "sample_weight": sample_weight, "groups": groups}
        return cls(cls._curve(y, scores, confidence=confidence, **options), name=name, prior=float(prior)).plot(ax)

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
        name: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the curve of a fitted classifier on unlabeled rows it was not trained on.

        Parameters
        ----------
        estimator : classifier or Pipeline
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight, groups, confidence, name, ax
            As in `from_scores`.

        Returns
        -------
        display
        """
        more = {"groups": groups, "confidence": confidence, "name": name_of(estimator, name), "ax": ax}
        return cls.from_scores(y, estimator.decision_function(X), **facts(estimator, y, sample_weight), **more)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on new ones; several displays may share them."""
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        curve = self.curve
        colour = COLOURS[len(self.ax_.collections) % len(COLOURS)]
        label = f"{self.name or 'classifier'}: {curve.area.value:.3f} [{curve.area.low:.3f}, {curve.area.high:.3f}]"
        self.ax_.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.18, linewidth=0)
        self.line_ = self.ax_.plot(curve.x, curve.y, color=colour, linewidth=1.8, label=label)[0]
        self.ax_.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        self._finish(self.ax_)
        tidy(self.ax_)
        return self


class ROCDisplay(_CurveDisplay):
    """The ROC curve of unlabeled rows, with a pointwise band and its area."""

    @staticmethod
    def _curve(y: ArrayLike, scores: ArrayLike, **options: Any) -> Curve:
        return roc_curve(y, scores, **options)

    def _finish(self, ax: Any) -> None:
        chance(ax, 0.0, 1.0)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", title="ROC without labels")
        ax.legend(title="AUC", loc="lower right", frameon=False)


class PrecisionRecallDisplay(_CurveDisplay):
    """The precision-recall curve of unlabeled rows at the target prior, with a band and its average precision."""

    @staticmethod
    def _curve(y: ArrayLike, scores: ArrayLike, **options: Any) -> Curve:
        return precision_recall_curve(y, scores, **options)

    def _finish(self, ax: Any) -> None:
        if self.prior is not None:
            chance(ax, self.prior, 0.0)
        ax.set(xlabel="recall", ylabel="precision", title="Precision and recall without labels")
        ax.legend(title="average precision", loc="lower left", frameon=False)

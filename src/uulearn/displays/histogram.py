"""How the scores of the sets are distributed, and what the classes behind them must look like."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from uulearn.displays._base import COLOURS, INK, NEGATIVE, POSITIVE, facts, tidy
from uulearn.metrics import ScoreHistogram, score_histogram

SETS_SHOWN = 6
"""More sets than these are drawn in one grey: their names would not be read."""


class HistogramDisplay:
    """Score histograms of the sets, above; of the two classes, unmixed from them, below."""

    def __init__(self, histogram: ScoreHistogram) -> None:
        self.histogram = histogram

    @classmethod
    def from_scores(
        cls,
        y: ArrayLike,
        scores: ArrayLike,
        *,
        set_priors: Any,
        prior: float = 0.5,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        bins: int = 30,
        ax: Any = None,
    ) -> Self:
        """Draw the histograms of scores of unlabeled rows.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The set each row came from.
        scores : array-like of shape (n_rows,)
        set_priors, prior, sample_weight, groups, confidence
            As in `uulearn.metrics.evaluate`; the target prior moves nothing here.
        bins : int, default=30
            Bins of equal width; the outermost hold all that is beyond the 1st and the 99th percentile.
        ax : pair of matplotlib axes, optional

        Returns
        -------
        HistogramDisplay
        """
        options: dict[str, Any] = {
            "sample_weight": sample_weight,
            "groups": groups,
            "confidence": confidence,
            "bins": bins,
        }
        return cls(score_histogram(y, scores, set_priors=set_priors, prior=prior, **options)).plot(ax)

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
        bins: int = 30,
        ax: Any = None,
    ) -> Self:
        """Draw the histograms of the scores of a fitted classifier on rows it was not trained on.

        Parameters
        ----------
        estimator : classifier or Pipeline
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight, groups, confidence, bins, ax
            As in `from_scores`.

        Returns
        -------
        HistogramDisplay
        """
        more = {"groups": groups, "confidence": confidence, "bins": bins, "ax": ax}
        return cls.from_scores(y, estimator.decision_function(X), **facts(estimator, y, sample_weight), **more)

    def plot(self, ax: Any = None) -> Self:
        """Draw on this pair of axes, or on new ones."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(2, 1, figsize=(6, 5.6), layout="constrained", sharex=True)[1]
        if np.shape(ax) != (2,):
            raise ValueError("ax must be a pair of axes, for the sets and for the classes. Leave it out for new ones.")
        self.ax_ = above, below = ax
        self.figure_ = above.figure
        found = self.histogram
        few = len(found.labels) <= SETS_SHOWN
        for k, (label, share, density) in enumerate(zip(found.labels, found.shares, found.sets, strict=True)):
            colour = COLOURS[2 + k] if few else "#9a9a9a"
            style = {"label": f"{label} ({100 * share:g} % positive)"} if few else {"alpha": 0.4}
            above.stairs(density, found.edges, color=colour, linewidth=1.6, **style)
        above.set(title="Scores of the unlabeled sets", ylabel="density")
        if few:
            above.legend(frameon=False)
        middle, width = (found.edges[1:] + found.edges[:-1]) / 2, np.diff(found.edges)
        for name, colour, part in (("positive", POSITIVE, 0), ("negative", NEGATIVE, 1)):
            below.bar(middle, found.classes[part], width, color=colour, alpha=0.3, linewidth=0, label=name)
            below.stairs(found.classes[part], found.edges, color=colour, linewidth=1.6)
            low, high = found.low[part], found.high[part]
            below.vlines(middle + (0.12 - 0.24 * part) * width, low, high, color=colour, linewidth=1, alpha=0.8)
        below.axhline(0, color=INK, linewidth=0.8)
        below.set(title="The classes, unmixed from them", xlabel="score", ylabel="density")
        below.legend(frameon=False)
        for one in (above, below):
            one.axvline(0, color=INK, linewidth=0.8, linestyle=(0, (2, 2)))
            tidy(one)
        return self

"""Figure 1 of the paper: two unlabeled sets of a Gaussian mixture, and the lines that four methods draw from them."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

INK, PALE, UNLABELED = "#222222", "#8a8a8a", "#5f6b7a"
# The palette of Okabe and Ito: told apart with any colour vision; shapes and dashes say the same once more.
POSITIVE, NEGATIVE = "#d55e00", "#0072b2"
STYLES: tuple[dict[str, Any], ...] = (
    {"color": "#222222", "linewidth": 2.6, "linestyle": (0, (1, 1.1))},
    {"color": "#009e73", "linewidth": 3.0, "linestyle": "-"},
    {"color": "#b8509c", "linewidth": 2.2, "linestyle": (0, (6, 2))},
    {"color": "#c98a00", "linewidth": 2.2, "linestyle": (0, (6, 2, 1.5, 2))},
)


@dataclass(frozen=True)
class Scatter:
    """Points of shape (n, 2) under a title."""

    title: str
    points: NDArray[np.float64]


@dataclass(frozen=True)
class Boundary:
    """A line weights x + intercept = 0 with the exact error of its classifier."""

    name: str
    weights: NDArray[np.float64]
    intercept: float
    error: float


def draw(
    sets: Sequence[Scatter],
    test: Scatter,
    truth: NDArray[np.bool_],
    boundaries: Sequence[Boundary],
    means: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    least_error: float,
) -> Figure:
    """The figure: what the methods see on the left, what they make of it on the right.

    Parameters
    ----------
    sets : sequence of Scatter
        The unlabeled sets.
    test : Scatter
        Rows of the target.
    truth : ndarray of bool
        Whether each row of the target is positive.
    boundaries : sequence of Boundary
        At most four, in the order of the legend.
    means : pair of ndarray of shape (2,)
        Centres of the positive and of the negative class; either class is N(centre, I).
    least_error : float
        Error of the best of all classifiers.
    """
    figure = Figure(figsize=(11, 8), dpi=150, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(len(sets), 2, width_ratios=(1, 2.06))
    reach = _reach([*sets, test])
    for place, scatter in enumerate(sets):
        axes = figure.add_subplot(grid[place, 0])
        _frame(axes, scatter.title, reach)
        axes.scatter(
            scatter.points[:, 0], scatter.points[:, 1], s=5, color=UNLABELED, alpha=0.45, linewidths=0, rasterized=True
        )
        _densities(axes, means)
    axes.set_xlabel("circles: 1 and 2 standard deviations of the classes P and N", fontsize=8, color=PALE)
    axes = figure.add_subplot(grid[:, 1])
    _frame(axes, test.title, reach, size=13)
    classes = [
        _class(axes, test.points[truth], "o", POSITIVE, "positive"),
        _class(axes, test.points[~truth], "^", NEGATIVE, "negative"),
    ]
    axes.legend(handles=classes, loc="upper right", fontsize=10.5, edgecolor="#cccccc", handletextpad=0.2)
    lines = [_line(axes, boundary, style, reach) for boundary, style in zip(boundaries, STYLES, strict=False)]
    # Below the picture, where it hides no point.
    figure.legend(
        handles=lines,
        title=f"Exact share of mistakes (the best of all classifiers: {100 * least_error:.1f} %)",
        loc="outside lower center",
        ncols=2,
        fontsize=11,
        title_fontsize=11,
        frameon=False,
        handlelength=3.6,
        columnspacing=3,
    )
    return figure


def png(figure: Figure) -> bytes:
    """The figure as the bytes of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _reach(scatters: Sequence[Scatter]) -> float:
    """Half the side of the square that holds nearly all points."""
    return float(np.quantile(np.abs(np.concatenate([scatter.points for scatter in scatters])), 0.999)) + 0.3


def _frame(axes: Any, title: str, reach: float, size: float = 10.5) -> None:
    axes.set_title(title, fontsize=size, color=INK, loc="left", pad=8)
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ticks = np.arange(-int(reach), int(reach) + 1, 2)
    axes.set(xticks=ticks, yticks=ticks)
    axes.tick_params(colors=PALE, labelsize=8, length=3)
    for spine in axes.spines.values():
        spine.set_color("#cccccc")


def _densities(axes: Any, means: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    """Circles of one and two standard deviations around the centre of either class."""
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    for mean, colour, name, dashes in zip(means, (POSITIVE, NEGATIVE), ("P", "N"), ("-", (0, (4, 2))), strict=True):
        for radius in (1, 2):
            axes.plot(*(mean + radius * circle).T, color=colour, linewidth=1.5, linestyle=dashes)
        label = mean + 2.45 * mean / np.linalg.norm(mean)
        axes.text(*label, name, color=colour, fontsize=13, weight="bold", ha="center", va="center")


def _class(axes: Any, points: NDArray[np.float64], marker: str, colour: str, name: str) -> Line2D:
    axes.scatter(points[:, 0], points[:, 1], s=17, marker=marker, color=colour, alpha=0.5, linewidths=0)
    return Line2D([], [], linestyle="", marker=marker, color=colour, alpha=0.7, markersize=6, label=name)


def _line(axes: Any, boundary: Boundary, style: dict[str, Any], reach: float) -> Line2D:
    label = f"{boundary.name}: {100 * boundary.error:.1f} %"
    norm = float(np.linalg.norm(boundary.weights))
    if norm > 0:
        foot = -boundary.intercept * boundary.weights / norm**2
        along = np.array([-boundary.weights[1], boundary.weights[0]]) / norm
        ends = foot + np.outer([-4 * reach, 4 * reach], along)
        axes.plot(*ends.T, color="white", linewidth=style["linewidth"] + 2.2, alpha=0.8, zorder=3)
        axes.plot(*ends.T, zorder=4, **style)
    return Line2D([], [], label=label, **style)

"""Curves of the test error by epoch: one line a method or setting, bands of a standard deviation, the oracle dashed."""

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from uulearn.report.layouts import ORACLE, Panels
from uulearn.results import Run

INK, PALE = "#222222", "#8a8a8a"
# The palette of Okabe and Ito without its yellow; dashes and markers say the same once more.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f6b7a", "#7b5ea7")
MARKERS = "osD^vP*X"
DASHED = (0, (5, 2))


@dataclass(frozen=True)
class Curve:
    """Test error in per cent by epoch: the mean, and half the width of its band (0 for one run)."""

    name: str
    mean: Sequence[float]
    band: Sequence[float]
    oracle: bool = False


@dataclass(frozen=True)
class CurvesDisplay:
    """A grid of panels.

    Attributes
    ----------
    title : str
    rows, columns : sequence of str
        Names at the left and on top.
    panels : dict
        (row, column) to its curves.
    notes : sequence of str
    """

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    panels: dict[tuple[str, str], list[Curve]]
    notes: Sequence[str] = ()

    @classmethod
    def from_runs(cls, runs: Iterable[Run], layout: Panels, notes: Sequence[str] = ()) -> Self:
        """The figure of the runs of one experiment at one preset."""
        kept = [run for run in runs if run.curve]
        rows = list(dict.fromkeys(name for run in kept if (name := layout.row(run)) is not None))
        columns = list(dict.fromkeys(name for run in kept if (name := layout.column(run)) is not None))
        panels = {}
        for row in rows:
            for column in columns:
                groups: dict[str, list[Run]] = {}
                for run in kept:
                    if layout.row(run) in (None, row) and layout.column(run) in (None, column):
                        label = layout.line(run) or run.more.get("titles", {}).get("method", run.method)
                        groups.setdefault(label, []).append(run)
                panels[row, column] = [_curve(name, group) for name, group in groups.items()]
        return cls(layout.title, rows, columns, panels, notes)

    def figure(self) -> Figure:
        """The figure, drawn."""
        height, width = max(1, len(self.rows)), max(1, len(self.columns))
        size = (1.2 + 4.0 * width, 1.3 + 2.7 * height)
        figure = Figure(figsize=size, dpi=150, layout="constrained", facecolor="white")
        FigureCanvasAgg(figure)
        names = list(dict.fromkeys(curve.name for curves in self.panels.values() for curve in _ordered(curves)))
        styles = {name: k for k, name in enumerate(names)}
        handles: dict[str, Any] = {}
        grid = figure.subplots(height, width, squeeze=False, sharey="row")
        for i, row in enumerate(self.rows):
            for j, column in enumerate(self.columns):
                axes = grid[i, j]
                for curve in _ordered(self.panels[row, column]):
                    handles.setdefault(curve.name, _draw(axes, curve, styles[curve.name]))
                _frame(axes, [curve for name in self.columns for curve in self.panels[row, name]])
                if i == 0:
                    axes.set_title(column, fontsize=11, color=INK)
                if i == height - 1:
                    axes.set_xlabel("epoch", fontsize=9, color=INK)
                if j == 0:
                    axes.set_ylabel(f"{row}\n\ntest error (%)", fontsize=9.5, color=INK)
        notes = "\n".join(_wrapped(self.notes, round(15 * size[0])))
        figure.suptitle(self.title, fontsize=12.5, color=INK)
        legend = figure.legend(
            [handles[name] for name in names],
            names,
            loc="outside lower center",
            ncols=min(len(names), 3 * width),
            fontsize=9.5,
            frameon=False,
            handlelength=3,
            title=notes,
            title_fontsize=7.5,
        )
        legend.get_title().set_color(PALE)
        return figure


def _curve(name: str, runs: list[Run]) -> Curve:
    length = min(len(run.curve or ()) for run in runs)
    errors = 100 * np.array([list(run.curve or ())[:length] for run in runs])
    band = errors.std(axis=0, ddof=1) if len(errors) > 1 else np.zeros(length)
    return Curve(name, errors.mean(axis=0).tolist(), band.tolist(), runs[0].method == ORACLE)


def _ordered(curves: list[Curve]) -> list[Curve]:
    """The oracle last, so that the others keep their colours without it."""
    return sorted(curves, key=lambda curve: curve.oracle)


def _draw(axes: Any, curve: Curve, style: int) -> Any:
    epochs, mean, band = np.arange(1, len(curve.mean) + 1), np.array(curve.mean), np.array(curve.band)
    colour = INK if curve.oracle else COLOURS[style % len(COLOURS)]
    axes.fill_between(epochs, mean - band, mean + band, color=colour, alpha=0.10 if curve.oracle else 0.18, linewidth=0)
    dashed = curve.oracle and len(epochs) > 1
    look: dict[str, Any] = {"linestyle": DASHED} if dashed else {"marker": MARKERS[style % len(MARKERS)]}
    every = max(1, len(epochs) // 6)
    return axes.plot(epochs, mean, color=colour, linewidth=1.6, markersize=4.5, markevery=every, **look)[0]


def _frame(axes: Any, curves: list[Curve]) -> None:
    """The frame of a panel, whose range is that of its row of panels after the first tenth of the epochs."""
    later = [(np.array(one.mean), np.array(one.band), len(one.mean) // 10) for one in curves]
    top = max(float((mean + band)[start:].max()) for mean, band, start in later)
    low = min(float((mean - band).min()) for mean, band, _ in later)
    room = 0.06 * (top - low) or 1.0
    axes.set_ylim(max(0.0, low - room), top + room)
    last = max(len(one.mean) for one in curves)
    axes.set_xlim(1 - 0.03 * last, last * 1.03)
    axes.grid(color="#e6e6e6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.tick_params(colors=PALE, labelsize=8.5, length=3)
    for spine in axes.spines.values():
        spine.set_color("#cccccc")


def _wrapped(notes: Sequence[str], width: int) -> list[str]:
    return [line for note in notes for line in textwrap.wrap(note, width)]

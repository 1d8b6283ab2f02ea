"""All tables and figures of some runs, as files in memory."""

import io
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from uulearn.report import figure_one
from uulearn.report.curves import CurvesDisplay
from uulearn.report.layouts import LAYOUTS, Table
from uulearn.report.tables import TableDisplay, loaded, notes
from uulearn.results import Run

ORDER = {
    "oracle": "sees every label",
    "uu": "sees no label",
    "ccn": "sees no label",
    "uu-biased": "takes sets for classes",
}
"""The lines of figure 1, in the order of its legend."""
CENTRES = (np.ones(2), -np.ones(2))


@dataclass
class Pages:
    """The files by name, and the tables to be shown."""

    files: dict[str, bytes] = field(default_factory=dict)
    tables: list[TableDisplay] = field(default_factory=list)

    def add_table(self, name: str, table: TableDisplay) -> None:
        """The table in its three forms."""
        self.tables.append(table)
        for ending, text in (("txt", table.text()), ("md", table.markdown()), ("tex", table.latex())):
            self.files[f"{name}.{ending}"] = text.encode()

    def add_figure(self, name: str, figure: Figure) -> None:
        """The figure as PNG and SVG; the same runs give the same bytes."""
        for ending in ("png", "svg"):
            buffer = io.BytesIO()
            with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
                figure.savefig(buffer, format=ending, metadata={"Date": None} if ending == "svg" else None)
            self.files[f"{name}.{ending}"] = buffer.getvalue()


def make(runs: Iterable[Run]) -> Pages:
    """Every table and figure there are runs for; presets stand apart.

    Parameters
    ----------
    runs : iterable of Run
        No run twice.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.seed):
        groups.setdefault((run.experiment, run.preset), []).append(run)
    pages = Pages()
    for (experiment, preset), own in sorted(groups.items()):
        own = _in_order(own)
        if experiment == "table-1":
            pages.add_table(f"table-1-{preset}", loaded(own))
        if experiment == "figure-1" and (picture := _mixture(own)):
            pages.add_figure(f"figure-1-{preset}", picture)
        for layout in LAYOUTS.get(experiment, ()):
            if isinstance(layout, Table):
                name = layout.name if layout.name != "errors" else f"{experiment}-errors"
                pages.add_table(f"{name}-{preset}", TableDisplay.from_runs(own, layout))
            else:
                display = CurvesDisplay.from_runs(own, layout, notes(own))
                if display.panels:
                    pages.add_figure(f"{layout.name}-{preset}", display.figure())
    return pages


def _in_order(runs: list[Run]) -> list[Run]:
    """As the experiment has them, whatever the order in which they were finished."""
    return sorted(runs, key=lambda run: (run.more.get("place", [0, 0]), run.seed))


def _mixture(runs: list[Run]) -> Figure | None:
    """Figure 1, of the first draw."""
    first = {run.method: run for run in runs if run.seed == 0}
    shown = next((run.more["points"] for run in first.values() if "points" in run.more), None)
    if shown is None:
        return None
    setting = runs[0].setting
    shares: tuple[Any, ...] = (setting["theta"], setting["theta_prime"])
    sizes = setting["n"], setting["n_prime"]
    sets = [
        figure_one.Scatter(f"Set {name}, no labels: {size:,} rows, {100 * share:.0f} % positive", np.array(points))
        for name, size, share, points in zip(("U", "U′"), sizes, shares, shown["sets"], strict=True)
    ]
    lines = [
        figure_one.Boundary(
            f"{first[method].more.get('titles', {}).get('method', method)} ({sees})",
            np.array(first[method].more["line"][:-1]),
            first[method].more["line"][-1],
            first[method].error,
        )
        for method, sees in ORDER.items()
        if method in first
    ]
    test = figure_one.Scatter(
        f"The rows to be predicted: {100 * setting['prior']:.0f} % positive", np.array(shown["test"])
    )
    truth = np.array(shown["truth"]) == 1
    return figure_one.draw(sets, test, truth, lines, CENTRES, least_error=shown["least"])

import io
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.image import imread

from uulearn.report import CurvesDisplay, make
from uulearn.report.layouts import LAYOUTS
from uulearn.results import Run

FIGURE_3 = LAYOUTS["figure-3"][0]


def some(method, setting, curves):
    titles = {"data": "MNIST", "method": {"uu": "UU", "ccn": "CCN", "oracle": "PN oracle"}[method]}
    return [
        Run("figure-3", "cpu", method, "mnist", setting, seed, curve[-1], curve, 1, {}, "", {"titles": titles})
        for seed, curve in enumerate(curves)
    ]


def sets(theta, theta_prime):
    return {"prior": 0.49, "theta": theta, "theta_prime": theta_prime, "n": 20_000, "n_prime": 20_000}


FALLING = [[0.5, 0.3, 0.2], [0.5, 0.3, 0.1]]
RUNS = [
    *some("oracle", {"prior": 0.49}, [[0.1, 0.05, 0.02]]),
    *some("uu", sets(0.9, 0.1), FALLING),
    *some("uu", sets(0.9, 0.2), FALLING),
    *some("uu", sets(0.8, 0.1), FALLING),
    *some("ccn", sets(0.9, 0.1), FALLING),
    *some("ccn", sets(0.8, 0.1), FALLING),
]


def test_panels():
    """Methods below each other, theta side by side, one line for each theta', the oracle in every panel."""
    display = CurvesDisplay.from_runs(RUNS, FIGURE_3)
    assert (display.rows, display.columns) == (["UU", "CCN"], ["θ = 0.9", "θ = 0.8"])
    names = {place: [curve.name for curve in curves] for place, curves in display.panels.items()}
    assert names["UU", "θ = 0.9"] == ["PN oracle", "θ' = 0.1", "θ' = 0.2"]
    assert names["CCN", "θ = 0.8"] == ["PN oracle", "θ' = 0.1"]


def test_bands():
    """The line is the mean of the runs in per cent, the band their standard deviation; one run has none."""
    curves = CurvesDisplay.from_runs(RUNS, FIGURE_3).panels["UU", "θ = 0.9"]
    oracle, first = curves[0], curves[1]
    np.testing.assert_allclose(first.mean, [50, 30, 15])
    np.testing.assert_allclose(first.band, [0, 0, np.std([20, 10], ddof=1)])
    assert oracle.oracle
    assert not any(oracle.band)


def test_figure():
    """The oracle is dashed and black, the same line has the same colour everywhere, every line is in the legend."""
    figure = CurvesDisplay.from_runs(RUNS, FIGURE_3, ["a note"]).figure()
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["θ' = 0.1", "θ' = 0.2", "PN oracle"]
    assert legend.get_title().get_text() == "a note"
    colours = [axes.lines[0].get_color() for axes in figure.axes]
    assert len(figure.axes) == 4
    assert len(set(colours)) == 1
    for axes in figure.axes:
        assert axes.lines[-1].get_linestyle() == "--"
        assert axes.lines[-1].get_color() == "#222222"
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_files():
    """PNG and SVG of the figure, and three forms of the table beside it; the same runs give the same bytes."""
    pages = make(RUNS)
    endings = {"figure-3-cpu.png", "figure-3-cpu.svg"}
    assert set(pages.files) == endings | {f"figure-3-errors-cpu.{ending}" for ending in ("txt", "md", "tex")}
    assert imread(io.BytesIO(pages.files["figure-3-cpu.png"])).shape[2] == 4
    assert b"</svg>" in pages.files["figure-3-cpu.svg"]
    assert make(RUNS[::-1]).files.keys() == pages.files.keys()
    assert make(RUNS).files == pages.files


def test_presets_stand_apart():
    """Runs of two presets never meet in one table."""
    from dataclasses import replace

    pages = make([*RUNS, *(replace(run, preset="smoke") for run in RUNS)])
    assert sum(name.endswith(".png") for name in pages.files) == 2
    assert len(pages.tables) == 2

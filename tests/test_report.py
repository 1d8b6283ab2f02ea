import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from uulearn.report import figure_one

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(60, 2))
BOUNDARIES = [
    figure_one.Boundary("Slanted", np.array([1.0, 2.0]), 0.3, 0.07),
    figure_one.Boundary("Upright", np.array([1.0, 0.0]), -0.3, 0.1234),
    figure_one.Boundary("Level", np.array([0.0, -1.0]), 0.0, 0.5),
    figure_one.Boundary("No line", np.zeros(2), 1.0, 0.7),
]


@pytest.fixture(scope="module")
def figure():
    sets = [figure_one.Scatter(f"set {k}", POINTS + k) for k in (0, 1)]
    means = np.ones(2), -np.ones(2)
    return figure_one.draw(
        sets, figure_one.Scatter("test", POINTS), POINTS[:, 0] > 0, BOUNDARIES, means, least_error=0.05
    )


def test_png(figure):
    """The picture is a PNG file of some size, of many colours."""
    content = figure_one.png(figure)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    image = np.asarray(figure.canvas.buffer_rgba())
    assert image.shape == (1200, 1650, 4)
    assert len(np.unique(image.view(np.uint32))) > 500


def test_legend(figure):
    """Every method is named with its error, the best possible error stands above."""
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == [
        "Slanted: 7.0 %",
        "Upright: 12.3 %",
        "Level: 50.0 %",
        "No line: 70.0 %",
    ]
    assert "5.0 %" in legend.get_title().get_text()
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["set 0", "set 1", "test"]


def test_lines_are_where_classifiers_cut(figure):
    """Every point drawn of a line has score 0, from edge to edge; weights of 0 give no line."""
    axes = figure.axes[-1]
    reach = axes.get_xlim()[1]
    drawn = [line.get_xydata() for line in axes.lines if line.get_zorder() == 4]
    assert len(drawn) == 3
    for points, boundary in zip(drawn, BOUNDARIES, strict=False):
        np.testing.assert_allclose(points @ boundary.weights + boundary.intercept, 0, atol=1e-12)
        assert np.all(np.abs(points).max(axis=1) >= reach)


def test_no_global_state(figure):
    """Nothing of matplotlib that windows and other figures depend on is touched."""
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()

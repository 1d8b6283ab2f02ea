import numpy as np
import pytest

pytest.importorskip("matplotlib")

from uulearn import demo
from uulearn.demo import digits, mixture
from uulearn.output import MANIFEST
from uulearn.tabular import read_table

TINY = digits.Size(sets=(60, 120), target=60, folds=2, trees=5)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    told = []
    path = tmp_path_factory.mktemp("demo") / "out"
    return path, demo.run(path, seed=1, size=TINY, progress=told.append), told


def test_files(shown):
    """Three tables of 64 pixels and no label, the figure, the list of them; progress is told as often as announced."""
    path, found, told = shown
    assert {file.name for file in path.iterdir()} == {*digits.FILES, demo.FIGURE, MANIFEST}
    for name, rows in zip(digits.FILES, (60, 120, 60), strict=True):
        table = read_table(path / name)
        assert table.rows.shape == (rows, 64)
        assert all(column.startswith("pixel_") for column in table.names)
    assert found.figure == path / demo.FIGURE
    assert found.figure.stat().st_size > 50_000
    assert len(told) == demo.STEPS


def test_lines(shown):
    """Each kind of classifier has its errors; the estimate is an interval, the others are shares of the target."""
    lines = shown[1].digits.lines
    assert tuple(line.kind for line in lines) == digits.KINDS
    for line in lines:
        assert line.estimate.low < line.estimate.value < line.estimate.high
        assert all(0 <= share <= 1 for share in (line.error, line.naive, line.oracle))
    assert shown[1].digits.best.estimate.value == min(line.estimate.value for line in lines)


def test_the_draw(tmp_path):
    """The shares are what training is told, and no digit is in two files."""
    folder = demo.OutputFolder(tmp_path, [])
    truth = digits._write(folder, 3, digits.FULL)
    assert [float(positive.mean()) for positive in truth] == [*digits.SET_PRIORS, digits.PRIOR]
    rows = np.concatenate([read_table(tmp_path / name).rows for name in digits.FILES])
    assert len(np.unique(rows, axis=0)) == len(rows) == 1_660


def test_same_seed_same_files(shown, tmp_path):
    """A seed fixes every byte that is written."""
    demo.run(tmp_path, seed=1, size=TINY, progress=lambda step: None)
    for file in shown[0].iterdir():
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(("weights", "intercept"), [([1, 1], -0.4), ([2.5, -0.3], 0.7), ([-1, 0.2], 3.0)])
@pytest.mark.parametrize("prior", [0.3, 0.8])
def test_exact_error(weights, intercept, prior):
    """The closed form is the share of mistakes among many points, within 4 standard errors."""
    rng, n = np.random.default_rng(0), 200_000
    truth = rng.random(n) < prior
    points = rng.normal(size=(n, 2)) + np.where(truth[:, None], mixture.CENTRE, -mixture.CENTRE)
    wrong = (points @ weights + intercept > 0) != truth
    exact = mixture.exact_error(np.array(weights, dtype=float), intercept, prior)
    assert abs(exact - wrong.mean()) < 4 * np.sqrt(exact * (1 - exact) / n)


def test_exact_error_of_a_constant():
    """Weights of 0 call every row positive or every row negative."""
    assert mixture.exact_error(np.zeros(2), 1.0, 0.3) == pytest.approx(0.7)
    assert mixture.exact_error(np.zeros(2), -1.0, 0.3) == pytest.approx(0.3)


def test_bayes_error():
    """No line is better, and at the prior .3 of the paper it is 7.00 %."""
    assert mixture.bayes_error() == pytest.approx(0.0700, abs=5e-5)
    rng = np.random.default_rng(0)
    others = [mixture.exact_error(rng.normal(size=2), rng.normal()) for _ in range(200)]
    assert min(others) > mixture.bayes_error()


def test_figure_one(shown):
    """Near the oracle, below the naive way: what the figure is there to show."""
    error = {line.name: line.error for line in shown[1].mixture.lines}
    assert list(error) == ["Oracle", "UU", "CCN", "UU-biased"]
    assert shown[1].mixture.least <= min(error.values())
    assert error["UU"] < error["Oracle"] + 0.01
    assert error["UU"] < error["UU-biased"] - 0.02

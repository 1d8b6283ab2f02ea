"""Who sees which rows."""

import numpy as np
import pytest

pytest.importorskip("torch")

from uulearn.paper import draws
from uulearn.paper.methods import METHODS, Network
from uulearn.paper.problems import digits, problem, standardised
from uulearn.paper.runner import plan
from uulearn.paper.spec import Cell
from uulearn.paper.specs import SPECS

CELL = Cell("mnist", ("uu",), 0.4, (0.9, 0.1), (200, 300))
SMALL = Cell("usps", ("uu",), 0.1, (0.67, 0.1), (48, 48), subsample=400)


@pytest.fixture(scope="module")
def rows():
    return problem(CELL, True, None)


def test_every_method_sees_the_same_rows(rows):
    """For one seed, all methods that see the sets draw the very same; another seed draws others."""
    seeing = {name: method for name, method in METHODS.items() if method.sees is draws.unlabeled}
    assert {"uu", "ccn", "ber", "psvm", "um-ssc", "uu-house"} <= set(seeing)
    first = draws.unlabeled(rows, CELL, 3)
    for method in seeing.values():
        found = method.sees(rows, CELL, 3)
        np.testing.assert_array_equal(found.rows, first.rows)
        np.testing.assert_array_equal(found.sets.index, first.sets.index)
    assert not np.array_equal(draws.unlabeled(rows, CELL, 4).rows, first.rows)


def test_settings_share_their_pool():
    """Where rows are drawn first, they and the rows that judge are the same for every method."""
    rows = problem(SMALL, True, None)
    a, b = (METHODS[name].sees(rows, SMALL, 1) for name in ("uu", "psvm"))
    np.testing.assert_array_equal(a.tests, b.tests)


@pytest.mark.parametrize("seed", range(3))
def test_unlabeled(rows, seed):
    """Sizes and shares to the row; the sets are disjoint; rows ascend."""
    found = draws.unlabeled(rows, CELL, seed)
    assert np.bincount(found.sets.index).tolist() == [200, 300]
    assert [int(rows.y[found.rows[found.sets.index == k]].sum()) for k in (0, 1)] == [180, 30]
    assert len(np.unique(found.rows)) == 500
    assert np.all(np.diff(found.rows) > 0)
    assert found.sets.priors.shares.tolist() == [0.9, 0.1]
    assert found.tests is None


def test_wrong_priors():
    """Rows are drawn at the true priors, training is told others, even beyond 1."""
    wrong = Cell("mnist", ("uu",), 0.4, (0.9, 0.1), (100, 100), factors=(1.2, 0.8))
    rows = problem(wrong, True, None)
    found, true = (
        draws.unlabeled(rows, wrong, 0),
        draws.unlabeled(rows, Cell("mnist", ("uu",), 0.4, (0.9, 0.1), (100, 100)), 0),
    )
    np.testing.assert_array_equal(found.rows, true.rows)
    np.testing.assert_allclose(found.sets.priors.shares, [1.08, 0.08])


def test_supervised(rows):
    """Small PN has a tenth of the rows at the target prior, its shifted twin at theta, the oracle all of them."""
    n = len(rows.y)
    for sees, share in ((draws.small, 0.4), (draws.shifted, 0.9)):
        found = sees(rows, CELL, 0)
        assert len(found.rows) == round(0.1 * n)
        assert rows.y[found.rows].mean() == pytest.approx(share, abs=0.01)
        np.testing.assert_array_equal(found.sets.index, rows.y[found.rows])
        assert found.sets.priors.prior == 0.4
        assert found.sets.priors.shares.tolist() == [0, 1]
    assert len(draws.everything(rows, CELL, 0).rows) == n
    fewer = Cell("mnist", ("oracle",), 0.3, labeled=100)
    found = draws.everything(rows, fewer, 0)
    assert (len(found.rows), int(rows.y[found.rows].sum())) == (100, 30)


def test_what_judges():
    """The rows of the subsample that no set took judge: both kinds are there, and they are its others exactly."""
    rows = problem(SMALL, True, None)
    found = draws.unlabeled(rows, SMALL, 0)
    assert len(found.rows) + len(found.tests) == 400
    assert not np.intersect1d(found.rows, found.tests).size
    together = np.concatenate([found.rows, found.tests])
    assert int(rows.y[together].sum()) == 40
    assert set(rows.y[found.tests]) == {0, 1}


def test_standardised():
    """Columns have mean 0 and variance 1; a constant one is 0."""
    X = np.random.default_rng(0).normal(3, 5, size=(500, 4))
    X[:, 2] = 7
    found = standardised(X)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(found.std(axis=0), [1, 1, 0, 1], atol=1e-5)


def test_stand_ins_say_so():
    """A stand-in has the form of what it stands for, and its source names it."""
    assert "stand-in" in digits("svhn").source
    assert digits("mnist").X.shape[1:] == (1, 8, 8)
    assert digits("cifar10").y_test.mean() > 0.5


@pytest.mark.parametrize("name", ["figure-2", "table-3"])
def test_every_draw_can_be_made(name):
    """Each cell of the smoke preset has the rows that its methods ask for, of both classes where they judge."""
    for task in plan(SPECS[name], "smoke"):
        method = METHODS[task.method]
        rows = problem(task.cell, True, None)
        found = method.sees(rows, task.cell, 0)
        if isinstance(method, Network):
            assert np.isfinite(np.stack(method.weigh(found.sets))).all()
        if found.tests is not None:
            assert set(rows.y[found.tests]) == {0, 1}

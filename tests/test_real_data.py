"""The tables that the benchmarks use, where a folder of the official files is at hand (UULEARN_DATA)."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import real

from uulearn import UULinearClassifier, make_unlabeled_sets
from uulearn.baselines import BiasedClassifier

PUBLISHED = {"spambase": (4601, 57, 2788), "letter": (20000, 16, 9940), "pendigits": (10992, 16, 5542)}

pytestmark = real.needed


@pytest.fixture
def data(monkeypatch):
    """The loader of the benchmarks."""
    monkeypatch.setenv("UULEARN_DATA", str(real.FOLDER))
    place = Path(__file__).parents[1] / "benchmarks" / "data.py"
    spec = importlib.util.spec_from_file_location("benchmark_data", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", PUBLISHED)
def test_tables_are_the_published_ones(data, name):
    """Rows, columns and positives are those of the official files."""
    X, y = data.load(name)
    assert (*X.shape, int(y.sum())) == PUBLISHED[name]


def test_uu_beats_the_naive_cut_on_pendigits(data):
    """Away from one half, with sets of unequal size, the naive cut costs several points."""
    X, y = data.load("pendigits")
    X = data.standardised(X)
    rows, sets, indices = make_unlabeled_sets(X, y, (0.9, 0.4), (4000, 2000), random_state=0)
    rest = np.setdiff1d(np.arange(len(y)), indices)
    here = {"set_priors": (0.9, 0.4), "prior": 0.2}

    def error(clf):
        up = clf.fit(rows, sets).decision_function(X[rest]) > 0
        return 0.2 * np.mean(~up[y[rest] == 1]) + 0.8 * np.mean(up[y[rest] == 0])

    assert error(UULinearClassifier(**here)) + 0.05 < error(BiasedClassifier(**here))

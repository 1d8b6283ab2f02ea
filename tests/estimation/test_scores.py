"""Cross-fitted probabilities."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix, issparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn.estimation.scores import cross_fit, log_odds, table, unknown_sets
from uulearn.refinement import split

RNG = np.random.default_rng(0)
X, UP = RNG.normal(size=(400, 2)), RNG.random(400) < 0.5
SETS = unknown_sets(UP.astype(int), None)
FOLDS = split(SETS, 4, None, 0)


def test_no_row_is_scored_by_a_model_that_saw_it():
    """A neighbour that is the row itself would know its set; here sets are drawn by lot and nobody knows."""
    found, new = cross_fit(KNeighborsClassifier(1), X, UP, SETS.weight, FOLDS, 0, X)
    assert np.mean((found > 0.5) == UP) == pytest.approx(0.5, abs=0.1)
    assert np.mean((new > 0.5) == UP) == pytest.approx(0.75 + 0.25 * 0.5, abs=0.05)


def test_new_rows_are_scored_by_every_model():
    """One line of probabilities for each fold, by the model of that fold."""
    found, new = cross_fit(LogisticRegression(), X, UP, SETS.weight, FOLDS, 0, X[:7])
    assert new.shape == (4, 7)
    for scores, (_, test) in zip(new, FOLDS, strict=True):
        own = test[test < 7]
        assert scores[own] == pytest.approx(found[own])


def test_seeds():
    """A classifier without a seed gets one; the same seed gives the same scores, and the user's object is unchanged."""
    forest = ExtraTreesClassifier(5)
    one, other, third = (cross_fit(forest, X, UP, SETS.weight, FOLDS, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one, other)
    assert not np.array_equal(one, third)
    assert forest.random_state is None


def test_rows_of_weight_zero():
    """They train nothing, and are scored."""
    weight = np.where(np.arange(400) < 100, 0.0, 1.0)
    sets = unknown_sets(UP.astype(int), weight)
    folds = split(sets, 4, None, 0)
    moved = np.where(weight[:, None] == 0, X + 9, X)
    one, other = (cross_fit(LogisticRegression(), rows, UP, weight, folds, 0)[0] for rows in (X, moved))
    assert one[100:] == pytest.approx(other[100:])
    assert np.all(np.isfinite(other))


def test_log_odds_are_finite():
    """Also of the probabilities 0 and 1, in their order."""
    found = log_odds(np.array([0.0, 0.3, 1.0]))
    assert np.all(np.isfinite(found))
    assert np.all(np.diff(found) > 0)


def test_tables():
    """Sparse rows can be taken one by one; lists become arrays."""
    sparse = table(coo_matrix(X), "X", 400)
    assert issparse(sparse)
    assert sparse.format == "csr"
    assert table([[1, 2]], "X").shape == (1, 2)


def test_unknown_sets():
    """Sets are found as they are, without those that only rows of weight 0 belong to."""
    sets = unknown_sets(["b", "a", "c", "b"], [1, 2, 0, 1])
    assert sets.labels.tolist() == ["a", "b"]
    assert sets.sizes.tolist() == [2, 2]


def test_folds_of_uneven_groups():
    """Folds that train on other proportions of the sets leave no trace: nobody knows the set, so all odds are alike."""
    up, groups = np.repeat([True, False], [300, 100]), np.repeat([0, 1, 2, 3, 4], [200, 100, 40, 30, 30])
    folds = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(5)]
    noise = np.zeros((400, 1))
    found, new = cross_fit(LogisticRegression(), noise, up, np.ones(400), folds, 0, noise[:3])
    np.testing.assert_allclose(found, 0.75, atol=1e-3)
    np.testing.assert_allclose(new, 0.75, atol=1e-3)


def test_weights_reach_the_last_step():
    """Of a pipeline."""
    weight = RNG.uniform(0.5, 2, 400)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found, _ = cross_fit(model, X, UP, weight, FOLDS, 0)
    plain, _ = cross_fit(model, X, UP, np.ones(400), FOLDS, 0)
    assert not np.allclose(found, plain)


def test_sparse_rows_have_a_classifier():
    """The default reads them."""
    found, _ = cross_fit(None, csr_matrix(X), UP, SETS.weight, FOLDS, 0)
    assert np.all((found >= 0) & (found <= 1))

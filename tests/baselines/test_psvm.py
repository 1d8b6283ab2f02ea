"""Proportion-SVM: its two steps, and the labels it finds."""

from typing import Any

import numpy as np
import pytest
from reference import proportion_labels, proportion_objective
from roster import blobs
from sklearn.datasets import make_moons
from sklearn.svm import SVC

from uulearn import make_unlabeled_sets
from uulearn.baselines import ProportionSVM
from uulearn.baselines.psvm import Bags, Machine, margin_step, objective
from uulearn.sets import match_sets


def bags_of(rng: np.random.Generator, n_bags: int, n_rows: int) -> Any:
    """Rows in bags of uneven size, each with a share of its own."""
    index = np.concatenate([np.arange(n_bags), rng.integers(n_bags, size=n_rows - n_bags)])
    return match_sets(index, rng.permutation(np.linspace(*rng.uniform([0, 0.6], [0.4, 1]), n_bags)), 0.5)


@pytest.mark.parametrize("seed", range(40))
def test_label_step_equals_brute_force(seed: int) -> None:
    """No labelling of the rows of two to four bags costs less."""
    rng = np.random.default_rng(seed)
    sets = bags_of(rng, 2 + seed % 3, 9)
    scores, C, C_p = rng.normal(0, 1.5, 9), 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-1, 2)
    labels = Bags(sets, C_p).label(scores, C)
    bags, shares = sets.index.tolist(), sets.priors.shares.tolist()
    found = proportion_objective(labels, scores, bags, shares, 0.0, C, C_p)
    assert found == pytest.approx(proportion_labels(scores, bags, shares, C, C_p))


def test_objective_equals_the_loop_and_no_step_raises_it() -> None:
    """Turn by turn at one C, each step keeps or lowers it."""
    rng = np.random.default_rng(0)
    X, sets = rng.normal(size=(60, 2)), bags_of(rng, 3, 60)
    K, bags, C, C_p = X @ X.T, Bags(sets, 20.0), 0.5, 20.0
    labels, last = bags.draw(rng), np.inf
    for _ in range(6):
        machine = margin_step(K, labels, C)
        scores = K @ machine.dual + machine.b
        fitted = objective(K, machine, labels, C, bags)
        naive = proportion_objective(
            labels, scores, sets.index.tolist(), sets.priors.shares, 0.5 * machine.dual @ K @ machine.dual, C, C_p
        )
        assert fitted == pytest.approx(naive)
        assert fitted <= 1.001 * last  # libsvm stops at a tolerance
        labels = bags.label(scores, C)
        last = objective(K, machine, labels, C, bags)
        assert last <= fitted


def test_margin_step_is_the_support_vector_machine() -> None:
    """The same scores as scikit-learn's on rows; labels of one class give the constant."""
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 2)), np.where(rng.random(50) < 0.5, 1.0, -1.0)
    machine = margin_step(X @ X.T, labels, 0.3)
    svm = SVC(C=0.3, kernel="linear").fit(X, labels)
    np.testing.assert_allclose(X @ X.T @ machine.dual + machine.b, svm.decision_function(X), atol=5e-3)
    assert margin_step(X @ X.T, -np.ones(50), 0.3) == (pytest.approx(np.zeros(50)), -1.0)


def test_first_labels_keep_the_shares() -> None:
    """Random labels have the share of every bag, as near as whole rows allow."""
    sets = match_sets(np.repeat([0, 1, 2], [10, 7, 4]), (0.9, 0.3, 0.0), 0.5)
    labels = Bags(sets, 1.0).draw(np.random.default_rng(0))
    assert [int((labels[sets.index == k] > 0).sum()) for k in range(3)] == [9, 2, 0]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("shares", "sizes"), [((0.8, 0.3), (60, 40)), ((0.9, 0.5, 0.4, 0.1), (30, 40, 20, 30))])
def test_separable_bags_are_recovered(kernel: str, shares: Any, sizes: Any) -> None:
    """Two clouds far apart, whatever their shares in the bags: the labels found are the true ones."""
    X, bags, truth = blobs(shares, sizes, distance=9.0)
    clf = ProportionSVM(set_priors=shares, prior=0.5, kernel=kernel, C=10, n_init=3, random_state=0).fit(X, bags)
    assert np.array_equal(clf.labels_ > 0, truth == 1)
    assert np.array_equal(clf.predict(X), truth)
    assert clf.score(X, bags) == pytest.approx(1)


def test_the_kernel_bends_where_a_line_does_not() -> None:
    """Two moons from bags: the rbf kernel separates them, the linear one cannot."""
    X, truth = make_moons(1200, noise=0.1, random_state=0)
    rows, bags, _ = make_unlabeled_sets(X, truth, (0.8, 0.2), (200, 200), random_state=0)
    options: dict[str, Any] = {"set_priors": (0.8, 0.2), "prior": 0.5, "n_init": 3, "random_state": 0}
    curved = ProportionSVM(**options, gamma=2.0, C=10).fit(rows, bags)
    straight = ProportionSVM(**options, kernel="linear", C=10).fit(rows, bags)
    assert np.mean(curved.predict(X) != truth) < 0.05 < np.mean(straight.predict(X) != truth)


def test_beats_chance_on_an_overlapping_mixture() -> None:
    """Bayes error 15.9 %, chance 50 %."""
    X, bags, _ = blobs((0.9, 0.4), (400, 300))
    rows, _, truth = blobs((0.5, 0.1), (3000, 10), seed=9)
    clf = ProportionSVM(set_priors=(0.9, 0.4), prior=0.5, kernel="linear", n_init=3, random_state=0).fit(X, bags)
    assert np.mean(clf.predict(rows) != truth) < 0.22


def test_the_best_start_is_kept() -> None:
    """More starts never end higher: the first are the same."""
    X, bags, _ = blobs((0.7, 0.4), (60, 60))
    options: dict[str, Any] = {"set_priors": (0.7, 0.4), "prior": 0.5, "C": 10, "random_state": 0}
    ends = [ProportionSVM(**options, n_init=n).fit(X, bags).objective_ for n in (1, 3, 6)]
    assert ends == sorted(ends, reverse=True)


def test_no_price_for_shares_gives_one_class() -> None:
    """Where missing the shares costs nothing, the constant is the widest margin; it still predicts."""
    X, bags, _ = blobs((0.9, 0.4), (30, 30))
    clf = ProportionSVM(set_priors=(0.9, 0.4), prior=0.5, C_p=1e-9, n_init=1, random_state=0).fit(X, bags)
    assert len(np.unique(clf.predict(X))) == 1
    assert Machine(clf.dual_coef_[0], clf.intercept_[0]).b in (-1, 1)

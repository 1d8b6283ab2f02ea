"""Supervised learning: eq. 6, and the draws of small PN."""

import numpy as np
import pytest
from reference import LOSSES, pn_risk
from roster import blobs

from uulearn import UUKernelClassifier, UULinearClassifier
from uulearn.baselines import SupervisedClassifier, draw_labeled_rows
from uulearn.risk import Risk
from uulearn.sets import match_sets


def test_the_columns_are_those_of_equation_6() -> None:
    """Whatever the share of positives among the labelled rows, their risk is at the target prior."""
    rng = np.random.default_rng(0)
    labels, scores, weight = rng.integers(0, 2, 60), rng.normal(size=60), rng.uniform(0.5, 2, 60)
    negatives, positives = (list(zip(weight[labels == k], scores[labels == k], strict=True)) for k in (0, 1))
    columns = SupervisedClassifier(prior=0.3)._columns(match_sets(labels, (0.0, 1.0), 0.3, weight))
    for name, loss in LOSSES.items():
        naive = pn_risk(loss, positives, negatives, 0.3)
        assert float(Risk(columns, name).value(scores)) == pytest.approx(naive)


def test_it_is_the_core_classifier_for_priors_zero_and_one() -> None:
    """The recipe adds a name, nothing else; labels come back out."""
    X, _, truth = blobs((0.5, 0.3), (200, 200))
    names = np.where(truth == 1, "yes", "no")
    ours = SupervisedClassifier(prior=0.2).fit(X, names)
    core = UULinearClassifier(set_priors=(0, 1), prior=0.2).fit(X, names)
    assert np.array_equal(ours.decision_function(X), core.decision_function(X))
    assert ours.classes_.tolist() == ["no", "yes"]
    assert ours.score(X, names) == core.score(X, names)


def test_any_model() -> None:
    """As every recipe it trains any classifier of the library."""
    X, _, truth = blobs((0.5, 0.3), (200, 200))
    inner = UUKernelClassifier(set_priors=(0.9, 0.1), prior=0.5)
    assert np.mean(SupervisedClassifier(inner, prior=0.4).fit(X, truth).predict(X) == truth) > 0.8


def test_a_draw_has_the_share_asked_for() -> None:
    """A tenth of the rows, each once, with the prior asked for and the labels they have."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(2000) < 0.5, "even", "odd")
    X = np.arange(2000).reshape(-1, 1)
    for prior in (0.49, 0.9):
        rows, labels, indices = draw_labeled_rows(X, y, prior, positive="even", random_state=1)
        assert len(rows) == len(np.unique(indices)) == 200
        assert labels.mean() == pytest.approx(prior)
        assert np.array_equal(labels == 1, y[indices] == "even")
        assert np.array_equal(rows, X[indices])


def test_prior_shift_is_undone_by_equation_6() -> None:
    """Rows drawn at theta train for pi: about as many target rows are called positive as from rows drawn at pi."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 2)) + 2 * y[:, None] * np.eye(2)[0]
    called = [
        SupervisedClassifier(prior=0.3).fit(*draw_labeled_rows(X, y, drawn, random_state=0)[:2]).predict(X).mean()
        for drawn in (0.3, 0.9)
    ]
    assert abs(called[0] - called[1]) < 0.04

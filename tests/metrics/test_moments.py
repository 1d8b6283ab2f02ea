import numpy as np
import pytest

from uulearn.metrics import evaluate, evaluate_sets, moments
from uulearn.metrics.moments import class_means, combined_covariance, group_index, set_means, units
from uulearn.priors import Priors, Uncertain
from uulearn.sets import match_sets

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.arange(90) % 3)
H = RNG.normal(size=(2, 90))
WEIGHT = RNG.uniform(0.5, 2, 90)
SETS = match_sets(Y, (0.9, 0.5, 0.2), 0.3, WEIGHT)


def functions(rows):
    return H[:, rows]


def test_blocks_do_not_matter(monkeypatch):
    """Rows looked at some at a time give what all of them give."""
    groups = RNG.integers(40, size=90)
    whole = [class_means(SETS, functions, units(SETS, one)) for one in (None, groups)]
    monkeypatch.setattr(moments, "BLOCK", 7)
    for one, before in zip((None, groups), whole, strict=True):
        after = class_means(SETS, functions, units(SETS, one))
        np.testing.assert_allclose(after.values, before.values, rtol=1e-12)
        np.testing.assert_allclose(after.covariance, before.covariance, rtol=1e-12, atol=1e-18)


def test_set_means():
    """They are the weighted averages."""
    for k in range(3):
        expected = np.average(H[:, k == Y], axis=1, weights=WEIGHT[k == Y])
        np.testing.assert_allclose(set_means(SETS, functions)[:, k], expected)


def test_covariance_of_equal_rows():
    """Of rows of one weight, the covariance of set means is numpy's of the rows, divided by their number."""
    sets = match_sets(Y, (0.9, 0.5, 0.2), 0.3)
    found = combined_covariance(sets, functions, units(sets, None), np.eye(3)[:1])
    np.testing.assert_allclose(found, np.cov(H[:, Y == 0]) / 30)


def test_every_row_its_own_group():
    """Groups of one row are rows."""
    alone = class_means(SETS, functions, units(SETS, np.arange(90)))
    np.testing.assert_allclose(alone.covariance, class_means(SETS, functions, units(SETS, None)).covariance)


def test_groups_are_numbered():
    """By any names."""
    assert group_index(["b", "a", "b"], 3).tolist() == [1, 0, 1]


class TestUncertainPriors:
    """Standard errors of the priors widen intervals by what they move the estimate."""

    @staticmethod
    def spread(name, draws=400, **uncertain):
        """Spread of a metric when the priors are drawn from their distributions, the rows being what they are."""
        rng = np.random.default_rng(1)
        truth = rng.random(2000) < np.repeat([0.9, 0.4], 1000)
        z = np.where(truth, 1.0, -1.0) + rng.normal(size=2000)
        y = np.repeat([0, 1], 1000)
        given = {"theta": 0.9, "theta_prime": 0.4, "prior": 0.3}
        options = {"scores": z, "proba": 1 / (1 + np.exp(-2 * z)), "metrics": name}

        def report(theta, theta_prime, prior):
            return evaluate(y, set_priors=(theta, theta_prime), prior=prior, **options)[name]

        sure = report(**given)
        unsure = report(**given | {key: Uncertain(given[key], error) for key, error in uncertain.items()})
        moved = [
            report(**given | {key: given[key] + rng.normal() * error for key, error in uncertain.items()}).value
            for _ in range(draws)
        ]
        return sure, unsure, np.std(moved)

    @pytest.mark.parametrize("name", ["error", "tpr", "precision", "f1", "auc", "log_loss", "brier"])
    @pytest.mark.parametrize("uncertain", [{"theta": 0.01}, {"theta_prime": 0.01, "prior": 0.02}], ids=str)
    def test_widened(self, name, uncertain):
        """The variance is that of the rows plus that of the priors (of 400 draws, within 15 %)."""
        sure, unsure, spread = self.spread(name, **uncertain)
        assert unsure.value == sure.value
        added = unsure.standard_error**2 - sure.standard_error**2
        assert np.sqrt(added) == pytest.approx(spread, rel=0.15, abs=1e-4)

    @pytest.mark.parametrize("name", ["average_precision", "calibration_error"])
    def test_resampled(self, name):
        """Metrics of resamples draw the priors too."""
        sure, unsure, _ = self.spread(name, draws=2, theta_prime=0.1, prior=0.05)
        assert unsure.standard_error > 1.2 * sure.standard_error

    def test_nothing_uncertain(self):
        """An uncertain share of error 0 is a share."""
        sets = match_sets([0, 0, 1, 1], (Uncertain(0.9), 0.4), 0.3)
        assert sets.priors == Priors({0: 0.9, 1: 0.4}, prior=0.3)
        assert evaluate_sets(sets, np.array([1.0, -1, 1, -1]), metrics="tpr").tpr.value == pytest.approx(0.5)

    def test_an_estimate_is_uncertain(self):
        """What has a value and a standard error serves as a share."""
        other = evaluate([0, 0, 1, 1], scores=[1.0, -2, 3, -1], set_priors=(0.9, 0.4), prior=0.3, metrics="tpr").tpr
        assert Priors(0.9, 0.4, prior=other).prior_standard_error == other.standard_error

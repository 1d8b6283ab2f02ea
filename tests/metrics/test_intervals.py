import numpy as np
import pytest

from uulearn.metrics import evaluate
from uulearn.metrics.definitions import METRICS
from uulearn.metrics.intervals import contradiction, fieller, interval, normal, normal_quantile
from uulearn.metrics.moments import ClassMeans


def test_fieller_is_what_is_not_contradicted():
    """A value is inside exactly where top - value * bottom is within so many of its standard errors of 0."""
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 2001)
    whole = pieces = 0
    for _ in range(300):
        top, bottom = rng.normal(0.2, 0.3), rng.normal(0.4, 0.4)
        root = rng.normal(size=(2, 2)) * rng.choice([0.03, 0.2])
        covariance = root @ root.T
        variance = covariance[0, 0] - 2 * grid * covariance[0, 1] + grid**2 * covariance[1, 1]
        inside = grid[(top - grid * bottom) ** 2 <= 1.96**2 * variance]
        low, high = fieller((top, bottom), covariance, 1.96)
        if len(inside):
            assert (low, high) == pytest.approx((inside[0], inside[-1]), abs=1e-3)
            whole += low == 0 and high == 1
            pieces += len(inside) < np.round(2000 * (high - low))
        else:
            assert high - low < 1e-3
    assert whole > 10


def test_fieller_of_a_sure_denominator():
    """Where the denominator is far from 0, it is the normal interval of the ratio."""
    means = ClassMeans(np.array([0.8, 0.1, 0.3]), np.diag([1e-4, 1e-4, 0.0]) ** 2)
    found = interval(METRICS["precision"], means, 0.95)
    usual = normal(found.value, found.standard_error, 0.95)
    assert (found.low, found.high) == pytest.approx((usual.low, usual.high), abs=1e-6)


def test_ends_of_a_ratio_stay_in_the_unit_interval():
    """However little is known, precision is a share."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 20)
    for _ in range(50):
        report = evaluate(y, scores=rng.normal(size=40), set_priors=(0.5, 0.6), prior=0.1, resamples=2)
        for name in ("precision", "f1", "negative_predictive_value"):
            assert 0 <= report[name].low <= report[name].high <= 1, name


def test_quantile():
    """Two-sided."""
    assert normal_quantile(0.6826895) == pytest.approx(1, abs=1e-6)


class TestContradictions:
    """Estimates that no classifier can have, beyond chance."""

    def test_a_rate_beyond_one(self):
        """The p-value is that of a normal estimate at the bound."""
        found = contradiction("tpr", METRICS["tpr"], normal(1.3, 0.1, 0.95))
        assert (found.metric, found.value, found.bound) == ("tpr", 1.3, 1)
        assert found.p_value == pytest.approx(0.00135, abs=1e-5)

    @pytest.mark.parametrize("estimate", [(1.1, 0.1), (0.5, 0.1), (1.3, np.nan), (1.3, 0.0)])
    def test_by_chance(self, estimate):
        """Within its error of a bound, inside, or without an error, nothing is said."""
        assert contradiction("tpr", METRICS["tpr"], normal(*estimate, 0.95)) is None

    def test_wrong_priors_are_told(self):
        """Sets that are further apart than stated make a good classifier too good; the report says so once."""
        y = np.repeat([0, 1], 500)
        truth = np.concatenate([np.arange(500) < 475, np.arange(500) < 25])
        report = evaluate(y, scores=np.where(truth, 1.0, -1.0), set_priors=(0.7, 0.3), prior=0.3, resamples=2)
        assert [found.metric for found in report.contradictions] == ["error", "balanced_error", "tpr", "fpr"]
        assert all(found.p_value < 1e-6 for found in report.contradictions)
        assert "tpr 1.6250" in str(report)
        right = evaluate(y, scores=np.where(truth, 1.0, -1.0), set_priors=(0.95, 0.05), prior=0.3, resamples=2)
        assert right.contradictions == ()


class TestRounding:
    """A sum that is 0 or 1 but for its last digits is that."""

    @pytest.mark.parametrize("shares", [(0.2, 0.7), (0.3, 0.8), (0.4, 0.9), (0.4, 0.9, 0.5)])
    def test_a_ratio_of_nothing(self, shares):
        """Nobody is predicted negative: the negative predictive value is not a number, and says so."""
        y = np.arange(4000) % len(shares)
        name = "negative_predictive_value"
        found = evaluate(y, scores=2 * np.ones(4000), set_priors=shares, prior=0.3, metrics=name)[name]
        assert np.isnan([found.value, found.standard_error, found.low, found.high]).all()

    def test_no_contradiction(self):
        """Everybody is predicted positive, and block sums of weights differ from whole ones."""
        rng = np.random.default_rng(0)
        options = {"set_priors": (0.4, 0.9), "prior": 0.3, "metrics": ["tpr", "fpr"]}
        report = evaluate(
            rng.integers(0, 2, 300_000), scores=np.ones(300_000), sample_weight=rng.random(300_000), **options
        )
        assert report.contradictions == ()

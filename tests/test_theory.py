import math
from itertools import product

import numpy as np
import pytest
import reference

from uulearn.metrics import evaluate
from uulearn.metrics.definitions import OF_RATES
from uulearn.priors import Priors
from uulearn.theory import error_bound, plan, risk_variance

CASES = [
    (Priors(0.9, 0.4, prior=0.3), (200, 100)),
    (Priors(0.4, 0.9, prior=0.3), (100, 200)),
    (Priors(1, 0, prior=0.5), (50, 50)),
    (Priors(0.9, 0.5, 0.1, prior=0.2), (300, 20, 100)),
    (Priors(0.9, 0.5, 0.1, prior=0.2, convex=True), (300, 20, 100)),
]
over_cases = pytest.mark.parametrize(("priors", "sizes"), CASES)


class TestBound:
    """Theorem 3."""

    @pytest.mark.parametrize("delta", [0.01, 0.5])
    @pytest.mark.parametrize("pi", [0.2, 0.5, 0.8])
    def test_two_sets(self, pi, delta):
        """The paper's formula, whichever set is named first."""
        p = Priors(0.8, 0.1, prior=pi)
        expected = reference.error_bound(p.alpha, p.alpha_prime, 500, 100, 0.03, 0.2, 0.25, 2, delta)
        options = {"lipschitz": 0.25, "loss_bound": 2, "delta": delta}
        assert error_bound(p, (500, 100), (0.03, 0.2), **options) == pytest.approx(expected)
        swapped = Priors(0.1, 0.8, prior=pi)
        assert error_bound(swapped, (100, 500), (0.2, 0.03), **options) == pytest.approx(expected)

    def test_many_sets(self):
        """With |a_k - b_k| in the place of alpha: the same set cut in pieces keeps its complexity term."""
        options = {"lipschitz": 1, "loss_bound": 0}
        whole = error_bound(Priors(0.9, 0.4, prior=0.3), (60, 40), (0.1, 0.2), **options)
        parts = error_bound(Priors(0.9, 0.4, 0.9, prior=0.3), (20, 40, 40), (0.1, 0.2, 0.1), **options)
        assert parts == pytest.approx(whole)

    def test_vanishes(self):
        """It falls as 1 / sqrt(n) when the complexities do."""
        bounds = [
            error_bound(CASES[0][0], (2 * n, n), np.array([1, 2]) / math.sqrt(n), lipschitz=1, loss_bound=1)
            for n in (100, 400)
        ]
        assert bounds[0] == pytest.approx(2 * bounds[1])


def enumerated_variance(priors, sizes, rates):
    """Variance of the label-free error over every possible number of rows predicted positive in each set."""
    plus, minus = priors.coefficients(sizes)
    shares = priors.shares * rates[0] + (1 - priors.shares) * rates[1]
    outcomes = []
    for counts in product(*(range(n + 1) for n in sizes)):
        probability, estimate = 1.0, priors.prior
        for k, n, m, a, b in zip(counts, sizes, shares, plus, minus, strict=True):
            probability *= math.comb(n, k) * m**k * (1 - m) ** (n - k)
            estimate += (b - a) * k / n
        outcomes.append((probability, estimate))
    expected = sum(p * e for p, e in outcomes)
    return sum(p * (e - expected) ** 2 for p, e in outcomes), expected


class TestVariance:
    """How far the label-free error strays."""

    @pytest.mark.parametrize("rates", [(0.8, 0.1), (1.0, 0.0), (0.3, 0.6)])
    @pytest.mark.parametrize(
        ("priors", "sizes"), [(priors, tuple(3 + k for k in range(len(n)))) for priors, n in CASES]
    )
    def test_enumeration(self, priors, sizes, rates):
        """It is the variance over all outcomes of small samples, and the expectation is the error itself."""
        variance, expected = enumerated_variance(priors, sizes, rates)
        assert risk_variance(priors, sizes, rates) == pytest.approx(variance)
        assert expected == pytest.approx(priors.prior * (1 - rates[0]) + (1 - priors.prior) * rates[1])

    @over_cases
    def test_bound(self, priors, sizes):
        """Without rates it bounds every classifier, and is reached where each set is predicted half and half."""
        bound = risk_variance(priors, sizes)
        grid = np.linspace(0, 1, 11)
        assert max(risk_variance(priors, sizes, (hit, alarm)) for hit, alarm in product(grid, grid)) <= bound + 1e-15
        assert risk_variance(priors, sizes, (0.5, 0.5)) == pytest.approx(bound)

    @over_cases
    def test_rate(self, priors, sizes):
        """Ten times the rows, a tenth of the variance."""
        assert risk_variance(priors, np.multiply(sizes, 10)) == pytest.approx(risk_variance(priors, sizes) / 10)

    def test_two_sets(self):
        """(alpha^2 / n + alpha'^2 / n') / 4 at most; labels at prior 1/2 give 1 / (4 N)."""
        p = Priors(0.9, 0.4, prior=0.3)
        assert risk_variance(p, (200, 100)) == pytest.approx((p.alpha**2 / 200 + p.alpha_prime**2 / 100) / 4)
        assert risk_variance(Priors(1, 0, prior=0.5), (50, 50)) == pytest.approx(1 / 400)

    def test_what_evaluate_reports(self):
        """The squared standard error that `evaluate` reports is this variance at the rates of the sample."""
        priors, n = Priors(0.9, 0.4, prior=0.3), np.array([4000, 3000])
        sets, positive = np.repeat([0, 1], n), np.repeat([1, -1, 1, -1], [3600, 400, 1200, 1800])
        scores = np.where(np.arange(7000) % 10 == 0, -positive, positive)
        report = evaluate(sets, scores=scores, set_priors=(0.9, 0.4), prior=0.3)
        variance = risk_variance(priors, n, (report.tpr.value, report.fpr.value))
        assert report.error.standard_error**2 == pytest.approx(variance, rel=1e-3)


class TestPlan:
    """The question turned round."""

    @pytest.mark.parametrize("rates", [None, (0.9, 0.2)])
    @pytest.mark.parametrize("standard_error", [0.1, 0.01, 0.003])
    @over_cases
    def test_plugged_back_in(self, priors, sizes, standard_error, rates):
        """That many rows bring the wanted standard error, a row less in every set does not."""
        planned = plan(priors, standard_error, split=sizes, rates=rates)
        rows = np.array(list(planned.rows.values()))
        assert rows / rows.sum() == pytest.approx(np.array(sizes) / sum(sizes), abs=1 / rows.min())
        assert risk_variance(priors, rows, rates) <= standard_error**2 * (1 + 1e-6)
        assert risk_variance(priors, rows - 1, rates) > standard_error**2 * (1 - 1e-6)
        assert planned.standard_error == pytest.approx(np.sqrt(risk_variance(priors, rows, rates)), rel=0.01)

    def test_named_sets_of_equal_size(self):
        """Sets are named; those of equal size are those of a split in equal parts."""
        priors = Priors({"A": 0.9, "B": 0.4}, prior=0.3)
        equal = plan(priors, 0.01, split="equal")
        assert equal == plan(priors, 0.01, split=(5, 5))
        assert equal.rows == {"A": 6472, "B": 6472}
        assert equal.total == 12944
        assert 2500 * (priors.alpha**2 + priors.alpha_prime**2) == pytest.approx(6472)

    @pytest.mark.parametrize("rates", [None, (0.9, 0.2), (0.99, 0.01)])
    @pytest.mark.parametrize("metric", OF_RATES)
    @over_cases
    def test_no_split_needs_fewer_rows(self, priors, sizes, metric, rates):
        """Of two hundred splits none needs fewer rows than the best, which two sets share."""
        rates = rates or ((0.8, 0.1) if OF_RATES[metric].bottom is not None else None)
        options = {"metric": metric, "rates": rates}
        best = plan(priors, 0.001, **options)
        splits = np.random.default_rng(0).dirichlet(np.ones(len(sizes)), 200)
        others = [plan(priors, 0.001, split=np.maximum(split, 1e-9), **options).total for split in splits]
        assert best.total <= min(others) + len(sizes)
        assert min(others) < 1.3 * best.total
        assert sum(rows > 0 for rows in best.rows.values()) <= 2

    def test_neyman(self):
        """Two sets: n_k is proportional to alpha_k times the binomial standard deviation, and the sum of them squared
        over the variance is the total."""
        priors, (hit, alarm) = Priors(0.9, 0.4, prior=0.3), (0.9, 0.2)
        m = priors.shares * hit + (1 - priors.shares) * alarm
        term = np.array([priors.alpha, priors.alpha_prime]) * np.sqrt(m * (1 - m))
        best = plan(priors, 0.001, rates=(hit, alarm))
        rows = np.array(list(best.rows.values()))
        assert rows == pytest.approx(term * term.sum() / 0.001**2, abs=1)
        assert best.total == pytest.approx((term.sum() / 0.001) ** 2, abs=2)

    @pytest.mark.parametrize("metric", OF_RATES)
    def test_what_evaluate_reports(self, metric):
        """`evaluate` reports the planned standard error where the sets are as planned and the rates as foreseen."""
        priors, rates = Priors(0.9, 0.4, 0.2, prior=0.3), (0.9, 0.1)
        planned = plan(priors, 0.01, metric=metric, rates=rates, split="equal")
        sets = np.repeat([0, 1, 2], list(planned.rows.values()))
        m = priors.shares * rates[0] + (1 - priors.shares) * rates[1]
        scores = np.concatenate(
            [np.where(np.arange(n) < round(n * p), 1.0, -1.0) for n, p in zip(planned.rows.values(), m, strict=True)]
        )
        report = evaluate(sets, scores=scores, set_priors=(0.9, 0.4, 0.2), prior=0.3)
        assert report[metric].standard_error == pytest.approx(0.01, rel=0.01)

    def test_sets_of_one_class(self):
        """Where the spread is nil, two rows of each set serve."""
        assert plan(Priors(1, 0, prior=0.5), 0.01, rates=(1, 0)).rows == {0: 2, 1: 2}

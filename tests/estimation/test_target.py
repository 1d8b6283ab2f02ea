"""The target's prior from the sets."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from uulearn import estimate_target_prior
from uulearn.estimation import SetPriors
from uulearn.estimation.target import one_sample, prior_from_scores
from uulearn.sets import match_sets

SHARES = {"A": 0.8, "B": 0.3}


def rows(shares, size, seed, distance=2.0):
    """Rows of a set for each share, drawn one by one, and the name of the set of each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(list(shares), size)
    positive = rng.random(len(y)) < np.array([shares[name] for name in y])
    return rng.normal(size=(len(y), 2)) + distance * positive[:, None] * np.eye(2)[0], y


def estimated(prior=0.2, shares=SHARES, n_target=1500, seed=0, **options):
    X, y = rows(shares, 1500, seed)
    X_target, _ = rows({"target": prior}, n_target, 1000 + seed)
    return estimate_target_prior(
        options.pop("X_target", X_target),
        options.pop("X", X),
        options.pop("y", y),
        options.pop("set_priors", shares),
        **{"estimator": LogisticRegression(), "random_state": seed, **options},
    )


@pytest.mark.parametrize("method", ["means", "em"])
@pytest.mark.parametrize("shares", [SHARES, {**SHARES, "C": 0.6}])
@pytest.mark.parametrize("prior", [0.05, 0.5, 0.9])
def test_finds_the_prior(method, shares, prior):
    """Also beyond the shares of the sets, where lambda leaves [0, 1]."""
    found = estimated(prior, shares, method=method)
    assert found.value == pytest.approx(prior, abs=0.07)
    assert found.low <= found.value <= found.high
    assert found.method == method


def test_the_formula():
    """With two sets it is pi = theta' + lambda (theta - theta'), for the score it settles on."""
    y = np.repeat(["A", "B"], 40)
    own = np.where(np.arange(80) % 40 < np.where(y == "A", 32, 12), 50.0, -50.0)  # perfect scores
    sets = match_sets(y, SHARES, 0.5)
    new = np.where(np.arange(50) < 10, 50.0, -50.0)
    found = prior_from_scores(
        own[None], new[None], sets, one_sample(50, None, sets), set_priors=SHARES, method="means", confidence=0.95
    )
    assert found.value == pytest.approx(0.2, abs=1e-6)
    lam = (0.2 - 0.3) / 0.5
    variances = [0.8 * 0.2 / 39 * lam**2, 0.3 * 0.7 / 39 * (1 - lam) ** 2, 0.2 * 0.8 / 49]
    assert found.standard_error == pytest.approx(np.sqrt(sum(variances)), rel=1e-3)


def test_only_the_result_is_clipped():
    """No positives may look like fewer than none: the value stays in [0, 1], `unclipped` need not."""
    found = [estimated(0.0, n_target=100, seed=seed) for seed in range(4)]
    assert min(one.unclipped for one in found) < 0
    assert all(0 <= one.low <= one.value <= one.high <= 1 for one in found)


def test_uncertain_set_priors():
    """Estimated set priors bring their uncertainty along: by the derivative of lambda's line."""
    sure = estimated()
    covariance = np.array([[4e-4, 1e-4], [1e-4, 9e-4]])
    unsure = estimated(set_priors=SetPriors(SHARES, dict.fromkeys(SHARES, (0, 1)), covariance, "test"))
    lam = (sure.value - 0.3) / 0.5
    slope = np.array([lam, 1 - lam])
    assert unsure.value == sure.value
    added = unsure.standard_error**2 - sure.standard_error**2
    assert added == pytest.approx(slope @ covariance @ slope, rel=1e-4)


def test_groups_count_once():
    """Rows that come in identical fours are worth a quarter."""
    X, y = rows(SHARES, 1500, 0)
    X_target, _ = rows({"target": 0.2}, 1500, 1000)
    four = {"X": np.tile(X, (4, 1)), "y": np.tile(y, 4), "X_target": np.tile(X_target, (4, 1))}
    named = {"groups": np.tile(np.arange(3000), 4), "target_groups": np.tile(np.arange(1500), 4)}
    for method in ("means", "em"):
        alone = estimated(method=method).standard_error
        assert estimated(**four, **named, method=method).standard_error == pytest.approx(alone, rel=0.05)
        assert estimated(**four, method=method).standard_error == pytest.approx(alone / 2, rel=0.05)


def test_weights():
    """Target rows of weight 0 are not there."""
    X_target, _ = rows({"target": 0.2}, 1500, 1000)
    weight = np.r_[np.ones(1500), np.zeros(500)]
    found = estimated(X_target=np.r_[X_target, X_target[:500] + 5], target_weight=weight)
    assert found.value == pytest.approx(estimated().value, abs=1e-9)


def test_repeats_agree():
    """More cross-fits give about the same, and the same seed gives the same."""
    assert estimated(n_repeats=3).value == pytest.approx(estimated().value, abs=0.01)
    assert estimated(n_repeats=2) == estimated(n_repeats=2)


REFUSALS = {
    "method": ({"method": "bbse"}, r"method must be one of 'means', 'em'; got 'bbse'"),
    "columns": ({"X_target": np.zeros((5, 3))}, r"X_target and X must have the same columns; got rows of shape \(3,\)"),
    "no rows": ({"X_target": np.zeros((0, 2))}, r"X_target must have at least one row; got shape \(0, 2\)\. Pass"),
    "weights": ({"target_weight": 0}, r"target_weight must be positive for some rows; got zero weight for all of them"),
    "equal priors": ({"set_priors": (0.4, 0.4)}, r"set_priors must differ; got 0\.4 for both sets"),
    "target_groups": ({"target_groups": [1, 2]}, r"groups must name the group of each of 1500 rows; got an array"),
    "n_repeats": ({"n_repeats": 0}, r"n_repeats must be a whole number of at least 1; got 0"),
    "confidence": ({"confidence": 0}, r"confidence must be a number in \(0, 1\); got 0"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case):
    """Each refusal names the argument, the rule, the value and a way out."""
    options, words = REFUSALS[case]
    with pytest.raises(ValueError, match=words):
        estimated(**options)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["means"])
def test_coverage(method):
    """95 % intervals cover in 90 to 99 % of 200 samples (a standard error is 1.5 points)."""
    found = [estimated(seed=seed, method=method) for seed in range(200)]
    assert 0.9 <= np.mean([one.low <= 0.2 <= one.high for one in found]) <= 0.99
    assert abs(np.mean([one.unclipped for one in found]) - 0.2) < 3 * found[0].standard_error / np.sqrt(200)

import numpy as np
import pytest

from uulearn.metrics import NAMES, compare, error_difference, evaluate
from uulearn.metrics.differences import RESAMPLED
from uulearn.priors import Uncertain
from uulearn.sets import match_sets

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], [500, 400, 300])
SHARES = (0.9, 0.5, 0.2)
TRUTH = RNG.random(1200) < np.array(SHARES)[Y]
GOOD = np.where(TRUTH, 1.0, -1.0) + RNG.normal(size=1200)
WORSE = GOOD + RNG.normal(size=1200)
OPTIONS = {"set_priors": SHARES, "prior": 0.3}


def proba(z):
    return 1 / (1 + np.exp(-z))


def test_differences_of_values():
    """Each is the difference of what `evaluate` says, with costs and risks; nothing is left out but the resampled."""
    more = {"costs": (1, 5), **OPTIONS}
    found = {**compare(Y, proba(GOOD), proba(WORSE), proba=True, **more)}
    found |= compare(Y, GOOD, WORSE, metrics=(), loss=["sigmoid", "logistic"], **more)
    one, other = (
        evaluate(Y, scores=z, proba=proba(z), resamples=2, loss=["sigmoid", "logistic"], **more) for z in (GOOD, WORSE)
    )
    assert set(found) == {*NAMES, "cost", "sigmoid_risk", "logistic_risk"} - set(RESAMPLED)
    for name, estimate in found.items():
        assert estimate.value == pytest.approx(one[name].value - other[name].value, abs=1e-12), name


def test_paired():
    """Surer than either, and than the two standard errors together."""
    found = compare(Y, GOOD, GOOD + 0.1 * (WORSE - GOOD), **OPTIONS)
    alone = evaluate(Y, scores=GOOD, resamples=2, **OPTIONS)
    for name, estimate in found.items():
        assert 0 < estimate.standard_error < 0.7 * alone[name].standard_error, name


@pytest.mark.parametrize("name", [name for name in NAMES if name not in RESAMPLED])
def test_standard_errors(name):
    """Those of the bootstrap, within 15 % (400 resamples)."""
    rng = np.random.default_rng(1)
    options = {"proba": True, "metrics": name, **OPTIONS}
    found = compare(Y, proba(GOOD), proba(WORSE), **options)[name]
    drawn = []
    for _ in range(400):
        rows = np.concatenate([rng.choice(np.flatnonzero(k == Y), np.sum(k == Y)) for k in range(3)])
        drawn.append(compare(Y[rows], proba(GOOD[rows]), proba(WORSE[rows]), **options)[name].value)
    assert found.standard_error == pytest.approx(np.std(drawn), rel=0.15)


def test_the_same_classifier():
    """Differs by nothing, surely."""
    for estimate in compare(Y, GOOD, GOOD, **OPTIONS).values():
        assert (estimate.value, estimate.standard_error) == (0, 0)


def test_error_difference_is_one_of_them():
    """The short form used in training."""
    found = compare(Y, GOOD, WORSE, metrics="error", **OPTIONS).error
    assert error_difference(match_sets(Y, SHARES, 0.3), GOOD, WORSE) == pytest.approx(
        (found.value, found.standard_error)
    )


def test_groups_and_uncertain_priors():
    """Both widen the intervals of differences."""
    twice, groups = np.tile(np.arange(1200), 2), np.tile(np.arange(1200), 2)
    given = {"metrics": ["error", "auc"], **OPTIONS}
    single = compare(Y, GOOD, WORSE, **given)
    grouped = compare(Y[twice], GOOD[twice], WORSE[twice], groups=groups, **given)
    unsure = compare(Y, GOOD, WORSE, **given | {"set_priors": (Uncertain(0.9, 0.2), 0.5, 0.2)})
    for name, estimate in single.items():
        assert grouped[name].standard_error == pytest.approx(estimate.standard_error), name
        assert unsure[name].standard_error > 1.05 * estimate.standard_error, name

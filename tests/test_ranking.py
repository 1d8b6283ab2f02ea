import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from uulearn import class_auc, metrics
from uulearn.metrics import Estimate
from uulearn.priors import Uncertain


def test_equals_the_label_free_auc():
    """One line from the AUC of the sets gives what the signed weights of `evaluate` give, to the last digit."""
    rng = np.random.default_rng(0)
    sets, scores = np.repeat([0, 1], [300, 200]), rng.normal(size=500).round(1)
    scores[:300] += 0.5
    expected = metrics.evaluate(sets, scores=scores, set_priors=(0.9, 0.4), prior=0.2).auc.value
    assert class_auc(roc_auc_score(sets == 0, scores), (0.9, 0.4)).value == pytest.approx(expected)


def test_exact_on_a_population():
    """AUC_sets = 1/2 + (theta - theta') (AUC - 1/2), from the densities themselves."""
    positive, negative = np.random.default_rng(0).dirichlet(np.ones(20), size=2)

    def auc(high, low):
        return high @ (np.cumsum(low) - low / 2)

    for theta, theta_prime in ((0.9, 0.4), (1.0, 0.0), (0.3, 0.1)):
        rich, poor = (share * positive + (1 - share) * negative for share in (theta, theta_prime))
        assert class_auc(auc(rich, poor), {"a": theta_prime, "b": theta}).value == pytest.approx(
            auc(positive, negative)
        )


def test_errors_grow_by_the_same_factor():
    """The interval and the standard error are those of the sets, stretched; a bare number has none."""
    found = class_auc(Estimate(0.7, 0.01, 0.68, 0.72), (0.7, 0.3))
    assert tuple(vars(found).values()) == pytest.approx((1.0, 0.025, 0.95, 1.05))
    assert np.isnan(class_auc(0.7, (0.7, 0.3)).standard_error)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((1.2, (0.9, 0.4)), r"set_auc must be a number in \[0, 1\]; got 1\.2"),
        ((0.7, (0.9, 0.4, 0.1)), r"set_priors must name two sets for the AUC of one against the other; got 3\. With"),
        ((0.7, (0.4, 0.4)), r"set_priors must differ"),
    ],
)
def test_refusals(arguments, sentence):
    """What is no AUC, or no two sets, is refused."""
    with pytest.raises(ValueError, match=sentence):
        class_auc(*arguments)


def test_uncertain_shares():
    """The errors of the shares widen it: by the delta method of 1/2 + (AUC - 1/2) / (theta - theta')."""
    given = Estimate(0.7, 0.01, 0.68, 0.72)
    found = class_auc(given, (Uncertain(0.9, 0.05), Uncertain(0.4, 0.05)))
    assert found.standard_error == pytest.approx(np.hypot(0.02, 0.8 * np.hypot(0.05, 0.05)))
    assert found.high - found.value == pytest.approx(2 * found.standard_error)

"""The comparison methods: each equals its formula in a naive loop."""

from typing import Any

import numpy as np
import pytest
from reference import LOSSES, biased_risk, ccn_pooled_rates, ccn_rates, ccn_risk
from roster import blobs
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from uulearn import UUClassifier, UUKernelClassifier, UULinearClassifier
from uulearn.baselines import BiasedClassifier, CCNClassifier
from uulearn.losses import get
from uulearn.risk import Risk
from uulearn.sets import match_sets

PRIORS: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}
RECIPES = [BiasedClassifier(**PRIORS), CCNClassifier(**PRIORS), CCNClassifier(**PRIORS, reading="pooled")]


@pytest.mark.parametrize("reading", ["given", "pooled"])
def test_ccn_weights_equal_the_formula(reading: str) -> None:
    """The columns give the published loss in both readings, for sets of unequal size."""
    rng = np.random.default_rng(0)
    sets, scores, weight = np.repeat([0, 1], [30, 20]), rng.normal(size=50), rng.uniform(0.5, 2, 50)
    rich, poor = (list(zip(weight[sets == k], scores[sets == k], strict=True)) for k in (0, 1))
    n, n_prime = weight[sets == 0].sum(), weight[sets == 1].sum()
    rates = ccn_rates(0.9, 0.4) if reading == "given" else ccn_pooled_rates(n, n_prime, 0.9, 0.4)
    columns = CCNClassifier(**PRIORS, reading=reading)._columns(match_sets(sets, (0.9, 0.4), 0.3, weight))
    naive = ccn_risk(get("logistic").value, rich, poor, *rates)
    assert float(Risk(columns, "logistic").value(scores)) == pytest.approx(float(naive))


def test_biased_weights() -> None:
    """Richer set positive, poorer negative, every row 1 / n, whichever label is larger."""
    columns = BiasedClassifier(**PRIORS)._columns(match_sets([0, 1, 1, 1], (0.4, 0.9), 0.3))
    np.testing.assert_allclose(columns.plus, [0, 0.25, 0.25, 0.25])
    np.testing.assert_allclose(columns.minus, [0.25, 0, 0, 0])


def test_biased_risk_equals_the_loop() -> None:
    """So it is for weighted rows and any scores."""
    rng = np.random.default_rng(0)
    sets, scores, weight = np.repeat([0, 1], [30, 20]), rng.normal(size=50), rng.uniform(0.5, 2, 50)
    rich, poor = (list(zip(weight[sets == k], scores[sets == k], strict=True)) for k in (0, 1))
    columns = BiasedClassifier(**PRIORS)._columns(match_sets(sets, (0.9, 0.4), 0.3, weight))
    assert float(Risk(columns, "ramp").value(scores)) == pytest.approx(biased_risk(LOSSES["ramp"], rich, poor))


@pytest.mark.parametrize("recipe", RECIPES, ids=["biased", "ccn", "ccn-pooled"])
@pytest.mark.parametrize(
    "inner",
    [None, UUKernelClassifier(**PRIORS), UUClassifier(DecisionTreeClassifier(max_depth=3), **PRIORS)],
    ids=["default", "kernel", "trees"],
)
def test_any_core_model_can_be_trained_by_a_recipe(recipe: Any, inner: Any) -> None:
    """Recipes train any classifier of the library, and score at the target without a label."""
    X, sets, _ = blobs()
    clf = clone(recipe).set_params(estimator=inner).fit(X, sets)
    assert set(clf.predict(X)) <= {0, 1}
    assert clf.score(X, sets) == pytest.approx(1 - clf.evaluate(X, sets).error.value)


def test_naive_cut_is_worse_away_from_one_half() -> None:
    """The recipe that ignores the priors misses the boundary; UU does not."""
    X, sets, _ = blobs()
    new, _, truth = blobs((0.3, 0.1), (3000, 10), seed=9)
    naive = np.mean(BiasedClassifier(**PRIORS).fit(X, sets).predict(new) != truth)
    ours = np.mean(UULinearClassifier(**PRIORS).fit(X, sets).predict(new) != truth)
    assert ours + 0.05 < naive


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        (CCNClassifier(DecisionTreeClassifier(), **PRIORS), "Wrap a scikit-learn classifier in UUClassifier"),
        (BiasedClassifier(UULinearClassifier(**PRIORS, refine=1), **PRIORS), "estimator must have refine=0"),
        (CCNClassifier(**PRIORS, reading="pool"), "Did you mean 'pooled'"),
    ],
)
def test_refusals(recipe: Any, sentence: str) -> None:
    """What a recipe cannot train is refused with the way out."""
    X, sets, _ = blobs(sizes=(30, 30))
    with pytest.raises((TypeError, ValueError), match=sentence):
        recipe.fit(X, sets)


def test_ccn_takes_two_sets() -> None:
    """Noise rates are defined for two sets."""
    X, sets, _ = blobs((0.9, 0.5, 0.1), (50, 50, 50))
    with pytest.raises(ValueError, match=r"two sets for class-conditional noise; got 3\. Use another method, such as"):
        CCNClassifier(set_priors=(0.9, 0.5, 0.1), prior=0.3).fit(X, sets)


def test_a_grid_over_the_target_is_refused() -> None:
    """As for every estimator: candidates for different priors are not ranked by their own errors."""
    X, sets, _ = blobs(sizes=(50, 50))
    with pytest.raises(ValueError, match="'prior' was changed by set_params"):
        clone(RECIPES[0]).set_params(prior=0.2).fit(X, sets).score(X, sets)

"""Any scikit-learn classifier from unlabeled sets: routes, inversion, refusals."""

from typing import Any

import numpy as np
import pytest
import sklearn
from roster import blobs, expected_failures
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from uulearn import Priors, UUClassifier, make_unlabeled_sets
from uulearn.estimators.reduction import EDGE, Inversion

PRIORS: dict[str, Any] = {"set_priors": (0.9, 0.4), "prior": 0.3}


def failures_of_the_wrapped(estimator: Any) -> dict[str, str]:
    """What scikit-learn itself expects of the wrapped model."""
    if estimator.estimator is None:
        return {
            "check_sample_weight_equivalence_on_dense_data": (
                "HistGradientBoostingClassifier bins rows without their weights; scikit-learn expects it to fail too"
            )
        }
    return expected_failures(estimator)


@parametrize_with_checks(
    [
        UUClassifier(set_priors=(0, 1), prior=0.5),
        UUClassifier(LogisticRegression(), set_priors=(0, 1), prior=0.5, route="unmix"),
    ],
    expected_failed_checks=failures_of_the_wrapped,
)
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("shares", [(0.9, 0.4), (0.3, 0.7), (0.9, 0.5, 0.1), (1.0, 0.2)])
def test_inversion_returns_the_class_odds(shares: Any, prior: float) -> None:
    """From exact mixture densities the exact class odds come back, for two sets and more."""
    mixtures = Priors(shares, prior=prior).mixtures()
    likelihood = np.exp(np.linspace(-5, 5, 41))
    ratio = (mixtures.theta_plus * likelihood + 1 - mixtures.theta_plus) / (
        mixtures.theta_minus * likelihood + 1 - mixtures.theta_minus
    )
    expected = np.log(likelihood) + logit(prior)
    inside = np.abs(expected) < EDGE
    found = Inversion(mixtures, prior).log_odds(np.log(ratio))
    np.testing.assert_allclose(found[inside], expected[inside], rtol=1e-8, atol=1e-8)
    assert not Inversion(mixtures, prior).outside(np.log(ratio)).any()


def test_inversion_beyond_the_legal_interval() -> None:
    """Outside, scores are finite, continuous and keep the order of the ratios."""
    inversion = Inversion(Priors(0.9, 0.4, prior=0.2).mixtures(), 0.2)
    log_ratio = np.linspace(-30, 30, 20001)
    odds = inversion.log_odds(log_ratio)
    assert np.all(np.isfinite(odds))
    assert np.all(np.diff(odds) > 0)
    assert np.diff(odds).max() < 2.0
    assert inversion.outside(np.log([0.99 * 0.1 / 0.6, 1.01 * 0.9 / 0.4])).all()
    assert not inversion.outside(np.log([1.01 * 0.1 / 0.6, 0.99 * 0.9 / 0.4])).any()


@pytest.mark.parametrize("route", ["weight", "unmix"])
@pytest.mark.parametrize(
    "estimator",
    [
        GaussianNB(),
        RandomForestClassifier(min_samples_leaf=20, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=["naive bayes", "forest", "pipeline"],
)
def test_any_classifier_learns(estimator: Any, route: str) -> None:
    """Both routes, with and without refinement, for different kinds of classifiers."""
    X, sets, _ = blobs()
    new, _, truth = blobs((0.3, 0.1), (2000, 10), seed=9)
    for refine in (0, 1):
        clf = UUClassifier(estimator, **PRIORS, route=route, refine=refine, random_state=0).fit(X, sets)
        assert np.mean(clf.predict(new) == truth) > 0.8


def test_weight_route_hands_over_the_reduced_weights() -> None:
    """The wrapped fit sees label sign(w_plus - w_minus) and positive weights that sum to the number of rows."""
    seen: dict[str, Any] = {}

    class Spy(LogisticRegression):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.update(y=y, weight=sample_weight)
            return super().fit(X, y, sample_weight)

    X, sets, _ = blobs()
    UUClassifier(Spy(), **PRIORS).fit(X, sets)
    priors = Priors(0.9, 0.4, prior=0.3)
    assert np.array_equal(seen["y"], 1 - sets)
    assert seen["weight"].sum() == pytest.approx(len(X))
    rich, poor = seen["weight"][sets == 0][0], seen["weight"][sets == 1][0]
    assert rich / poor == pytest.approx((priors.alpha / 600) / (priors.alpha_prime / 300))
    assert np.all(seen["weight"] > 0)


def test_unmix_of_two_sets_needs_no_weights() -> None:
    """Two plain sets are told apart as they come, so a classifier without sample_weight will do."""
    X, sets, _ = blobs()
    clf = UUClassifier(KNeighborsClassifier(50), **PRIORS, route="unmix").fit(X, sets)
    assert 0 < 1 - clf.score(X, sets) < 0.25


@pytest.mark.parametrize("route", ["weight", "unmix"])
def test_rows_of_no_weight_do_not_reach_the_model(route: str) -> None:
    """Bins and leaves of trees count rows, whatever their weight: those of weight zero are left out."""
    X, sets, _ = blobs()
    weight = np.where(np.arange(len(X)) % 3, 1.0, 0.0)
    kept = weight > 0
    for estimator in (HistGradientBoostingClassifier(), KNeighborsClassifier(30)):
        if route == "weight" and isinstance(estimator, KNeighborsClassifier):
            continue
        clf = UUClassifier(estimator, calibrate=False, **PRIORS, route=route, random_state=0)
        scores = clf.fit(X, sets, sample_weight=weight).decision_function(X)
        assert np.array_equal(clf.fit(X[kept], sets[kept]).decision_function(X), scores)


@pytest.mark.parametrize("route", ["weight", "unmix"])
def test_the_unit_of_weights_does_not_matter(route: str) -> None:
    """Weights that differ are used however small they are: without a penalty only their ratios count."""
    X, sets, _ = blobs()
    weight = np.where(X[:, 1] > 0, 5.0, 1.0)
    clf = UUClassifier(LogisticRegression(C=np.inf, tol=1e-10), calibrate=False, **PRIORS, route=route)
    plain = clf.fit(X, sets, sample_weight=weight).decision_function(X)
    np.testing.assert_allclose(clf.fit(X, sets, sample_weight=1e-9 * weight).decision_function(X), plain, rtol=1e-3)


def test_both_routes_agree_on_exact_ratios() -> None:
    """A model that fits the set posterior well gives both routes the same class probability."""
    X, sets, _ = blobs(sizes=(2000, 1000))
    both = [
        UUClassifier(GaussianNB(), calibrate=False, **PRIORS, route=route).fit(X, sets).predict_proba(X)[:, 1]
        for route in ("weight", "unmix")
    ]
    np.testing.assert_allclose(both[0], both[1], atol=1e-6)


def test_decision_values_alone_are_enough_for_the_weight_route() -> None:
    """LinearSVC has no probabilities: it decides and ranks, and predict_proba is not offered."""
    X, sets, _ = blobs()
    clf = UUClassifier(LinearSVC(), **PRIORS).fit(X, sets)
    assert 0 < 1 - clf.score(X, sets) < 0.25
    assert clf.clipped_share_ == 0
    assert not hasattr(clf, "predict_proba")


def test_the_share_of_clipped_ratios_is_kept() -> None:
    """Over-confident trees leave the legal interval often, a smooth model hardly ever."""
    X, sets, _ = blobs(distance=1.0)
    trees = UUClassifier(HistGradientBoostingClassifier(random_state=0), **PRIORS).fit(X, sets)
    smooth = UUClassifier(LogisticRegression(C=0.01), **PRIORS).fit(X, sets)
    assert smooth.clipped_share_ < trees.clipped_share_ <= 1


def test_missing_values_pass_to_a_model_that_takes_them() -> None:
    """The default trees accept NaN; a linear model's refusal comes through."""
    X, sets, _ = blobs()
    X[::10, 0] = np.nan
    new, _, truth = blobs((0.3, 0.1), (1000, 10), seed=9)
    new[::10, 0] = np.nan
    assert np.mean(UUClassifier(**PRIORS, random_state=0).fit(X, sets).predict(new) == truth) > 0.7
    with pytest.raises(ValueError, match="NaN"):
        UUClassifier(LogisticRegression(), **PRIORS).fit(X, sets)


def test_categorical_columns_reach_the_model() -> None:
    """A data frame is handed over as it is, so the trees see its categories."""
    pandas = pytest.importorskip("pandas")
    X, sets, _ = blobs()
    frame = pandas.DataFrame({"x": X[:, 0], "site": pandas.Categorical(np.where(X[:, 1] > 0, "north", "south"))})
    inner = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    clf = UUClassifier(inner, **PRIORS, refine=1, random_state=0).fit(frame, sets)
    assert clf.estimator_.is_categorical_.tolist() == [False, True]


class Mute(ClassifierMixin, BaseEstimator):
    """A classifier that names classes and scores nothing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        raise AssertionError("nothing is trained before the refusal")


@pytest.mark.parametrize(
    ("estimator", "options", "sentence"),
    [
        (
            KNeighborsClassifier(),
            {},
            "route='weight' needs an estimator whose fit takes sample_weight; KNeighborsClassifier's does not",
        ),
        (
            KNeighborsClassifier(),
            {"route": "unmix", "refine": 1},
            "refine needs an estimator whose fit takes sample_weight",
        ),
        (
            StackingClassifier([("trees", DecisionTreeClassifier(max_depth=2))], LinearSVC()),
            {"route": "unmix"},
            "route='unmix' needs an estimator with predict_proba; StackingClassifier has none",
        ),
        (Mute(), {}, "estimator must have predict_proba or decision_function; Mute has neither. Use another"),
        (LinearSVC(), {"route": "unmix"}, "route='unmix' needs an estimator with predict_proba; LinearSVC has none"),
        (
            LogisticRegression(),
            {"route": "wieght"},
            "route must be one of 'weight', 'unmix'; got 'wieght'. Did you mean 'weight'",
        ),
        ("tree", {}, "estimator must be an instance of a scikit-learn classifier; got 'tree'"),
    ],
)
def test_refusals(estimator: Any, options: Any, sentence: str) -> None:
    """What a route needs is said before anything is trained."""
    X, sets, _ = blobs(sizes=(30, 30))
    with pytest.raises((TypeError, ValueError), match=sentence):
        UUClassifier(estimator, **PRIORS, **options).fit(X, sets)


def test_a_stack_scores_with_its_last_model() -> None:
    """What a stack offers is known once it is fitted; until then it is given the benefit of the doubt."""
    X, sets, _ = blobs()
    inner = StackingClassifier([("trees", DecisionTreeClassifier(max_depth=2)), ("bayes", GaussianNB())])
    for route in ("weight", "unmix"):
        clf = UUClassifier(inner, **PRIORS, route=route, random_state=0).fit(X, sets)
        assert 0 < 1 - clf.score(X, sets) < 0.25
        assert clf.predict_proba(X).shape == (len(X), 2)


@pytest.mark.parametrize(
    "inner",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), LogisticRegression())),
        CalibratedClassifierCV(GaussianNB(), cv=3),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=5, random_state=0),
    ],
    ids=["pipeline", "pipeline in a pipeline", "calibrated", "boosted"],
)
def test_weights_under_metadata_routing(inner: Any) -> None:
    """With routing on, the weights reach the model as without: they are not the user's to route."""
    X, sets, _ = blobs()
    plain = UUClassifier(inner, calibrate=False, **PRIORS).fit(X, sets).decision_function(X)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = UUClassifier(inner, calibrate=False, **PRIORS).fit(X, sets).decision_function(X)
    np.testing.assert_allclose(routed, plain)


def test_weights_that_parts_ask_for() -> None:
    """What takes weights by routing alone gets them where its parts ask for them."""
    X, sets, _ = blobs()
    plain = UUClassifier(LogisticRegression(), calibrate=False, **PRIORS).fit(X, sets).decision_function(X)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = FixedThresholdClassifier(LogisticRegression().set_fit_request(sample_weight=True))
        routed = UUClassifier(inner, calibrate=False, **PRIORS).fit(X, sets).decision_function(X)
    np.testing.assert_allclose(routed, plain)


def test_texts_reach_a_pipeline() -> None:
    """Rows may be texts where the estimator takes them."""
    texts = np.array(["good fine good", "bad poor", "good", "poor bad bad"] * 50)
    _, sets, indices = make_unlabeled_sets(texts, [1, 0, 1, 0] * 50, (0.9, 0.2), (60, 60), random_state=0)
    inner = make_pipeline(CountVectorizer(), LogisticRegression())
    clf = UUClassifier(inner, set_priors=(0.9, 0.2), prior=0.5).fit(texts[indices].tolist(), sets)
    assert clf.predict(["good good", "poor"]).tolist() == [1, 0]


def test_random_state_reaches_into_a_pipeline() -> None:
    """The same seed gives the same forest, however deep it is."""
    X, sets, _ = blobs()
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    first, second = (UUClassifier(inner, **PRIORS, random_state=0).fit(X, sets) for _ in range(2))
    assert np.array_equal(first.decision_function(X), second.decision_function(X))


def test_wrong_priors_beyond_one_give_finite_scores() -> None:
    """The inversion clips shares that no probability can have."""
    X, sets, _ = blobs((0.9, 0.1), (300, 300))
    loose = Priors(1.08, 0.08, prior=0.5, allow_out_of_range=True)
    for route in ("weight", "unmix"):
        clf = UUClassifier(GaussianNB(), set_priors=loose, prior=0.5, route=route).fit(X, sets)
        assert np.all(np.isfinite(clf.decision_function(X)))

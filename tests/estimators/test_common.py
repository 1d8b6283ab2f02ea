"""Laws that hold for every estimator in the roster."""

import pickle
from typing import Any

import numpy as np
import pytest
from roster import ESTIMATORS, blobs
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 -- importing it is what enables the search
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, StratifiedGroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn import Priors, UULinearClassifier, make_unlabeled_sets, metrics
from uulearn.priors import ClosePriorsWarning
from uulearn.refinement import split
from uulearn.sets import match_sets

PRIORS = (0.9, 0.4)
each = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)


def fitted(make: Any, **options: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    X, sets, _ = blobs()
    return make(**{"set_priors": PRIORS, "prior": 0.3, "random_state": 0, **options}).fit(X, sets), X, sets


def target(prior: float = 0.3, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Fresh rows of the target and their classes."""
    rng = np.random.default_rng(99)
    truth = (rng.random(n) < prior).astype(int)
    return rng.normal(size=(n, 3)) + 2.0 * truth[:, None] * np.eye(3)[0], truth


@each
@pytest.mark.parametrize("refine", [0, 1, "auto"])
def test_learns_the_classes_without_a_label(make: Any, refine: Any) -> None:
    """The Bayes error at prior .3 is 13.6 %; predicting nothing costs 30 %."""
    clf, _, _ = fitted(make, refine=refine)
    X, truth = target()
    assert np.mean(clf.predict(X) != truth) < 0.20


@each
@pytest.mark.parametrize("refine", [0, 1])
def test_probability_prediction_and_sign_agree(make: Any, refine: int) -> None:
    """argmax of the probability, `predict` and the sign of the score name the same class."""
    clf, X, _ = fitted(make, refine=refine)
    proba, scores = clf.predict_proba(X), clf.decision_function(X)
    assert proba.shape == (len(X), 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert np.array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(X))
    assert np.array_equal(clf.predict(X) == clf.classes_[1], scores > 0)
    order = np.argsort(scores)
    assert np.all(np.diff(proba[order, 1]) >= 0)


@each
def test_probabilities_are_those_of_the_target(make: Any) -> None:
    """The mean probability over target rows is near the target prior, which neither set has."""
    clf, _, _ = fitted(make)
    X, truth = target()
    assert abs(clf.predict_proba(X)[:, 1].mean() - truth.mean()) < 0.05


@each
def test_order_and_names_of_the_sets_do_not_matter(make: Any) -> None:
    """Swapping the set labels together with their priors changes nothing."""
    clf, X, sets = fitted(make)
    swapped = make(set_priors=PRIORS[::-1], prior=0.3, random_state=0).fit(X, 1 - sets)
    named = make(set_priors={"rich": 0.9, "poor": 0.4}, prior=0.3, random_state=0).fit(
        X, np.where(sets == 0, "rich", "poor")
    )
    for other in (swapped, named):
        np.testing.assert_allclose(other.decision_function(X), clf.decision_function(X), rtol=1e-4, atol=1e-5)


@each
def test_priors_zero_and_one_are_supervised_learning(make: Any) -> None:
    """With set_priors (0, 1) the sets are the classes, and labels come back out."""
    X, _, truth = blobs((0.5, 0.3), (400, 400))
    names = np.where(truth == 1, "yes", "no")
    clf = make(set_priors={"no": 0, "yes": 1}, prior=0.4).fit(X, names)
    assert clf.classes_.tolist() == ["no", "yes"]
    assert np.mean(clf.predict(X) == names) > 0.75
    report = clf.evaluate(X, names)
    hits = clf.predict(X[truth == 1]) == "yes"
    assert report.tpr.value == pytest.approx(hits.mean())


@each
def test_classes_name_what_is_predicted(make: Any) -> None:
    """`classes=(negative, positive)` is `classes_`."""
    clf, X, _ = fitted(make, classes=("healthy", "ill"))
    assert clf.classes_.tolist() == ["healthy", "ill"]
    assert set(clf.predict(X)) == {"healthy", "ill"}


@each
def test_duplicated_rows_are_doubled_weights(make: Any) -> None:
    """A row of weight two is two rows; the folds of the calibration are drawn by rows, so it is left out."""
    X, sets, _ = blobs(sizes=(200, 100))
    twice = np.random.default_rng(0).random(len(X)) < 0.3
    weighted = make(set_priors=PRIORS, prior=0.3, calibrate=False).fit(X, sets, sample_weight=1.0 + twice)
    repeated = make(set_priors=PRIORS, prior=0.3, calibrate=False).fit(
        np.vstack([X, X[twice]]), np.concatenate([sets, sets[twice]])
    )
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=2e-3, atol=2e-3)


@each
@pytest.mark.parametrize("refine", [0, 1])
def test_rows_of_no_weight_are_absent(make: Any, refine: int) -> None:
    """A row of weight zero is no row; without calibration, whose folds are drawn by rows."""
    X, sets, _ = blobs(sizes=(200, 100))
    weight = np.where(np.arange(300) % 3, 1.0, 0.0)
    kept = weight > 0
    weighted = make(set_priors=PRIORS, prior=0.3, refine=refine, calibrate=False, random_state=0).fit(
        X, sets, sample_weight=weight
    )
    fewer = make(set_priors=PRIORS, prior=0.3, refine=refine, calibrate=False, random_state=0).fit(X[kept], sets[kept])
    np.testing.assert_allclose(weighted.decision_function(X), fewer.decision_function(X), rtol=2e-3, atol=2e-3)


@each
def test_more_than_two_sets(make: Any) -> None:
    """Three sets, two of them with the same share, train and are evaluated."""
    X, sets, _ = blobs((0.8, 0.2, 0.2), (400, 300, 200))
    clf = make(set_priors=(0.8, 0.2, 0.2), prior=0.3, refine=1).fit(X, sets)
    rows, truth = target()
    assert np.mean(clf.predict(rows) != truth) < 0.20
    assert 0 < 1 - clf.score(X, sets) < 0.3


@each
def test_score_is_the_label_free_error(make: Any) -> None:
    """`score` = 1 - error, `evaluate` reports it with its standard error, and the truth lies near."""
    clf, _, _ = fitted(make)
    X, sets, truth = blobs(sizes=(3000, 3000), seed=5)
    report = clf.evaluate(X, sets)
    assert clf.score(X, sets) == pytest.approx(1 - report.error.value)
    wrong = clf.predict(X) != truth
    exact = 0.3 * wrong[truth == 1].mean() + 0.7 * wrong[truth == 0].mean()
    assert abs(report.error.value - exact) < 4 * report.error.standard_error
    direct = metrics.evaluate(sets, scores=clf.decision_function(X), set_priors=PRIORS, prior=0.3)
    assert direct.auc.value == pytest.approx(report.auc.value)


@each
def test_same_seed_same_result(make: Any) -> None:
    """`random_state` fixes everything; clones and pickles predict the same."""
    clf, X, sets = fitted(make, refine=1)
    again = clone(clf).fit(X, sets)
    loaded = pickle.loads(pickle.dumps(clf))
    assert np.array_equal(clf.decision_function(X), again.decision_function(X))
    assert np.array_equal(clf.decision_function(X), loaded.decision_function(X))


@each
def test_searches_tune_without_a_label(make: Any) -> None:
    """Cross-validation and searches work unchanged, inside and outside a pipeline, and score without a label."""
    X, sets, _ = blobs(sizes=(300, 200))
    clf = make(set_priors=PRIORS, prior=0.3)
    scores = cross_val_score(make_pipeline(StandardScaler(), clf), X, sets, cv=3)
    assert np.all(np.isfinite(scores))
    assert scores.mean() > 0.7
    name = next(name for name in ("C", "estimator__C", "weight_decay") if name in clf.get_params())
    grid = GridSearchCV(clf, {name: [0.01, 1.0]}, cv=3).fit(X, sets)
    assert grid.best_score_ > 0.7
    assert set(grid.predict(X)) == {0, 1}
    halving = HalvingGridSearchCV(clf, {name: [0.01, 1.0]}, cv=3, random_state=0).fit(X, sets)
    assert halving.best_score_ > 0.5


@each
def test_a_grid_over_the_target_is_refused(make: Any) -> None:
    """Candidates for different priors would be scored on different targets."""
    X, sets, _ = blobs(sizes=(100, 100))
    grid = GridSearchCV(make(set_priors=PRIORS, prior=0.3), {"prior": [0.2, 0.3]}, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="one target; 'prior' was changed by set_params"):
        grid.fit(X, sets)


@each
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames(make: Any, library: str) -> None:
    """Frames go in, feature names are kept and checked."""
    frames = pytest.importorskip(library)
    X, sets, _ = blobs(sizes=(200, 100))
    frame = frames.DataFrame({f"x{i}": X[:, i] for i in range(3)})
    clf = make(set_priors=PRIORS, prior=0.3, refine=1, random_state=0).fit(frame, sets)
    assert clf.feature_names_in_.tolist() == ["x0", "x1", "x2"]
    np.testing.assert_allclose(
        clf.decision_function(frame),
        make(set_priors=PRIORS, prior=0.3, refine=1, random_state=0).fit(X, sets).decision_function(X),
    )
    renamed = frames.DataFrame({name: frame[f"x{i}"].to_numpy() for i, name in enumerate("xyz")})
    with pytest.raises(ValueError, match="feature names"):
        clf.predict(renamed)


@each
def test_sample_weight_is_routed(make: Any) -> None:
    """With metadata routing on, a search passes the weights to fit and to the score."""
    import sklearn

    X, sets, _ = blobs(sizes=(200, 100))
    with sklearn.config_context(enable_metadata_routing=True):
        clf = (
            make(set_priors=PRIORS, prior=0.3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        weight = np.where(sets == 0, 2.0, 1.0)
        grid = GridSearchCV(clf, {"cv": [3]}, cv=2).fit(X, sets, sample_weight=weight)
    assert np.isfinite(grid.best_score_)


@each
def test_float32_stays_float32(make: Any) -> None:
    """float32 rows give float32 scores and probabilities."""
    clf, X, sets = fitted(make)
    small = clone(clf).fit(X.astype(np.float32), sets)
    scores = small.decision_function(X.astype(np.float32))
    if make not in (ESTIMATORS["weight"], ESTIMATORS["unmix"]):
        assert scores.dtype == small.predict_proba(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(scores, clf.decision_function(X), rtol=0.05, atol=0.05)


def test_shared_rows_stay_in_one_fold() -> None:
    """Rows that two sets share go by their index: with `groups` no model is scored on a row that it saw."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [300, 150])
    X = rng.normal(size=(450, 3)) + 2.0 * truth[:, None]
    rows, sets, indices = make_unlabeled_sets(X, truth, (0.8, 0.4), (150, 150), overlap="allow", random_state=0)
    assert len(np.unique(indices)) < len(indices)
    matched = match_sets(sets, (0.8, 0.4), 0.3)
    apart = split(matched, 5, None, 0)
    together = split(matched, 5, indices, 0)
    assert any(set(indices[train]) & set(indices[test]) for train, test in apart)
    assert not any(set(indices[train]) & set(indices[test]) for train, test in together)
    clf = UULinearClassifier(set_priors=(0.8, 0.4), prior=0.3, refine=1, random_state=0)
    plain, grouped = clone(clf).fit(rows, sets), clone(clf).fit(rows, sets, groups=indices)
    assert not np.allclose(plain.coef_, grouped.coef_)
    scores = cross_val_score(clf, rows, sets, groups=indices, cv=StratifiedGroupKFold(3))
    assert np.all(np.isfinite(scores))


def test_set_params_that_change_nothing_are_no_search() -> None:
    """Only a changed target is refused by `score`."""
    X, sets, _ = blobs(sizes=(100, 100))
    clf = UULinearClassifier(set_priors=PRIORS, prior=0.3)
    assert np.isfinite(clf.set_params(**clf.get_params()).fit(X, sets).score(X, sets))


@pytest.mark.parametrize(
    ("given", "same", "other"),
    [
        ({"prior": 0.3}, {"prior": np.array([0.3])[0]}, {"prior": 0.31}),
        (
            {"set_priors": {"a": 0.9, "b": 0.4}},
            {"set_priors": {"b": 0.4, "a": 0.9}},
            {"set_priors": {"a": 0.4, "b": 0.9}},
        ),
        ({"set_priors": (0.9, 0.4)}, {"set_priors": np.array([0.9, 0.4])}, {"set_priors": (0.9, 0.4, 0.4)}),
        (
            {"set_priors": np.linspace(0.1, 0.9, 1500)},
            {"set_priors": np.linspace(0.1, 0.9, 1500)},
            {"set_priors": np.where(np.arange(1500) == 700, 0.95, np.linspace(0.1, 0.9, 1500))},
        ),
        (
            {"set_priors": Priors(0.9, 0.4, prior=0.3)},
            {"set_priors": Priors(0.9, 0.4, prior=0.3)},
            {"set_priors": Priors(0.9, 0.5, prior=0.3)},
        ),
    ],
    ids=["number", "mapping", "sequence", "long array", "Priors"],
)
def test_targets_are_compared_by_value(given: Any, same: Any, other: Any) -> None:
    """The same shares written otherwise are no search; a change deep inside an array is one."""
    clf = UULinearClassifier(**({"set_priors": PRIORS, "prior": 0.3} | given))
    clf.set_params(**same)._refuse_moved_target()
    with pytest.raises(ValueError, match="was changed by set_params"):
        clf.set_params(**other)._refuse_moved_target()
    clf.set_params(**given)._refuse_moved_target()


def test_a_target_that_is_put_back_scores_again() -> None:
    """The refusal lasts while a prior differs from what it was, however often it was changed."""
    X, sets, _ = blobs(sizes=(100, 100))
    clf = UULinearClassifier(set_priors=PRIORS, prior=0.3).fit(X, sets)
    before = clf.score(X, sets)
    clf.set_params(prior=0.2, set_priors=(0.8, 0.3)).set_params(prior=0.4)
    with pytest.raises(ValueError, match="'prior', 'set_priors' was changed"):
        clf.score(X, sets)
    with pytest.raises(ValueError, match="target; 'set_priors' was changed"):
        clf.set_params(prior=0.3).score(X, sets)
    assert clf.set_params(set_priors=PRIORS).score(X, sets) == before


def test_close_priors_are_said_once() -> None:
    """Scoring repeats no warning of the fit."""
    X, sets, _ = blobs((0.52, 0.48), (400, 400))
    clf = UULinearClassifier(set_priors=(0.52, 0.48), prior=0.5)
    with pytest.warns(ClosePriorsWarning, match="variance of the risk is") as said:
        clf.fit(X, sets)
    assert len(said) == 1
    assert np.isfinite(clf.score(X, sets))


@each
def test_auto_keeps_the_errors_it_judged_by(make: Any) -> None:
    """`refine="auto"` keeps the held-out label-free error of each number of rounds, and takes one of them."""
    clf, _, _ = fitted(make, refine="auto")
    assert 0 <= clf.n_rounds_ < len(clf.round_errors_)
    assert clf.round_errors_[clf.n_rounds_] < min(clf.round_errors_) + 0.1

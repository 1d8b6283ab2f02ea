import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from roster import BASELINES, ESTIMATORS, blobs, expected_failures
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from uulearn import UUClassifier, UUKernelClassifier, UULinearClassifier, UUSearch
from uulearn.refinement import split
from uulearn.selection import RULES, choose_near, likelihood_score, rank, search_scores
from uulearn.sets import match_sets

TOLD = {"set_priors": (0.9, 0.4), "prior": 0.3}
THREE = {"set_priors": (0.9, 0.5, 0.2), "prior": 0.3}


LABELS = {"set_priors": (0, 1), "prior": 0.5}


@parametrize_with_checks(
    [UUSearch([UULinearClassifier(**LABELS), UULinearClassifier(**LABELS, C=0.1)], cv=2, random_state=0)],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_contract(estimator, check):
    """scikit-learn's own checks, with the sets as classes."""
    check(estimator)


def lines(**told):
    """Three linear classifiers, the last two much alike."""
    told = told or TOLD
    return {f"C={C:g}": UULinearClassifier(**told, C=C) for C in (1e-5, 0.1, 1.0)}


@pytest.mark.parametrize("rule", RULES)
def test_what_it_does(rule):
    """Candidates are ranked by their out-of-fold scores, and the chosen one is trained on all rows."""
    X, y, _ = blobs()
    search = UUSearch(lines(), rule=rule, random_state=0).fit(X, y)
    folds = split(match_sets(y, **TOLD), 5, None, int(np.random.default_rng(0).integers(2**31)))
    scores = {}
    for name, candidate in lines().items():
        scores[name] = np.empty(len(y))
        for train, test in folds:
            scores[name][test] = clone(candidate).fit(X[train], y[train]).decision_function(X[test])
        np.testing.assert_array_equal(search.scores_[name], scores[name])
    assert search.ranking_.names == rank(y, scores, rule=rule, **TOLD).names
    assert search.best_name_ == search.ranking_.best
    assert search.best_name_ != "C=1e-05"
    alone = lines()[search.best_name_].fit(X, y)
    for method in ("decision_function", "predict", "predict_proba"):
        np.testing.assert_array_equal(getattr(search, method)(X), getattr(alone, method)(X))
    assert search.score(X, y) == alone.score(X, y)
    assert search.evaluate(X, y) == alone.evaluate(X, y)
    assert search.classes_.tolist() == [0, 1]
    assert search.n_features_in_ == 3


@pytest.mark.parametrize("make", [*ESTIMATORS.values(), *BASELINES.values()], ids=[*ESTIMATORS, *BASELINES])
def test_every_classifier_can_be_a_candidate(make):
    """All of the library's classifiers can be compared."""
    X, y, _ = blobs(sizes=(150, 100))
    search = UUSearch({"other": UULinearClassifier(**TOLD), "this": make(**TOLD)}, cv=3, random_state=0).fit(X, y)
    assert sorted(search.ranking_.names) == ["other", "this"]


def test_more_than_two_sets():
    """Three named sets, given as a mapping by one candidate and as a sequence by another."""
    X, y, _ = blobs(THREE["set_priors"], (300, 300, 300))
    names = np.array(["a", "b", "c"])[y]
    mapping = {"set_priors": {"c": 0.2, "b": 0.5, "a": 0.9}, "prior": 0.3}
    search = UUSearch([UULinearClassifier(**mapping), UULinearClassifier(**THREE, C=0.1)], random_state=0)
    assert search.fit(X, names).ranking_.error[0] < 0.3
    assert search.ranking_.names[0].startswith(("0: UULinear", "1: UULinear"))


def test_weights_and_groups():
    """Rows of weight 0 are absent, and copies in one group are no news."""
    X, y, _ = blobs(sizes=(200, 150))
    weight = np.where(np.arange(350) % 4, 1.0, 0.0)
    kept = weight > 0
    weighted = UUSearch(lines(), random_state=0).fit(X, y, sample_weight=weight)
    fewer = UUSearch(lines(), random_state=0).fit(X[kept], y[kept])
    assert weighted.ranking_.names == fewer.ranking_.names
    np.testing.assert_allclose(weighted.ranking_.error, fewer.ranking_.error)
    twice = {"X": np.tile(X, (2, 1)), "y": np.tile(y, 2), "groups": np.tile(np.arange(350), 2)}
    grouped = UUSearch(lines(), random_state=0).fit(**twice)
    scores = np.array(list(grouped.scores_.values()))
    np.testing.assert_array_equal(scores[:, :350], scores[:, 350:])
    alone = UUSearch(lines(), random_state=0).fit(twice["X"], twice["y"])
    assert grouped.ranking_.best == alone.ranking_.best
    assert grouped.ranking_.standard_error[0] > 1.2 * alone.ranking_.standard_error[0]


def test_pipelines_with_weights():
    """A pipeline hands weights and groups to its last step."""
    X, y, _ = blobs(sizes=(200, 150))
    piped = make_pipeline(StandardScaler(), UULinearClassifier(**TOLD, refine=1, cv=2, random_state=0))
    search = UUSearch([piped, UULinearClassifier(**TOLD, C=1e-4)], random_state=0)
    search.fit(X, y, sample_weight=np.ones(350), groups=np.arange(350))
    assert search.best_name_.startswith("0: Pipeline")
    assert search.predict(X).shape == (350,)


def test_a_search_as_a_candidate():
    """A search of scikit-learn over a classifier is a candidate; it is judged by rows that it did not tune on."""
    X, y, _ = blobs(sizes=(200, 150))
    tuned = GridSearchCV(UULinearClassifier(**TOLD), {"C": [1e-5, 0.1]}, cv=2)
    search = UUSearch({"tuned": tuned, "stiff": UULinearClassifier(**TOLD, C=1e-5)}, cv=3, random_state=0)
    assert search.fit(X, y, sample_weight=np.ones(350)).best_name_ == "tuned"
    assert search.best_estimator_.best_params_ == {"C": 0.1}


def test_rows_of_any_kind():
    """Lists, data frames and sparse rows are searched as arrays are."""
    X, y, _ = blobs(sizes=(100, 80))
    expected = UUSearch(lines(), random_state=0).fit(X, y).ranking_
    for rows in (X.tolist(), pd.DataFrame(X), sp.csr_array(X)):
        found = UUSearch(lines(), random_state=0).fit(rows, y.tolist()).ranking_
        np.testing.assert_allclose(found.error, expected.error)


def test_same_seed_same_result():
    """The seed settles the folds; two jobs find what one finds; candidates are left as they were."""
    X, y, _ = blobs(sizes=(150, 100))
    candidates = lines()
    first = UUSearch(candidates, random_state=3).fit(X, y)
    second = clone(first).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(first.ranking_.criterion, second.ranking_.criterion)
    other = UUSearch(candidates, random_state=4).fit(X, y)
    assert not np.array_equal(first.ranking_.criterion, other.ranking_.criterion)
    assert not any(hasattr(candidate, "coef_") for candidate in candidates.values())


def test_compare_only():
    """Without refit it compares, and says why it cannot predict."""
    X, y, _ = blobs(sizes=(100, 80))
    search = UUSearch(lines(), refit=False, random_state=0).fit(X, y)
    assert len(search.ranking_) == 3
    with pytest.raises(AttributeError, match=r"predicting needs the chosen classifier.*; got refit=False\. Fit with"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        UUSearch(lines()).predict(X)


def test_probabilities_where_the_chosen_has_them():
    """`predict_proba` is there if the chosen classifier has it."""
    X, y, _ = blobs(sizes=(100, 80))
    search = UUSearch([UUClassifier(LinearSVC(), **TOLD)], random_state=0)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search.fit(X, y), "predict_proba")


def test_a_chosen_splitter():
    """Folds may be those of a splitter."""
    X, y, _ = blobs(sizes=(100, 80))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    assert UUSearch(lines(), cv=folds).fit(X, y).best_name_ != "C=1e-05"


def test_in_a_grid_search():
    """`likelihood_score` is the rule, fold by fold, for scikit-learn's searches; other targets are refused."""
    X, y, _ = blobs()
    piped = make_pipeline(StandardScaler(), UULinearClassifier(**TOLD))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = {"uulinearclassifier__C": [1e-5, 0.1]}
    search = GridSearchCV(piped, grid, cv=folds, scoring=likelihood_score, error_score="raise").fit(X, y)
    assert search.best_params_ == {"uulinearclassifier__C": 0.1}
    train, test = next(folds.split(X, y))
    fitted = clone(piped).set_params(uulinearclassifier__C=0.1).fit(X[train], y[train])
    expected = -rank(y[test], {"it": fitted.decision_function(X[test])}, rule="likelihood", **TOLD).criterion[0]
    assert search.cv_results_["split0_test_score"][1] == pytest.approx(expected)
    moved = GridSearchCV(
        UULinearClassifier(**TOLD), {"prior": [0.2, 0.3]}, scoring=likelihood_score, error_score="raise"
    )
    with pytest.raises(ValueError, match="score must compare classifiers on one target; 'prior' was changed"):
        moved.fit(X, y)


def test_near_in_a_grid_search():
    """`choose_near` takes the likeliest of those near the least error, as fold by fold differences have it."""
    X, y, _ = blobs()
    grid = {"C": [1e-5, 0.01, 0.1, 1.0]}
    search = GridSearchCV(UULinearClassifier(**TOLD), grid, scoring=search_scores, refit=choose_near).fit(X, y)
    found = search.cv_results_
    errors = 1 - np.array([found[f"split{fold}_test_score"] for fold in range(5)])
    best = errors[:, errors.mean(axis=0).argmin()]
    near = [i for i in range(4) if np.mean(errors[:, i] - best) <= np.std(errors[:, i] - best, ddof=1) / 5**0.5]
    assert search.best_index_ == max(near, key=lambda i: found["mean_test_likelihood"][i])
    assert 0 not in near
    assert search.predict(X).shape == y.shape


def test_a_failed_candidate_is_not_near():
    """Scores of NaN, as of a candidate that could not be fitted, are passed over."""
    scores = {"split0_test_score": [np.nan, 0.7], "split1_test_score": [np.nan, 0.8]}
    assert choose_near({**scores, "mean_test_likelihood": np.array([np.nan, -1.0])}) == 1


X6, Y6 = np.arange(6.0).reshape(-1, 1), np.array([0, 0, 0, 1, 1, 1])


def searched(candidates, **options):
    return lambda: UUSearch(candidates, **options).fit(X6, Y6)


REFUSED = {
    "no candidates": (searched([]), TypeError, r"candidates must be a list of classifiers or a mapping .*; got \[\]\."),
    "one estimator for candidates": (
        searched(UULinearClassifier(**TOLD)),
        TypeError,
        r"candidates must be a list of classifiers or a mapping .*; got UULinearClassifier.*Name one or more",
    ),
    "a classifier that knows no sets": (
        searched({"plain": LogisticRegression()}),
        TypeError,
        r"plain must be an instance of a classifier with set_priors and prior, or a pipeline that ends in one; got "
        r"LogisticRegression\(\)\. Wrap a scikit-learn classifier in UUClassifier",
    ),
    "a class": (
        searched({"class": UULinearClassifier}),
        TypeError,
        r"class must be an instance of a classifier with set_priors",
    ),
    "two targets": (
        searched({"one": UULinearClassifier(**TOLD), "other": UULinearClassifier(set_priors=(0.9, 0.4), prior=0.2)}),
        ValueError,
        r"candidates must share set_priors and prior, .* got Priors\(.*prior=0\.3\) for one and Priors\(.*prior=0\.2\) "
        r"for other\. Search for each target by itself",
    ),
    "two targets in one": (
        searched([BASELINES["biased"](UUKernelClassifier(set_priors=(0.8, 0.4), prior=0.3), **TOLD)]),
        ValueError,
        r"0: .* must hold one target; got Priors.* beside Priors.*\. Give all its parts the same",
    ),
    "a search with other scores": (
        lambda: choose_near({"mean_test_score": np.zeros(3)}),
        ValueError,
        r"refit=choose_near needs scoring=search_scores and two folds or more; got results named 'mean_test_score'\. "
        r"Pass both",
    ),
    "an unknown rule": (searched(lines(), rule="f1"), ValueError, r"rule must be one of .*; got 'f1'"),
}


@pytest.mark.parametrize(("refused", "kind", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refusal(refused, kind, sentence):
    """Bad input is refused in a sentence that says what is wrong and what to do."""
    with pytest.raises(kind, match=sentence):
        refused()

import numpy as np
import pytest
from roster import blobs
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn import UUClassifier, UULinearClassifier
from uulearn.metrics import NAMES, evaluate, scorer

X, SETS, TRUTH = blobs()
PRIORS = {"set_priors": (0.9, 0.4), "prior": 0.3}


@pytest.mark.parametrize("name", NAMES)
def test_values(name):
    """A scorer gives the metric of `evaluate`, negated where less is better."""
    clf = UULinearClassifier(loss="logistic", **PRIORS).fit(X, SETS)
    report = evaluate(SETS, scores=clf.decision_function(X), proba=clf.predict_proba(X), **PRIORS)
    one = scorer(name)
    smaller_is_better = name in ("error", "balanced_error", "fpr", "log_loss", "brier", "calibration_error")
    assert one.sign == (-1 if smaller_is_better else 1)
    assert one(clf, X, SETS) == pytest.approx(one.sign * report[name].value, rel=1e-5)


def test_costs_and_risks():
    """With their arguments."""
    clf = UULinearClassifier(**PRIORS).fit(X, SETS)
    z = clf.decision_function(X)
    report = evaluate(SETS, scores=z, metrics="error", costs=(1, 9), loss="logistic", **PRIORS)
    assert scorer("cost", costs=(1, 9))(clf, X, SETS) == -report.cost.value
    assert scorer("risk", loss="logistic")(clf, X, SETS) == -report.logistic_risk.value


def test_several_in_a_search():
    """`GridSearchCV` takes a dictionary of them, around a pipeline too, and refits by one."""
    model = make_pipeline(StandardScaler(), UUClassifier(LogisticRegression(), **PRIORS))
    scoring = {name: scorer(name) for name in ("auc", "error", "log_loss")}
    search = GridSearchCV(model, {"uuclassifier__estimator__C": [1e-6, 1.0]}, scoring=scoring, refit="log_loss", cv=3)
    search.fit(X, SETS)
    assert search.best_params_ == {"uuclassifier__estimator__C": 1.0}
    assert np.all(search.cv_results_["mean_test_auc"] > 0.8)
    assert scorer("auc")(search, X, SETS) == scorer("auc")(search.best_estimator_, X, SETS)


def test_weights():
    """Rows of weight 0 are absent."""
    clf = UULinearClassifier(**PRIORS).fit(X, SETS)
    weight = np.arange(len(X)) % 2
    assert scorer("f1")(clf, X, SETS, sample_weight=weight) == scorer("f1")(clf, X[1::2], SETS[1::2])


def test_a_moved_target_is_refused():
    """As by `score`: candidates for different targets are not compared."""
    search = GridSearchCV(
        UULinearClassifier(**PRIORS), {"prior": [0.2, 0.5]}, scoring=scorer("auc"), error_score="raise"
    )
    with pytest.raises(ValueError, match="score must compare classifiers on one target"):
        search.fit(X, SETS)


def test_cross_validation():
    """A scorer is all that `cross_val_score` needs."""
    found = cross_val_score(UULinearClassifier(**PRIORS), X, SETS, scoring=scorer("tpr"), cv=3)
    assert np.all(found > 0.5)


def test_rows_that_do_not_fit_are_refused():
    """As by `score`: of another length, or of a classifier that does not know its priors."""
    clf = UULinearClassifier(**PRIORS).fit(X, SETS)
    with pytest.raises(ValueError, match="X and y must have the same number of rows"):
        scorer("error")(clf, X, SETS[5:])
    ranks = UULinearClassifier(set_priors="unknown", prior=None).fit(X, SETS)
    with pytest.raises(ValueError, match=r"scorer\('error'\) needs the shares of the sets"):
        scorer("error")(ranks, X, SETS)

import numpy as np
import pytest
from roster import blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn import UUClassifier, UULinearClassifier, sensitivity
from uulearn.metrics import evaluate
from uulearn.priors import Priors

TOLD = {"set_priors": (0.8, 0.3), "prior": 0.3}
FIELDS = ("set_priors", "prior", "flipped", "error", "excess", "standard_error", "believed")


def table(estimator=None, sizes=(400, 300), told=TOLD, **options):
    X, y, _ = blobs(told["set_priors"], sizes)
    return sensitivity(estimator or UULinearClassifier(**told), X, y, **{"random_state": 0, **options})


def test_the_rows_of_the_table():
    """No change first; all set priors together; high and low ones in opposite directions; the prior, below 1."""
    found = table(told={"set_priors": (0.9, 0.5, 0.1), "prior": 0.6}, sizes=(200, 200, 200), factors=(0.8, 1.7))
    assert found.change == (
        *("none", "set priors x 0.8", "set priors x 1.7"),
        *("high x 0.8, low x 1.2", "high x 1.7, low x 0.3", "prior x 0.8"),
    )
    np.testing.assert_allclose(found.set_priors[[0, 1, 3]], [[0.9, 0.5, 0.1], [0.72, 0.4, 0.08], [0.72, 0.6, 0.12]])
    np.testing.assert_allclose(found.prior, [0.6] * 5 + [0.48])
    assert found.sets == (0, 1, 2)
    assert found.flipped[0] == found.excess[0] == found.standard_error[0] == 0
    assert all(len(getattr(found, field)) == len(found) == 6 for field in FIELDS)


def test_a_row_is_a_classifier_told_other_priors():
    """On rows kept apart by a splitter: its decisions, its error by the stated priors and by its own."""
    X, y, _ = blobs(TOLD["set_priors"], (400, 300))
    first = np.arange(700) % 2 == 0
    folds = [(np.flatnonzero(first), np.flatnonzero(~first)), (np.flatnonzero(~first), np.flatnonzero(first))]
    found = sensitivity(UULinearClassifier(**TOLD), X, y, factors=[1.2], cv=folds)

    def scores(set_priors, prior):
        told, z = Priors(*set_priors, prior=prior), np.empty(700)
        for train, test in folds:
            z[test] = (
                UULinearClassifier(set_priors=told, prior=prior).fit(X[train], y[train]).decision_function(X[test])
            )
        return z

    stated = scores(TOLD["set_priors"], 0.3)
    for i, (set_priors, prior) in enumerate(
        [((0.8, 0.3), 0.3), ((0.96, 0.36), 0.3), ((0.96, 0.24), 0.3), ((0.8, 0.3), 0.36)]
    ):
        z = scores(set_priors, prior)
        assert found.error[i] == pytest.approx(evaluate(y, scores=z, **TOLD).error.value)
        assert found.believed[i] == pytest.approx(evaluate(y, scores=z, set_priors=set_priors, prior=prior).error.value)
        assert found.flipped[i] == pytest.approx(np.mean((z > 0) != (stated > 0)))
        assert found.excess[i] == pytest.approx(found.error[i] - found.error[0])


def test_as_fitted():
    """Without a new fit nothing is decided otherwise; only what one believes of the error changes."""
    X, y, _ = blobs(TOLD["set_priors"], (400, 300))
    clf = UULinearClassifier(**TOLD).fit(X, y)
    found = sensitivity(clf, X, y, refit=False, factors=[0.9])
    assert not np.any([found.flipped, found.excess, found.standard_error])
    np.testing.assert_allclose(found.error, clf.evaluate(X, y, metrics="error").error.value)
    expected = evaluate(y, scores=clf.decision_function(X), set_priors=(0.72, 0.33), prior=0.3)
    assert found.believed[2] == pytest.approx(expected.error.value)


def test_one_half_and_a_symmetric_loss():
    """At prior 1/2, with sets of one size and shares that sum to 1, wrong shares in opposite directions change the step
    size alone: almost no decision flips, as in the paper's table 2."""
    told = {"set_priors": (0.8, 0.2), "prior": 0.5}
    found = table(UUClassifier(LogisticRegression(), **told), told=told, sizes=(400, 400), factors=[0.9, 1.1])
    opposite = [change.startswith("high") for change in found.change]
    assert np.all(found.flipped[opposite] < 0.05)


def test_products_beyond_one_are_studied():
    """A product above 1 is told as it is, as in the paper."""
    found = table(told={"set_priors": (0.9, 0.1), "prior": 0.3}, factors=[1.2])
    assert found.set_priors.max() == pytest.approx(1.08)
    assert np.all(np.isfinite(found.error))


def test_pipelines_names_weights_and_groups():
    """Set names, pipelines, weights and groups are served; the seed settles the folds."""
    X, y, _ = blobs(TOLD["set_priors"], (300, 200))
    named = {"set_priors": {"poor": 0.3, "rich": 0.8}, "prior": 0.3}
    piped = make_pipeline(StandardScaler(), UULinearClassifier(**named))
    options = {"sample_weight": np.ones(500), "groups": np.arange(500) // 2, "factors": [1.1], "random_state": 1}
    wards = np.array(["rich", "poor"])[y]
    found, again = (sensitivity(piped, X, wards, **options) for _ in range(2))
    assert found.sets == ("poor", "rich")
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(found, field), getattr(again, field))


def test_duplicated_rows_are_doubled_weights():
    """A row of weight two is two rows, in one group."""
    X, y, _ = blobs(TOLD["set_priors"], (100, 80))
    folds = [(np.arange(0, 180, 2), np.arange(1, 180, 2)), (np.arange(1, 180, 2), np.arange(0, 180, 2))]
    twice = [tuple(np.concatenate([part, part + 180]) for part in fold) for fold in folds]
    clf = UULinearClassifier(**TOLD, calibrate=False)  # whose own folds would part the copies
    doubled = sensitivity(clf, X, y, sample_weight=np.full(180, 2.0), cv=folds, factors=[1.1])
    repeated = sensitivity(clf, np.vstack([X, X]), np.tile(y, 2), cv=twice, factors=[1.1])
    for field in ("flipped", "error", "believed"):
        np.testing.assert_allclose(getattr(doubled, field), getattr(repeated, field), atol=1e-6)


def test_as_text():
    """It prints as a table."""
    head, *rows = repr(table(factors=[0.9])).splitlines()
    assert head.split()[:2] == ["change", "flipped"]
    assert len(rows) == 4


def of(**options):
    return lambda: table(**{"sizes": (20, 20), **options})


REFUSED = {
    "a factor of 2": (
        of(factors=[2]),
        ValueError,
        r"factors must be numbers between 0 and 2; got \[2\]\. One set prior",
    ),
    "a lone factor": (of(factors=1.1), ValueError, r"factors must be numbers between 0 and 2; got 1\.1"),
    "words": (of(factors=["up"]), TypeError, r"factors must hold real numbers; got \['up'\]"),
    "refit in words": (of(refit="no"), TypeError, r"refit must be True or False; got 'no'\. False takes"),
    "a classifier that knows no sets": (
        of(estimator=LogisticRegression()),
        TypeError,
        r"estimator must be an instance of a classifier with set_priors and prior, .*; got LogisticRegression\(\)",
    ),
}


@pytest.mark.parametrize(("refused", "kind", "sentence"), REFUSED.values(), ids=REFUSED)
def test_refusal(refused, kind, sentence):
    """Bad input is refused in a sentence that says what is wrong and what to do."""
    with pytest.raises(kind, match=sentence):
        refused()


@pytest.mark.filterwarnings("ignore::uulearn.priors.ClosePriorsWarning")
def test_changes_that_make_shares_equal_are_left_out():
    """A classifier cannot be told that the sets are alike."""
    found = table(told={"set_priors": (0.6, 0.4), "prior": 0.5})
    assert "high x 0.8, low x 1.2" not in found.change
    assert "high x 1.2, low x 0.8" in found.change

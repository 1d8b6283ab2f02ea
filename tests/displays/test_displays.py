import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from roster import blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from uulearn import UULinearClassifier, UUSearch
from uulearn.displays import (
    CalibrationDisplay,
    HistogramDisplay,
    LearningCurveDisplay,
    PrecisionRecallDisplay,
    ROCDisplay,
    SensitivityDisplay,
)
from uulearn.metrics import calibration_curve, evaluate, precision_recall_curve, roc_curve, score_histogram

X, SETS, _ = blobs()
FACTS = {"set_priors": (0.9, 0.4), "prior": 0.3}
CLF = UULinearClassifier(**FACTS).fit(X, SETS)
SCORES, PROBA = CLF.decision_function(X), CLF.predict_proba(X)
DISPLAYS = {
    ROCDisplay: SCORES,
    PrecisionRecallDisplay: SCORES,
    CalibrationDisplay: PROBA,
    HistogramDisplay: SCORES,
}


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", DISPLAYS)
class TestAll:
    """What every display does."""

    def test_from_scores_and_estimator(self, display, tmp_path):
        """Both ways draw the same, which can be saved as a picture."""
        pictures = []
        given = {} if display is HistogramDisplay else {"name": "linear"}
        for made in (
            display.from_scores(SETS, DISPLAYS[display], **FACTS, **given),
            display.from_estimator(CLF, X, SETS, **given),
        ):
            made.figure_.savefig(tmp_path / "picture.png", dpi=50)
            pictures.append((tmp_path / "picture.png").read_bytes())
        assert pictures[0] == pictures[1]

    def test_around_a_pipeline(self, display):
        """The priors are those of its last step."""
        model = make_pipeline(StandardScaler(), UULinearClassifier(**FACTS)).fit(X, SETS)
        assert display.from_estimator(model, X, SETS).figure_.axes

    def test_given_axes(self, display):
        """Nothing is opened where axes are given."""
        axes = plt.subplots(2, 1)[1] if display is HistogramDisplay else plt.subplots()[1]
        made = display.from_estimator(CLF, X, SETS, ax=axes)
        assert made.ax_ is axes or np.all(made.ax_ == axes)
        assert len(plt.get_fignums()) == 1

    def test_other_estimators_are_refused(self, display):
        """In a sentence."""

        class Labeled:
            def decision_function(self, X):
                return SCORES

            def predict_proba(self, X):
                return PROBA

        with pytest.raises(TypeError, match="estimator must be a fitted classifier trained from unlabeled sets"):
            display.from_estimator(Labeled(), X, SETS)


def test_several_curves_on_one_picture():
    """Each has its colour and its entry in the legend."""
    first = ROCDisplay.from_estimator(CLF, X, SETS, name="all rows")
    second = ROCDisplay.from_estimator(CLF, X[::2], SETS[::2], name="half of them", ax=first.ax_)
    assert first.line_.get_color() != second.line_.get_color()
    legend = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert [entry.split(":")[0] for entry in legend] == ["all rows", "half of them"]


def test_what_is_drawn():
    """The curves are those of the metrics."""
    for display, curve in (
        (ROCDisplay, roc_curve(SETS, SCORES, **FACTS)),
        (PrecisionRecallDisplay, precision_recall_curve(SETS, SCORES, **FACTS)),
    ):
        line = display.from_scores(SETS, SCORES, **FACTS).line_
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.x, curve.y]))


class TestNumbers:
    """What the pictures of calibration and of the scores are made of."""

    def test_calibration_of_labels(self):
        """With shares of 1 and 0, each bin's share is that of its labels, and bins hold equal masses."""
        rng = np.random.default_rng(0)
        p = rng.random(5000)
        truth = (rng.random(5000) < p).astype(int)
        found = calibration_curve(truth, p, set_priors=(0, 1), prior=truth.mean(), bins=10)
        which = np.clip((np.argsort(np.argsort(p)) * 10) // 5000, 0, 9)
        for j in range(10):
            assert found.share[j] == pytest.approx(truth[which == j].mean(), abs=0.02)
            assert found.probability[j] == pytest.approx(p[which == j].mean(), abs=0.02)
        np.testing.assert_allclose(found.mass, 0.1, atol=0.01)
        assert np.mean((found.low <= found.probability) & (found.probability <= found.high)) >= 0.7

    def test_calibration_error_is_that_of_evaluate(self):
        """Over as many bins."""
        expected = evaluate(SETS, proba=PROBA, metrics="calibration_error", **FACTS).calibration_error
        assert calibration_curve(SETS, PROBA, bins=15, **FACTS).error == expected

    def test_histogram_is_a_mixture(self):
        """The sets are the classes, mixed in their shares; every density has mass 1."""
        found = score_histogram(SETS, SCORES, **FACTS)
        width = np.diff(found.edges)
        np.testing.assert_allclose(found.sets @ width, 1)
        np.testing.assert_allclose(found.classes @ width, 1)
        mixed = np.outer(found.shares, found.classes[0]) + np.outer(1 - found.shares, found.classes[1])
        np.testing.assert_allclose(found.sets, mixed, atol=1e-12)
        assert np.all((found.low <= found.classes) & (found.classes <= found.high))

    def test_constant_scores(self):
        """One bar is all there is."""
        found = score_histogram(SETS, np.ones(len(SETS)), bins=3, **FACTS)
        np.testing.assert_allclose(found.classes * np.diff(found.edges), [[1, 0, 0], [1, 0, 0]], atol=1e-12)


def test_a_pair_of_axes_is_asked_for():
    """Where there are two panels."""
    with pytest.raises(ValueError, match="ax must be a pair of axes, for the sets and for the classes"):
        HistogramDisplay.from_scores(SETS, SCORES, ax=plt.subplots()[1], **FACTS)
    with pytest.raises(ValueError, match="ax must be a pair of axes, for errors and for decisions"):
        SensitivityDisplay.from_estimator(CLF, X, SETS, ax=plt.subplots()[1], refit=False)


def test_sensitivity():
    """A line for each kind of change, through the point of no change, with the numbers of the table."""
    display = SensitivityDisplay.from_estimator(CLF, X, SETS, factors=[0.8, 1.1], random_state=0)
    kinds = {line.get_label(): line.get_xydata() for line in display.ax_[1].lines}
    assert list(kinds) == ["set priors together", "set priors apart: high by f, low by 2 - f", "target prior"]
    for points in kinds.values():
        np.testing.assert_allclose(points[:, 0], [0.8, 1, 1.1])
        assert points[1, 1] == 0
    apart = [at for at, name in enumerate(display.result.change) if name.startswith("high")]
    np.testing.assert_allclose(
        kinds["set priors apart: high by f, low by 2 - f"][[0, 2], 1] / 100, display.result.flipped[apart]
    )


def test_learning_curve():
    """Several classifiers share axes; points are those of the curve."""
    options = {"shares": (0.3, 1.0), "cv": 2, "random_state": 0}
    first = LearningCurveDisplay.from_estimator(CLF, X, SETS, **options)
    second = LearningCurveDisplay.from_estimator(CLF, X, SETS, ax=first.ax_, name="again", **options)
    np.testing.assert_array_equal(second.line_.get_ydata(), 100 * first.curve.error)
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["UULinearClassifier", "again"]


def test_many_sets():
    """More sets than can be named are drawn in one grey, without a legend."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(8), 100)
    display = HistogramDisplay.from_scores(y, rng.normal(size=800), set_priors=np.linspace(0.1, 0.9, 8))
    assert display.ax_[0].get_legend() is None


def test_what_a_search_has_found():
    """Its best estimator is drawn, by a search of this library or of scikit-learn."""
    for search in (UUSearch([CLF]), GridSearchCV(CLF, {"C": [1.0]})):
        assert ROCDisplay.from_estimator(search.fit(X, SETS), X, SETS).curve.area.value > 0.5


def test_a_set_of_no_weight():
    """It is as good as absent, as in `evaluate`."""
    y = np.concatenate([SETS[:-50], np.repeat(2, 50)])
    clf = UULinearClassifier(set_priors=(0.9, 0.4, 0.5), prior=0.3).fit(X, y)
    weight = (y < 2).astype(float)
    area = ROCDisplay.from_estimator(clf, X, y, sample_weight=weight).curve.area.value
    assert area == pytest.approx(ROCDisplay.from_estimator(clf, X[y < 2], y[y < 2]).curve.area.value, abs=1e-3)

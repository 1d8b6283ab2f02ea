import numpy as np
import pytest
from sklearn import metrics as labeled
from sklearn.isotonic import IsotonicRegression

from uulearn.metrics import evaluate, precision_recall_curve, roc_curve
from uulearn.metrics.calibration import calibration_bins
from uulearn.metrics.moments import units
from uulearn.metrics.profile import CELLS, auc, profile, rank
from uulearn.priors import Priors
from uulearn.sets import match_sets


def drawn(n, shares, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(shares)), n)
    truth = rng.random(len(y)) < np.array(shares)[y]
    z = np.where(truth, 1.0, -1.0) + rng.normal(size=len(y))
    return y, np.round(z, 1) if ties else z, truth


@pytest.mark.parametrize("ties", [False, True])
def test_labels(ties):
    """With shares of 1 and 0 the curves are scikit-learn's."""
    y, z, _ = drawn(200, (0, 1), ties=ties)
    curve = roc_curve(y, z, set_priors=(0, 1))
    x, height, thresholds = labeled.roc_curve(y, z, drop_intermediate=False)
    np.testing.assert_allclose(curve.x, x, atol=1e-12)
    np.testing.assert_allclose(curve.y, height, atol=1e-12)
    np.testing.assert_allclose(curve.thresholds, thresholds)
    assert curve.area.value == pytest.approx(labeled.roc_auc_score(y, z))
    curve = precision_recall_curve(y, z, set_priors=(0, 1), prior=0.5)
    precision, recall, _ = labeled.precision_recall_curve(y, z)
    np.testing.assert_allclose(curve.y[1:][::-1], precision[:-1], atol=1e-12)
    np.testing.assert_allclose(curve.x[1:][::-1], recall[:-1], atol=1e-12)
    assert curve.area.value == pytest.approx(labeled.average_precision_score(y, z))


@pytest.mark.parametrize("shares", [(0.6, 0.5), (0.9, 0.5, 0.1)])
@pytest.mark.parametrize("make", [roc_curve, precision_recall_curve])
def test_curves_rise_and_stay_inside(make, shares):
    """Whatever the noise; the band holds the curve."""
    for seed in range(5):
        y, z, _ = drawn(150, shares, seed)
        curve = make(y, z, set_priors=shares, prior=0.3)
        assert np.all(np.diff(curve.x) >= 0)
        for line in (curve.x, curve.y, curve.low, curve.high):
            assert np.all((line >= 0) & (line <= 1))
        assert np.all((curve.low <= curve.y) & (curve.y <= curve.high))
        if make is roc_curve:
            assert np.all(np.diff(curve.y) >= 0)
            assert (curve.x[0], curve.y[0], curve.x[-1], curve.y[-1]) == (0, 0, 1, 1)


def test_nearest_rising_curve():
    """The rates are scikit-learn's isotonic regression of the signed sums."""
    y, z, _ = drawn(100, (0.8, 0.3))
    curve = roc_curve(y, z, set_priors=(0.8, 0.3))
    plus, minus = Priors(0.8, 0.3, prior=0.5).coefficients()
    order = np.argsort(-z)
    for line, weights in ((curve.y, plus / 0.5), (curve.x, minus / 0.5)):
        raw = np.cumsum((weights / 100)[y[order]])
        expected = np.clip(IsotonicRegression().fit_transform(np.arange(200), raw), 0, 1)
        np.testing.assert_allclose(line[1:-1], expected[:-1], atol=1e-12)


def test_many_rows_are_few_cells():
    """The curve of 20,000 rows has a thousand points and is the curve of all of them."""
    y, z, _ = drawn(10_000, (0, 1))
    curve = roc_curve(y, z, set_priors=(0, 1))
    assert len(curve.x) <= CELLS + 1
    for at in (1, 50, 500, 900):
        called = z >= curve.thresholds[at]
        assert (curve.x[at], curve.y[at]) == pytest.approx((called[y == 0].mean(), called[y == 1].mean()))
    report = evaluate(y, scores=z, set_priors=(0, 1), prior=0.5, metrics=["auc", "average_precision"])
    assert report.auc.value == pytest.approx(labeled.roc_auc_score(y, z), rel=1e-12)
    assert report.average_precision.value == pytest.approx(labeled.average_precision_score(y, z), abs=2e-3)


def test_cells_hold_all_rows():
    """Every row is in one cell, ties in one together, weights and squares add up, sets apart."""
    y, z, _ = drawn(400, (0.8, 0.3), ties=True)
    weight = np.random.default_rng(1).uniform(0.5, 2, 800)
    sets = match_sets(y, (0.8, 0.3), 0.3, weight)
    found = profile(sets, rank(z), units(sets, None))
    assert len(found.lowest) == len(np.unique(z))
    np.testing.assert_allclose(found.mass.sum(axis=1), sets.sizes)
    np.testing.assert_allclose(found.square.sum(), weight @ weight)
    for j in (0, 17, 40):
        inside = z == found.lowest[j]
        np.testing.assert_allclose(found.mass[:, j], np.bincount(y[inside], weight[inside], 2))
        assert found.middle[j] == pytest.approx(found.lowest[j])


def test_auc_by_blocks(monkeypatch):
    """Ranks are carried over blocks of rows, which ties do not straddle."""
    from uulearn.metrics import profile as module

    y, z, _ = drawn(50, (0.8, 0.3), ties=True)
    sets = match_sets(y, (0.8, 0.3), 0.3)
    value, influence = auc(sets, rank(z))
    monkeypatch.setattr(module, "BLOCK", 9)
    value_again, influence_again = auc(sets, rank(z))
    assert value_again == pytest.approx(value)
    np.testing.assert_allclose(influence_again, influence)


def test_resamples_with_groups():
    """Rows that are copies of each other, named as groups, have the spread of single rows, not less."""
    y, z, _ = drawn(100, (0.8, 0.3))
    options = {"set_priors": (0.8, 0.3), "prior": 0.3, "metrics": "average_precision", "resamples": 400}
    single = evaluate(y, scores=z, **options).average_precision
    rows = np.tile(np.arange(200), 4)
    grouped = evaluate(y[rows], scores=z[rows], groups=rows, **options).average_precision
    alone = evaluate(y[rows], scores=z[rows], **options).average_precision
    assert grouped.standard_error == pytest.approx(single.standard_error, rel=0.2)
    assert alone.standard_error < 0.7 * single.standard_error


class TestCalibrationError:
    """How far probabilities are from shares of positives."""

    @staticmethod
    def found(n, shares, stretch, seed=0):
        """Of probabilities whose log odds are stretched, at the target prior 1/2."""
        y, z, _ = drawn(n, shares, seed)
        options = {"set_priors": shares, "prior": 0.5, "metrics": "calibration_error"}
        return evaluate(y, proba=1 / (1 + np.exp(-2 * stretch * z)), **options).calibration_error

    def test_labels(self):
        """Of labeled rows it is the usual one, less what noise adds."""
        y, z, _ = drawn(20_000, (0, 1))
        p = 1 / (1 + np.exp(-6 * z))
        found = evaluate(y, proba=p, set_priors=(0, 1), prior=0.5, metrics="calibration_error").calibration_error
        edges = np.quantile(p, np.linspace(0, 1, 16)[1:-1])
        which = np.searchsorted(edges, p)
        gaps = np.bincount(which, p - y) / len(p)
        assert found.value == pytest.approx(np.abs(gaps).sum(), abs=0.004)

    @pytest.mark.parametrize("shares", [(0.9, 0.3), (0.9, 0.5, 0.1)])
    def test_tells_good_from_bad(self, shares):
        """Right probabilities are near 0, stretched ones are not, as far as the error bars allow."""
        good, bad = (self.found(5000, shares, stretch) for stretch in (1, 4))
        assert good.value < 0.03
        assert bad.low > 0.03
        assert bad.value > good.value + 2 * bad.standard_error

    def test_noise_is_taken_off(self):
        """Of 20 draws of few rows with right probabilities, the mean is a third of what the plain sum would be."""
        values = [self.found(300, (0.8, 0.4), 1, seed).value for seed in range(20)]
        assert np.mean(values) < 0.08

    def test_interval_of_right_probabilities(self):
        """Where nothing is wrong, the interval says so: its lower end is 0 in 18 of 20 draws or more."""
        found = [self.found(1000, (0.9, 0.4), 1, seed) for seed in range(20)]
        assert sum(one.low == 0 for one in found) >= 18
        assert np.mean([one.value for one in found]) < 0.03

    def test_bins_hold_equal_shares(self):
        """Fifteen, where there are scores enough."""
        y, z, _ = drawn(3000, (0.8, 0.3))
        sets = match_sets(y, (0.8, 0.3), 0.3)
        found = profile(sets, rank(z), units(sets, None))
        masses = [found.mass[:, part].sum() for part in calibration_bins(found)]
        assert len(masses) == 15
        assert np.ptp(masses) <= 2 * 6


def test_no_spread_no_band():
    """Groups that are the sets leave nothing to tell a spread from."""
    y, z, _ = drawn(50, (0.8, 0.3))
    curve = roc_curve(y, z, set_priors=(0.8, 0.3), groups=y)
    assert np.isnan([curve.area.standard_error, curve.area.low]).all()
    assert np.isfinite(curve.y).all()

import numpy as np
import pytest

from uulearn.metrics import check_linearity
from uulearn.priors import Uncertain

SHARES = (0.9, 0.5, 0.3, 0.1)


def drawn(rng, n=400, shift=0.0, columns=1):
    """Rows of four sets, in the last of which the positives look different."""
    y = np.repeat(np.arange(4), n)
    truth = rng.random(4 * n) < np.array(SHARES)[y]
    scores = truth[:, None] + rng.normal(size=(4 * n, columns))
    scores[:, 0] += shift * truth * (y == 1)
    return y, scores


def p_values(n_draws, **options):
    rng = np.random.default_rng(0)
    return np.array([check_linearity(*drawn(rng, **options), set_priors=SHARES).p_value for _ in range(n_draws)])


@pytest.mark.parametrize("columns", [1, 3])
def test_uniform_p_values(columns):
    """Where the sets differ in nothing else, 5 % of the p-values are below 5 % (300 draws, 4 standard errors)."""
    found = p_values(300, columns=columns)
    assert np.mean(found < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 300))
    assert np.mean(found < 0.5) == pytest.approx(0.5, abs=4 * np.sqrt(0.25 / 300))


def test_power():
    """A set whose positives look different is found, and is the one that stands out."""
    y, scores = drawn(np.random.default_rng(1), n=2000, shift=0.5)
    found = check_linearity(y, scores, set_priors=SHARES)
    assert found.p_value < 1e-6
    assert np.argmax(np.abs(found.standardised[:, 0])) == 1
    assert found.degrees_of_freedom == 2


def test_least_squares():
    """One score: the residuals of a regression of the means, weighed by their variances."""
    y, scores = drawn(np.random.default_rng(2))
    found = check_linearity(y, scores[:, 0], set_priors=SHARES)
    means = np.array([scores[y == k].mean() for k in range(4)])
    errors = np.array([scores[y == k].std(ddof=1) / 20 for k in range(4)])
    line = np.polyfit(SHARES, means, 1, w=1 / errors)
    np.testing.assert_allclose(found.residuals[:, 0], means - np.polyval(line, SHARES), atol=1e-12)
    assert found.statistic == pytest.approx((((means - np.polyval(line, SHARES)) / errors) ** 2).sum())


def test_uncertain_shares_explain_more():
    """With wrong shares the test objects; with the same shares stated as uncertain it does not."""
    y, scores = drawn(np.random.default_rng(3), n=4000)
    wrong = (0.9, 0.6, 0.3, 0.1)
    assert check_linearity(y, scores, set_priors=wrong).p_value < 1e-3
    unsure = (0.9, Uncertain(0.6, 0.1), 0.3, 0.1)
    assert check_linearity(y, scores, set_priors=unsure).p_value > 0.05


def test_scale_and_duplicates():
    """Units do not matter; a column given twice adds nothing; rows of a group are one."""
    y, scores = drawn(np.random.default_rng(4), shift=0.3)
    options = {"set_priors": SHARES}
    whole = check_linearity(y, scores, **options)
    twice = check_linearity(y, np.column_stack([scores, 3 - 100 * scores]), **options)
    assert (twice.statistic, twice.degrees_of_freedom) == pytest.approx((whole.statistic, 2), rel=1e-6)
    rows = np.tile(np.arange(len(y)), 2)
    grouped = check_linearity(y[rows], scores[rows], groups=rows, **options)
    assert grouped.statistic == pytest.approx(whole.statistic)


def test_units_of_columns():
    """A column that violates the line is found beside one in units a hundred million times as large."""
    y, scores = drawn(np.random.default_rng(5), n=2000, shift=0.5)
    clean = drawn(np.random.default_rng(6), n=2000)[1]
    options = {"set_priors": SHARES}
    apart = check_linearity(y, np.column_stack([clean, scores]), **options)
    scaled = check_linearity(y, np.column_stack([1e4 * clean, 1e-4 * scores]), **options)
    assert (scaled.statistic, scaled.degrees_of_freedom) == pytest.approx((apart.statistic, 4))
    np.testing.assert_allclose(scaled.means, apart.means * [1e4, 1e-4])


def test_one_group_a_set_is_refused():
    """Its spread is unknown."""
    y, scores = drawn(np.random.default_rng(7))
    with pytest.raises(ValueError, match=r"groups \(or rows\) must be two or more in every set"):
        check_linearity(y, scores, groups=y, set_priors=SHARES)

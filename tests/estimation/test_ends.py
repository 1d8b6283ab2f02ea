"""The kappas and the three readings of them, on counts whose shares are known."""

import numpy as np
import pytest
from scipy.stats import norm

from uulearn.estimation.ends import best_bin, dedpul, from_kappas, likelihood, to_kappas

PAIRS = [(0.9, 0.1), (0.7, 0.4), (1.0, 0.3), (0.6, 0.0)]
Z = np.linspace(-7, 7, 300)


def expected(shares, distance, size=1e7):
    """Expected counts of sets of these shares, whose log L is 2 distance z."""
    positive, negative = (norm.pdf(Z, middle) for middle in (distance, -distance))
    shares = np.asarray(shares)[:, None]
    return size * (shares * positive / positive.sum() + (1 - shares) * negative / negative.sum())


@pytest.mark.parametrize(("theta", "theta_prime"), PAIRS)
def test_kappas(theta, theta_prime):
    """The kappas are the infima of the two density ratios, and give the shares back."""
    lower, upper = to_kappas(theta, theta_prime)
    ratio = np.divide(*expected((theta, theta_prime), 3.0))
    assert ratio.min() == pytest.approx(lower, abs=1e-6)
    assert (1 / ratio).min() == pytest.approx(upper, abs=1e-6)
    assert from_kappas(lower, upper) == pytest.approx((theta, theta_prime))


@pytest.mark.parametrize(("theta", "theta_prime"), PAIRS)
class TestSeparableClasses:
    """Where rows of either class alone abound, every reading is right."""

    def test_best_bin(self, theta, theta_prime):
        found = from_kappas(*best_bin(*expected((theta, theta_prime), 3.0)).kappas)
        assert found == pytest.approx((theta, theta_prime), abs=0.005)

    def test_dedpul(self, theta, theta_prime):
        found = from_kappas(*dedpul(*expected((theta, theta_prime), 3.0), smooth=0.002))
        assert found == pytest.approx((theta, theta_prime), abs=0.02)

    def test_likelihood(self, theta, theta_prime):
        assert likelihood(expected((theta, theta_prime), 3.0), Z).shares == pytest.approx(
            (theta, theta_prime), abs=0.002
        )


def test_likelihood_of_overlapping_classes():
    """Where the link holds, the curve says where it is heading, long before any row is pure."""
    found = likelihood(expected((0.7, 0.4), 0.8), Z)
    assert found.shares == pytest.approx((0.7, 0.4), abs=0.002)
    assert found.log_ratio == pytest.approx(1.6 * Z, abs=0.1)


def test_likelihood_of_many_sets():
    """All shares are found at once, whatever the order and the sizes of the sets."""
    shares = (0.4, 0.9, 0.15, 0.6)
    counts = expected(shares, 1.5) * np.array([[1.0], [0.3], [2.0], [0.7]])
    assert likelihood(counts, Z).shares == pytest.approx(shares, abs=0.002)


def test_likelihood_starts_from_another():
    """A fit that starts from the solution ends in it."""
    counts = expected((0.7, 0.4), 1.5)
    first = likelihood(counts, Z)
    assert likelihood(counts, Z, start=first.at).shares == pytest.approx(first.shares, abs=1e-5)


def test_likelihood_has_no_unit():
    """Scores in another unit, from another zero, give the same shares."""
    counts = expected((0.7, 0.4), 1.5)
    assert likelihood(counts, 5 * Z - 3).shares == pytest.approx(likelihood(counts, Z).shares, abs=1e-6)


def test_best_bin_reads_both_ends():
    """Exchanging the classes exchanges the kappas."""
    rich, poor = expected((0.8, 0.3), 2.0)
    one, other = best_bin(rich, poor), best_bin(poor[::-1], rich[::-1])
    assert one.kappas == other.kappas[::-1]
    assert one.rows == pytest.approx(other.rows[::-1])


def test_best_bin_counts_its_rows():
    """The rows that a kappa rests on are those of the tail it was read from."""
    found = best_bin(np.array([2000.0, 1000, 3000]), np.array([4000.0, 1500, 500]))
    assert found.rows == (6000, 3500)

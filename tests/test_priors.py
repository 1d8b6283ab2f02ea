import pickle
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
import reference

from uulearn.priors import CLOSE, ClosePriorsWarning, Priors

TWO_SETS = [
    (theta, theta_prime, pi)
    for theta, theta_prime in product([1.0, 0.9, 0.8, 0.7, 0.55], [0.0, 0.1, 0.2, 0.4, 0.45])
    for pi in (0.1, 0.27, 0.3, 0.49, 0.5, 0.6, 0.8)
    if theta - theta_prime > 0.25
]


def many_sets(n_sets, seed):
    """Shares at least .3 apart, sizes and a target inside the range of the shares."""
    rng = np.random.default_rng(seed)
    shares = rng.random(n_sets)
    shares[:2] = rng.uniform(0, 0.35), rng.uniform(0.65, 1)
    shares = rng.permutation(shares)
    return shares, rng.integers(1, 1000, n_sets).astype(float), rng.uniform(shares.min(), shares.max())


MANY_SETS = [pytest.param(*many_sets(m, seed), id=f"{m} sets, {seed}") for m in (2, 3, 4, 5, 9) for seed in range(6)]


def assert_conditions(shares, plus, minus, pi):
    assert np.array([plus @ shares, plus @ (1 - shares), minus @ shares, minus @ (1 - shares)]) == pytest.approx(
        np.array([pi, 0, 0, 1 - pi]), abs=1e-12
    )


class TestTwoSets:
    """With two sets the coefficients are the paper's."""

    @pytest.mark.parametrize(("theta", "theta_prime", "pi"), TWO_SETS)
    def test_to_the_last_digit(self, theta, theta_prime, pi):
        """Every coefficient of eq. 10 and eq. 12 is the paper's formula, to the last digit."""
        priors = Priors(theta, theta_prime, prior=pi)
        assert priors.a == (1 - theta_prime) * pi / (theta - theta_prime)
        assert priors.b == -theta_prime * (1 - pi) / (theta - theta_prime)
        assert priors.c == theta * (1 - pi) / (theta - theta_prime)
        assert priors.d == -(1 - theta) * pi / (theta - theta_prime)
        assert priors.alpha == (theta_prime + pi - 2 * theta_prime * pi) / (theta - theta_prime)
        assert priors.alpha_prime == (theta + pi - 2 * theta * pi) / (theta - theta_prime)
        assert priors.constant == (theta_prime * (1 - pi) + (1 - theta) * pi) / (theta - theta_prime)

    @pytest.mark.parametrize(("theta", "theta_prime", "pi"), TWO_SETS)
    def test_rational(self, theta, theta_prime, pi):
        """The coefficients agree with exact rational arithmetic to a few units in the last place."""
        priors = Priors(theta, theta_prime, prior=pi)
        t, u, p = Fraction(theta), Fraction(theta_prime), Fraction(pi)
        exact = [(1 - u) * p, -u * (1 - p), t * (1 - p), -(1 - t) * p, u + p - 2 * u * p, t + p - 2 * t * p]
        found = [priors.a, priors.b, priors.c, priors.d, priors.alpha, priors.alpha_prime]
        assert found == pytest.approx([float(top / (t - u)) for top in exact], rel=8 * 2.0**-52, abs=0)

    @pytest.mark.parametrize(("theta", "theta_prime", "pi"), TWO_SETS)
    def test_symmetric_form(self, theta, theta_prime, pi):
        """alpha = a - b, alpha' = c - d and constant = -(b + d)."""
        p = Priors(theta, theta_prime, prior=pi)
        assert (p.alpha, p.alpha_prime, p.constant) == pytest.approx((p.a - p.b, p.c - p.d, -(p.b + p.d)))

    @pytest.mark.parametrize("pi", [0.1, 0.3, 0.5, 0.9])
    def test_labeled(self, pi):
        """Shares 1 and 0 are labels: (pi, 0, 1 - pi, 0)."""
        p = Priors(1, 0, prior=pi)
        assert (p.a, p.b, p.c, p.d) == (pi, 0, 1 - pi, 0)

    @pytest.mark.parametrize("pi", [0.1, 0.3, 0.5, 0.9])
    def test_positive_unlabeled(self, pi):
        """Shares 1 and pi are positive-unlabeled learning: (pi, -pi, 1, 0)."""
        p = Priors(1, pi, prior=pi)
        assert (p.a, p.b, p.c, p.d) == pytest.approx((pi, -pi, 1, 0), abs=0)

    @pytest.mark.parametrize("pi", [0.1, 0.3, 0.7, 0.9])
    def test_similar_unlabeled(self, pi):
        """Shares pi and pi^2 / (2 pi^2 - 2 pi + 1) are similar-unlabeled learning."""
        plus, minus = Priors(pi**2 / (2 * pi**2 - 2 * pi + 1), pi, prior=pi).coefficients()
        similar = (2 * pi**2 - 2 * pi + 1) / (2 * pi - 1)
        assert plus == pytest.approx([similar, -(1 - pi) / (2 * pi - 1)])
        assert minus == pytest.approx([-similar, pi / (2 * pi - 1)])

    @pytest.mark.parametrize(("theta", "theta_prime", "pi"), TWO_SETS[::7])
    def test_no_freedom(self, theta, theta_prime, pi):
        """Two sets leave no choice: sizes do not matter, and the formula for many sets agrees."""
        priors = Priors(theta, theta_prime, prior=pi)
        for sizes in (None, (1, 1), (1000, 3)):
            plus, minus = priors.coefficients(sizes)
            assert plus.tolist() == [priors.a, priors.d]
            assert minus.tolist() == [priors.b, priors.c]
        generic = reference.coefficients([theta, theta_prime], [1000, 3], pi)
        assert np.array(generic) == pytest.approx(np.array([plus, minus]))

    def test_naive_at_one_half(self):
        """At a target prior of 1/2, alpha = alpha' = 1 / (2 D)."""
        p = Priors(0.9, 0.4, prior=0.5)
        assert (p.alpha, p.alpha_prime) == pytest.approx((1 / (2 * 0.5), 1 / (2 * 0.5)))


class TestManySets:
    """More sets leave a choice, which is spent on variance."""

    @pytest.mark.parametrize(("shares", "sizes", "pi"), MANY_SETS)
    def test_smallest_norm(self, shares, sizes, pi):
        """The coefficients solve the conditions and are those of a generic least-norm solver."""
        plus, minus = Priors(shares, prior=pi).coefficients(sizes)
        assert_conditions(shares, plus, minus, pi)
        expected_plus, expected_minus = reference.coefficients(shares, sizes, pi)
        assert plus == pytest.approx(expected_plus, rel=1e-9, abs=1e-10)
        assert minus == pytest.approx(expected_minus, rel=1e-9, abs=1e-10)

    @pytest.mark.parametrize(("shares", "sizes", "pi"), MANY_SETS)
    def test_convex(self, shares, sizes, pi):
        """convex=True keeps the conditions, asks for a_k + b_k >= 0 and no more, as a generic solver would."""
        plus, minus = Priors(shares, prior=pi, convex=True).coefficients(sizes)
        assert_conditions(shares, plus, minus, pi)
        assert np.all(plus + minus >= 0)
        expected_plus, expected_minus = reference.convex_coefficients(shares, sizes, pi)
        assert plus == pytest.approx(expected_plus, abs=2e-5)
        assert minus == pytest.approx(expected_minus, abs=2e-5)

    def test_convex_costs_nothing_when_it_holds_anyway(self):
        """Where every a_k + b_k >= 0 already, convex=True changes nothing; elsewhere it does."""
        changed = []
        for pi in (0.2, 0.5, 0.8):
            free, bound = (Priors(0.1, 0.5, 0.9, prior=pi, convex=convex).coefficients() for convex in (False, True))
            held = bool(np.all(free[0] + free[1] >= 0))
            assert np.allclose(free, bound) == held
            changed.append(not held)
        assert changed == [True, False, True]

    @pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 5, 5), (7, 2, 3), (49, 1, 1), (1e-9, 2e-9, 3e-9)])
    @pytest.mark.parametrize("edge", [0.1, 0.3, 0.6, 0.7, 0.9])
    @pytest.mark.parametrize("other", [0.0, 1.0])
    def test_convex_at_the_edge(self, edge, other, sizes):
        """A target prior that equals the smallest or largest set prior is still within reach."""
        shares = np.array([edge, other, (edge + other) / 2])
        plus, minus = Priors(shares, prior=edge, convex=True).coefficients(sizes)
        assert_conditions(shares, plus, minus, edge)
        assert np.all(plus + minus >= 0)

    def test_equal_shares_pool(self):
        """Sets with one share act as one set: many sets of two shares have the paper's coefficients, split by size."""
        shares, sizes = np.array([0.9, 0.4, 0.9, 0.4, 0.9]), np.array([10.0, 20.0, 30.0, 5.0, 60.0])
        two = Priors(0.9, 0.4, prior=0.3)
        rich = shares == 0.9
        part = sizes / np.where(rich, sizes[rich].sum(), sizes[~rich].sum())
        plus, minus = Priors(shares, prior=0.3).coefficients(sizes)
        assert plus == pytest.approx(part * np.where(rich, two.a, two.d))
        assert minus == pytest.approx(part * np.where(rich, two.b, two.c))

    @pytest.mark.parametrize("convex", [False, True])
    def test_order_and_scale(self, convex):
        """Permuting the sets permutes the coefficients; only the ratio of the sizes matters."""
        shares, sizes = np.array([0.2, 0.9, 0.5, 0.6]), np.array([5.0, 50.0, 20.0, 1.0])
        plus, minus = Priors(shares, prior=0.3, convex=convex).coefficients(sizes)
        for order in map(list, permutations(range(4))):
            again = Priors(shares[order], prior=0.3, convex=convex).coefficients(17.0 * sizes[order])
            assert np.array(again) == pytest.approx(np.array([plus[order], minus[order]]))

    def test_more_sets_lower_the_variance(self):
        """A further set could be left out, so it can only lower sum (a_k^2 + b_k^2) / n_k."""

        def norm(shares, sizes):
            plus, minus = Priors(shares, prior=0.3).coefficients(sizes)
            return ((plus**2 + minus**2) / sizes).sum()

        two = norm([0.9, 0.4], [100, 100])
        assert all(norm([0.9, 0.4, share], [100, 100, 10]) < two for share in (0.0, 0.1, 0.3, 0.7, 1.0))


@pytest.mark.parametrize(("shares", "sizes", "pi"), MANY_SETS)
def test_mixtures(shares, sizes, pi):
    """v_plus p_plus - v_minus p_minus = pi p_P - (1 - pi) p_N, and the pull is that of the coefficients."""
    priors = Priors(shares, prior=pi)
    plus, minus = priors.coefficients(sizes)
    mix = priors.mixtures(sizes)
    assert mix.pull.tolist() == (plus - minus).tolist()
    assert mix.v_plus * mix.theta_plus - mix.v_minus * mix.theta_minus == pytest.approx(pi)
    assert mix.v_plus * (1 - mix.theta_plus) - mix.v_minus * (1 - mix.theta_minus) == pytest.approx(pi - 1)
    assert shares.min() - 1e-12 <= mix.theta_minus < mix.theta_plus <= shares.max() + 1e-12
    if len(shares) == 2:
        assert mix[1:] == pytest.approx((priors.alpha, priors.alpha_prime, shares.max(), shares.min()))


def test_variance_factor():
    """It is (alpha^2 + alpha'^2) / (pi^2 + (1 - pi)^2) for two sets: 1 for labels, more as the priors close in."""
    assert Priors(1, 0, prior=0.3).variance_factor == pytest.approx(1)
    p = Priors(0.9, 0.4, prior=0.3)
    assert p.variance_factor == pytest.approx((p.alpha**2 + p.alpha_prime**2) / (0.3**2 + 0.7**2))
    growing = [Priors(0.9, poorer, prior=0.3).variance_factor for poorer in (0.1, 0.3, 0.5, 0.6)]
    assert growing == sorted(growing)


def test_close_priors_warn():
    """Close priors warn, with the factor by which the variance grows; the others are quiet."""
    with pytest.warns(ClosePriorsWarning, match="differ by 0.05 at most.* is 377 times that of as many labeled rows"):
        close = Priors(0.5, 0.45, prior=0.4)
    assert close.variance_factor == pytest.approx((9.8**2 + 10**2) / (0.4**2 + 0.6**2))
    assert close.variance_factor > CLOSE > Priors(0.6, 0.45, prior=0.4).variance_factor


def test_ways_to_write_priors():
    """Numbers, a sequence, an array, a generator and a mapping say the same."""
    shares = (0.9, 0.4, 0.1)
    ways = [shares, (list(shares),), (np.array(shares),), (iter(shares),), (dict(enumerate(shares)),)]
    written = [Priors(*way, prior=0.3) for way in ways]
    assert all(priors == written[0] and hash(priors) == hash(written[0]) for priors in written)
    assert all(priors.labels == (0, 1, 2) and priors.shares.tolist() == list(shares) for priors in written)
    assert (written[0].theta, written[0].theta_prime) == (0.9, 0.1)


def test_value_object():
    """Equal when every set has its share and the target agrees, in any order; repr and pickle give it back."""
    priors = Priors({"a": 0.9, "b": 0.4}, prior=0.3)
    assert priors == Priors({"b": 0.4, "a": 0.9}, prior=0.3)
    others = [
        Priors({"a": 0.4, "b": 0.9}, prior=0.3),
        Priors({"a": 0.9, "b": 0.4}, prior=0.4),
        Priors({"a": 0.9, "c": 0.4}, prior=0.3),
        Priors({"a": 0.9, "b": 0.4}, prior=0.4, convex=True),
        (0.9, 0.4),
    ]
    assert all(priors != other for other in others)
    for same in (priors, Priors({"a": 0.9, "b": 0.4}, prior=0.4, convex=True)):
        assert eval(repr(same)) == same
        assert pickle.loads(pickle.dumps(same)) == same


def test_out_of_range_opt_out():
    """allow_out_of_range lets the algebra go through unchanged, as studies of wrong priors need."""
    priors = Priors(1.08, 0.12, prior=0.49, allow_out_of_range=True)
    assert priors.d == -(1 - 1.08) * 0.49 / (1.08 - 0.12) > 0
    assert_conditions(priors.shares, *priors.coefficients(), 0.49)

from itertools import permutations, product

import numpy as np
import pytest
import reference
from test_losses import LOSSES, Savage, SquaredHinge

from uulearn.losses import BY_NAME
from uulearn.priors import Priors
from uulearn.risk import (
    CORRECTIONS,
    Columns,
    Correction,
    Risk,
    get_correction,
    posterior_weights,
    reduced,
    row_weights,
)
from uulearn.sets import Sets, match_sets

TRAINABLE = {name: loss for name, loss in LOSSES.items() if loss.differentiable}
SYMMETRIC = {name: loss for name, loss in LOSSES.items() if loss.symmetric}
LINEAR_ODD = {name: loss for name, loss in LOSSES.items() if loss.linear_odd}


def over(members):
    return pytest.mark.parametrize("loss", [pytest.param(loss, id=name) for name, loss in members.items()])


def scalar(loss):
    return lambda z: float(loss.value(z))


class Population:
    """A finite distribution: scored points, each with its probability under either class, mixed into sets.

    Its sets hold every point once, with the point's probability as weight, so means over them are exact expectations.
    """

    def __init__(self, seed, n_sets, n_points=7):
        rng = np.random.default_rng(seed)
        self.scores = np.round(rng.normal(0, 2, n_points), 3)
        self.positive, self.negative = rng.dirichlet(np.ones(n_points), 2)
        shares = np.concatenate([[rng.uniform(0, 0.3), rng.uniform(0.6, 1)], rng.random(n_sets - 2)])
        self.shares = rng.permutation(shares)
        self.prior = rng.uniform(0.05, 0.95)
        self.sizes = rng.uniform(0.5, 5000, n_sets)
        self.y = np.repeat(np.arange(n_sets), n_points)
        self.z = np.tile(self.scores, n_sets)
        mixed = np.outer(self.shares, self.positive) + np.outer(1 - self.shares, self.negative)
        self.weight = (self.sizes[:, None] * mixed).ravel()

    def sets(self, **options):
        return match_sets(self.y, self.shares, self.prior, self.weight, **options)

    def pn_risk(self, loss):
        positives, negatives = (list(zip(p, self.scores, strict=True)) for p in (self.positive, self.negative))
        return reference.pn_risk(scalar(loss), positives, negatives, self.prior)


def sampled(seed, n_rows, shares, prior, sizes=None):
    """Random rows of two or more sets with random scores and weights, as `Sets` and as one sample a set."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.concatenate([np.arange(len(shares)), rng.integers(len(shares), size=n_rows - len(shares))]))
    weight, z = rng.uniform(0.1, 3, n_rows), np.round(rng.normal(0, 2, n_rows), 2)
    samples = [list(zip(weight[y == k], z[y == k], strict=True)) for k in range(len(shares))]
    return match_sets(y, shares, prior, weight), z, samples


class TestExpectation:
    """On the exact distribution the risk from unlabeled sets is the PN risk (Theorem 2)."""

    @pytest.mark.parametrize("n_sets", [2, 3, 6])
    @over(LOSSES)
    def test_equals_the_pn_risk(self, loss, n_sets):
        """For every loss, random priors, random scores, two sets and more; so do its two parts, each by itself."""
        for seed in range(20):
            population = Population(seed, n_sets)
            risk = Risk(row_weights(population.sets()), loss)
            assert risk.value(population.z) == pytest.approx(population.pn_risk(loss), rel=1e-9)
            plus, minus = risk.parts(population.z)
            values = loss.value(population.scores), loss.value(-population.scores)
            assert plus == pytest.approx(population.prior * (population.positive @ values[0]), rel=1e-9, abs=1e-12)
            assert minus == pytest.approx((1 - population.prior) * (population.negative @ values[1]), abs=1e-9)

    @pytest.mark.parametrize("n_sets", [2, 3, 6])
    def test_convex_coefficients(self, n_sets):
        """Coefficients with a_k + b_k >= 0 give the same expectation."""
        for seed in range(20):
            population = Population(seed, n_sets)
            population.prior = float(np.mean([population.shares.min(), population.shares.max()]))
            risk = Risk(row_weights(population.sets(convex=True)), "logistic")
            assert risk.convex
            assert risk.value(population.z) == pytest.approx(population.pn_risk(BY_NAME["logistic"]))

    @pytest.mark.parametrize("n_sets", [2, 4])
    @over(LOSSES)
    def test_posterior_weights(self, loss, n_sets):
        """With the true posteriors, the columns of refinement have the PN risk too, and no negative weight."""
        for seed in range(10):
            population = Population(seed, n_sets)
            sets = population.sets()
            p, n = np.tile(population.positive, n_sets), np.tile(population.negative, n_sets)
            posterior = sets.share * p / (sets.share * p + (1 - sets.share) * n)
            columns = posterior_weights(posterior, sets)
            assert min(columns.plus.min(), columns.minus.min()) >= 0
            assert Risk(columns, loss).value(population.z) == pytest.approx(population.pn_risk(loss))

    def test_zero_one_is_the_error(self):
        """With the zero-one loss it is the share of the target that is put on the wrong side."""
        population = Population(0, 2)
        wrong = population.prior * population.positive[population.scores < 0].sum()
        wrong += (1 - population.prior) * population.negative[population.scores > 0].sum()
        assert Risk(row_weights(population.sets()), "zero_one").value(population.z) == pytest.approx(wrong)


class TestSpecialCases:
    """On any sample, not only in expectation."""

    @over(LOSSES)
    def test_two_sets(self, loss):
        """Eq. 9 with the coefficients of eq. 10."""
        sets, z, (rich, poor) = sampled(0, 30, (0.9, 0.4), 0.3)
        expected = reference.uu_risk(scalar(loss), rich, poor, 0.9, 0.4, 0.3)
        assert Risk(row_weights(sets), loss).value(z) == pytest.approx(expected)

    @over(LOSSES)
    def test_supervised(self, loss):
        """Shares 1 and 0 give eq. 6: labels, at the target prior."""
        sets, z, (positives, negatives) = sampled(1, 30, (1, 0), 0.3)
        columns = row_weights(sets)
        assert np.all(columns.plus[sets.index == 1] == 0)
        assert np.all(columns.minus[sets.index == 0] == 0)
        assert Risk(columns, loss).value(z) == pytest.approx(reference.pn_risk(scalar(loss), positives, negatives, 0.3))

    @over(LOSSES)
    def test_positive_unlabeled(self, loss):
        """Shares 1 and pi give unbiased positive-unlabeled learning."""
        sets, z, (positives, unlabeled) = sampled(2, 30, (1, 0.3), 0.3)
        expected = reference.pu_risk(scalar(loss), positives, unlabeled, 0.3)
        assert Risk(row_weights(sets), loss).value(z) == pytest.approx(expected)

    @pytest.mark.parametrize("pi", [0.2, 0.7])
    @over(LOSSES)
    def test_similar_unlabeled(self, loss, pi):
        """Shares pi^2 / (2 pi^2 - 2 pi + 1) and pi give similar-unlabeled learning."""
        sets, z, (similar, unlabeled) = sampled(3, 30, (pi**2 / (2 * pi**2 - 2 * pi + 1), pi), pi)
        expected = reference.su_risk(scalar(loss), similar, unlabeled, pi)
        assert Risk(row_weights(sets), loss).value(z) == pytest.approx(expected)

    @over(SYMMETRIC)
    def test_symmetric_form(self, loss):
        """Eq. 12: for a symmetric loss two coefficients less a constant are the full form."""
        sets, z, (rich, poor) = sampled(4, 30, (0.8, 0.1), 0.3)
        expected = reference.symmetric_risk(scalar(loss), rich, poor, 0.8, 0.1, 0.3)
        assert Risk(row_weights(sets), loss).value(z) == pytest.approx(expected)

    def test_symmetric_form_needs_symmetry(self):
        """For any other loss the two forms differ: the test above can fail."""
        _, _, (rich, poor) = sampled(4, 30, (0.8, 0.1), 0.3)
        for name, loss in LOSSES.items():
            full, short = (
                f(scalar(loss), rich, poor, 0.8, 0.1, 0.3) for f in (reference.uu_risk, reference.symmetric_risk)
            )
            assert (abs(full - short) < 1e-12) == (name in SYMMETRIC)


@pytest.mark.parametrize("correction", CORRECTIONS)
@pytest.mark.parametrize("shares", [(0.9, 0.4), (0.9, 0.4, 0.1)])
class TestInvariance:
    """What must not matter does not."""

    def test_order_of_sets(self, shares, correction):
        """Permuting the sets with their priors changes nothing, nor do their names or the order of rows."""
        sets, z, _ = sampled(0, 40, shares, 0.3)
        risk = Risk(row_weights(sets), "logistic", correction)
        rows = np.random.default_rng(0).permutation(40)
        for names in permutations("abc"[: len(shares)]):
            y = np.array(names)[sets.index[rows]]
            given = dict(sorted(zip(names, shares, strict=True), key=lambda pair: pair[1]))
            again = Risk(row_weights(match_sets(y, given, 0.3, sets.weight[rows])), "logistic", correction)
            assert again.value(z[rows]) == pytest.approx(risk.value(z), rel=1e-12)
            assert again.gradient(z[rows]) == pytest.approx(risk.gradient(z)[rows], rel=1e-9, abs=1e-14)

    def test_duplicated_rows(self, shares, correction):
        """A row given twice is a row of double weight; a row of weight 0 is absent."""
        sets, z, _ = sampled(1, 40, shares, 0.3)
        times = np.random.default_rng(1).integers(0, 4, 40)
        times[[np.flatnonzero(sets.index == k)[0] for k in range(len(shares))]] = 2
        rows = np.repeat(np.arange(40), times)
        repeated = Risk(row_weights(sets.take(rows)), "logistic", correction)
        weighted = Risk(row_weights(match_sets(sets.index, shares, 0.3, sets.weight * times)), "logistic", correction)
        assert repeated.value(z[rows]) == pytest.approx(weighted.value(z), rel=1e-12)
        summed = np.bincount(rows, repeated.gradient(z[rows]), minlength=40)
        assert summed == pytest.approx(weighted.gradient(z), rel=1e-9, abs=1e-14)

    def test_unit_of_weights(self, shares, correction):
        """Weights have no unit: n_k is their sum."""
        sets, z, _ = sampled(2, 40, shares, 0.3)
        again = Sets(sets.priors, sets.labels, sets.index, 1000 * sets.weight)
        found, expected = (Risk(row_weights(s), "sigmoid", correction).value(z) for s in (again, sets))
        assert found == pytest.approx(expected, rel=1e-12)


def row_terms(columns, loss, z):
    """Each distinct row's term of the risk at every z: shape (rows, len(z))."""
    rows = np.unique(np.column_stack(columns), axis=0)
    return rows[:, :1] * loss.value(z) + rows[:, 1:] * loss.value(-z)


def curves_up(columns, loss):
    """Every row's term has no negative second difference."""
    return bool(np.all(np.diff(row_terms(columns, loss, np.arange(-400, 401) / 100), 2) > -1e-12))


GRID = [0.0, 0.1, 0.2, 0.3, 0.45, 0.5, 0.6, 0.75, 0.9, 1.0]


class TestConvexity:
    """`Risk.convex` is what the rows' terms show."""

    @over(LINEAR_ODD)
    def test_two_sets(self, loss):
        """For linear-odd losses and two sets: convex on every row exactly when theta' <= pi <= theta."""
        for theta, theta_prime, pi in product(GRID, GRID, GRID[1:-1]):
            if theta - theta_prime < 0.25:
                continue
            columns = row_weights(match_sets([1, 0, 0], (theta_prime, theta), pi))
            expected = theta_prime <= pi <= theta
            assert Risk(columns, loss).convex == expected
            assert curves_up(columns, loss) == expected

    @over(LINEAR_ODD)
    def test_many_sets(self, loss):
        """With more sets: exactly where every a_k + b_k >= 0, which convex=True brings about."""
        found = set()
        for seed in range(40):
            population = Population(seed, 5)
            sets = population.sets()
            columns = row_weights(sets)
            assert Risk(columns, loss).convex == curves_up(columns, loss)
            plus, minus = sets.priors.coefficients(sets.sizes)
            assert Risk(columns, loss).convex == bool(np.all(plus + minus >= 0))
            found.add(Risk(columns, loss).convex)
            if population.shares.min() <= population.prior <= population.shares.max():
                columns = row_weights(population.sets(convex=True))
                assert Risk(columns, loss).convex
                assert curves_up(columns, loss)
        assert found == {True, False}

    def test_other_convex_losses(self):
        """A convex loss that is not linear-odd has convex terms where no weight is negative: labels, not mixtures."""
        for shares, expected in (((0.0, 1.0), True), ((0.1, 0.9), False), ((0.3, 1.0), False)):
            columns = row_weights(match_sets([0, 1], shares, 0.3))
            assert Risk(columns, SquaredHinge()).convex == curves_up(columns, SquaredHinge()) == expected

    @over({name: loss for name, loss in LOSSES.items() if not loss.convex})
    def test_other_losses(self, loss):
        """A loss that is not convex has terms that are not."""
        columns = row_weights(match_sets([0, 1], (0.1, 0.9), 0.3))
        assert not Risk(columns, loss).convex
        assert not curves_up(columns, loss)

    @pytest.mark.parametrize("correction", ["relu", "abs", "leaky", -0.5])
    def test_not_with_a_correction(self, correction):
        """A correction is not linear: nothing is promised with one."""
        columns = row_weights(match_sets([0, 1], (0.1, 0.9), 0.3))
        assert Risk(columns, "logistic").convex
        assert not Risk(columns, "logistic", correction).convex

    @over({name: loss for name, loss in LOSSES.items() if loss.convex})
    def test_reduced(self, loss):
        """The columns of `reduced` make every convex loss convex on every row, whatever the priors."""
        columns = reduced(row_weights(match_sets([0, 1], (0.4, 0.9), 0.1)))
        assert Risk(columns, loss).convex
        assert curves_up(columns, loss)


def random_columns(signs, seed=0, n=12):
    """Columns of both signs and scores, such that the parts of the risk of any loss have the given signs."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 2, n)
    plus, minus = rng.uniform(0.5, 1, (2, n))
    plus[::4] *= -0.1
    minus[1::4] *= -0.1
    return Columns(signs[0] * plus, signs[1] * minus), z


SIGNS = list(product([1, -1], repeat=2))
WITH_CORRECTION = [*CORRECTIONS, -0.5]


@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("correction", WITH_CORRECTION)
class TestDerivatives:
    """Gradient and curvature are those of the value, with every correction, parts above and below zero."""

    @over(TRAINABLE)
    def test_gradient(self, loss, correction, signs):
        """The gradient is the central difference of the value by each score."""
        columns, z = random_columns(signs)
        risk = Risk(columns, loss, correction)
        assert np.sign(risk.parts(z)).tolist() == list(signs)
        steps = 1e-5 * np.eye(len(z))
        differences = [(risk.value(z + step) - risk.value(z - step)) / 2e-5 for step in steps]
        assert risk.gradient(z) == pytest.approx(differences, abs=1e-7)

    @over(TRAINABLE)
    def test_curvature(self, loss, correction, signs):
        """The Hessian by the scores is diagonal, with the curvature on it: its product is the gradient's difference."""
        columns, z = random_columns(signs)
        risk = Risk(columns, loss, correction)
        directions = [*np.eye(len(z)), np.random.default_rng(1).normal(size=len(z))]
        for direction in directions:
            step = 1e-5 * direction
            difference = (risk.gradient(z + step) - risk.gradient(z - step)) / 2e-5
            assert risk.hessian_product(z, direction) == pytest.approx(difference, abs=1e-7)
        assert risk.hessian_product(z, np.ones(len(z))).tolist() == risk.curvature(z).tolist()

    @pytest.mark.parametrize("dtype", ["float32", "float64"])
    @over(TRAINABLE)
    def test_torch(self, loss, dtype, correction, signs):
        """Tensors give what arrays give, in their dtype, and autograd of the value gives the gradient."""
        torch = pytest.importorskip("torch")
        columns, z = random_columns(signs)
        columns, z = Columns(*(column.astype(dtype) for column in columns)), z.astype(dtype)
        risk = Risk(columns, loss, correction)
        tensor_risk = Risk(Columns(*map(torch.from_numpy, columns)), loss, correction)
        scores = torch.from_numpy(z).requires_grad_()
        value = tensor_risk.value(scores)
        close = {"rel": 1e-5, "abs": 1e-6} if dtype == "float32" else {"rel": 1e-12, "abs": 1e-13}
        assert value.dtype == getattr(torch, dtype)
        assert risk.value(z).dtype == risk.gradient(z).dtype == risk.curvature(z).dtype == dtype
        assert value.item() == pytest.approx(float(risk.value(z)), **close)
        (by_autograd,) = torch.autograd.grad(value, scores)
        for found in (by_autograd, tensor_risk.gradient(scores.detach())):
            assert found.dtype == getattr(torch, dtype)
            assert found.numpy() == pytest.approx(risk.gradient(z), **close)
        assert tensor_risk.curvature(scores.detach()).numpy() == pytest.approx(risk.curvature(z), **close)
        assert tensor_risk.convex == risk.convex


@over({name: loss for name, loss in BY_NAME.items() if loss.differentiable})
def test_whole_scores(loss):
    """Scores of small integer types, signed or not, give what floats give."""
    columns = Columns(np.array([0.5, -0.25, 0.5]), np.array([-0.25, 0.75, 0.25]))
    for scores in (np.array([-128, 1, 127], dtype=np.int8), np.array([0, 1, 255], dtype=np.uint8)):
        risk, exact = Risk(columns, loss), scores.astype(float)
        for what in ("value", "gradient", "curvature"):
            # NumPy 1 makes half-precision floats of them.
            assert getattr(risk, what)(scores) == pytest.approx(getattr(risk, what)(exact), rel=2e-3, abs=2e-3)


class TestCorrections:
    """What acts on the parts."""

    @pytest.mark.parametrize("name", CORRECTIONS)
    def test_values(self, name):
        """none, relu, abs and leaky are their formulas."""
        parts = np.array([-3.0, -0.5, 0.0, 0.5, 3.0])
        assert CORRECTIONS[name].value(parts) == pytest.approx([reference.CORRECTIONS[name](part) for part in parts])

    @pytest.mark.parametrize("signs", SIGNS)
    @pytest.mark.parametrize("name", CORRECTIONS)
    def test_on_the_risk(self, name, signs):
        """The correction acts on each part by itself."""
        columns, z = random_columns(signs)
        expected = reference.corrected_risk(reference.LOSSES["logistic"], reference.CORRECTIONS[name], *columns, z)
        assert Risk(columns, "logistic", name).value(z) == pytest.approx(expected)

    @pytest.mark.parametrize("correction", WITH_CORRECTION)
    def test_parts_add_over_batches(self, correction):
        """Parts of batches add up to the parts of all rows; the correction comes after, and does not add."""
        columns, z = random_columns((1, 1), n=40)
        columns = Columns(columns.plus, np.where(np.arange(40) < 10, -columns.minus, columns.minus))
        halves = [slice(0, 10), slice(10, 40)]
        risks = [Risk(Columns(*(column[half] for column in columns)), "logistic", correction) for half in halves]
        whole = Risk(columns, "logistic", correction)
        parts = [risk.parts(z[half]) for risk, half in zip(risks, halves, strict=True)]
        total = tuple(np.sum(parts, axis=0))
        assert total == pytest.approx(whole.parts(z))
        assert whole.combine(total) == pytest.approx(whole.value(z))
        corrected_first = sum(risk.value(z[half]) for risk, half in zip(risks, halves, strict=True))
        assert (corrected_first == pytest.approx(whole.value(z))) == (correction == "none")

    @pytest.mark.parametrize("name", CORRECTIONS)
    def test_joint(self, name):
        """A joint changes f only within its width, by little, and makes its derivative continuous."""
        sharp, joint = CORRECTIONS[name], CORRECTIONS[name].smoothed(0.5)
        parts, inside = np.array([-3.0, -0.5, 0.5, 3.0]), np.linspace(-0.49, 0.49, 9)
        assert joint.value(parts) == pytest.approx(sharp.value(parts))
        excess = joint.value(inside) - sharp.value(inside)
        assert np.all((excess >= 0) & (excess <= (1 - sharp.slope) * 0.5 / 4 + 1e-12))
        for points in (parts[[0, 3]], inside):
            for f, slope in ((joint.value, joint.derivative), (joint.derivative, joint.curvature)):
                assert slope(points) == pytest.approx((f(points + 1e-6) - f(points - 1e-6)) / 2e-6, abs=1e-8)

    @pytest.mark.parametrize("name", CORRECTIONS)
    def test_joint_in_the_risk(self, name):
        """Inside a joint every two scores have a say in each other's second derivative."""
        columns, z = random_columns((1, -1))
        risk = Risk(columns, "logistic", CORRECTIONS[name].smoothed(100.0))
        direction = np.random.default_rng(1).normal(size=len(z))
        step = 1e-5 * direction
        difference = (risk.gradient(z + step) - risk.gradient(z - step)) / 2e-5
        assert risk.hessian_product(z, direction) == pytest.approx(difference, abs=1e-7)
        assert risk.gradient(z) == pytest.approx(
            [(risk.value(z + one) - risk.value(z - one)) / 2e-5 for one in 1e-5 * np.eye(len(z))], abs=1e-7
        )

    def test_get(self):
        """A name, a slope of at most 1 or an instance."""
        assert all(get_correction(name) == CORRECTIONS[name] for name in CORRECTIONS)
        assert get_correction(-0.5) == get_correction(Correction(-0.5)) == Correction(-0.5)
        assert get_correction(0) == CORRECTIONS["relu"]


@over(SYMMETRIC)
def test_reduced_differs_by_a_constant(loss):
    """Under a symmetric loss `reduced` changes the risk by a constant and keeps the pull on every row."""
    sets, z, _ = sampled(5, 30, (0.9, 0.4, 0.2), 0.3)
    columns = row_weights(sets)
    cut = reduced(columns)
    assert min(cut.plus.min(), cut.minus.min()) >= 0
    assert cut.plus - cut.minus == pytest.approx(columns.plus - columns.minus)
    gaps = [Risk(cut, loss).value(s) - Risk(columns, loss).value(s) for s in (z, -z, 0 * z, 3 + z)]
    assert gaps == pytest.approx([gaps[0]] * 4)


def test_columns_sum():
    """The columns sum to pi and 1 - pi, so the risk is on the scale of a mean loss."""
    for n_sets in (2, 3, 6):
        population = Population(1, n_sets)
        columns = row_weights(population.sets())
        assert (columns.plus.sum(), columns.minus.sum()) == pytest.approx((population.prior, 1 - population.prior))


def test_losses_by_name_or_instance():
    """A loss is given by name or as an instance, the user's own among them."""
    columns, z = random_columns((1, 1))
    assert Risk(columns, "ramp").value(z) == Risk(columns, BY_NAME["ramp"]).value(z)
    assert Risk(columns, Savage()).loss == Savage()


DRAWS = 2000
PRIORS = Priors(0.9, 0.4, prior=0.3)


def drawn_risks(loss, sizes, draws, seed):
    """Risk estimates from fresh samples of two Gaussian classes scored by their coordinate, and the true risk."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], sizes)
    columns = row_weights(match_sets(y, PRIORS, 0.3))
    estimates = []
    for _ in range(draws):
        positive = rng.random(len(y)) < PRIORS.shares[y]
        estimates.append(float(Risk(columns, loss).value(np.where(positive, 1.0, -1.0) + rng.normal(size=len(y)))))
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    weights = weights / weights.sum()
    true = 0.3 * (weights @ BY_NAME[loss].value(nodes + 1)) + 0.7 * (weights @ BY_NAME[loss].value(1 - nodes))
    return np.array(estimates), true


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["sigmoid", "logistic", "squared"])
def test_unbiased(loss):
    """The mean of 2,000 estimates from 60 + 30 rows is within 4 standard errors of the risk."""
    estimates, true = drawn_risks(loss, (60, 30), DRAWS, seed=1)
    standard_error = estimates.std(ddof=1) / np.sqrt(DRAWS)
    assert abs(estimates.mean() - true) < 4 * standard_error
    assert standard_error < 0.02


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["sigmoid", "logistic"])
def test_rate(loss):
    """The standard deviation of the risk falls as 1 / sqrt(n): log-log slope -1/2 within .03, over 2 decades of n."""
    scales = np.array([1, 4, 16, 64, 256])
    deviations = [drawn_risks(loss, (20 * n, 10 * n), DRAWS // 2, seed=n)[0].std(ddof=1) for n in scales]
    slope = np.polyfit(np.log(scales), np.log(deviations), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.03)

"""What theory promises: the error bound, the variance of the risk estimate, and how many rows a question needs."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import choose, floats, number
from uulearn.metrics.definitions import OF_RATES, gradient
from uulearn.metrics.moments import ClassMeans
from uulearn.priors import Floats, Priors


def error_bound(
    priors: Priors,
    sizes: Sequence[int],
    rademacher: Sequence[float],
    *,
    lipschitz: float,
    loss_bound: float,
    delta: float = 0.05,
) -> float:
    """Bound on the excess risk of the trained classifier that holds with probability 1 - delta (Theorem 3).

    With v_k = abs(a_k - b_k) (alpha and alpha' for two sets) it is::

        4 L sum_k v_k Rad_k + 2 C sqrt(ln(2 / delta) / 2) sum_k v_k / sqrt(n_k)

    It is stated for symmetric losses, or losses scaled so that alpha and alpha' bound their coefficients.

    Parameters
    ----------
    priors : Priors
    sizes : sequence of int
        Rows of each set, in the order of the priors.
    rademacher : sequence of float
        Rademacher complexity of the model class on each set; for a linear model with ||w|| <= B on rows with
        ||x|| <= R it is at most B R / sqrt(n_k).
    lipschitz : float
        Lipschitz constant L of the loss.
    loss_bound : float
        Largest value C of the loss.
    delta : float, default=0.05

    Examples
    --------
    >>> bound = error_bound(Priors(0.9, 0.1, prior=0.5), (10**4, 10**4), (0.01, 0.01), lipschitz=0.25, loss_bound=1)
    >>> round(bound, 4)
    0.0465
    """
    n, pull = _pull(priors, sizes)
    number("lipschitz", lipschitz, low=0, open_high=True)
    number("loss_bound", loss_bound, low=0, open_high=True)
    number("delta", delta, low=0, high=1, open_low=True, open_high=True)
    complexity = floats("rademacher", rademacher)
    if complexity.shape != n.shape or not np.all(complexity >= 0):
        raise ValueError(
            f"rademacher must give one number of at least 0 for each set; got {rademacher!r}. A linear model's is at "
            "most B R / sqrt(n_k)."
        )
    deviation = np.sqrt(np.log(2 / delta) / 2)
    return float(4 * lipschitz * pull @ complexity + 2 * loss_bound * deviation * (pull / np.sqrt(n)).sum())


def risk_variance(priors: Priors, sizes: Sequence[int], rates: tuple[float, float] | None = None) -> float:
    """Variance of the label-free estimate of the error of a fixed classifier on sets of these sizes.

    The estimate is a constant plus sum_k v_k m_k with m_k the share of set k that is predicted positive, so the
    variance is sum_k v_k^2 m_k (1 - m_k) / n_k; a symmetric loss with values in [0, 1] has at most the bound.

    Parameters
    ----------
    priors : Priors
    sizes : sequence of int
        Rows of each set, in the order of the priors.
    rates : (float, float), optional
        True and false positive rate of the classifier; by default the bound m (1 - m) <= 1/4.

    Examples
    --------
    >>> risk_variance(Priors(1.0, 0.0, prior=0.5), (100, 100))
    0.00125
    """
    n, pull = _pull(priors, sizes)
    return float((pull**2 * _spread(priors, rates) / n).sum())


@dataclass(frozen=True)
class Plan:
    """Rows to draw from each set, and the standard error that they bring.

    Attributes
    ----------
    rows : dict
        Rows for each set label.
    standard_error : float
        Standard error of the label-free metric on that many rows.
    """

    rows: dict[Hashable, int]
    standard_error: float

    @property
    def total(self) -> int:
        """Rows of all sets together."""
        return sum(self.rows.values())


def plan(
    priors: Priors,
    standard_error: float,
    *,
    metric: str = "error",
    split: str | ArrayLike = "best",
    rates: tuple[float, float] | None = None,
) -> Plan:
    """Rows to draw from each set so that a label-free metric has the wanted standard error.

    The metric is a sum of u_k m_k, m_k the share of set k that is predicted positive (to first order, for precision
    and F1): for the error abs(u_k) = abs(a_k - b_k). Its variance sum_k u_k^2 m_k (1 - m_k) / n_k takes the fewest rows
    in all when (Neyman)::

        n_k is proportional to abs(u_k) sqrt(m_k (1 - m_k))

    The priors count as exact: what `Uncertain` ones add to a standard error, no number of rows takes away.

    Parameters
    ----------
    priors : Priors
    standard_error : float
    metric : {"error", "balanced_error", "tpr", "fpr", "precision", "recall", "f1", ...}, default="error"
    split : {"best", "equal"} or array-like of shape (n_sets,), default="best"
        Sizes of the sets in relation to each other. Of more than two sets the best split draws from two: the
        u_k obey two linear conditions, and a linear program has a solution at a corner.
    rates : (float, float), optional
        True and false positive rate of the classifier; by default the bound m (1 - m) <= 1/4. Precision and F1 need
        them.

    Returns
    -------
    Plan

    Examples
    --------
    >>> priors = Priors({"A": 0.9, "B": 0.4}, prior=0.3)
    >>> plan(priors, 0.01)
    Plan(rows={'A': 5152, 'B': 7392}, standard_error=0.00999...)
    >>> plan(priors, 0.01, split="equal").rows, plan(priors, 0.01, metric="tpr").rows
    ({'A': 6472, 'B': 6472}, {'A': 4200, 'B': 700})
    """
    number("standard_error", standard_error, low=0, open_low=True, open_high=True)
    _check(priors)
    spread = np.sqrt(np.broadcast_to(_spread(priors, rates), priors.shares.shape))
    slopes = _slopes(metric, rates, priors.prior)
    if isinstance(split, str) and split == "best":
        weight = _fewest_rows(priors.shares, slopes, spread)
        share = np.abs(weight) * spread
        share = share / (share.sum() or 1.0)
    else:
        share = _relative(split, len(priors.shares))
        plus, minus = priors.coefficients(share)
        weight = slopes[0] * plus / priors.prior + slopes[1] * minus / (1 - priors.prior)
    one_row = float(np.divide((weight * spread) ** 2, share, out=np.zeros_like(share), where=share > 0).sum())
    total = one_row / standard_error / standard_error
    if not np.isfinite(total):
        raise ValueError(
            f"standard_error must be within reach of some number of rows; got {standard_error!r}. Ask for a larger one."
        )
    # Of one row the spread cannot be told: `metrics.evaluate` needs two of each set that is drawn from.
    wanted = np.maximum(2, np.ceil(np.round(total * share, 6)))
    rows = np.where(weight != 0, wanted, 0) if isinstance(split, str) and split == "best" else wanted
    reached = np.divide((weight * spread) ** 2, rows, out=np.zeros_like(rows), where=rows > 0).sum()
    return Plan(dict(zip(priors.labels, map(int, rows), strict=True)), float(np.sqrt(reached)))


def _check(priors: Priors) -> None:
    if not isinstance(priors, Priors):
        raise TypeError(
            f"priors must be a Priors, such as Priors(0.9, 0.4, prior=0.3); got {priors!r}. Make one of it."
        )


def _pull(priors: Priors, sizes: ArrayLike) -> tuple[Floats, Floats]:
    _check(priors)
    plus, minus = priors.coefficients(sizes)
    return np.asarray(sizes, dtype=float), np.abs(plus - minus)


def _slopes(metric: str, rates: tuple[float, float] | None, prior: float) -> tuple[float, float]:
    """Slopes of the metric by the true and by the false positive rate."""
    value = choose("metric", metric, OF_RATES).value
    points = [(1.0, 0.0), (0.5, 0.5)] if rates is None else [rates]
    at = [gradient(value, ClassMeans(np.array([*point, prior]), np.zeros((3, 3))))[1][:2] for point in points]
    if not np.allclose(at[0], at[-1]) or not np.all(np.isfinite(at)):
        raise ValueError(
            f"rates must be given for metric={metric!r}, with some rows predicted positive, as its slopes depend on "
            f"them; got {rates!r}. Give the true and the false positive rate that you expect."
        )
    return float(at[0][0]), float(at[0][1])


def _fewest_rows(theta: Floats, slopes: tuple[float, float], spread: Floats) -> Floats:
    """The u_k with the least sum of abs(u_k) times spread, given sum u_k theta_k and sum u_k: those of two sets."""
    moment, total = slopes[0], sum(slopes)
    gap = theta[:, None] - theta
    with np.errstate(divide="ignore", invalid="ignore"):
        first = (moment - total * theta) / gap  # u_k of the set of the row, beside the set of the column
        cost = np.where(gap != 0, np.abs(first) * spread[:, None], np.inf)
    pair = np.unravel_index(np.argmin(cost + cost.T), cost.shape)
    weight = np.zeros(len(theta))
    weight[list(pair)] = first[pair], first.T[pair]
    return weight


def _relative(split: str | ArrayLike, n_sets: int) -> Floats:
    """Sizes of the sets in relation to each other, that sum to 1."""
    relative = np.ones(n_sets) if isinstance(split, str) and split == "equal" else None
    if relative is None and not isinstance(split, str):
        relative = floats("split", split)
    if relative is None or relative.shape != (n_sets,) or not np.all((relative > 0) & np.isfinite(relative)):
        raise ValueError(
            f"split must be 'best', 'equal' or a positive number for each of {n_sets} sets; got {split!r}. Leave it "
            "out for the split that needs the fewest rows."
        )
    return relative / relative.sum()


def _spread(priors: Priors, rates: tuple[float, float] | None) -> Floats | float:
    if rates is None:
        return 0.25
    if not isinstance(rates, (Sequence, np.ndarray)) or len(rates) != 2:
        raise TypeError(f"rates must be a pair (true positive rate, false positive rate); got {rates!r}. Give both.")
    hit, alarm = (number(f"rates[{i}]", rate, low=0, high=1) for i, rate in enumerate(rates))
    predicted = priors.shares * hit + (1 - priors.shares) * alarm
    return predicted * (1 - predicted)

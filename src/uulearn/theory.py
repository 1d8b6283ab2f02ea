"""What theory promises: the error bound, the variance of the risk estimate, and how many rows a question needs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import floats, number
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


def rows_needed(
    priors: Priors,
    standard_error: float,
    *,
    ratio: ArrayLike | None = None,
    rates: tuple[float, float] | None = None,
) -> dict[object, int]:
    """Rows of each set for a wanted standard error of the label-free error.

    Parameters
    ----------
    priors : Priors
    standard_error : float
    ratio : array-like of shape (n_sets,), optional
        Sizes of the sets in relation to each other; equal by default.
    rates : (float, float), optional
        As in `risk_variance`.

    Returns
    -------
    dict
        Rows for each set label.

    Examples
    --------
    >>> rows_needed(Priors({"A": 0.9, "B": 0.4}, prior=0.3), 0.01)
    {'A': 6472, 'B': 6472}
    """
    number("standard_error", standard_error, low=0, open_low=True, open_high=True)
    equal, _ = _pull(priors, None)
    relative = equal if ratio is None else floats("ratio", ratio)
    if relative.shape != equal.shape or not np.all((relative > 0) & np.isfinite(relative)):
        raise ValueError(
            f"ratio must give a positive number for each of {len(equal)} sets; got {ratio!r}. For sets of equal size "
            "leave it out."
        )
    share = relative / relative.sum()
    one_row = risk_variance(priors, share, rates)
    total = one_row / standard_error / standard_error
    if not np.isfinite(total):
        raise ValueError(
            f"standard_error must be within reach of some number of rows; got {standard_error!r}. Ask for a larger one."
        )
    return {
        label: max(1, int(np.ceil(round(total * part, 6)))) for label, part in zip(priors.labels, share, strict=True)
    }


def _pull(priors: Priors, sizes: ArrayLike | None) -> tuple[Floats, Floats]:
    if not isinstance(priors, Priors):
        raise TypeError(
            f"priors must be a Priors, such as Priors(0.9, 0.4, prior=0.3); got {priors!r}. Make one of it."
        )
    plus, minus = priors.coefficients(sizes)
    return np.ones(len(plus)) if sizes is None else np.asarray(sizes, dtype=float), np.abs(plus - minus)


def _spread(priors: Priors, rates: tuple[float, float] | None) -> Floats | float:
    if rates is None:
        return 0.25
    if not isinstance(rates, (Sequence, np.ndarray)) or len(rates) != 2:
        raise TypeError(f"rates must be a pair (true positive rate, false positive rate); got {rates!r}. Give both.")
    hit, alarm = (number(f"rates[{i}]", rate, low=0, high=1) for i, rate in enumerate(rates))
    predicted = priors.shares * hit + (1 - priors.shares) * alarm
    return predicted * (1 - predicted)

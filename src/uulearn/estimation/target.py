"""The share of positives among unlabeled target rows, which are a mixture of the sets."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import choose, integer, number
from uulearn.calibration import fit_link, posterior
from uulearn.estimation.result import SetPriors, TargetPrior
from uulearn.estimation.scores import cross_fit, log_odds, table
from uulearn.metrics.moments import combined_covariance, group_index, units
from uulearn.priors import Floats, Priors
from uulearn.refinement import split
from uulearn.sets import Sets, generator, match_sets, row_weight

METHODS = {"means": False, "em": True}
"""Method: whether it maximises the likelihood of the target rows."""
STEPS = 3
"""Times that the score is adapted to the prior it gave; more change nothing."""


def estimate_target_prior(
    X_target: Any,
    X: Any,
    y: ArrayLike,
    set_priors: Any,
    *,
    method: str = "means",
    estimator: Any = None,
    cv: Any = 5,
    n_repeats: int = 1,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    target_weight: ArrayLike | None = None,
    target_groups: ArrayLike | None = None,
    random_state: Any = None,
) -> TargetPrior:
    """Share of positives among target rows, from two or more sets of known shares and no label.

    For any function h of a row the sets give its class means, and the target is a mixture of the classes::

        pi = (E_target[h] - E_N[h]) / (E_P[h] - E_N[h])

    With two sets that is pi = theta' + lambda (theta - theta'), lambda = (E_target[h] - E_U'[h]) / (E_U[h] - E_U'[h]).
    Unbiased h come from cross-fitting. The variance is least for h = the posterior of the positive class at the share
    that all samples have on average, weighed by their part in it.

    Parameters
    ----------
    X_target : rows of shape (n_target, n_features)
    X : rows of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The set each row of `X` came from.
    set_priors : mapping, sequence or Priors
        Share of positives of each set. Those of `estimate_set_priors` bring their own uncertainty along.
    method : {"means", "em"}, default="means"
        "means" is the above. "em" (Saerens et al. 2002) makes the target rows most likely under calibrated class
        ratios; its error grows with theirs, and its standard error counts the target rows alone.
    estimator, cv, n_repeats, sample_weight, groups, random_state
        As in `estimate_set_priors`; the classifier tells the sets above the target's share from those below.
    confidence : float, default=0.95
    target_weight, target_groups : array-like of shape (n_target,), optional

    Returns
    -------
    TargetPrior

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from uulearn import estimate_target_prior, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 5000)
    >>> X = rng.normal(size=(10000, 2)) + 2 * truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.8, 0.3), (3000, 3000), random_state=0)
    >>> target, _, _ = make_unlabeled_sets(X, truth, (0.2,), (2000,), random_state=1)
    >>> print(estimate_target_prior(target, rows, sets, (0.8, 0.3), estimator=LogisticRegression(), random_state=0))
    0.1986 (standard error 0.0162, interval 0.1669 to 0.2302)
    """
    choose("method", method, METHODS)  # before anything takes long
    repeats = integer("n_repeats", n_repeats, low=1)
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    start = set_priors.prior if isinstance(set_priors, Priors) else 0.5
    sets = match_sets(y, set_priors, start, sample_weight)
    X, X_target = table(X, "X", len(sets.index)), table(X_target, "X_target")
    if X_target.shape[1:] != X.shape[1:]:
        raise ValueError(
            f"X_target and X must have the same columns; got rows of shape {tuple(X_target.shape[1:])} and "
            f"{tuple(X.shape[1:])}. Prepare both alike."
        )
    target = one_sample(X_target.shape[0], target_weight, sets)
    if target_groups is not None:
        group_index(target_groups, len(target.index))
    rng = generator(random_state)
    up = (sets.priors.mixtures(sets.sizes).pull > 0)[sets.index]
    own, new = [], []
    for _ in range(repeats):
        seed = int(rng.integers(2**31))
        inside, outside = cross_fit(estimator, X, up, sets.weight, split(sets, cv, groups, seed), seed, X_target)
        own.append(log_odds(inside))
        new.append(log_odds(np.asarray(outside)))
    return prior_from_scores(
        np.array(own),
        np.concatenate(new),
        sets,
        target,
        set_priors=set_priors,
        method=method,
        confidence=confidence,
        groups=groups,
        target_groups=target_groups,
    )


def prior_from_scores(
    own: Floats,
    new: Floats,
    sets: Sets,
    target: Sets,
    *,
    set_priors: Any,
    method: str,
    confidence: float,
    groups: ArrayLike | None = None,
    target_groups: ArrayLike | None = None,
) -> TargetPrior:
    """`estimate_target_prior` for rows that have scores (log odds of coming from a rich set).

    Parameters
    ----------
    own : ndarray of shape (n_repeats, n_rows)
        Out-of-fold scores of the rows of the sets.
    new : ndarray of shape (n_models, n_target)
        Scores of the target by each model.
    sets, target : Sets
        `one_sample` makes the latter.
    set_priors, method, confidence, groups, target_groups
        As in `estimate_target_prior`.
    """
    from scipy.special import ndtri

    by_likelihood = choose("method", method, METHODS)
    named = [
        None if given is None else group_index(given, len(rows.index))
        for given, rows in ((groups, sets), (target_groups, target))
    ]
    repeats = len(own)
    every = Sets(sets.priors, sets.labels, np.tile(sets.index, repeats), np.tile(sets.weight, repeats))
    link = fit_link(own.ravel(), every)
    ratios, target_ratios = link.log_ratio(own), link.log_ratio(new)
    if by_likelihood:
        value, error = _by_likelihood(target_ratios, target, named[1])
    else:
        value, error = _by_means(ratios, target_ratios, sets, target, named, set_priors)
    half = float(ndtri(0.5 + confidence / 2)) * error
    clipped, low, high = np.clip([value, value - half, value + half], 0, 1).tolist()
    return TargetPrior(clipped, error, low, high, unclipped=value, method=method)


def one_sample(n_rows: int, weight: ArrayLike | None, sets: Sets) -> Sets:
    """The target as one more set, so that means and errors are taken as those of the sets are."""
    checked = row_weight(weight, n_rows)
    if not np.any(checked > 0):
        raise ValueError(
            "target_weight must be positive for some rows; got zero weight for all of them. Leave it out to weigh rows "
            "alike."
        )
    return Sets(sets.priors, np.array(["target"]), np.zeros(n_rows, dtype=np.intp), checked)


def _by_means(
    own: Floats, new: Floats, sets: Sets, target: Sets, groups: list[Any], set_priors: Any
) -> tuple[float, float]:
    """The prior by class means of the best posterior, and its standard error.

    `own` and `new` are log ratios of the rows by each repeat and of the target by each model; h is taken of each and
    then averaged, which keeps the mean of h the same function of the class on both sides.
    """
    value = sets.priors.prior
    for _ in range(STEPS):
        reach = np.append(_pull(sets, value) ** 2 / sets.sizes, 1 / target.sizes)
        shares = np.append(sets.priors.shares, min(max(value, 0.0), 1.0))
        share = float(reach @ shares / reach.sum())
        h, h_target = posterior(own, share).mean(axis=0), posterior(new, share).mean(axis=0)
        means = np.bincount(sets.index, sets.weight * h) / sets.sizes
        mean = float(target.weight @ h_target / target.weight.sum())
        value = _solve(sets.priors.shares, means, mean, sets.sizes)
    plus, minus = _class_weights(sets.priors.shares, sets.sizes)
    gap = float((plus - minus) @ means)
    variance = _variance(sets, h, _pull(sets, value) / gap, groups[0])
    variance += _variance(target, h_target, np.array([1 / gap]), groups[1])
    covariance = np.diag(sets.priors.standard_errors**2)
    if isinstance(set_priors, SetPriors):
        order = [list(set_priors).index(label) for label in sets.labels.tolist()]
        covariance = set_priors.covariance[np.ix_(order, order)]
    slope = _slope(sets, means, mean)
    variance += float(slope @ covariance @ slope)
    return value, float(np.sqrt(variance))


def _variance(sets: Sets, h: Floats, coefficients: Floats, groups: Any) -> float:
    """Variance of a linear combination of the set means of h."""
    return float(combined_covariance(sets, lambda rows: h[rows][None], units(sets, groups), coefficients[None])[0, 0])


def _class_weights(shares: Floats, sizes: Floats) -> tuple[Floats, Floats]:
    """What turns set means into class means; of the prior they do not depend."""
    plus, minus = Priors(shares, prior=0.5, allow_out_of_range=True).coefficients(sizes)
    return 2 * plus, 2 * minus


def _pull(sets: Sets, value: float) -> Floats:
    """How much the prior falls by when the mean of a set rises, in units of the gap between the classes."""
    plus, minus = _class_weights(sets.priors.shares, sets.sizes)
    return value * plus + (1 - value) * minus


def _solve(shares: Floats, means: Floats, mean: float, sizes: Floats) -> float:
    plus, minus = _class_weights(shares, sizes)
    return float((mean - minus @ means) / ((plus - minus) @ means))


def _slope(sets: Sets, means: Floats, mean: float, step: float = 1e-5) -> Floats:
    """Derivative of the prior by the share of each set."""
    moved = [step * one for one in np.eye(len(means))]
    shares = sets.priors.shares
    return np.array(
        [_solve(shares + by, means, mean, sets.sizes) - _solve(shares - by, means, mean, sets.sizes) for by in moved]
    ) / (2 * step)


def _by_likelihood(new: Floats, target: Sets, group_of: Any) -> tuple[float, float]:
    """The fixed point of the EM of Saerens, which repeats pi <- mean posterior at pi, and its standard error.

    It is where the likelihood is greatest, and the likelihood is concave in pi: a root is found at once.
    """
    from scipy.optimize import brentq

    def gain(value: float) -> Floats:
        """Derivative of the log likelihood of each row, averaged over the models: (L - 1) / (pi L + 1 - pi)."""
        return np.asarray((posterior(new, value) - value).mean(axis=0) / (value * (1 - value)))

    def total(value: float) -> float:
        return float(target.weight @ gain(value))

    low, high = 1e-6, 1 - 1e-6
    if total(low) <= 0 or total(high) >= 0:
        value = low if total(low) <= 0 else high
    else:
        value = float(brentq(total, low, high, xtol=1e-9))
    each = (posterior(new, value) - value) / (value * (1 - value))
    curvature = float(target.weight @ (each**2).mean(axis=0)) / target.weight.sum()
    return value, float(np.sqrt(_variance(target, gain(value) / curvature, np.ones(1), group_of)))

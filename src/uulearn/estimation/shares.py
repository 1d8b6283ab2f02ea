"""Set priors from the sets alone: cross-fitted scores, one of three readings of them, and a bootstrap for the error."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import choose, integer, number
from uulearn.calibration import posterior
from uulearn.estimation.ends import Likelihood, best_bin, dedpul, from_kappas, likelihood, to_kappas
from uulearn.estimation.result import DoubtfulPriorsWarning, SetPriors
from uulearn.estimation.scores import counted, cross_fit, log_odds, table, unknown_sets
from uulearn.metrics.moments import group_index
from uulearn.priors import Floats
from uulearn.refinement import split
from uulearn.sets import Sets, generator

BINS = 250
"""Scores are counted in at most this many bins of about equal weight; so a bootstrap costs next to nothing."""
FEWEST = 50
"""Fewer rows than this at an end of the score make its ratio doubtful."""
GAP = 0.05
"""Where two readings differ by more, and by more than twice the standard error, one of their assumptions fails."""
PURE = 0.9
"""Least purity of the outermost twentieth of the rows, below which an end counts as not seen."""


def _by_kappas(read: Callable[[Floats, Floats], tuple[float, float]]) -> Callable[[Floats, Floats], Floats]:
    """Shares of all sets from the kappas of the extreme two: every set is a mixture of those."""

    def shares(counts: Floats, scores: Floats) -> Floats:
        means = counts @ scores / counts.sum(axis=1)
        rich, poor = int(np.argmax(means)), int(np.argmin(means))
        theta, theta_prime = from_kappas(*read(counts[rich], counts[poor]))
        part = (means - means[poor]) / (means[rich] - means[poor])
        return np.asarray(theta_prime + part * (theta - theta_prime))

    return shares


METHODS: dict[str, Callable[[Floats, Floats], Floats] | None] = {
    "likelihood": None,  # its resamples start from the fit to all rows
    "best-bin": _by_kappas(lambda rich, poor: best_bin(rich, poor).kappas),
    "dedpul": _by_kappas(dedpul),
}


def estimate_set_priors(
    X: Any,
    y: ArrayLike,
    *,
    positive_set: Any,
    method: str = "likelihood",
    estimator: Any = None,
    cv: Any = 5,
    n_repeats: int = 1,
    n_bootstrap: int = 200,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> SetPriors:
    """Share of positives of each set, from the sets alone.

    It is possible under mutual irreducibility: some rows can only be positive, some only negative. With U the richest
    set and U' the poorest::

        kappa_1 = inf p_U / p_U',   kappa_2 = inf p_U' / p_U,
        theta = (1 - kappa_1) / (1 - kappa_1 kappa_2),   theta' = kappa_2 theta.

    A classifier that tells `positive_set` from the rest is cross-fitted; how the share of each set varies along its
    score gives the priors. Where the classes overlap everywhere, the extremes are taken for pure: then the sets seem
    further apart than they are, and nothing in the rows can say so.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The set each row came from.
    positive_set : label
        The set richest in positives. Exchanging the classes explains the rows as well, so it has to be said.
    method : {"likelihood", "best-bin", "dedpul"}, default="likelihood"
        "likelihood" fits all shares, and the link from score to class ratio, to the set memberships; "best-bin" (Garg
        et al. 2021) and "dedpul" (Ivanov 2020) read the kappas at the ends of the score.
    estimator : classifier, optional
        Any scikit-learn classifier with `predict_proba`; the average of boosted and randomised trees by default.
    cv : int, splitter or iterable, default=5
        Folds of the cross-fitting.
    n_repeats : int, default=1
        Cross-fits, on different folds, whose probabilities are averaged.
    n_bootstrap : int, default=200
        Resamples of the scored rows within their sets (or of groups) that give the standard errors.
    confidence : float, default=0.95
    sample_weight, groups : array-like of shape (n_rows,), optional
        Rows of one group stay in one fold, and are resampled together.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    SetPriors
        Hand it on as `set_priors=`. Its errors hold the classifier fixed and the assumption for true; `doubts` says
        what speaks against that.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from uulearn import estimate_set_priors, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat([0, 1], 5000)
    >>> X = rng.normal(size=(10000, 2)) + 3 * truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, {"A": 0.8, "B": 0.3}, {"A": 4000, "B": 4000}, random_state=0)
    >>> found = estimate_set_priors(
    ...     rows, sets, positive_set="A", method="best-bin", estimator=LogisticRegression(), random_state=0
    ... )
    >>> found  # the truth is .8 and .3
    set                share  standard error  95 % interval
    'A'               0.7956          0.0071  0.7817 to 0.8096
    'B'               0.2957          0.0083  0.2794 to 0.3119
    """
    choose("method", method, METHODS)  # before anything takes long
    repeats = integer("n_repeats", n_repeats, low=1)
    integer("n_bootstrap", n_bootstrap, low=2)
    number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    sets = counted(unknown_sets(y, sample_weight))
    X = table(X, "X", len(sets.index))
    up = sets.index == _position(positive_set, sets)
    rng = generator(random_state)
    probability = np.zeros(len(up))
    for _ in range(repeats):
        seed = int(rng.integers(2**31))
        probability += cross_fit(estimator, X, up, sets.weight, split(sets, cv, groups, seed), seed)[0] / repeats
    return priors_from_scores(
        sets,
        log_odds(probability),
        positive_set=positive_set,
        method=method,
        n_bootstrap=n_bootstrap,
        confidence=confidence,
        groups=groups,
        rng=rng,
    )


def priors_from_scores(
    sets: Sets,
    values: Floats,
    *,
    positive_set: Any,
    method: str,
    n_bootstrap: int,
    confidence: float,
    groups: ArrayLike | None,
    rng: np.random.Generator,
) -> SetPriors:
    """`estimate_set_priors` for rows that have out-of-fold scores (log odds of coming from `positive_set`).

    Parameters
    ----------
    sets : Sets
        Their priors are not read.
    values : ndarray of shape (n_rows,)
    positive_set, method, n_bootstrap, confidence, groups
        As in `estimate_set_priors`.
    rng : numpy.random.Generator
    """
    read = choose("method", method, METHODS)
    resamples = integer("n_bootstrap", n_bootstrap, low=2)
    level = number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    names, richest = sets.labels.tolist(), _position(positive_set, sets)
    bins, scores = _binned(values)

    def count(weight: Floats) -> Floats:
        flat = np.bincount(sets.index * len(scores) + bins, weight, minlength=len(names) * len(scores))
        return np.asarray(flat.reshape(len(names), -1))

    counts = count(sets.weight)
    means = counts @ scores / sets.sizes
    if means.argmax() != richest or np.ptp(means) == 0:
        raise ValueError(
            f"positive_set={positive_set!r} must score highest among the sets, as the richest in positives does; the "
            "classifier cannot tell the sets apart, or another set is richer. Bring more rows or better columns, try "
            "another estimator, or name another set."
        )
    fit = likelihood(counts, scores)
    again = (count(sets.weight * times) for times in _resamples(sets, groups, resamples, rng))
    if read is None:
        shares = fit.shares
        draws = [likelihood(drawn, scores, start=fit.at).shares for drawn in again]
    else:
        shares = read(counts, scores)
        draws = [read(drawn, scores) for drawn in again]
    covariance = np.cov(draws, rowvar=False)
    doubts = _doubts(counts, fit, shares, covariance)
    for doubt in doubts:
        warnings.warn(doubt, DoubtfulPriorsWarning, stacklevel=3)
    return _result(names, shares, covariance, method, doubts, level)


def _position(positive_set: Any, sets: Sets) -> int:
    names = sets.labels.tolist()
    if positive_set not in names:
        raise ValueError(
            f"positive_set must be one of the set labels in y, {names[:6]!r}; got {positive_set!r}. Name the set that "
            "is richest in positives: the rows cannot tell which class is which."
        )
    return names.index(positive_set)


def _result(
    names: list[Any], shares: Floats, covariance: Floats, method: str, doubts: tuple[str, ...], level: float
) -> SetPriors:
    from scipy.special import ndtri

    half = float(ndtri(0.5 + level / 2)) * np.sqrt(covariance.diagonal())
    low, high = np.clip(shares - half, 0, 1).tolist(), np.clip(shares + half, 0, 1).tolist()
    intervals = dict(zip(names, zip(low, high, strict=True), strict=True))
    named = dict(zip(names, shares.tolist(), strict=True))
    return SetPriors(
        named, intervals, covariance, method, to_kappas(shares.max(), shares.min()), doubts, confidence=level
    )


def _binned(scores: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The bin of each row and the mean score of each bin, lowest first."""
    cuts = np.unique(np.quantile(scores, np.linspace(0, 1, BINS + 1)[1:-1]))
    found = np.searchsorted(cuts, scores, side="right")
    bins = np.unique(found, return_inverse=True)[1]
    return bins, np.bincount(bins, scores) / np.bincount(bins)


def _resamples(sets: Sets, groups: ArrayLike | None, number_of: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each row is drawn, for each resample: rows within their set, groups among those of the same sets."""
    if groups is None:
        group_of, kind = np.arange(len(sets.index)), sets.index
    else:
        group_of = group_index(groups, len(sets.index))
        present = np.zeros((group_of.max() + 1, len(sets.labels)), dtype=bool)
        present[group_of, sets.index] = True
        kind = np.unique(present, axis=0, return_inverse=True)[1].ravel()
    alike = [np.flatnonzero(kind == one) for one in range(kind.max() + 1)]
    for _ in range(number_of):
        drawn = np.concatenate([rng.choice(some, len(some)) for some in alike])
        yield np.bincount(drawn, minlength=len(kind))[group_of].astype(float)


def _doubts(counts: Floats, fit: Likelihood, shares: Floats, covariance: Floats) -> tuple[str, ...]:
    """What the rows say against the estimate, one sentence each."""
    rich, poor = int(np.argmax(shares)), int(np.argmin(shares))
    tails = best_bin(counts[rich], counts[poor])
    by_bin = np.array(from_kappas(*tails.kappas))
    by_fit = fit.shares[[rich, poor]]
    error = np.sqrt(covariance.diagonal()[[rich, poor]])
    found = []
    if np.any(np.abs(by_bin - by_fit) > np.maximum(GAP, 2 * error)):
        found.append(
            "the ratio at the ends of the score (best-bin) and the shape of the whole curve (likelihood) must agree; "
            f"they say {by_bin[0]:.3f} and {by_bin[1]:.3f} against {by_fit[0]:.3f} and {by_fit[1]:.3f} for the extreme "
            "sets. Either no rows are purely of one class, or the classifier does not find them: try another "
            "estimator, or count labels (priors_from_labels)."
        )
    if min(tails.rows) < FEWEST:
        found.append(
            f"the ratio at the {('low', 'high')[int(np.argmin(tails.rows))]} end of the score should rest on {FEWEST} "
            f"rows or more; it rests on {min(tails.rows):.0f}. Bring more rows."
        )
    pooled = counts.sum(axis=0)
    reach = np.cumsum(pooled) / pooled.sum()
    purity = posterior(fit.log_ratio, float(counts.sum(axis=1) @ fit.shares / counts.sum()))
    for side, outer, pure in (("negative", reach <= 0.05, 1 - purity), ("positive", reach >= 0.95, purity)):
        if outer.any() and np.average(pure[outer], weights=pooled[outer]) < PURE:
            found.append(
                f"some rows must be purely {side}; of the outermost twentieth only "
                f"{np.average(pure[outer], weights=pooled[outer]):.0%} seem to be, so the end of the curve is "
                "extrapolated. Try another estimator, or count labels (priors_from_labels)."
            )
    return tuple(found)

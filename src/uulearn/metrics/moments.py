"""Class means of functions of a row, without a label, and how sure they are.

The set means m_k of h are means over independent rows (or groups), so their covariance is the sum over rows of
centred terms; the coefficients carry it over to the class means. Where a prior is itself uncertain, what it moves is
added: the derivative by that prior, squared, times its variance.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn.priors import Floats, Priors
from uulearn.sets import Sets

BLOCK = 1 << 18
"""Rows looked at together: their terms stay in the cache and out of the memory."""
STEP = 1e-5
"""Step of the central differences by an uncertain prior."""

Part = slice | NDArray[np.intp]
Function = Callable[[Part], Floats]
"""From some of the rows to the values of one or more functions of them, of shape (n_functions, n_rows)."""


class Units(NamedTuple):
    """What varies independently: rows, or groups of rows; with the factor that a mean taken out asks for.

    Attributes
    ----------
    of : ndarray of shape (n_rows,) or None
        Group of each row; None where rows are on their own.
    factor : ndarray of shape (n_sets,)
        sqrt(n / (n - 1)) for the n units of each set; NaN for a single one.
    """

    of: NDArray[np.intp] | None
    factor: Floats


class ClassMeans(NamedTuple):
    """Means of p functions over the positive and the negative class, and the target prior, as one vector.

    Attributes
    ----------
    values : ndarray of shape (2 p + 1,)
        E_P of each function, E_N of each, pi.
    covariance : ndarray of shape (2 p + 1, 2 p + 1)
    """

    values: Floats
    covariance: Floats


def class_coefficients(sets: Sets, priors: Priors | None = None) -> tuple[Floats, Floats]:
    """What turns set means into the mean over the positive and over the negative class.

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> class_coefficients(match_sets([0, 1], (0.9, 0.4), 0.3))
    (array([ 1.2, -0.2]), array([-0.8,  1.8]))
    """
    priors = sets.priors if priors is None else priors
    plus, minus = priors.coefficients(sets.sizes)
    return plus / priors.prior, minus / (1 - priors.prior)


def units(sets: Sets, groups: ArrayLike | None) -> Units:
    """The independent units of the rows.

    Parameters
    ----------
    sets : Sets
    groups : array-like of shape (n_rows,) or None
    """
    of = None if groups is None else group_index(groups, len(sets.index))
    seen: Part = slice(None) if sets.weight.min() > 0 else np.flatnonzero(sets.weight > 0)
    member = sets.index[seen]
    if of is not None:
        member = np.unique(of[seen] * len(sets.labels) + member) % len(sets.labels)
    n = np.bincount(member, minlength=len(sets.labels)).astype(float)
    return Units(of, np.asarray(np.sqrt(np.divide(n, n - 1, out=np.full_like(n, np.nan), where=n > 1))))


def group_index(groups: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Groups of the rows as numbers from 0 on.

    Parameters
    ----------
    groups : array-like of shape (n_rows,)
    n_rows : int

    Examples
    --------
    >>> group_index(["ward", "home", "ward"], 3).tolist()
    [1, 0, 1]
    """
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups must name the group of each of {n_rows} rows; got an array of shape {values.shape}. Give a row "
            "that belongs to none a group of its own."
        )
    try:
        names, index = np.unique(values, return_inverse=True)
    except TypeError:
        raise TypeError(
            "groups must hold names of one type; got names that cannot be ordered. Name every group alike."
        ) from None
    if names.dtype.kind == "f" and np.isnan(names[-1]):
        raise ValueError(
            "groups must name the group of each row; got NaN. Give a row that belongs to none a group of its own."
        )
    return index


def blocks(n_rows: int) -> Iterator[slice]:
    """All rows, some at a time."""
    for start in range(0, n_rows, BLOCK):
        yield slice(start, min(start + BLOCK, n_rows))


def set_means(sets: Sets, function: Function) -> Floats:
    """Means of p functions over the rows of each set.

    Parameters
    ----------
    sets : Sets
    function : callable
        function(rows) -> (p, n_rows).

    Returns
    -------
    ndarray of shape (p, n_sets)

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> h = np.array([[1.0, 0.0, 1.0]])
    >>> set_means(match_sets([0, 0, 1], (0.9, 0.4), 0.3), lambda rows: h[:, rows])
    array([[0.5, 1. ]])
    """
    total: Floats | float = 0.0
    for rows in blocks(len(sets.index)):
        index, weight = sets.index[rows], sets.weight[rows]
        total = total + np.array([np.bincount(index, weight * h, len(sets.labels)) for h in function(rows)])
    return np.asarray(total / sets.sizes)


def class_means(sets: Sets, function: Function, unit: Units) -> ClassMeans:
    """Class means of p functions of a row, with their covariance.

    Parameters
    ----------
    sets : Sets
    function : callable
        function(rows) -> (p, n_rows).
    unit : Units

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets([1, 1, 0, 0], {0: 0.0, 1: 1.0}, 0.5)
    >>> h = np.array([[1.0, 0.0, 0.0, 0.0]])
    >>> found = class_means(sets, lambda rows: h[:, rows], units(sets, None))
    >>> found.values, found.covariance.round(2)[0].tolist()
    (array([0.5, 0. , 0.5]), [0.25, 0.0, 0.0])
    """
    means = set_means(sets, function)
    to_classes = np.array(class_coefficients(sets))
    size = 2 * len(means) + 1
    covariance = np.zeros((size, size))
    covariance[:-1, :-1] = combined_covariance(sets, function, unit, to_classes, means)

    def moved(priors: Priors) -> Floats:
        return np.append((np.array(class_coefficients(sets, priors)) @ means.T).ravel(), priors.prior)

    covariance += prior_covariance(sets.priors, moved)
    return ClassMeans(np.append((to_classes @ means.T).ravel(), sets.priors.prior), covariance)


def combined_covariance(
    sets: Sets, function: Function, unit: Units, coefficients: Floats, means: Floats | None = None
) -> Floats:
    """Covariance of c linear combinations of the set means of p functions.

    Parameters
    ----------
    sets : Sets
    function : callable
        function(rows) -> (p, n_rows).
    unit : Units
    coefficients : ndarray of shape (c, n_sets)
    means : ndarray of shape (p, n_sets), optional
        The set means, where they are known.

    Returns
    -------
    ndarray of shape (c p, c p)

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets([0, 0, 1, 1], (0.9, 0.4), 0.3)
    >>> h = np.array([[1.0, 0.0, 0.0, 0.0]])
    >>> combined_covariance(sets, lambda rows: h[:, rows], units(sets, None), np.array([[1.0, 1.0]]))
    array([[0.25]])
    """
    spread = _of_groups if unit.of is not None else _of_rows
    return spread(sets, function, unit, set_means(sets, function) if means is None else means, coefficients)


def _of_rows(sets: Sets, function: Function, unit: Units, means: Floats, coefficients: Floats) -> Floats:
    """Where rows are independent: the covariance of each set's means, carried over."""
    n_sets, p = len(sets.labels), len(means)
    products = np.zeros((p, p, n_sets))
    for rows in blocks(len(sets.index)):
        index = sets.index[rows]
        terms = sets.weight[rows] * (function(rows) - means[:, index])
        for i in range(p):
            for j in range(i + 1):
                products[i, j] += np.bincount(index, terms[i] * terms[j], n_sets)
    lower = np.tril_indices(p, -1)
    products[lower[::-1]] = products[lower]
    products *= (unit.factor / sets.sizes) ** 2
    size = len(coefficients) * p
    return np.asarray(np.einsum("ck,ijk,dk->cidj", coefficients, products, coefficients).reshape(size, size))


def _of_groups(sets: Sets, function: Function, unit: Units, means: Floats, coefficients: Floats) -> Floats:
    """Where groups are: the terms of a group add, over sets too, before they are squared."""
    assert unit.of is not None
    n_groups, p, c = int(unit.of.max()) + 1, len(means), len(coefficients)
    total = np.zeros((c, p, n_groups))
    scale = coefficients * unit.factor / sets.sizes
    for rows in blocks(len(sets.index)):
        index, group = sets.index[rows], unit.of[rows]
        terms = sets.weight[rows] * (function(rows) - means[:, index])
        for i in range(c):
            for j in range(p):
                total[i, j] += np.bincount(group, scale[i, index] * terms[j], n_groups)
    flat = total.reshape(c * p, n_groups)
    return np.asarray(flat @ flat.T)


def prior_covariance(priors: Priors, function: Callable[[Priors], Floats]) -> Floats:
    """What the uncertainty of the priors adds to the covariance of a function of them.

    Parameters
    ----------
    priors : Priors
    function : callable
        function(priors) -> vector.

    Examples
    --------
    >>> from uulearn.priors import Uncertain
    >>> priors = Priors(Uncertain(0.9, 0.02), 0.4, prior=0.3)
    >>> prior_covariance(priors, lambda moved: moved.shares).round(6).tolist()
    [[0.0004, 0.0], [0.0, 0.0]]
    """
    errors = np.append(priors.standard_errors, priors.prior_standard_error)
    total: Floats | float = 0.0
    for at in np.flatnonzero(errors):
        step = np.zeros(len(errors))
        step[at] = STEP
        slope = (function(moved_priors(priors, step)) - function(moved_priors(priors, -step))) / (2 * STEP)
        total = total + errors[at] ** 2 * np.outer(slope, slope)
    return np.asarray(total)


def moved_priors(priors: Priors, step: Floats) -> Priors:
    """The priors with every share, and then the target prior, moved by so much; they may leave [0, 1]."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the ones moved are as close as those stated, which has been said
        prior = float(np.clip(priors.prior + step[-1], 1e-9, 1 - 1e-9))
        shares = priors.shares + step[:-1]
        convex = priors.convex and bool(shares.min() <= prior <= shares.max())
        return Priors(shares, prior=prior, convex=convex, allow_out_of_range=True)

"""Rows and the sets they came from: matching set labels to priors, and drawing unlabeled sets from labeled data."""

import warnings
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import choose, floats, integer, number, quoted
from uulearn.priors import ClosePriorsWarning, Floats, Priors


@dataclass(frozen=True)
class Sets:
    """Which set each row came from, with the priors of the sets.

    Attributes
    ----------
    priors : Priors
        Shares in the order of `labels`.
    labels : ndarray of shape (n_sets,)
        Sorted set labels.
    index : ndarray of shape (n_rows,)
        Position in `labels` of the set of each row.
    weight : ndarray of shape (n_rows,)
        Weight of each row.
    """

    priors: Priors
    labels: NDArray[Any]
    index: NDArray[np.intp]
    weight: Floats

    @cached_property
    def sizes(self) -> Floats:
        """Sum of the weights of the rows of each set."""
        return np.asarray(np.bincount(self.index, self.weight, minlength=len(self.labels)), dtype=np.float64)

    @property
    def share(self) -> Floats:
        """Share of positives of the set of each row."""
        return self.priors.shares[self.index]

    def take(self, rows: NDArray[Any]) -> "Sets":
        """The same sets, of some of the rows."""
        return Sets(self.priors, self.labels, self.index[rows], self.weight[rows])


def at_pooled_prior(sets: Sets) -> Sets:
    """The same rows, with the share of positives among all of them as the target prior.

    A flexible model for it ranks rows as well as one for any other target. It lies between the shares of the sets, so
    the risk is convex where it can be, and for a target further off the weights are larger, and so is their noise.

    Examples
    --------
    >>> at_pooled_prior(match_sets(["U", "V"], {"U": 0.75, "V": 0.25}, 0.1)).priors.prior
    0.5
    """
    priors = sets.priors
    pooled = float(np.clip(sets.sizes @ priors.shares / sets.sizes.sum(), 0.01, 0.99))  # wrong shares may be anywhere
    named = dict(zip(priors.labels, priors.stated[0], strict=True))
    loose = priors.allow_out_of_range
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClosePriorsWarning)  # it has been said of the stated target
        return Sets(Priors(named, prior=pooled, allow_out_of_range=loose), sets.labels, sets.index, sets.weight)


def match_sets(
    y: ArrayLike, set_priors: Any, prior: Any, sample_weight: ArrayLike | None = None, *, convex: bool = False
) -> Sets:
    """Match the set label of every row to the share of positives of its set.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    set_priors : Priors, mapping or sequence
        Shares of positives; a sequence is in the order of the sorted set labels. `Priors` also bring their `convex` and
        `allow_out_of_range`; their `prior` must be this one.
    prior : float
        Share of positives among the rows to be predicted.
    sample_weight : array-like of shape (n_rows,), optional
        Weight of each row; a row of weight 0 is as good as absent.
    convex : bool, default=False
        Passed on to `Priors`.

    Examples
    --------
    >>> sets = match_sets(["west", "east", "east"], {"east": 0.9, "west": 0.4}, 0.3)
    >>> sets.share, sets.sizes
    (array([0.4, 0.9, 0.9]), array([2., 1.]))
    """
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(
            f"y must name the set of each row in one dimension; got an array of shape {values.shape}. Pass one column."
        )
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise ValueError(
            "y must name the set of each row; Input y contains NaN or infinity. Drop these rows or name their set."
        )
    weight = row_weight(sample_weight, len(values))
    if len(values) == 0:
        raise ValueError("y must name the set of at least one row of each set; got none. Bring rows.")
    if not np.any(weight > 0):
        raise ValueError(
            "sample_weight must be positive for some rows; got zero weight for all of them. Leave it out to weigh rows "
            "alike."
        )
    labels = kinds(values)
    if not np.all(weight > 0):
        labels = np.unique(values[weight > 0])
        values = np.where(np.isin(values, labels), values, labels[:1])
    priors = _match_priors(labels, set_priors, prior, convex)
    return Sets(priors, labels, np.searchsorted(labels, values), weight)


def rematch_sets(y: NDArray[Any], labels: NDArray[Any], priors: Priors, sample_weight: ArrayLike | None = None) -> Sets:
    """Match other rows to sets that are already matched; some of more than two sets may be absent.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        The set each row came from.
    labels : ndarray of shape (n_sets,)
        Known set labels, in the order of `priors`.
    priors : Priors
    sample_weight : array-like of shape (n_rows,), optional

    Examples
    --------
    >>> sets = match_sets(["A", "B", "C"], {"A": 0.9, "B": 0.5, "C": 0.1}, 0.3)
    >>> rematch_sets(np.array(["C", "A", "C"]), sets.labels, sets.priors).share
    array([0.1, 0.9, 0.1])
    """
    weight = row_weight(sample_weight, len(y))
    present = kinds(y[weight > 0])
    unknown = np.setdiff1d(present, labels)
    if len(unknown):
        raise ValueError(
            f"y must name sets that the classifier was trained on, {_listed(labels.tolist())}; got "
            f"{_listed(unknown.tolist())}. Drop these rows or name their set as it was named."
        )
    if len(present) < 2:
        raise ValueError(
            f"y must hold rows of two sets or more (of positive weight); got {_listed(present.tolist()) or 'none'}. "
            "Bring rows of another set."
        )
    stated, prior = priors.stated
    shares = dict(zip(labels.tolist(), stated, strict=True))
    if len(present) < len(labels):
        loose = priors.allow_out_of_range
        here = {name: shares[name] for name in present.tolist()}
        return match_sets(y, Priors(here, prior=prior, allow_out_of_range=loose), prior, weight)
    return Sets(priors, labels, np.searchsorted(labels, np.where(weight > 0, y, labels[0])), weight)


def row_weight(sample_weight: ArrayLike | None, n_rows: int) -> Floats:
    """Checked weights of the rows, ones by default.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
    n_rows : int

    Examples
    --------
    >>> row_weight(None, 3), row_weight([1, 0, 2], 3)
    (array([1., 1., 1.]), array([1., 0., 2.]))
    """
    if sample_weight is None:
        return np.ones(n_rows)
    weight = floats("sample_weight", sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one weight a row: sample_weight.shape == {weight.shape}, expected {(n_rows,)}!"
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise ValueError(
            "sample_weight must be finite and not negative; got values that are not. Drop or mend these rows."
        )
    return weight


def _match_priors(labels: NDArray[Any], set_priors: Any, prior: Any, convex: bool) -> Priors:
    out_of_range = False
    if isinstance(set_priors, Priors):
        if set_priors.prior != prior:
            raise ValueError(
                f"prior must be that of the Priors given as set_priors, {set_priors.prior:g}; got {prior!r}. "
                "Give the same number twice, or set_priors as a mapping."
            )
        convex, out_of_range = convex or set_priors.convex, set_priors.allow_out_of_range
        shares, prior = set_priors.stated
        given: Any = dict(zip(set_priors.labels, shares, strict=True)) if set_priors.named else shares
    else:
        given = dict(set_priors) if hasattr(set_priors, "keys") else set_priors
    names = labels.tolist()
    if given is None or isinstance(given, (str, bytes)) or not isinstance(given, (Mapping, Sequence, np.ndarray)):
        raise TypeError(
            "set_priors must be a mapping {set label: share of positives} or a sequence of shares in the order of the "
            f"sorted set labels; got {given!r}."
        )
    if len(names) == 1:
        raise ValueError(
            f"y must hold at least two sets; got one class of set label, {names[0]!r}. From one set the risk of a "
            "classifier cannot be rewritten whatever its share of positives (Theorem 1: theta = pi/(2 pi - 1) is no "
            "probability). Bring a second set with another share."
        )
    if isinstance(given, Mapping):
        missing = [name for name in names if name not in given]
        empty = [name for name in given if name not in names]
        if missing:
            raise ValueError(
                f"set_priors must give a share for every set label in y; {_listed(missing)} match none of "
                f"{_listed(list(given))}. Add the share of each, or drop the rows. (cross_val_predict renames labels "
                "to 0, 1, ...: there, give the shares as a sequence in the order of the sorted labels.)"
            )
        if empty:
            raise ValueError(
                f"set_priors must name sets that have rows; {_listed(empty)} have none in y (or none of positive "
                "weight). Drop them from set_priors or bring their rows."
            )
        given = [given[name] for name in names]
    if len(given) != len(names):
        only = "Only binary classification is supported. " if len(given) == 2 < len(names) else ""
        raise ValueError(
            f"{only}set_priors must give one share for each set; got {len(given)} shares for {len(names)} set labels "
            f"in y ({_listed(names)}). Give one share for each, in this order, or a mapping."
        )
    named = dict(zip(names, given, strict=True))
    return Priors(named, prior=prior, convex=convex, allow_out_of_range=out_of_range)


def kinds(y: NDArray[Any]) -> NDArray[Any]:
    """Sorted labels, or a refusal where they have no order."""
    if y.dtype.kind in "iu" and len(y) and 0 <= y.min() <= y.max() < len(y):
        return np.flatnonzero(np.bincount(y)).astype(y.dtype)  # counting is far quicker than sorting
    try:
        return np.unique(y)
    except TypeError:
        types = sorted({type(label).__name__ for label in y})
        raise TypeError(
            f"y must hold labels of one type; got {' beside '.join(types)}. Name all alike; drop rows without one."
        ) from None


def _listed(names: Sequence[Hashable], most: int = 6) -> str:
    return quoted(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def make_unlabeled_sets(
    X: Any,
    y: ArrayLike,
    set_priors: Any,
    sizes: Sequence[int] | Mapping[Any, int],
    *,
    counts: str = "exact",
    overlap: str = "raise",
    positive: Any = None,
    random_state: Any = None,
) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
    """Draw unlabeled sets with given shares of positives from labeled rows.

    Sets are drawn without replacement and share no row while the rows of a class last.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        True classes, of two kinds. They serve the draw only.
    set_priors : mapping or sequence
        Share of positives of each set; the sets of a sequence are called 0, 1, ...
    sizes : mapping or sequence
        Rows of each set, likewise.
    counts : {"exact", "random"}, default="exact"
        Positives of a set: its share times its size, rounded, or a binomial draw.
    overlap : {"raise", "allow"}, default="raise"
        When a class has too few rows: refuse and say how many are missing, or let sets share rows of that class. Rows
        that two sets share must stay in one fold: pass the returned indices as `groups` wherever rows are split.
    positive : optional
        The class counted as positive; the larger label by default.
    random_state : int, numpy.random.Generator, RandomState or None

    Returns
    -------
    X_sets : the drawn rows, of the type of `X`; of a sparse matrix of any format, as CSR
    set_labels : ndarray of shape (n_drawn,)
    indices : ndarray of shape (n_drawn,)
        Position in `X` of each drawn row.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(20).reshape(-1, 1), np.repeat([0, 1], 10)
    >>> X_sets, sets, indices = make_unlabeled_sets(X, y, (0.8, 0.2), (5, 10), random_state=0)
    >>> [int((y[indices[sets == k]] == 1).sum()) for k in (0, 1)]
    [4, 2]
    """
    from sklearn.utils import _safe_indexing, check_consistent_length

    check_consistent_length(X, y)
    if hasattr(X, "tocsr"):  # not every sparse format gives rows out
        X = X.tocsr()
    truth = np.asarray(y)
    if truth.ndim != 1:
        raise ValueError(
            f"y must hold the class of each row in one dimension; got an array of shape {truth.shape}. Pass one column."
        )
    exact = choose("counts", counts, {"exact": True, "random": False})
    share_rows = choose("overlap", overlap, {"raise": False, "allow": True})
    labels, shares, rows = _requested(set_priors, sizes)
    rng = generator(random_state)
    pools = [rng.permutation(np.flatnonzero(kind)) for kind in _classes(truth, positive)]
    positives = np.array(
        [round(share * n) if exact else rng.binomial(n, share) for share, n in zip(shares, rows, strict=True)]
    )
    wanted = np.column_stack([rows - positives, positives])
    taken = [
        _deal(pool, wanted[:, kind], share_rows, ("negative", "positive")[kind], rng) for kind, pool in enumerate(pools)
    ]
    parts = [rng.permutation(np.concatenate([taken[0][k], taken[1][k]])) for k in range(len(labels))]
    indices = np.concatenate(parts)
    return _safe_indexing(X, indices), np.repeat(np.asarray(labels), rows), indices


def _requested(set_priors: Any, sizes: Any) -> tuple[list[Any], list[float], NDArray[np.intp]]:
    """Labels, shares and sizes of the sets to draw."""
    if isinstance(set_priors, Mapping) != isinstance(sizes, Mapping):
        raise TypeError(
            "set_priors and sizes must both be mappings or both be sequences; got one of each. Name the sets in both."
        )
    for name, given in (("set_priors", set_priors), ("sizes", sizes)):
        if isinstance(given, str) or not isinstance(given, (Mapping, Sequence, np.ndarray)):
            raise TypeError(
                f"{name} must be a mapping or a sequence with an entry for each set; got {given!r}. Two sets need two."
            )
    labels = list(set_priors) if isinstance(set_priors, Mapping) else list(range(len(set_priors)))
    kinds = {np.asarray(label).dtype.kind if np.isscalar(label) else "O" for label in labels}
    if len(kinds) > 1 or "O" in kinds:
        raise TypeError(
            f"set_priors must name sets by scalars of one type, such as strings or whole numbers; got "
            f"{_listed(labels)}. Name all alike."
        )
    if not labels:
        raise ValueError("set_priors must name at least one set to draw; got none. Give a share for each.")
    if len(sizes) != len(labels) or (isinstance(sizes, Mapping) and set(sizes) != set(labels)):
        raise ValueError(
            f"sizes must give one size for each of the sets {_listed(labels)}; got {sizes!r}. Name the same sets as "
            "set_priors."
        )
    shares = [number(f"set_priors[{label!r}]", set_priors[label], low=0.0, high=1.0) for label in labels]
    rows = [integer(f"sizes[{label!r}]", sizes[label], low=1) for label in labels]
    return labels, shares, np.array(rows)


def _classes(y: NDArray[Any], positive: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    found = kinds(y)
    if len(found) != 2:
        raise ValueError(
            f"y must hold two classes to draw sets from; got {len(found)}: {_listed(found.tolist())}. Bring both, or "
            "say which is positive with y == label."
        )
    if any(kind != kind for kind in found.tolist()):
        raise ValueError("y must hold a class for every row to draw sets from; got NaN. Drop these rows.")
    if positive is not None and positive not in found:
        raise ValueError(
            f"positive must be one of the classes in y, {_listed(found.tolist())}; got {positive!r}. Leave it out for "
            "the larger label."
        )
    chosen = y == (found[1] if positive is None else positive)
    return ~chosen, chosen


def _deal(
    pool: NDArray[np.intp], wanted: NDArray[np.intp], share_rows: bool, kind: str, rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Deal a shuffled pool to the sets one after another; when it runs out, go on with rows that other sets hold."""
    missing = int(wanted.sum()) - len(pool)
    if missing > 0 and not share_rows:
        raise ValueError(
            f"sizes and set_priors ask for {wanted.sum()} {kind} rows and y holds {len(pool)}: {missing} are missing. "
            "Draw smaller sets, or allow sets to share rows with overlap='allow'."
        )
    if wanted.max(initial=0) > len(pool):
        raise ValueError(
            f"sizes and set_priors ask for {wanted.max()} {kind} rows in one set and y holds {len(pool)}: no set "
            "holds a row twice. Draw smaller sets."
        )
    hands, start = [], 0
    for count in wanted:
        hand = pool[start : start + count]
        start += len(hand)
        if len(hand) < count:
            others = np.setdiff1d(pool, hand)
            hand = np.concatenate([hand, rng.choice(others, count - len(hand), replace=False)])
        hands.append(hand)
    return hands


def generator(random_state: Any) -> np.random.Generator:
    """A generator from a seed, a generator, a RandomState or nothing.

    Examples
    --------
    >>> generator(0).integers(10, size=3).tolist() == generator(0).integers(10, size=3).tolist()
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            "random_state must be a whole number of at least 0, a Generator, a RandomState or None; got "
            f"{random_state!r}."
        ) from None

"""The label-free error against the number of rows: whether more rows are worth their price."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import indexable
from sklearn.utils.validation import column_or_1d

from uulearn._checks import floats
from uulearn.metrics import evaluate_sets
from uulearn.metrics.moments import group_index
from uulearn.priors import Floats
from uulearn.refinement import split
from uulearn.selection._crossfit import match_target, out_of_fold, target_keys
from uulearn.sets import Sets, generator

SHARES = (0.1, 0.2, 0.4, 0.7, 1.0)


@dataclass(frozen=True, repr=False)
class LearningCurve:
    """Label-free error by the number of rows that were trained on.

    Attributes
    ----------
    rows : ndarray of shape (n_sizes,)
        Mean number of rows of all sets together.
    error, standard_error, low, high : ndarray of shape (n_sizes,)
        Of the out-of-fold decisions about all rows, so that every size is judged on the same ones.
    """

    rows: Floats
    error: Floats
    standard_error: Floats
    low: Floats
    high: Floats

    def __repr__(self) -> str:
        lines = [
            f"{rows:>9.0f}  {error:.4f} ({spread:.4f})"
            for rows, error, spread in zip(self.rows, self.error, self.standard_error, strict=True)
        ]
        return "\n".join(["     rows  error (standard error)", *lines])


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    shares: Sequence[float] = SHARES,
    cv: Any = 5,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> LearningCurve:
    """Cross-validated label-free error of a classifier trained on more and more of the rows.

    Parameters
    ----------
    estimator : classifier from unlabeled sets, or a pipeline that ends in one
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The set each row came from.
    shares : sequence of float, default=(.1, .2, .4, .7, 1)
        Shares of the training rows of every set; the smaller ones are parts of the larger ones.
    cv : int or splitter, default=5
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in the `fit` of a classifier; groups stay in one fold.
    random_state : int, Generator, RandomState or None
        Shuffles the folds and the rows.

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UULinearClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 8000)
    >>> X = rng.normal(size=(8000, 2)) + truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.8, 0.3), (3000, 3000), random_state=0)
    >>> found = learning_curve(UULinearClassifier(set_priors=(0.8, 0.3), prior=0.3), rows, sets, random_state=0)
    >>> found.rows, bool(found.error[-1] <= found.error[0] + found.standard_error[0])
    (array([ 480.,  960., 1920., 3360., 4800.]), True)
    """
    given = floats("shares", shares)
    if given.ndim != 1 or not len(given) or not np.all((given > 0) & (given <= 1)):
        raise ValueError(f"shares must be numbers above 0 and up to 1; got {shares!r}. 0.5 trains on half of the rows.")
    keys = target_keys("estimator", estimator)
    X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
    membership = np.asarray(column_or_1d(y, warn=True))
    sets = match_target("estimator", estimator, keys, membership, sample_weight)
    rng = generator(random_state)
    folds = split(sets, cv, groups, int(rng.integers(2**31)))
    by_row = {
        "sample_weight": None if sample_weight is None else sets.weight,
        "groups": None if groups is None else np.asarray(groups),
    }
    unit = np.arange(len(membership)) if groups is None else group_index(groups, len(membership))
    dice = rng.random(int(unit.max()) + 1)[unit]
    estimates, rows = [], []
    for share in given:
        smaller = [(_first(train, sets, dice, share), test) for train, test in folds]
        scores = np.asarray(out_of_fold(estimator, X, membership, smaller, **by_row), dtype=float)
        estimates.append(evaluate_sets(sets, scores, groups=groups, metrics="error").error)
        rows.append(float(np.mean([len(train) for train, _ in smaller])))
    columns = (
        np.array([getattr(one, name) for one in estimates]) for name in ("value", "standard_error", "low", "high")
    )
    return LearningCurve(np.array(rows), *columns)


def _first(train: NDArray[np.intp], sets: Sets, dice: Floats, share: float) -> NDArray[np.intp]:
    """The rows of lowest dice, about this share of every set."""
    kept = []
    for k in range(len(sets.labels)):
        own = train[sets.index[train] == k]
        kept.append(own[dice[own] <= np.quantile(dice[own], share, method="inverted_cdf")])
    return np.sort(np.concatenate(kept))

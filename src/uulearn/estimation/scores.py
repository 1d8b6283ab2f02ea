"""Cross-fitted probabilities of "which side did the row come from": what both estimators of priors read."""

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn.calibration import shift_prior
from uulearn.priors import Floats
from uulearn.refinement import Fold
from uulearn.sets import Sets, kinds, match_sets, row_weight

EDGE = 1e-4
"""Probabilities are read as if they stayed this far from 0 and 1, where a forest may put them."""


def log_odds(probability: Floats) -> Floats:
    """Log odds, finite at 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> log_odds(np.array([0.0, 0.5])).round(2)
    array([-9.21,  0.  ])
    """
    from scipy.special import logit

    return np.asarray(logit(np.clip(probability, EDGE, 1 - EDGE)))


def unknown_sets(y: ArrayLike, sample_weight: ArrayLike | None) -> Sets:
    """The sets of the rows, with stand-ins for the priors that nobody knows yet.

    Examples
    --------
    >>> unknown_sets(["B", "A", "B"], None).sizes
    array([1., 2.])
    """
    values = np.asarray(y)
    n_sets = 2  # where y is no such column, match_sets says so
    if values.ndim == 1 and len(values) and (values.dtype.kind != "f" or np.all(np.isfinite(values))):
        n_sets = max(2, len(kinds(values[row_weight(sample_weight, len(values)) > 0])))
    return match_sets(values, np.linspace(0, 1, n_sets), 0.5, sample_weight)


def counted(sets: Sets) -> Sets:
    """The sets with weights that can be numbers of rows: those of a mean below 1, as normalised ones, are scaled to it.

    Examples
    --------
    >>> counted(unknown_sets(["A", "B"], [0.1, 0.3])).weight
    array([0.5, 1.5])
    """
    mean = float(sets.weight[sets.weight > 0].mean())
    return sets if mean >= 1 else Sets(sets.priors, sets.labels, sets.index, sets.weight / mean)


def table(X: Any, name: str, n_rows: int | None = None) -> Any:
    """Rows as they are, sparse ones as CSR, sequences as an array; refused where their number is wrong."""
    if hasattr(X, "tocsr"):
        X = X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) == 0 or X.shape[0] == 0 or (n_rows is not None and X.shape[0] != n_rows):
        expected = "at least one row" if n_rows is None else f"a row for each of the {n_rows} set labels in y"
        raise ValueError(
            f"{name} must have {expected}; got shape {tuple(X.shape)}. Pass the rows that belong together."
        )
    return X


def default_classifier(*, sparse: bool = False) -> Any:
    """Boosted and randomised trees, averaged: the one is sharp, the other smooth at the ends that matter here.

    Boosted ones read no sparse rows.
    """
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, VotingClassifier

    boosted = HistGradientBoostingClassifier(
        learning_rate=0.07, max_iter=100, max_leaf_nodes=15, min_samples_leaf=40, early_stopping=False
    )
    forest = ExtraTreesClassifier(100, min_samples_leaf=5)
    if sparse:
        return forest
    return VotingClassifier([("boosted", boosted), ("forest", forest)], voting="soft")


def cross_fit(
    estimator: Any,
    X: Any,
    up: NDArray[np.bool_],
    weight: Floats,
    folds: list[Fold],
    seed: int,
    X_new: Any = None,
) -> tuple[Floats, Floats | None]:
    """Probability of `up` of each row, by a model that did not see it; and of new rows, by the model of each fold.

    Folds of groups train on other proportions of `up` than there are; every probability is moved to those of all rows.

    Parameters
    ----------
    estimator : classifier or None
    X : rows
    up : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
    folds : list of (train, test)
    seed : int
        For every `random_state` of the classifier that is not set.
    X_new : rows, optional

    Returns
    -------
    out_of_fold : ndarray of shape (n_rows,)
    new : ndarray of shape (n_folds, n_new) or None
    """
    from sklearn.base import clone, is_classifier
    from sklearn.utils import _safe_indexing

    model = default_classifier(sparse=hasattr(X, "tocsr")) if estimator is None else estimator
    if isinstance(model, type) or not is_classifier(model) or not hasattr(model, "predict_proba"):
        raise TypeError(
            f"estimator must be an instance of a scikit-learn classifier with predict_proba; got {model!r}. Pass, for "
            "instance, RandomForestClassifier(min_samples_leaf=10), or wrap it in CalibratedClassifierCV."
        )
    last, prefix = model, ""
    while hasattr(last, "steps"):
        name, last = last.steps[-1]
        prefix += f"{name}__"
    takes_weight = any(
        name == "sample_weight" or parameter.kind is parameter.VAR_KEYWORD
        for name, parameter in signature(last.fit).parameters.items()
    )
    alike = bool(np.ptp(weight[weight > 0]) == 0)
    if not alike and not takes_weight:
        raise TypeError(
            f"sample_weight needs an estimator whose fit takes it; {type(model).__name__}'s does not. Leave it out, or "
            "take another estimator."
        )
    out_of_fold, new = np.empty(len(up)), []
    whole = float(np.average(up, weights=weight))
    for number, (train, test) in enumerate(folds):
        fitted = clone(model)
        unset = [key for key, value in fitted.get_params().items() if key.endswith("random_state") and value is None]
        fitted.set_params(**dict.fromkeys(unset, (seed + number) % 2**32))
        train = train[weight[train] > 0]
        options = {} if alike else {f"{prefix}sample_weight": weight[train]}
        fitted.fit(_safe_indexing(X, train), up[train].astype(int), **options)
        seen = float(np.average(up[train], weights=weight[train]))
        out_of_fold[test] = shift_prior(fitted.predict_proba(_safe_indexing(X, test))[:, 1], seen, whole)
        if X_new is not None:
            new.append(shift_prior(fitted.predict_proba(X_new)[:, 1], seen, whole))
    return out_of_fold, np.array(new, dtype=float) if X_new is not None else None

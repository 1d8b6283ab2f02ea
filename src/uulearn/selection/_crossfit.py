"""Any classifier from unlabeled sets, bare or inside a pipeline: what it is told of the priors, and its scores."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import has_fit_parameter

from uulearn.priors import Floats
from uulearn.refinement import Fold
from uulearn.sets import Sets, match_sets

Keys = Mapping[str, list[str]]


def target_keys(name: str, estimator: Any) -> Keys:
    """Parameters of an estimator that hold set priors, and those that hold the prior, at any depth.

    Parameters
    ----------
    name : str
        What the refusal calls the estimator.
    estimator : estimator

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from uulearn import UULinearClassifier
    >>> piped = make_pipeline(StandardScaler(), UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3))
    >>> target_keys("estimator", piped)["prior"]
    ['uulinearclassifier__prior']
    """
    parameters = estimator.get_params() if hasattr(estimator, "get_params") and not isinstance(estimator, type) else {}
    keys = {
        kind: sorted(key for key in parameters if key.rpartition("__")[2] == kind) for kind in ("set_priors", "prior")
    }
    if not all(keys.values()):
        raise TypeError(
            f"{name} must be an instance of a classifier with set_priors and prior, or a pipeline that ends in one; "
            f"got {estimator!r}. Wrap a scikit-learn classifier in UUClassifier."
        )
    return keys


def match_target(name: str, estimator: Any, keys: Keys, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Sets:
    """The rows matched to the priors that the estimator holds.

    Parameters
    ----------
    name, estimator, keys
        As in `target_keys`, and what it returned.
    y : array-like of shape (n_rows,)
    sample_weight : array-like of shape (n_rows,), optional
    """
    parameters = estimator.get_params()
    values, named = np.asarray(y), hasattr(parameters[keys["set_priors"][0]], "keys")
    if values.dtype.kind == "f" and np.all(np.isfinite(values)) and not named:
        check_classification_targets(values)  # only a mapping can say that such numbers name sets
    told = [
        match_sets(y, parameters[shares], parameters[prior], sample_weight)
        for shares, prior in zip(keys["set_priors"], keys["prior"], strict=True)
    ]
    if any(sets.priors != told[0].priors for sets in told):
        raise ValueError(
            f"{name} must hold one target; got {told[0].priors} beside "
            f"{next(sets.priors for sets in told if sets.priors != told[0].priors)}. Give all its parts the same "
            "set_priors and prior."
        )
    return told[0]


def out_of_fold(estimator: Any, X: Any, y: NDArray[Any], folds: list[Fold], **by_row: NDArray[Any] | None) -> Floats:
    """Score of each row, by a clone that was trained without the row's fold.

    Parameters
    ----------
    estimator : estimator
    X : rows that `sklearn.utils.indexable` has made indexable
    y : ndarray of shape (n_rows,)
    folds : list of (train, test)
    **by_row : ndarray of shape (n_rows,) or None
        `sample_weight` and `groups`, handed to `fit` where given.
    """
    scores = np.empty(len(y))
    for train, test in folds:
        fitted = fit(clone(estimator), _safe_indexing(X, train), y[train], **_taken(by_row, train))
        scores[test] = fitted.decision_function(_safe_indexing(X, test))
    return scores


def fit(estimator: Any, X: Any, y: NDArray[Any], **by_row: NDArray[Any] | None) -> Any:
    """Fit with those of `sample_weight` and `groups` that are given; a pipeline hands them to its last step.

    Only weights must be understood: to a model that splits no rows, groups mean nothing, and a search of scikit-learn
    would warn of them unless its own splitter asks for them.
    """
    last, prefix = last_step(estimator)
    given = {key: value for key, value in by_row.items() if value is not None}
    if "groups" in given and not has_fit_parameter(last, "groups"):
        del given["groups"]
    return estimator.fit(X, y, **{prefix + key: value for key, value in given.items()})


def last_step(estimator: Any) -> tuple[Any, str]:
    """The classifier that a pipeline ends in, and what its arguments are prefixed with; any other is its own end."""
    prefix = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def _taken(by_row: Mapping[str, NDArray[Any] | None], rows: NDArray[np.intp]) -> dict[str, NDArray[Any] | None]:
    return {key: None if value is None else value[rows] for key, value in by_row.items()}

"""The rules "likelihood" and "near" for scikit-learn's own searches."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

from uulearn._checks import quoted
from uulearn.selection._crossfit import last_step, match_target, target_keys
from uulearn.selection.rules import by_likelihood


def likelihood_score(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """How likely a classifier makes the sets of rows that it did not see: the rule "likelihood" as ``scoring=``.

    Mean log likelihood of the set memberships at the best scale of the scores, so greater is better and 0 is what the
    sizes of the sets alone give. Searches of scikit-learn average it over folds; `UUSearch` pools the folds, which
    fits one scale to all of them and also takes a list of different classifiers.

    Parameters
    ----------
    estimator : fitted classifier from unlabeled sets, or a pipeline that ends in one
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The set each row came from.
    sample_weight : array-like of shape (n_rows,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from uulearn import UULinearClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 2 * truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (1500, 800), random_state=0)
    >>> clf = UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3, calibrate=False)
    >>> GridSearchCV(clf, {"C": [1e-4, 1.0]}, scoring=likelihood_score).fit(rows, sets).best_params_
    {'C': 1.0}
    """
    last = last_step(estimator)[0]
    if hasattr(last, "_refuse_moved_target"):
        last._refuse_moved_target()
    membership = np.asarray(column_or_1d(y))
    sets = match_target("estimator", estimator, target_keys("estimator", estimator), membership, sample_weight)
    return -float(by_likelihood(sets, [np.asarray(estimator.decision_function(X), dtype=float)])[0])


def search_scores(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> dict[str, float]:
    """What `choose_near` needs, as ``scoring=``: 1 minus the label-free error ("score"), and `likelihood_score`.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `likelihood_score`.

    Examples
    --------
    See `choose_near`.
    """
    weight = {} if sample_weight is None else {"sample_weight": sample_weight}
    return {
        "score": estimator.score(X, y, **weight),
        "likelihood": likelihood_score(estimator, X, y, **weight),
    }


def choose_near(cv_results: Mapping[str, Any]) -> int:
    """The rule "near", as ``refit=``: the likeliest of those within a paired standard error of the least error.

    The standard error is that of the mean over folds of the difference in each fold.

    Parameters
    ----------
    cv_results : mapping
        `cv_results_` of a search with ``scoring=search_scores``.

    Returns
    -------
    int
        Position of the chosen parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from uulearn import UULinearClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 2 * truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (1500, 800), random_state=0)
    >>> clf = UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3, calibrate=False)
    >>> search = GridSearchCV(clf, {"C": [1e-4, 1.0]}, scoring=search_scores, refit=choose_near)
    >>> search.fit(rows, sets).best_params_
    {'C': 1.0}
    """
    names = [key for key in cv_results if key.startswith("split") and key.endswith("_test_score")]
    if len(names) < 2 or "mean_test_likelihood" not in cv_results:
        raise ValueError(
            f"refit=choose_near needs scoring=search_scores and two folds or more; got results named "
            f"{quoted(cv_results)}. Pass both to the search."
        )
    errors = -np.array([cv_results[name] for name in names])
    gaps = errors - errors[:, [np.nanargmin(errors.mean(axis=0))]]
    near = gaps.mean(axis=0) <= gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))
    return int(np.argmax(np.where(near, cv_results["mean_test_likelihood"], -np.inf)))

"""The rule of the library for scikit-learn's own searches."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import column_or_1d

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
    >>> clf = UULinearClassifier(set_priors=(0.9, 0.4), prior=0.3)
    >>> GridSearchCV(clf, {"C": [1e-4, 1.0]}, scoring=likelihood_score).fit(rows, sets).best_params_
    {'C': 1.0}
    """
    last = last_step(estimator)[0]
    if hasattr(last, "_refuse_moved_target"):
        last._refuse_moved_target()
    membership = np.asarray(column_or_1d(y))
    sets = match_target("estimator", estimator, target_keys("estimator", estimator), membership, sample_weight)
    return -float(by_likelihood(sets, [np.asarray(estimator.decision_function(X), dtype=float)])[0])

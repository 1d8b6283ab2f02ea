"""Supervised learning with the risk of eq. 6: PN oracle, small PN, and small PN under a shifted class prior."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import number
from uulearn.baselines._recipe import Recipe
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.risk import Columns, row_weights
from uulearn.sets import Sets, make_unlabeled_sets


def draw_labeled_rows(
    X: Any,
    y: ArrayLike,
    prior: float,
    *,
    share: float = 0.1,
    positive: Any = None,
    random_state: Any = None,
) -> tuple[Any, NDArray[np.intp], NDArray[np.intp]]:
    """Draw labelled rows with a given share of positives, without replacement.

    Small PN takes `prior` = pi, the target prior; small PN prior-shift takes `prior` = theta. Both then train at pi.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        True classes, of two kinds.
    prior : float
        Share of positives among the drawn rows.
    share : float, default=0.1
        Drawn rows, as a share of the rows of X.
    positive : optional
        The class counted as positive; the larger label by default.
    random_state : int, numpy.random.Generator, RandomState or None

    Returns
    -------
    X_drawn : the drawn rows, of the type of `X`
    labels : ndarray of shape (n_drawn,)
        0 for negative rows, 1 for positive rows.
    indices : ndarray of shape (n_drawn,)
        Position in `X` of each drawn row.

    Examples
    --------
    >>> X, y = np.arange(200).reshape(-1, 1), np.repeat([0, 1], 100)
    >>> _, labels, indices = draw_labeled_rows(X, y, 0.9, random_state=0)
    >>> int(labels.sum()), np.array_equal(y[indices], labels)
    (18, True)
    """
    p = number("prior", prior, low=0, high=1, open_low=True, open_high=True)
    n = round(number("share", share, low=0, high=1, open_low=True) * len(np.asarray(y)))
    positives = round(p * n)
    if not 0 < positives < n:
        raise ValueError(
            f"share and prior must ask for a row of either class; got share={share!r} and prior={prior!r}, {positives} "
            f"of {n} rows positive. Draw a larger share."
        )
    return make_unlabeled_sets(
        X, y, (0.0, 1.0), (n - positives, positives), positive=positive, random_state=random_state
    )


class SupervisedClassifier(Recipe):
    """Minimises pi E_P[loss(g)] + (1 - pi) E_N[loss(-g)] (eq. 6) over labelled rows.

    It is the classifier of this library itself, for set priors 0 and 1. PN oracle takes all rows with their labels,
    small PN the rows of `draw_labeled_rows`; how many of them are positive does not matter to eq. 6.

    Parameters
    ----------
    estimator : classifier of this library, optional
        UULinearClassifier by default.
    prior : float
        Share of positives pi among the rows to be predicted.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> X = rng.normal(size=(2000, 2)) + 2 * y[:, None]
    >>> rows, labels, _ = draw_labeled_rows(X, y, 0.3, random_state=0)
    >>> SupervisedClassifier(prior=0.3).fit(rows, labels).predict([[0.0, 0.0], [2.0, 2.0]])
    array([0, 1])
    """

    set_priors = (0.0, 1.0)

    def __init__(self, estimator: UnlabeledClassifier | None = None, *, prior: float) -> None:
        self.estimator = estimator
        self.prior = prior

    def _columns(self, sets: Sets) -> Columns:
        return row_weights(sets)

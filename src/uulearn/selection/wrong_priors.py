"""What wrong priors would do to a classifier, and to what its rows seem to say of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import indexable
from sklearn.utils.validation import column_or_1d

from uulearn._checks import floats
from uulearn.metrics import error, error_difference
from uulearn.priors import Floats, Priors
from uulearn.refinement import split
from uulearn.selection._crossfit import Keys, match_target, out_of_fold, target_keys
from uulearn.sets import Sets, generator

FACTORS = (0.8, 0.9, 1.1, 1.2)
"""Those of the paper's table 2."""


@dataclass(frozen=True, repr=False)
class Sensitivity:
    """What happens when the priors are off, one row a change; the first row is no change.

    Attributes
    ----------
    change : tuple of str
        What was multiplied, and by how much.
    set_priors : ndarray of shape (n_changes, n_sets)
        Set priors of that row, in the order of `sets`; products beyond 1 are left there.
    prior : ndarray of shape (n_changes,)
    flipped : ndarray of shape (n_changes,)
        Share of the rows that the classifier told these priors puts on another side than the one told the stated
        ones.
    error : ndarray of shape (n_changes,)
        Label-free error of the classifier told these priors, if the stated ones are right.
    excess, standard_error : ndarray of shape (n_changes,)
        That error minus the error without a change, and its paired standard error.
    believed : ndarray of shape (n_changes,)
        Label-free error of that classifier as one who believes these priors reads it.
    sets : tuple
        Set labels.
    """

    change: tuple[str, ...]
    set_priors: Floats
    prior: Floats
    flipped: Floats
    error: Floats
    excess: Floats
    standard_error: Floats
    believed: Floats
    sets: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.change)

    def __repr__(self) -> str:
        width = max(map(len, self.change))
        head = f"{'change':<{width}}  flipped   error  excess (standard error)  believed error"
        rows = [
            f"{self.change[i]:<{width}}  {self.flipped[i]:>7.4f}  {self.error[i]:.4f}  "
            f"{self.excess[i]:>+7.4f} ({self.standard_error[i]:.4f})  {self.believed[i]:>20.4f}"
            for i in range(len(self))
        ]
        return "\n".join([head, *rows])


def sensitivity(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    factors: Sequence[float] = FACTORS,
    refit: bool = True,
    cv: Any = 5,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    random_state: Any = None,
) -> Sensitivity:
    """What happens to the decisions and to the error when the priors are off: the question of the paper's table 2.

    Each factor f multiplies all set priors ("together"); those above the mean share while those below are multiplied
    by 2 - f ("opposite"), unless that makes them equal; and the prior, where the product stays below 1.

    Parameters
    ----------
    estimator : classifier from unlabeled sets, or a pipeline that ends in one
        It holds the stated priors.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        The set each row came from.
    factors : sequence of float, default=(0.8, 0.9, 1.1, 1.2)
    refit : bool, default=True
        Train a clone with each change, and decide about each row by one that did not see it. Otherwise the fitted
        estimator is taken as it is: no decision changes, only the error that one believes, and the rows should be
        ones that it was not trained on.
    cv : int or splitter, default=5
        The folds of refit=True.
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in the `fit` of a classifier; groups stay in one fold.
    random_state : int, Generator, RandomState or None
        Shuffles the folds.

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UULinearClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 2 * truth[:, None]
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.8, 0.3), (1500, 1500), random_state=0)
    >>> clf = UULinearClassifier(set_priors=(0.8, 0.3), prior=0.3)
    >>> sensitivity(clf, rows, sets, factors=[0.8, 1.2], random_state=0)
    change                 flipped   error  excess (standard error)  believed error
    none                    0.0000  0.0850  +0.0000 (0.0000)                0.0850
    set priors x 0.8        0.0087  0.0893  +0.0043 (0.0036)                0.0302
    set priors x 1.2        0.0123  0.0849  -0.0001 (0.0041)                0.1240
    high x 0.8, low x 1.2   0.0370  0.0811  -0.0039 (0.0070)               -0.2272
    high x 1.2, low x 0.8   0.0480  0.0866  +0.0016 (0.0080)                0.1954
    prior x 0.8             0.0237  0.0859  +0.0009 (0.0056)                0.0773
    prior x 1.2             0.0160  0.0858  +0.0009 (0.0047)                0.0899
    """
    if not isinstance(refit, bool):
        raise TypeError(f"refit must be True or False; got {refit!r}. False takes the fitted estimator as it is.")
    keys = target_keys("estimator", estimator)
    given = _factors(factors)
    X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
    membership = np.asarray(column_or_1d(y, warn=True))
    sets = match_target("estimator", estimator, keys, membership, sample_weight)
    changes = _changes(sets.priors, given)
    by_row = {
        "sample_weight": None if sample_weight is None else sets.weight,
        "groups": None if groups is None else np.asarray(groups),
    }
    if refit:
        folds = split(sets, cv, groups, int(generator(random_state).integers(2**31)))
        scores = [
            out_of_fold(_told(estimator, keys, priors), X, membership, folds, **by_row) for priors in changes.values()
        ]
    else:
        scores = [estimator.decision_function(X)] * len(changes)
    gaps = np.array([error_difference(sets, found, scores[0], groups) for found in scores])
    return Sensitivity(
        change=tuple(changes),
        set_priors=np.array([priors.shares for priors in changes.values()]),
        prior=np.array([priors.prior for priors in changes.values()]),
        flipped=np.array([sets.weight @ ((found > 0) != (scores[0] > 0)) for found in scores]) / sets.weight.sum(),
        error=np.array([error(sets, found) for found in scores]),
        excess=gaps[:, 0],
        standard_error=gaps[:, 1],
        believed=np.array(
            [
                error(Sets(priors, sets.labels, sets.index, sets.weight), found)
                for priors, found in zip(changes.values(), scores, strict=True)
            ]
        ),
        sets=tuple(sets.labels.tolist()),
    )


def _factors(factors: Any) -> Floats:
    given = floats("factors", factors)
    if given.ndim != 1 or not np.all((given > 0) & (given < 2)):
        raise ValueError(
            f"factors must be numbers between 0 and 2; got {factors!r}. One set prior is multiplied by f and "
            "another by 2 - f."
        )
    return given


def _changes(stated: Priors, factors: Floats) -> dict[str, Priors]:
    """The priors of each row of the table."""
    above = stated.shares > stated.shares.mean()
    shares: dict[str, NDArray[Any]] = {"none": stated.shares}
    shares |= {f"set priors x {f:g}": f * stated.shares for f in factors}
    shares |= {f"high x {f:g}, low x {2 - f:g}": np.where(above, f, 2 - f) * stated.shares for f in factors}
    # Shares that come to the same say nothing of the classes, and no classifier can be told them.
    apart = {name: changed for name, changed in shares.items() if np.ptp(changed) > 1e-12}
    changes = {name: _moved(stated, changed, stated.prior) for name, changed in apart.items()}
    beyond = {f"prior x {f:g}": f * stated.prior for f in factors if f * stated.prior < 1}
    return changes | {name: _moved(stated, stated.shares, prior) for name, prior in beyond.items()}


def _moved(stated: Priors, shares: Floats, prior: float) -> Priors:
    named = dict(zip(stated.labels, shares.tolist(), strict=True))
    convex = stated.convex and bool(shares.min() <= prior <= shares.max())
    return Priors(named, prior=prior, convex=convex, allow_out_of_range=True)


def _told(estimator: Any, keys: Keys, priors: Priors) -> Any:
    """A clone that holds these priors."""
    told: dict[str, Any] = dict.fromkeys(keys["set_priors"], priors) | dict.fromkeys(keys["prior"], priors.prior)
    return clone(estimator).set_params(**told)

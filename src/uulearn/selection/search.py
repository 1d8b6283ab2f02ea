"""The best of several classifiers, chosen on unlabeled rows alone."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags, indexable
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, column_or_1d

from uulearn._checks import choose
from uulearn.metrics import Report
from uulearn.refinement import split
from uulearn.selection._crossfit import fit, match_target, out_of_fold, target_keys
from uulearn.selection.rules import RULES, rank_sets
from uulearn.sets import generator


def _has_proba(search: "UUSearch") -> bool:
    return all(hasattr(one, "predict_proba") for one in search._tried())


class UUSearch(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """The best of several classifiers from unlabeled sets, whatever their kind; no row has a label.

    Every candidate scores every row out of fold; the rule compares the candidates on those scores, all folds pooled;
    the chosen one is trained on all rows.

    Parameters
    ----------
    candidates : list of estimators or mapping {name: estimator}
        Classifiers of this library, or pipelines that end in one, all of the same `set_priors` and `prior`. They are
        never changed; clones are fitted.
    cv : int or splitter, default=5
        Folds, stratified by set; the test rows of a splitter must be every row once.
    rule : {"near", "likelihood", "posterior", "error"}, default="near"
        What the best candidate has: the likeliest set memberships among those within a paired standard error of the
        least label-free error; the likeliest of all; the least error against the posterior on which the likeliest
        agree; the least label-free error.
    refit : bool, default=True
        Train the chosen candidate on all rows. Otherwise the search only compares.
    n_jobs : int, optional
        Candidates tried at the same time, as in joblib.
    random_state : int, Generator, RandomState or None
        Shuffles the folds.

    Attributes
    ----------
    best_name_ : str
    best_estimator_ : estimator
        The chosen candidate, trained on all rows.
    ranking_ : Ranking
        Error, standard error, paired difference to the chosen one and criterion of every candidate.
    scores_ : dict
        Out-of-fold scores of every candidate, for `uulearn.metrics.evaluate`.
    classes_ : ndarray of shape (2,)

    Examples
    --------
    >>> import numpy as np
    >>> from uulearn import UUKernelClassifier, UULinearClassifier, UUSearch, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> truth = (X**2).sum(axis=1) < 1.4
    >>> rows, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.2), (600, 600), random_state=0)
    >>> told = {"set_priors": (0.9, 0.2), "prior": 0.5}
    >>> candidates = {"line": UULinearClassifier(**told), "kernel": UUKernelClassifier(**told)}
    >>> search = UUSearch(candidates, random_state=0).fit(rows, sets)
    >>> search.ranking_
    classifier        near   error (standard error)  excess (standard error)
    kernel         -0.2606  0.0274 (0.0154)         +0.0000 (0.0000)
    line               inf  0.4024 (0.0164)         +0.3750 (0.0200)
    >>> search.predict([[0.0, 0.0], [2.0, 2.0]])
    array([1, 0])
    """

    def __init__(
        self,
        candidates: Any,
        *,
        cv: Any = 5,
        rule: str = "near",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.candidates = candidates
        self.cv = cv
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Choose among the candidates, and train the chosen one.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight : array-like of shape (n_rows,), optional
        groups : array-like of shape (n_rows,), optional
            Rows of one group stay in one fold, and standard errors count groups.

        Returns
        -------
        self
        """
        choose("rule", self.rule, RULES)
        named = _named(self.candidates)
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        membership = np.asarray(column_or_1d(y, warn=True))
        every = {
            name: match_target(name, one, target_keys(name, one), membership, sample_weight)
            for name, one in named.items()
        }
        first, sets = next(iter(every.items()))
        for name, other in every.items():
            if other.priors != sets.priors:
                raise ValueError(
                    f"candidates must share set_priors and prior, or they would be judged by different targets; got "
                    f"{sets.priors} for {first} and {other.priors} for {name}. Search for each target by itself."
                )
        folds = split(sets, self.cv, groups, int(generator(self.random_state).integers(2**31)))
        by_row = {
            "sample_weight": None if sample_weight is None else sets.weight,
            "groups": None if groups is None else np.asarray(groups),
        }
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(out_of_fold)(one, X, membership, folds, **by_row) for one in named.values()
        )
        self.scores_ = dict(zip(named, found, strict=True))
        self.ranking_ = rank_sets(sets, self.scores_, self.rule, groups)
        self.best_name_ = self.ranking_.best
        self.__dict__.pop("best_estimator_", None)
        if self.refit:
            self.best_estimator_ = fit(clone(named[self.best_name_]), X, membership, **by_row)
            self.classes_ = self.best_estimator_.classes_
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row by the chosen classifier."""
        return self._best().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, one of `classes_`."""
        return self._best().predict(X)

    @available_if(_has_proba)
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Probability of either class at the target prior, in the order of `classes_`."""
        return self._best().predict_proba(X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """1 minus the label-free estimate of the error of the chosen classifier; `y` names sets."""
        best = self._best()
        return best.score(X, y) if sample_weight is None else best.score(X, y, sample_weight=sample_weight)

    def evaluate(self, X: Any, y: ArrayLike, **options: Any) -> Report:
        """Label-free metrics of the chosen classifier on rows that it was not trained on; `y` names sets."""
        return self._best().evaluate(X, y, **options)

    @property
    def n_features_in_(self) -> int:
        """Columns that the chosen classifier was trained on."""
        return self._best().n_features_in_

    def _best(self) -> Any:
        check_is_fitted(self, "ranking_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                "predicting needs the chosen classifier, trained on all rows; got refit=False. Fit with refit=True, or "
                "fit candidates[best_name_] yourself."
            )
        return self.best_estimator_

    def _tried(self) -> list[Any]:
        return [self.best_estimator_] if hasattr(self, "best_estimator_") else list(_named(self.candidates).values())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(one) for one in _named(self.candidates).values()]
        tags.input_tags.sparse = all(one.input_tags.sparse for one in inner)
        tags.input_tags.allow_nan = all(one.input_tags.allow_nan for one in inner)
        tags.classifier_tags.multi_class = False
        return tags


def _named(candidates: Any) -> dict[str, Any]:
    """Candidates by name; those of a list are named by what they print as."""
    if isinstance(candidates, Mapping):
        named = {str(name): one for name, one in candidates.items()}
    elif isinstance(candidates, (list, tuple)):
        named = {" ".join(f"{place}: {one}".split()): one for place, one in enumerate(candidates)}
    else:
        named = {}
    if not named:
        raise TypeError(
            f"candidates must be a list of classifiers or a mapping {{name: classifier}}; got {candidates!r}. Name one "
            "or more."
        )
    return named

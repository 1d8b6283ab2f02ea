"""A recipe: one of the library's classifiers trained with other row weights."""

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from uulearn.estimators._base import FixedTarget, UnlabeledClassifier
from uulearn.estimators.linear import UULinearClassifier
from uulearn.metrics import Report
from uulearn.risk import Columns
from uulearn.sets import Sets


class Recipe(ClassifierMixin, FixedTarget):
    """Trains a clone of a classifier of this library with the columns that the recipe names.

    Predictions, label-free scores and reports are those of the trained clone, for the same set priors and target.
    """

    estimator: UnlabeledClassifier | None
    set_priors: Any
    prior: float

    @abstractmethod
    def _columns(self, sets: Sets) -> Columns:
        """The recipe: weights of loss(g) and loss(-g) of every row."""

    def _adapt(self, fitted: UnlabeledClassifier, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> None:
        """Change what else the recipe changes in the clone before it is trained."""

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Train from unlabeled sets.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        inner = self.estimator
        if inner is None:
            inner = UULinearClassifier(set_priors=self.set_priors, prior=self.prior)
        if not isinstance(inner, UnlabeledClassifier):
            raise TypeError(
                f"estimator must be a classifier of this library, such as UULinearClassifier; got {inner!r}. "
                "Wrap a scikit-learn classifier in UUClassifier."
            )
        if inner.refine not in (0, None):
            raise ValueError(
                f"estimator must have refine=0: refinement would replace the recipe's weights; got {inner.refine!r}."
            )
        if getattr(inner, "route", "weight") != "weight":
            raise ValueError(
                f"estimator must have route='weight': route={inner.route!r} sets its own weights, which would replace "
                "the recipe's."
            )
        fitted = clone(inner)
        fitted.set_priors, fitted.prior, fitted.refine = self.set_priors, self.prior, 0
        self._adapt(fitted, X, y, sample_weight)
        self.estimator_ = fitted._fit(X, y, sample_weight, None, self._columns)
        self.classes_ = fitted.classes_
        self.priors_, self.set_labels_ = fitted.priors_, fitted.set_labels_
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Score of each row."""
        return self._fitted().decision_function(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row, one of `classes_`."""
        return self._fitted().predict(X)

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """1 minus the label-free estimate of the error at the target prior; `y` names sets."""
        self._refuse_moved_target()
        return self._fitted().score(X, y, sample_weight)

    def evaluate(self, X: Any, y: ArrayLike, **options: Any) -> Report:
        """Label-free metrics at the target prior; `y` names sets."""
        return self._fitted().evaluate(X, y, **options)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator or UULinearClassifier(set_priors=self.set_priors, prior=self.prior))
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    def _fitted(self) -> UnlabeledClassifier:
        check_is_fitted(self)
        return self.estimator_

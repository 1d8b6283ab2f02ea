"""Label-free calibration around any classifier trained from unlabeled sets, as CalibratedClassifierCV is for labels."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from uulearn.estimators._base import FixedTarget, UnlabeledClassifier, Weighting
from uulearn.estimators.reduction import read_any, take_any
from uulearn.sets import Sets


class CalibratedUUClassifier(UnlabeledClassifier):
    """Calibrates any classifier trained from unlabeled sets, by the likelihood of the set memberships.

    The whole estimator, with its refinement and its steps before, is trained once without each fold and scores the rows
    of that fold. On these scores the link to the log likelihood ratio of the classes is fitted, a rising line of eight
    pieces under which the sets of the rows are most likely; no label is needed. Then the estimator is trained on all
    rows, and its scores are moved to where the odds are even.

    UULinearClassifier, UUKernelClassifier and UUClassifier do so by themselves (`calibrate`), at less cost. This
    wrapper is for networks, which calibrate on the few rows they hold out, for comparison methods and for pipelines. An
    inner `calibrate` is switched off.

    Parameters
    ----------
    estimator : classifier
        Of this library, or a pipeline that ends in one. Its set priors, its prior and its classes are those of the
        wrapper. Never changed; clones are fitted.
    cv : int, splitter or iterable, default=5
        Folds of the cross-fitting.
    random_state : int, Generator, RandomState or None
        Deals the folds; None deals them the same way every time.

    Attributes
    ----------
    estimator_ : classifier
        The clone fitted on all rows.
    cut_ : float
        What its scores are lowered by.
    link_ : RisingLink
        From scores to log likelihood ratios.
    classes_, set_labels_, priors_
        As in `UULinearClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from uulearn import CalibratedUUClassifier, UUClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 8000)
    >>> X = np.repeat(rng.normal(size=(8000, 1)) + 2 * truth[:, None], 3, axis=1)  # far too sure: one column, thrice
    >>> X_sets, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (3000, 1500), random_state=0)
    >>> bayes = UUClassifier(GaussianNB(), set_priors=(0.9, 0.4), prior=0.5)
    >>> clf = CalibratedUUClassifier(bayes, random_state=0).fit(X_sets, sets)
    >>> clf.predict_proba([[2.0, 2.0, 2.0]]).round(1)  # Bayes' rule says .12 and .88
    array([[0.1, 0.9]])
    """

    refine = 0
    calibrate = True

    def __init__(self, estimator: Any, *, cv: Any = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    @property
    def set_priors(self) -> Any:
        """Set priors of the wrapped estimator."""
        return self._core().set_priors

    @property
    def prior(self) -> Any:  # type: ignore[override]  # known by the wrapped estimator, not to be set here
        """Target prior of the wrapped estimator."""
        return self._core().prior

    @property
    def classes(self) -> Any:
        """Classes of the wrapped estimator."""
        return getattr(self._core(), "classes", None)

    def _core(self) -> Any:
        """The estimator that knows the priors: the wrapped one, or the last step of it."""
        inner = self.estimator
        while hasattr(inner, "steps"):
            inner = inner.steps[-1][1]
        if isinstance(inner, type) or not (hasattr(inner, "set_priors") and hasattr(inner, "decision_function")):
            raise TypeError(
                "estimator must be a classifier of this library, or a pipeline that ends in one; got "
                f"{self.estimator!r}. Wrap a scikit-learn classifier in UUClassifier first."
            )
        return inner

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Train and calibrate from unlabeled sets.

        Parameters
        ----------
        X, y, sample_weight, groups
            As in `UULinearClassifier.fit`; weights and groups are passed on to an estimator whose fit takes them.

        Returns
        -------
        self
        """
        core = self._core()
        if self._only_ranks():
            raise ValueError(
                "estimator must know its set_priors to be calibrated; got set_priors='unknown'. Give them, and prior."
            )
        self._given = {"sample_weight": sample_weight, "groups": groups}
        for name in [name for name, value in self._given.items() if value is None or not has_fit_parameter(core, name)]:
            if name == "sample_weight" and sample_weight is not None:
                raise TypeError(
                    f"sample_weight needs an estimator whose fit takes it; {type(core).__name__}'s does not. Leave it "
                    "out."
                )
            del self._given[name]
        try:
            return super().fit(X, y, sample_weight, groups)
        finally:
            del self._given

    def _read(self, X: Any, *, reset: bool) -> Any:
        return read_any(self, X, reset=reset)

    def _take(self, Z: Any, rows: NDArray[np.intp]) -> Any:
        return take_any(Z, rows)

    def _start_each(self, Z: Any, sets: Sets, parts: list[NDArray[np.intp]], weighting: Weighting) -> list[Any]:
        return [self._fit_inner(take_any(Z, rows), sets, rows) for rows in parts]

    def _fit_inner(self, Z: Any, sets: Sets, rows: NDArray[np.intp]) -> Any:
        inner, prefix = clone(self.estimator), ""
        step = inner
        while hasattr(step, "steps"):
            name, step = step.steps[-1]
            prefix += f"{name}__"
        if "calibrate" in step.get_params(deep=False):
            step.set_params(calibrate=False)
        given = {prefix + name: np.asarray(value)[rows] for name, value in self._given.items()}
        return inner.fit(Z, sets.labels[sets.index[rows]], **given)

    def _train(self, Z: Any, columns: Any, total: float) -> Any:
        raise AssertionError("estimators are trained by _start_each")

    def _model_scores(self, model: Any, Z: Any) -> NDArray[Any]:
        return np.asarray(model.decision_function(Z))

    def _links(self, sets: Sets) -> bool:
        return True

    def _lowered(self, model: Any, cut: float) -> Any:
        self.cut_ = cut
        return model

    def _install(self, model: Any, Z: Any) -> None:
        self.estimator_ = model

    def _scores(self, Z: Any) -> NDArray[Any]:
        check_is_fitted(self, "estimator_")
        scores = self._model_scores(self.estimator_, Z)
        return np.asarray(scores - scores.dtype.type(self.cut_))

    def _refuse_moved_target(self) -> None:
        core = self._core()
        if isinstance(core, FixedTarget):
            core._refuse_moved_target()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.input_tags.sparse, inner.input_tags.allow_nan
        return tags

"""What every classifier from unlabeled sets shares: matching sets, refinement, prediction, label-free scores."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from uulearn._checks import quoted
from uulearn.calibration import fit_link, fit_rising_link, prior_step
from uulearn.metrics import Report, error, evaluate_sets
from uulearn.priors import Priors
from uulearn.refinement import Steps, check_rounds, refine, split
from uulearn.risk import Columns, row_weights
from uulearn.sets import Sets, at_pooled_prior, generator, match_sets, rematch_sets

Weighting = Callable[[Sets], Columns]
UNKNOWN = "unknown"
"""`set_priors` of a classifier that only ranks."""


class FixedTarget(BaseEstimator):
    """Refuses to score an estimator whose target a search has changed."""

    _moved: Mapping[str, Any] = {}
    """What was changed, and what it was before."""

    def set_params(self, **params: Any) -> Self:
        """Set parameters; while `set_priors` or `prior` is changed, as by a search over them, `score` refuses."""
        for name in sorted({"set_priors", "prior"} & params.keys()):
            before = self._moved.get(name, getattr(self, name))
            others = {key: value for key, value in self._moved.items() if key != name}
            self._moved = others if _same(params[name], before) else {**others, name: before}
        return super().set_params(**params)

    def _refuse_moved_target(self) -> None:
        if self._moved:
            changed = quoted(sorted(self._moved))
            raise ValueError(
                f"score must compare classifiers on one target; {changed} was changed by set_params, as a search over "
                "it would do, and candidates for different targets cannot be ranked by their own errors. Take it "
                "out of the grid, or build a new estimator with it (clone) to score that one."
            )


def _same(one: Any, other: Any) -> bool:
    """Whether two values of a parameter say the same: numbers, sequences, mappings in any order, `Priors`."""
    if hasattr(one, "keys") and hasattr(other, "keys"):
        return dict(one) == dict(other)
    return bool(np.array_equal(one, other))


def _are_classes(priors: Priors) -> bool:
    """Whether the sets are the classes themselves."""
    return len(priors.shares) == 2 and set(priors.shares.tolist()) == {0.0, 1.0}


class UnlabeledClassifier(ClassifierMixin, FixedTarget):
    """Base of the classifiers; subclasses say how to read X, to start from sets, to train on columns and to score."""

    set_priors: Any
    prior: float
    refine: int | str | None
    cv: Any
    classes: Any
    random_state: Any
    calibrate: Any = False
    """Estimators without this parameter see to their probabilities by themselves."""
    _cross_fits_scale = True
    """Where the loss fixes no probability, its scale is fitted on the out-of-fold scores of all rows."""

    @abstractmethod
    def _read(self, X: Any, *, reset: bool) -> Any:
        """Checked rows, in the form the other steps take them."""

    @abstractmethod
    def _train(self, Z: Any, columns: Columns, total: float) -> Any:
        """A model that minimises the risk of these columns; `total` is the sum of the weights of all rows."""

    @abstractmethod
    def _model_scores(self, model: Any, Z: Any) -> NDArray[Any]:
        """Scores of a model."""

    @abstractmethod
    def _install(self, model: Any, Z: Any) -> None:
        """Keep the final model in public attributes."""

    def _lowered(self, model: Any, cut: float) -> Any:
        """The model whose scores are lower by `cut`."""
        raise AssertionError("only what has the parameter calibrate is moved")

    def _moves(self) -> bool:
        """Whether calibration may move the scores; if not, even odds stay at score 0."""
        return True

    def _links(self, sets: Sets) -> bool:
        """Whether scores are calibrated; labels leave nothing to mend."""
        return bool(self.calibrate) and not _are_classes(sets.priors)

    def _confirms_itself(self, Z: Any) -> bool:
        """Whether a model's scores of its own rows differ from those of other rows, so that folds are needed."""
        return True

    def _start(self, Z: Any, sets: Sets, columns: Columns) -> Any:
        """The first model, before any refinement."""
        return self._train(Z, columns, sets.weight.sum())

    def _start_each(self, Z: Any, sets: Sets, parts: list[NDArray[np.intp]], weighting: Weighting) -> list[Any]:
        """First models, one for each selection of rows."""
        taken = (sets if len(rows) == len(sets.index) else sets.take(rows) for rows in parts)
        return [
            self._start(self._take(Z, rows), part, weighting(part)) for rows, part in zip(parts, taken, strict=True)
        ]

    def _train_each(self, Z: Any, sets: Sets, parts: list[tuple[NDArray[np.intp], Columns]]) -> list[Any]:
        """Models trained again, one for each selection of rows with its columns."""
        return [self._train(self._take(Z, rows), columns, sets.weight[rows].sum()) for rows, columns in parts]

    def _take(self, Z: Any, rows: NDArray[np.intp]) -> Any:
        return Z if len(rows) == Z.shape[0] else Z[rows]

    def _probability(self, scores: NDArray[Any]) -> NDArray[Any] | None:
        """Probability that goes with a score, or None where a fitted scale is needed."""
        return None

    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Train from unlabeled sets.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from. Not a class: no row has a label.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row; the size of a set is its sum.
        groups : array-like of shape (n_rows,), optional
            Rows of one group stay in one fold of the cross-fitting; needed when sets share rows.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups, row_weights)

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None, weighting: Weighting
    ) -> Self:
        Z = self._read(X, reset=True)
        sets = self._match(Z, y, sample_weight)
        rng = self._generator()
        names = self._class_names(sets)
        Z = self._begin(Z, sets, rng)
        sets = self._trained_on(sets)
        rounds = check_rounds(self._rounds())
        if not isinstance(self.calibrate, (bool, np.bool_)):
            raise TypeError(f"calibrate must be True or False; got {self.calibrate!r}. Leave it out for True.")
        # Recipes name their own columns, and nothing of theirs is mended.
        linked = weighting is row_weights and self._links(sets)
        crossed = linked and self._confirms_itself(Z)

        def start(parts: list[NDArray[np.intp]]) -> list[Any]:
            return self._start_each(Z, sets, parts, weighting)

        def first(parts: list[NDArray[np.intp]]) -> list[Any]:
            return self._start_each(Z, at_pooled_prior(sets), parts, weighting)

        def train(parts: list[tuple[NDArray[np.intp], Columns]]) -> list[Any]:
            return self._train_each(Z, sets, parts)

        def score(model: Any, rows: NDArray[np.intp]) -> NDArray[Any]:
            return self._model_scores(model, self._take(Z, rows))

        scale_needed = not linked and self._cross_fits_scale and self._probability(np.zeros(1)) is None
        seed = 0 if self.random_state is None else int(rng.integers(2**31))
        result = refine(
            Steps(start, train, score, first if weighting is row_weights else None),
            sets,
            rounds,
            lambda: split(sets, self.cv, groups, seed),
            scores_needed=scale_needed or crossed,
        )
        self.priors_, self.set_labels_, self.classes_ = sets.priors, sets.labels, names
        for stale in ("scale_", "link_"):
            self.__dict__.pop(stale, None)
        even, model = prior_step(sets.priors.prior, 0.5), result.model
        if scale_needed and result.out_of_fold is not None:
            self.scale_ = fit_link(result.out_of_fold, sets, shift=even).scale
        if linked:
            scores = result.out_of_fold if crossed else self._model_scores(model, Z)
            link = fit_rising_link(np.asarray(scores), sets, free_shift=self._moves())
            cut = link.score_at(even) if self._moves() else 0.0
            self.link_, model = link.moved(cut), self._lowered(model, cut)
        self.n_rounds_, self.round_errors_ = result.rounds, result.errors
        self._install(model, Z)
        return self

    def _rounds(self) -> int | str | None:
        """Rounds of refinement."""
        return self.refine

    def _generator(self) -> np.random.Generator:
        return generator(self.random_state)

    def _begin(self, Z: Any, sets: Sets, rng: np.random.Generator) -> Any:
        """Prepare what all folds and rounds share, and return the rows in the form they are trained on."""
        return Z

    def _trained_on(self, sets: Sets) -> Sets:
        """The sets with weight 0 for rows that training must not see."""
        return sets

    def _match(self, Z: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Sets:
        y = self._column(y, Z.shape[0])
        # Whole numbers and strings pass; match_sets refuses the others by name.
        if y.dtype.kind not in "biufU" or (
            y.dtype.kind == "f" and np.all(np.isfinite(y)) and not isinstance(self.set_priors, Mapping)
        ):
            check_classification_targets(y)
        return self._match_column(y, sample_weight)

    def _match_column(self, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Sets:
        if not self._only_ranks():
            return match_sets(y, self.set_priors, self.prior, sample_weight, convex=getattr(self, "convex", False))
        if self.prior is not None:
            raise ValueError(
                f"prior must be None with set_priors='unknown', where it can have no effect; got {self.prior!r}. Give "
                "both or neither."
            )
        if self.refine not in (0, None):
            raise ValueError(
                f"refine must be 0 with set_priors='unknown': it rests on the shares of the sets; got {self.refine!r}. "
                "Give set_priors and prior, or leave it out."
            )
        sets = np.unique(np.asarray(y))
        if len(sets) > 2:
            raise ValueError(
                "set_priors='unknown' ranks by two sets, the richer one last in the order of the labels; got "
                f"{len(sets)} sets. Keep two of them, or give set_priors and prior."
            )
        return match_sets(y, (0, 1), 0.5, sample_weight)

    def _only_ranks(self) -> bool:
        return isinstance(self.set_priors, str) and self.set_priors == UNKNOWN

    def _refuse_if_unknown(self, what: str) -> None:
        if self._only_ranks():
            raise ValueError(
                f"{what} needs the shares of the sets; with set_priors='unknown' the classifier only ranks, as the "
                "scores that part the classes depend on them. Use decision_function (scoring='roc_auc' to search), or "
                "fit again with set_priors and prior."
            )

    def _class_names(self, sets: Sets) -> NDArray[Any]:
        if self.classes is not None:
            names = np.asarray(self.classes)
            if names.shape != (2,) or names[0] == names[1] or len({isinstance(one, str) for one in self.classes}) > 1:
                raise ValueError(
                    "classes must be a pair (negative, positive) of two different labels of one type; got "
                    f"{self.classes!r}."
                )
            return names
        return sets.labels[np.argsort(sets.priors.shares)] if _are_classes(sets.priors) else np.array([0, 1])

    def decision_function(self, X: Any, prior: float | None = None) -> NDArray[Any]:
        """Score of each row; positive where the positive class is predicted.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        prior : float, optional
            Share of positives among these rows, if it is not the target prior of the fit. The score is then the log
            odds of the class at this prior.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        scores = self._scores(self._read(X, reset=False))
        if prior is None:
            return scores
        self._refuse_if_unknown("another prior")
        step = prior_step(self.priors_.prior, prior)
        return np.asarray(self._log_odds(scores) + scores.dtype.type(step))

    @abstractmethod
    def _scores(self, Z: Any) -> NDArray[Any]:
        """Scores of the final model."""

    def predict(self, X: Any, prior: float | None = None) -> NDArray[Any]:
        """Class of each row, one of `classes_`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        prior : float, optional
            Share of positives among these rows, if it is not the target prior of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        self._refuse_if_unknown("predict")
        positive = self.decision_function(X, prior) > 0
        return np.asarray(self.classes_[positive.astype(int)])

    def predict_proba(self, X: Any, prior: float | None = None) -> NDArray[Any]:
        """Probability of either class at the target prior, in the order of `classes_`.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        prior : float, optional
            Share of positives among these rows, if it is not the target prior of the fit: the odds are multiplied by
            prior (1 - pi) / (pi (1 - prior)).

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        self._refuse_if_unknown("predict_proba")
        positive = self._probabilities(self.decision_function(X, prior), prior)
        return np.column_stack([1 - positive, positive])

    def _probabilities(self, scores: NDArray[Any], prior: float | None = None) -> NDArray[Any]:
        """Probability of the positive class at these scores, which are log odds where a prior is given."""
        positive = self._probability(scores) if prior is None and not hasattr(self, "link_") else None
        if positive is None:
            odds = self._log_odds(scores) if prior is None else scores
            positive = 0.5 + 0.5 * np.tanh(0.5 * odds)
        # A score whose probability rounds to one half still has a side.
        half = scores.dtype.type(0.5)
        above = np.nextafter(half, scores.dtype.type(1))
        return np.where(scores > 0, np.maximum(positive, above), np.minimum(positive, half))

    def _log_odds(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Log odds of the class at the target prior of the fit."""
        if hasattr(self, "link_"):
            found = self.link_.log_ratio(scores) + prior_step(0.5, self.priors_.prior)
            return np.asarray(found, dtype=scores.dtype)
        positive = self._probability(scores)
        if positive is None:
            return np.asarray(self.scale_, scores.dtype) * scores
        tiny = np.finfo(positive.dtype).eps
        positive = np.clip(positive, tiny, 1 - tiny)
        return np.asarray(np.log(positive) - np.log1p(-positive))

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """1 minus the label-free estimate of the error at the target prior.

        It is never clipped and may exceed 1 by chance; a score of exactly 0 counts as half a mistake. Unlike
        scikit-learn's "accuracy", which would compare predictions with set labels, it needs no label, so searches and
        cross-validation tune with it as they are.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        self._refuse_if_unknown("score")
        self._refuse_moved_target()
        y = self._column_of_sets(X, y)
        scores = self.decision_function(X)
        return 1.0 - error(self._held_out(y, sample_weight, len(scores)), scores)

    def evaluate(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        confidence: float = 0.95,
        **options: Any,
    ) -> Report:
        """Label-free metrics with standard errors and intervals on rows the classifier was not trained on.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            The set each row came from.
        sample_weight, groups, confidence
            As in `uulearn.metrics.evaluate`.
        **options
            Its further arguments: `metrics`, `costs`, `loss`, `resamples`.

        Returns
        -------
        Report
        """
        self._refuse_if_unknown("evaluate")
        y = self._column_of_sets(X, y)
        scores = self.decision_function(X)
        sets = self._held_out(y, sample_weight, len(scores))
        proba = self._probabilities(scores) if hasattr(self, "predict_proba") else None
        z = np.asarray(scores, dtype=float)
        return evaluate_sets(sets, z, proba, groups=groups, confidence=confidence, **options)

    def _held_out(self, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int) -> Sets:
        check_is_fitted(self)
        return rematch_sets(self._column(y, n_rows), self.set_labels_, self.priors_, sample_weight)

    def _column_of_sets(self, X: Any, y: Any) -> Any:
        """The set of each row; sources that hold it by name find it."""
        return y

    def _column(self, y: ArrayLike, n_rows: int) -> NDArray[Any]:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None. y names the set each row "
                "came from."
            )
        column = np.asarray(column_or_1d(y, warn=True))
        if len(column) != n_rows:
            raise ValueError(f"X and y must have the same number of rows; got {n_rows} and {len(column)}.")
        if column.dtype.kind == "O" and len({isinstance(label, str) for label in column}) > 1:
            raise ValueError("y must hold set labels of one type; got strings beside others. Name every set alike.")
        return column

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

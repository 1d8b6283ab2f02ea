"""Any scikit-learn classifier from unlabeled sets: trained on which mixture a row came from, inverted to classes."""

import inspect
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.special import logit
from sklearn import config_context, get_config
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from uulearn._checks import choose
from uulearn.estimators._base import UnlabeledClassifier
from uulearn.priors import Mixtures
from uulearn.risk import Columns
from uulearn.sets import Sets

Array = NDArray[Any]

ROUTES = {"weight": True, "unmix": False}
"""Route: whether the mixtures are weighed for the target prior."""
SCORES = ("predict_proba", "decision_function")
"""Methods of a classifier that give a score; one is enough for the weight route."""
EDGE = float(logit(0.999))
"""Log odds of the class beyond which the inversion goes on as a straight line."""
CLIPPED_ROWS = 1_000
"""Rows of each fit that the share of clipped ratios is taken over."""


class Inversion:
    """From log r, r the density ratio of two mixtures, to the log odds of the class at the target prior.

    L = ((1 - theta_minus) r - (1 - theta_plus)) / (theta_plus - theta_minus r) inside the legal interval of r,
    and odds = L pi / (1 - pi). Where the odds would pass 999 to 1, and beyond the interval, log odds go on with slope
    1 in log r: finite, continuous, and in the order of r.
    """

    def __init__(self, mixtures: Mixtures, prior: float) -> None:
        self.up, self.down = (min(max(theta, 0.0), 1.0) for theta in (mixtures.theta_plus, mixtures.theta_minus))
        self.prior_odds = float(logit(prior))
        self.low, self.high = (self.log_ratio(edge) for edge in (-EDGE, EDGE))

    def log_ratio(self, log_odds: float) -> float:
        """log r at which the class has these log odds."""
        ratio = np.exp(log_odds - self.prior_odds)
        return float(np.log(self.up * ratio + 1 - self.up) - np.log(self.down * ratio + 1 - self.down))

    def log_odds(self, log_ratio: Array) -> Array:
        """Log odds of the class."""
        inside = np.clip(log_ratio, self.low, self.high)
        r = np.exp(inside)
        exact = np.log((1 - self.down) * r - (1 - self.up)) - np.log(self.up - self.down * r) + self.prior_odds
        return np.asarray(exact + (log_ratio - inside))

    def outside(self, log_ratio: Array) -> Array:
        """Whether r leaves the interval of ratios that the mixtures can have."""
        r = np.exp(np.asarray(log_ratio, dtype=float))
        return (r * (1 - self.down) < 1 - self.up) | (r * self.down > self.up)


def read_any(clf: Any, X: Any, *, reset: bool) -> Any:
    """Rows in the form they came, for a wrapped estimator that checks them itself.

    Parameters
    ----------
    clf : estimator
        Whose number and names of features are set or checked.
    X : array-like, sparse matrix, data frame, or texts
    reset : bool
    """
    if issparse(X):
        X = X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) == 0:
        raise ValueError(f"X must have rows and columns; Expected 2D array, got {X.item()!r} instead. Pass a table.")
    if len(X.shape) == 1 and X.dtype.kind in "OUS":
        return X  # texts, for a pipeline that makes columns of them
    if len(X.shape) == 1:
        raise ValueError(
            "X must have rows and columns; Expected 2D array, got 1D array instead. Reshape your data: "
            "X.reshape(-1, 1) if it has one feature, X.reshape(1, -1) if it is one row."
        )
    validate_data(clf, X, skip_check_array=True, reset=reset)
    return X


def take_any(Z: Any, rows: NDArray[np.intp]) -> Any:
    """Some of such rows.

    Examples
    --------
    >>> take_any(np.array(["good", "bad", "poor"]), np.array([2, 0])).tolist()
    ['poor', 'good']
    """
    if len(rows) == Z.shape[0] and np.array_equal(rows, np.arange(len(rows))):
        return Z
    return Z[rows] if isinstance(Z, np.ndarray) else _safe_indexing(Z, rows)


def _has_proba(clf: "UUClassifier") -> bool:
    inner = clf.estimator_ if hasattr(clf, "estimator_") else clf._inner()
    if not hasattr(inner, "predict_proba"):
        raise AttributeError(
            f"predict_proba needs an estimator with predict_proba; {type(inner).__name__} has none. "
            "Use decision_function, or wrap it in CalibratedClassifierCV first."
        )
    return True


class UUClassifier(UnlabeledClassifier):
    """Makes any scikit-learn classifier learn from unlabeled sets whose shares of positives differ and are known.

    Two routes. "weight": the classifier is trained on the label sign(w_plus - w_minus) with weight
    abs(w_plus - w_minus), scaled to sum to the sum of the sample weights; its cut at 1/2 is then right for the target
    prior. "unmix": it is trained to tell the mixtures apart as they come. Either way its probability is inverted to the
    probability of the class. Sets with a_k > b_k make the plus mixture, the others the minus mixture.

    Parameters
    ----------
    estimator : classifier, optional
        HistGradientBoostingClassifier by default. Never changed; a clone is fitted.
    set_priors : mapping or sequence
        Share of positives of each set: ``{set label: share}``, or shares in the order of the sorted set labels.
    prior : float
        Share of positives among the rows to be predicted.
    route : {"weight", "unmix"}, default="weight"
    refine : int or "auto", default=0
        Rounds of cross-fitted posterior refinement; "auto" chooses 0, 1 or 2 by the label-free error of
        held-out rows (ties within its noise by the likelihood of their set memberships).
    calibrate : bool, default=True
        Fit the link from scores to class probabilities by the likelihood of the set memberships, on out-of-fold scores,
        and move scores to where the odds are even. It takes `cv` more fits (or refinements). Set priors of exactly 0
        and 1 are labels, and nothing is calibrated; nor is what has no probability.
    cv : int, default=5
        Folds of the cross-fitting.
    classes : pair, optional
        (negative, positive) labels that `predict` returns; (0, 1) by default, or the set labels if the set priors are
        exactly 0 and 1.
    random_state : int, Generator, RandomState or None
        Seeds the estimator, where it takes a seed and has none, and deals the folds; None deals them the same way
        every time.

    Attributes
    ----------
    estimator_ : classifier
        The fitted clone.
    clipped_share_ : float
        Share of (up to 1,000) training rows whose ratio left the interval that the priors allow: large when the
        classifier is over-confident or the priors are wrong. 0 after refinement, which inverts nothing.
    classes_, set_labels_, priors_, n_rounds_, round_errors_, link_
        As in `UULinearClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from uulearn import UUClassifier, make_unlabeled_sets
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(0, 2, 4000)
    >>> X = rng.normal(size=(4000, 2)) + 2 * truth[:, None]
    >>> X_sets, sets, _ = make_unlabeled_sets(X, truth, (0.9, 0.4), (1500, 800), random_state=0)
    >>> clf = UUClassifier(GaussianNB(), set_priors={0: 0.9, 1: 0.4}, prior=0.3).fit(X_sets, sets)
    >>> clf.predict([[0.0, 0.0], [2.0, 2.0]])
    array([0, 1])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        set_priors: Any,
        prior: float,
        route: str = "weight",
        refine: int | str = 0,
        calibrate: bool = True,
        cv: int = 5,
        classes: Any = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.set_priors = set_priors
        self.prior = prior
        self.route = route
        self.refine = refine
        self.calibrate = calibrate
        self.cv = cv
        self.classes = classes
        self.random_state = random_state

    def _inner(self) -> Any:
        if self.estimator is None:
            from sklearn.ensemble import HistGradientBoostingClassifier

            return HistGradientBoostingClassifier()
        if isinstance(self.estimator, type) or not hasattr(self.estimator, "fit") or not is_classifier(self.estimator):
            raise TypeError(
                f"estimator must be an instance of a scikit-learn classifier; got {self.estimator!r}. "
                "Pass, for instance, RandomForestClassifier(min_samples_leaf=20)."
            )
        return self.estimator

    def _read(self, X: Any, *, reset: bool) -> Any:
        return read_any(self, X, reset=reset)

    def _take(self, Z: Any, rows: NDArray[np.intp]) -> Any:
        return take_any(Z, rows)

    def _begin(self, Z: Any, sets: Sets, rng: np.random.Generator) -> Any:
        weighted = choose("route", self.route, ROUTES)
        inner = self._inner()
        name = type(inner).__name__
        if not _scores_later(inner):
            self._refuse_without_scores(inner)
        self._seed = int(rng.integers(2**31)) if self.random_state is not None else None
        weighing = weighted or self.refine != 0 or len(sets.labels) > 2 or np.ptp(sets.weight[sets.weight > 0]) > 0
        if weighing and not _takes_weight(inner):
            reason = (
                "route='weight'" if weighted else "refine" if self.refine != 0 else "weighing rows or over two sets"
            )
            raise TypeError(
                f"{reason} needs an estimator whose fit takes sample_weight; {name}'s does not. Use route='unmix' "
                "without sample_weight and refine, or another estimator."
            )
        return Z

    def _refuse_without_scores(self, inner: Any) -> None:
        """Refuse an estimator that lacks the scores which the route needs."""
        name = type(inner).__name__
        if not any(hasattr(inner, method) for method in SCORES):
            raise TypeError(
                f"estimator must have {' or '.join(SCORES)}; {name} has neither. Use another classifier, such as "
                "RandomForestClassifier(min_samples_leaf=20)."
            )
        if not ROUTES[self.route] and not hasattr(inner, "predict_proba"):
            raise TypeError(
                f"route='unmix' needs an estimator with predict_proba; {name} has none. Use route='weight', or wrap "
                "it in CalibratedClassifierCV."
            )

    def _start(self, Z: Any, sets: Sets, columns: Columns) -> Any:
        """Train on the mixtures; the weights between the mixtures are the route."""
        absent = sets.weight == 0
        if absent.any():
            rows = np.flatnonzero(~absent)
            present = Columns(*(column[rows] for column in columns))
            return self._start(self._take(Z, rows), sets.take(rows), present)
        weight = columns.plus - columns.minus
        label = (weight > 0).astype(int)
        np.abs(weight, out=weight)
        mixtures = sets.priors.mixtures(sets.sizes)
        total = float(sets.weight.sum())
        if ROUTES[self.route]:
            offset = np.log(mixtures.v_minus / mixtures.v_plus)
            weight *= total / weight.sum()
        else:
            up, down = (float(sets.weight[label == kind].sum()) for kind in (1, 0))
            offset = np.log(down / up)
            weight = weight * np.where(label == 1, up / weight[label == 1].sum(), down / weight[label == 0].sum())
            if np.allclose(weight, weight[0], rtol=1e-12, atol=0):
                weight = None
        inner = self._fit_inner(Z, label, weight)
        self._refuse_without_scores(inner)
        inversion = Inversion(mixtures, sets.priors.prior)
        return _Fitted(inner, float(offset), inversion)

    def _train(self, Z: Any, columns: Columns, total: float) -> Any:
        """Train on soft labels: every row once as positive and once as negative, with its weights."""
        n = Z.shape[0]
        rows = np.concatenate([np.arange(n), np.arange(n)])
        weight = np.concatenate([columns.plus, columns.minus]) * (total / (columns.plus.sum() + columns.minus.sum()))
        label = np.repeat([1, 0], n)
        keep = weight > 0
        rows, weight, label = rows[keep], weight[keep], label[keep]
        return _Fitted(self._fit_inner(_safe_indexing(Z, rows), label, weight), 0.0, None)

    def _fit_inner(self, Z: Any, label: Array, weight: Array | None) -> Any:
        inner = clone(self._inner())
        if self._seed is not None:
            unset = [key for key, value in inner.get_params().items() if key.endswith("random_state") and value is None]
            inner.set_params(**dict.fromkeys(unset, self._seed))
        if weight is None:
            return inner.fit(Z, label)
        # The weights are ours, not the user's: they reach the model whether or not the user routes metadata.
        with config_context(enable_metadata_routing=_asks_for_weight(inner)):
            return inner.fit(Z, label, **{_weight_name(inner): weight})

    def _model_scores(self, model: "_Fitted", Z: Any) -> Array:
        return model.scores(Z)

    def _install(self, model: "_Fitted", Z: Any) -> None:
        self._model, self.estimator_ = model, model.inner
        looked_at = np.linspace(0, Z.shape[0] - 1, min(Z.shape[0], CLIPPED_ROWS)).astype(int)
        self.clipped_share_ = model.clipped_share(self._take(Z, looked_at))

    def _lowered(self, model: "_Fitted", cut: float) -> "_Fitted":
        model.cut = cut
        return model

    def _links(self, sets: Sets) -> bool:
        return super()._links(sets) and hasattr(self._inner(), "predict_proba")

    def _scores(self, Z: Any) -> Array:
        check_is_fitted(self, "estimator_")
        return self._model.scores(Z)

    def _probability(self, scores: Array) -> Array | None:
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * scores))

    @available_if(_has_proba)
    def predict_proba(self, X: Any, prior: float | None = None) -> Array:
        return super().predict_proba(X, prior)

    predict_proba.__doc__ = UnlabeledClassifier.predict_proba.__doc__

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self._inner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


class _Fitted:
    """A fitted classifier and how its scores become the log odds of the class."""

    def __init__(self, inner: Any, offset: float, inversion: Inversion | None) -> None:
        self.inner, self.offset, self.inversion = inner, offset, inversion
        self.cut = 0.0

    def raw(self, Z: Any) -> Array:
        """Log odds of label 1, or the decision value of a classifier without probabilities."""
        if not hasattr(self.inner, "predict_proba"):
            return np.asarray(self.inner.decision_function(Z))
        eta = np.asarray(self.inner.predict_proba(Z))[:, 1]
        tiny = np.finfo(eta.dtype).eps
        return np.asarray(logit(np.clip(eta, tiny, 1 - tiny)))

    def scores(self, Z: Any) -> Array:
        raw = self.raw(Z)
        if self.inversion is not None and hasattr(self.inner, "predict_proba"):
            raw = self.inversion.log_odds(raw + raw.dtype.type(self.offset))
        return raw - raw.dtype.type(self.cut)

    def clipped_share(self, Z: Any) -> float:
        if self.inversion is None or not hasattr(self.inner, "predict_proba"):
            return 0.0
        return float(np.mean(self.inversion.outside(self.raw(Z) + self.offset)))


def _is_pipeline(inner: Any) -> bool:
    """Whether weights go to the last step; whoever made a pipeline has loaded its module."""
    module = sys.modules.get("sklearn.pipeline")
    return module is not None and isinstance(inner, module.Pipeline)


def _takes_weight(inner: Any) -> bool:
    if _is_pipeline(inner):
        return _takes_weight(inner.steps[-1][1])
    if has_fit_parameter(inner, "sample_weight"):
        return True
    return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(inner.fit).parameters.values())


def _weight_name(inner: Any) -> str:
    """What `fit` calls the weights: in a pipeline, by the name of the last step."""
    if not _is_pipeline(inner):
        return "sample_weight"
    name, last = inner.steps[-1]
    return f"{name}__{_weight_name(last)}"


def _asks_for_weight(inner: Any) -> bool:
    """Whether the user routes metadata and the parts of this estimator ask for weights by themselves."""
    if not get_config()["enable_metadata_routing"] or _is_pipeline(inner):
        return False
    try:
        return bool(get_routing_for_object(inner).consumes("fit", ["sample_weight"]))
    except NotImplementedError:  # some ensembles take weights but route nothing
        return False


def _scores_later(inner: Any) -> bool:
    """Whether only fitting shows what the estimator scores with: a stack has the methods of its last model."""
    shown, declared = ([hasattr(thing, method) for method in SCORES] for thing in (inner, type(inner)))
    return any(declared) and not any(shown)

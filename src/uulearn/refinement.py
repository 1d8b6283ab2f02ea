"""Cross-fitted posterior refinement: from any first model to one trained without a negative weight.

Out-of-fold scores give the class likelihood ratio L(x); Bayes' rule gives each row its own probability of being
positive inside its set, q = theta_k L / (theta_k L + 1 - theta_k); the model is trained again on those. Were L exact,
that would be the PN risk itself. Folds are essential: a model's own fitted scores confirm themselves.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import integer
from uulearn.calibration import fit_link, membership_loss, posterior
from uulearn.metrics import error, error_difference
from uulearn.metrics.moments import group_index
from uulearn.priors import Floats
from uulearn.risk import Columns, posterior_weights
from uulearn.sets import Sets

M = TypeVar("M")
Rows = NDArray[np.intp]
Fold = tuple[Rows, Rows]
Trainer = Callable[[list[Rows]], list[M]]
AUTO_ROUNDS = 2
"""The most rounds that refine="auto" tries; more seldom help."""


@dataclass(frozen=True)
class Steps(Generic[M]):
    """What refinement asks of a model: to start from the sets, to train on columns, to score rows.

    Attributes
    ----------
    start : callable
        start([rows, ...]) -> models, one trained on each of these selections of rows of the sets.
    train : callable
        train([(rows, columns), ...]) -> models, one trained on each selection with its non-negative columns.
    score : callable
        score(model, rows) -> scores of these rows.
    first : callable, optional
        As `start`, for models whose scores are only calibrated: those of the folds before the first round.

    All folds are asked for at once, for models that are quicker trained together.
    """

    start: Callable[[list[Rows]], list[M]]
    train: Callable[[list[tuple[Rows, Columns]]], list[M]]
    score: Callable[[M, Rows], Floats]
    first: Callable[[list[Rows]], list[M]] | None = None


@dataclass(frozen=True)
class Refined(Generic[M]):
    """The final model, the rounds it took and what the label-free error of each number of rounds was."""

    model: M
    rounds: int
    errors: tuple[float, ...]
    out_of_fold: Floats | None


def refine(
    steps: Steps[M], sets: Sets, rounds: int | str, folds: Callable[[], list[Fold]], *, scores_needed: bool
) -> Refined[M]:
    """Train through `rounds` rounds, or as many as held-out rows support.

    Parameters
    ----------
    steps : Steps
    sets : Sets
    rounds : int or "auto"
        "auto" holds the first fold out of everything, cross-fitting included, and judges each number of rounds on it.
        Out-of-fold scores of a later round would not do: its weights come from models that saw those rows.
    folds : callable
        Gives the (train, test) rows of the folds; called only if folds are needed.
    scores_needed : bool
        Also return out-of-fold scores: from three folds on, of models that saw no row of the fold in any round.

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V", "V"], {"U": 0.9, "V": 0.4}, 0.3)
    >>> steps = Steps(  # a model is a function of the row; the first is no good, the next is
    ...     start=lambda parts: [lambda row: 0.0 * row for _ in parts],
    ...     train=lambda parts: [lambda row: 1.5 - row for _ in parts],
    ...     score=lambda model, rows: model(rows),
    ... )
    >>> result = refine(steps, sets, 1, lambda: split(sets, 2, None, seed=0), scores_needed=True)
    >>> result.out_of_fold
    array([ 1.5,  0.5, -0.5, -1.5])
    """
    every = np.arange(len(sets.index))
    if rounds == 0 and not scores_needed:
        return Refined(steps.start([every])[0], 0, (), None)
    parts = folds()
    errors: tuple[float, ...] = ()
    if rounds == "auto":
        rounds, errors = _judge(steps, sets, parts)
    last = _trainers(steps, sets, every, parts, int(rounds))[-1]
    out_of_fold = None
    if scores_needed:
        unseen = int(rounds) > 0 and len(parts) > 2
        out_of_fold = _unseen(steps, sets, parts, int(rounds)) if unseen else _out_of_fold(steps, last, every, parts)
    return Refined(last([every])[0], int(rounds), errors, out_of_fold)


def _judge(steps: Steps[M], sets: Sets, folds: list[Fold]) -> tuple[int, tuple[float, ...]]:
    """The rounds that the first fold, held out of all of them, supports; and the errors it was judged by."""
    if len(folds) < 3:
        smallest = int(np.bincount(sets.index[sets.weight > 0]).min())
        if smallest < 3:
            raise ValueError(
                f"refine='auto' needs at least 3 rows in every set; the smallest has {smallest}. Bring more rows, or "
                "give refine as a number of rounds."
            )
        raise ValueError(
            f"cv must give at least 3 folds for refine='auto'; got {len(folds)}. Use cv=3 or more, "
            "and groups of which every set has 3."
        )
    kept, judged = folds[0]
    scores = [steps.score(fit([kept])[0], judged) for fit in _trainers(steps, sets, kept, folds[1:], AUTO_ROUNDS)]
    part = sets.take(judged)
    errors = tuple(error(part, found) for found in scores)
    return _choose(part, scores, errors), errors


def _trainers(steps: Steps[M], sets: Sets, rows: Rows, folds: list[Fold], rounds: int) -> list[Trainer[M]]:
    """How to train after 0, 1, ... rounds that see nothing but `rows`."""
    trainers: list[Trainer[M]] = [steps.start]
    for turn in range(rounds):
        last = trainers[-1] if turn else steps.first or steps.start
        trainers.append(_retrainer(steps, sets, rows, _out_of_fold(steps, last, rows, folds)))
    return trainers


def _retrainer(steps: Steps[M], sets: Sets, rows: Rows, scores: Floats) -> Trainer[M]:
    """Training on the posteriors that the out-of-fold scores of `rows` give them."""
    part = sets.take(rows)
    q = np.zeros(len(sets.index))
    q[rows] = posterior(fit_link(scores, part).log_ratio(scores), part.share)
    return lambda parts: steps.train([(some, posterior_weights(q[some], sets.take(some))) for some in parts])


def _out_of_fold(steps: Steps[M], fit: Trainer[M], rows: Rows, folds: list[Fold]) -> Floats:
    """Scores of `rows`, each by a model that saw only other rows of them."""
    position = np.full(1 + rows.max(), -1)
    position[rows] = np.arange(len(rows))
    scores = np.empty(len(rows))
    models = fit([np.intersect1d(train, rows) for train, _ in folds])
    for model, (_, test) in zip(models, folds, strict=True):
        judged = np.intersect1d(test, rows)
        scores[position[judged]] = steps.score(model, judged)
    return scores


def _unseen(steps: Steps[M], sets: Sets, folds: list[Fold], rounds: int) -> Floats:
    """Scores of all rows, those of each fold by a model that saw them in no round.

    Out-of-fold scores of the last round alone would be over-confident: its weights come from models that saw those
    rows.
    """
    scores = np.empty(len(sets.index))
    for place, (kept, judged) in enumerate(folds):
        fit = _trainers(steps, sets, kept, folds[:place] + folds[place + 1 :], rounds)[-1]
        scores[judged] = steps.score(fit([kept])[0], judged)
    return scores


def _choose(sets: Sets, found: list[Floats], errors: tuple[float, ...]) -> int:
    """Of the rounds whose label-free error is within one paired standard error of the least, the likeliest.

    On a few thousand rows the least error is often least by chance; the likelihood of the set memberships, at each
    round's own link, has less noise and settles it.
    """

    def unlikelihood(scores: Floats) -> float:
        return membership_loss(fit_link(scores, sets).log_ratio(scores), sets)[0]

    best = found[int(np.argmin(errors))]
    gaps = [(0.0, 0.0) if scores is best else error_difference(sets, scores, best) for scores in found]
    near = [turn for turn, (excess, standard_error) in enumerate(gaps) if excess <= standard_error]
    return min(near, key=lambda turn: unlikelihood(found[turn]))


def check_rounds(refine: Any) -> int | str:
    """`refine` as a number of rounds or "auto".

    Examples
    --------
    >>> check_rounds("auto"), check_rounds(2)
    ('auto', 2)
    """
    if isinstance(refine, str) and refine == "auto":
        return refine
    return integer('refine (rounds, or "auto")', refine, low=0)


def split(sets: Sets, cv: Any, groups: ArrayLike | None, seed: int) -> list[Fold]:
    """(train, test) rows of the folds: shuffled, every set in each, each group in one; or what `cv` itself says.

    Parameters
    ----------
    sets : Sets
    cv : int, splitter or iterable of (train, test)
        The test rows of the folds together must be every row once.
    groups : array-like of shape (n_rows,) or None
    seed : int

    Examples
    --------
    >>> from uulearn.sets import match_sets
    >>> sets = match_sets(["U", "U", "V", "V"], {"U": 0.9, "V": 0.4}, 0.3)
    >>> [sets.index[test].tolist() for train, test in split(sets, 2, None, seed=0)]
    [[0, 1], [0, 1]]
    """
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv

    rows = np.zeros((len(sets.index), 1))
    if not isinstance(cv, str) and (hasattr(cv, "split") or isinstance(cv, Iterable)):
        try:
            folds = list(check_cv(cv).split(rows, sets.index, groups))
        except TypeError:
            raise TypeError(
                f"cv must be a number of folds, a splitter, or (train, test) pairs of row numbers; got {cv!r}."
            ) from None
        numbers = np.concatenate([np.ravel(part) for fold in folds for part in fold] or [np.array([-1])])
        if numbers.min() < 0 or numbers.max() >= len(rows):
            raise ValueError(
                f"cv must give folds of these {len(rows)} rows; got {len(folds)} folds with row numbers from "
                f"{numbers.min()} to {numbers.max()}. Make them for these rows."
            )
        if any(len(np.intersect1d(*fold)) for fold in folds):
            raise ValueError(
                "cv must keep the train and test rows of a fold apart; got rows in both. Use a KFold-like splitter."
            )
        tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(rows))
        if not np.all(tested == 1):
            raise ValueError(
                "cv must test every row exactly once: each row needs one score, of a model that did not see it; got "
                f"{np.sum(tested == 0)} rows in no fold and {np.sum(tested > 1)} in several. Use a KFold-like splitter."
            )
        return _whole(folds, sets)
    counted = np.flatnonzero(sets.weight > 0)
    wanted, smallest = integer("cv", cv, low=2), int(np.bincount(sets.index[counted]).min())
    if smallest < 2:
        raise ValueError(
            "cross-fitting (refine, or probabilities of a loss that fixes none) needs at least 2 rows in every set; "
            f"the smallest has {smallest}. Bring more rows, or use refine=0 with the logistic loss."
        )
    named = None
    if groups is None:
        splitter = StratifiedKFold(min(wanted, smallest), shuffle=True, random_state=seed)
    else:
        named = group_index(groups, len(rows))
        # New names do the shuffling: some scikit-learn shuffle what they know of the groups apart from their names.
        named = np.random.default_rng(seed).permutation(named.max() + 1)[named][counted]
        splitter = StratifiedGroupKFold(min(wanted, smallest, _fewest_groups(sets, sets.index[counted], named)))
    folds = [(counted[a], counted[b]) for a, b in splitter.split(rows[counted], sets.index[counted], named)]
    # Rows of weight 0 train nothing; they are scored with the first fold.
    folds[0] = folds[0][0], np.sort(np.append(folds[0][1], np.flatnonzero(sets.weight == 0)))
    return _whole(folds, sets)


def _fewest_groups(sets: Sets, index: Rows, named: Rows) -> int:
    """Groups in the set that has the fewest, two or more."""
    pairs = np.unique(np.column_stack([index, named]), axis=0)
    found = np.bincount(pairs[:, 0])
    if found.min() < 2:
        raise ValueError(
            "groups must be at least 2 in every set, or none can be held out with rows of that set left to train on; "
            f"set {sets.labels[found.argmin()].item()!r} has {found.min()}. Use smaller groups."
        )
    return int(found.min())


def _whole(folds: list[Fold], sets: Sets) -> list[Fold]:
    """The folds, once each side of each is known to hold rows of every set."""
    for part in (part for fold in folds for part in fold):
        absent = np.setdiff1d(np.arange(len(sets.labels)), sets.index[part[sets.weight[part] > 0]])
        if len(absent):
            raise ValueError(
                f"cv and groups must leave rows of every set on both sides of each fold; got a fold without set "
                f"{sets.labels[absent[0]].item()!r}. Use fewer folds, smaller groups, or a stratified splitter."
            )
    return folds

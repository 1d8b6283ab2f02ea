"""Rules that compare classifiers by their out-of-fold scores on the same unlabeled rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import choose, floats
from uulearn.calibration import Link, fit_link, membership_loss, posterior
from uulearn.metrics import error, error_difference, evaluate_sets
from uulearn.priors import Floats
from uulearn.risk import Risk, posterior_weights
from uulearn.sets import Sets, match_sets

AGREEING = 5
"""Likeliest classifiers whose mean log ratio the rule "posterior" takes for the truth."""


def by_error(sets: Sets, scores: list[Floats], groups: ArrayLike | None = None) -> Floats:
    """The label-free error: unbiased, and noisy, the more so the closer the set priors."""
    return np.array([error(sets, z) for z in scores])


def by_likelihood(sets: Sets, scores: list[Floats], groups: ArrayLike | None = None) -> Floats:
    """Mean negative log likelihood of the set memberships, each classifier at its best scale.

    log L = scale * score + log((1 - pi) / pi): a row at the cut has even odds at the target prior, so a classifier that
    cuts at the wrong place is less likely, as is one that ranks badly.
    """
    pi = sets.priors.prior
    shift = float(np.log((1 - pi) / pi))
    return np.array([_unlikelihood(sets, z, fit_link(z, sets, shift=shift)) for z in scores])


def by_near_likelihood(sets: Sets, scores: list[Floats], groups: ArrayLike | None = None) -> Floats:
    """The likelihood, among those whose error is within a paired standard error of the least, as refine="auto" does."""
    errors = by_error(sets, scores)
    best = scores[int(np.argmin(errors))]
    gaps = np.array([(0.0, 0.0) if z is best else error_difference(sets, z, best, groups) for z in scores])
    return np.where(gaps[:, 0] <= gaps[:, 1], by_likelihood(sets, scores), np.inf)


def by_posterior(sets: Sets, scores: list[Floats], groups: ArrayLike | None = None) -> Floats:
    """The error against the posterior of each row, on which the likeliest classifiers agree.

    Their log L, averaged and scaled anew, gives each row the probability q of being positive in its set, and with it
    the weights of a supervised error: slightly biased, with none of the noise of negative weights.
    """
    links = [fit_link(z, sets) for z in scores]
    order = np.argsort([_unlikelihood(sets, z, link) for z, link in zip(scores, links, strict=True)], kind="stable")
    agreed = np.mean([links[i].log_ratio(scores[i]) for i in order[:AGREEING]], axis=0)
    q = posterior(fit_link(agreed, sets).log_ratio(agreed), sets.share)
    risk = Risk(posterior_weights(q, sets), "zero_one")
    return np.array([float(risk.value(z)) for z in scores])


def _unlikelihood(sets: Sets, scores: Floats, link: Link) -> float:
    return membership_loss(link.log_ratio(scores), sets)[0]


RULES: dict[str, Callable[[Sets, list[Floats], ArrayLike | None], Floats]] = {
    "error": by_error,
    "likelihood": by_likelihood,
    "near": by_near_likelihood,
    "posterior": by_posterior,
}
"""Rule: what it minimises over classifiers, from their out-of-fold scores and the groups of the rows."""


@dataclass(frozen=True, repr=False)
class Ranking:
    """Classifiers compared on the same unlabeled rows, the best first.

    Attributes
    ----------
    names : tuple of str
    criterion : ndarray of shape (n_classifiers,)
        What the rule minimises; infinite for those that it does not consider.
    error, standard_error : ndarray of shape (n_classifiers,)
        Label-free error and its standard error.
    excess, excess_error : ndarray of shape (n_classifiers,)
        Label-free error minus that of the first, and its paired standard error.
    rule : str
    """

    names: tuple[str, ...]
    criterion: Floats
    error: Floats
    standard_error: Floats
    excess: Floats
    excess_error: Floats
    rule: str

    @property
    def best(self) -> str:
        """Name of the chosen classifier."""
        return self.names[0]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        shown = [name if len(name) <= 60 else f"{name[:59]}…" for name in self.names]
        width = max(len("classifier"), *map(len, shown))
        head = f"{'classifier':<{width}}  {self.rule:>10}   error (standard error)  excess (standard error)"
        rows = [
            f"{shown[i]:<{width}}  {self.criterion[i]:>10.4f}  {self.error[i]:>6.4f} ({self.standard_error[i]:.4f})"
            f"         {self.excess[i]:>+7.4f} ({self.excess_error[i]:.4f})"
            for i in range(len(self))
        ]
        return "\n".join([head, *rows])


def rank(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    set_priors: Any,
    prior: float,
    rule: str = "near",
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Ranking:
    """Which of these is best: classifiers compared by their scores of the same unlabeled rows.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from.
    scores : mapping {name: array-like of shape (n_rows,)}
        Decision values, cut at 0, of rows that the classifier was not trained on: out-of-fold or held-out ones.
    set_priors : mapping or sequence
        Share of positives of each set; a sequence is in the order of the sorted set labels.
    prior : float
        Share of positives of the target.
    rule : str, default="near"
        One of `RULES`.
    sample_weight, groups : array-like of shape (n_rows,), optional
        As in `uulearn.metrics.evaluate`.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(["A", "B"], [3000, 2000])
    >>> truth = np.where(rng.random(5000) < np.where(sets == "A", 0.9, 0.4), 1, -1)  # never shown to rank
    >>> scores = {f"noise {noise}": truth + noise * rng.normal(size=5000) for noise in (2.0, 0.5, 1.0)}
    >>> rank(sets, scores, set_priors={"A": 0.9, "B": 0.4}, prior=0.3)
    classifier        near   error (standard error)  excess (standard error)
    noise 0.5      -0.1342  0.0223 (0.0155)         +0.0000 (0.0000)
    noise 1.0          inf  0.1541 (0.0162)         +0.1317 (0.0136)
    noise 2.0          inf  0.3259 (0.0168)         +0.3036 (0.0192)
    """
    choose("rule", rule, RULES)
    if not isinstance(scores, Mapping) or not scores:
        raise TypeError(f"scores must be a mapping {{name: scores of the rows}}; got {scores!r}. Name one or more.")
    sets = match_sets(y, set_priors, prior, sample_weight)
    named = {name: floats(f"scores[{name!r}]", z) for name, z in scores.items()}
    for name, z in named.items():
        if z.shape != sets.index.shape or not np.all(np.isfinite(z)):
            raise ValueError(
                f"scores[{name!r}] must hold one finite number for each of {len(sets.index)} rows; got an array of "
                f"shape {z.shape} with {np.sum(~np.isfinite(z))} that are not finite. Score the rows that y names."
            )
    return rank_sets(sets, named, rule, groups)


def rank_sets(sets: Sets, scores: Mapping[str, Floats], rule: str, groups: ArrayLike | None = None) -> Ranking:
    """`rank` for rows already matched to their sets."""
    names = list(scores)
    found = [np.asarray(scores[name], dtype=float) for name in names]
    criterion = RULES[rule](sets, found, groups)
    estimates = [evaluate_sets(sets, z, groups=groups, metrics="error").error for z in found]
    errors = np.array([estimate.value for estimate in estimates])
    order = np.lexsort([errors, criterion])  # classifiers that the rule does not consider go by their error
    gaps = np.array([error_difference(sets, found[i], found[order[0]], groups) for i in order])
    return Ranking(
        names=tuple(names[i] for i in order),
        criterion=criterion[order],
        error=errors[order],
        standard_error=np.array([estimates[i].standard_error for i in order]),
        excess=gaps[:, 0],
        excess_error=gaps[:, 1],
        rule=rule,
    )

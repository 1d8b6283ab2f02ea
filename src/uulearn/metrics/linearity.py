"""The one direct check that more than two sets differ in nothing but their shares of positives."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from uulearn._checks import floats
from uulearn.metrics.moments import combined_covariance, set_means, units
from uulearn.priors import Floats
from uulearn.sets import match_sets


class Linearity(NamedTuple):
    """Whether set means lie on a straight line over the set priors.

    Attributes
    ----------
    statistic : float
        Sum of squares of what the line leaves over, in standard errors: chi-squared where the line is true.
    degrees_of_freedom : int
    p_value : float
        A small one says that the stated priors are wrong, or that p(x | y) is not the same in all sets.
    means : ndarray of shape (n_sets, n_scores)
        Mean of each score in each set, in the order of the sorted set labels.
    residuals : ndarray of shape (n_sets, n_scores)
        How far each mean is above the line.
    standardised : ndarray of shape (n_sets, n_scores)
        Residuals in units of their own standard errors: a set far off zero is the one to look at.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    means: Floats
    residuals: Floats
    standardised: Floats


def check_linearity(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    set_priors: Any,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> Linearity:
    """Chi-squared test that the set means of any scores are linear in the set priors.

    If all sets share p(x | y), any function h of a row has E_k[h] = theta_k E_P[h] + (1 - theta_k) E_N[h]. Two sets
    always lie on a line; from three on this can be tested, without a label.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        The set each row came from: three sets or more.
    scores : array-like of shape (n_rows,) or (n_rows, n_scores)
        Any functions of the rows: scores of a classifier, columns of X; several are tested together.
    set_priors : mapping or sequence
        As in `evaluate`; the errors of `Uncertain` shares are allowed for.
    sample_weight, groups
        As in `evaluate`.

    Returns
    -------
    Linearity

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> sets = np.repeat(["A", "B", "C"], 1000)
    >>> truth = rng.random(3000) < np.repeat([0.9, 0.5, 0.2], 1000)
    >>> found = check_linearity(sets, truth + rng.normal(size=3000), set_priors=(0.9, 0.5, 0.2))
    >>> found.degrees_of_freedom, found.p_value > 0.05
    (1, True)
    >>> check_linearity(sets, truth + rng.normal(size=3000), set_priors=(0.9, 0.2, 0.5)).p_value < 1e-6
    True
    """
    from scipy.linalg import pinvh
    from scipy.stats import chi2

    h = floats("scores", scores)
    h = h[:, None] if h.ndim == 1 else h
    if h.ndim != 2 or not np.all(np.isfinite(h)):
        raise ValueError(
            f"scores must be one or more finite numbers a row; got an array of shape {h.shape}"
            f"{'' if h.ndim != 2 else ' with NaN or infinity'}. Drop these rows or mend the scores."
        )
    sets = match_sets(y, set_priors, 0.5, sample_weight)
    if len(h) != len(sets.index):
        raise ValueError(
            f"scores and y must have the same length; got {len(h)} scores for {len(sets.index)} rows. Score the rows "
            "that y names."
        )
    m, p = len(sets.labels), h.shape[1]
    if m < 3:
        raise ValueError(
            f"set_priors must name at least three sets to check linearity; got {m}. Two means always lie on a line: "
            "split a set by something that should not matter, or bring a third."
        )
    unit = units(sets, groups)
    if np.isnan(unit.factor).any():
        raise ValueError(
            "groups (or rows) must be two or more in every set, or the spread of its mean is unknown; got "
            f"one in set {sets.labels[np.isnan(unit.factor)][0]!r}. Use smaller groups."
        )
    # In units of their spread, so that no column is lost beside larger ones.
    scale = h.std(axis=0)
    scale[scale == 0] = 1.0
    h = h / scale
    means = set_means(sets, lambda rows: h[rows].T).T
    # Set means of all scores, set by set, with their covariance.
    covariance = combined_covariance(sets, lambda rows: h[rows].T, unit, np.eye(m))
    shares = sets.priors.shares
    line = np.kron(np.column_stack([np.ones(m), shares]), np.eye(p))
    target = means.ravel()
    slope = np.linalg.lstsq(line, target, rcond=None)[0][p:]
    covariance = covariance + np.kron(np.diag(sets.priors.standard_errors**2), np.outer(slope, slope))
    inverse = pinvh(covariance)
    hat = line @ np.linalg.pinv(line.T @ inverse @ line) @ line.T @ inverse
    residual = target - hat @ target
    statistic = float(residual @ inverse @ residual)
    spread = np.sqrt(np.clip(np.diag(covariance - hat @ covariance), 0, None))
    rank = int(np.linalg.matrix_rank(covariance) - np.linalg.matrix_rank(line.T @ inverse @ line))
    standardised = np.divide(residual, spread, out=np.zeros_like(residual), where=spread > 1e-12 * (1 + abs(target)))
    shape = (m, p)
    return Linearity(
        statistic,
        rank,
        float(chi2.sf(statistic, rank)),
        means * scale,
        residual.reshape(shape) * scale,
        standardised.reshape(shape),
    )

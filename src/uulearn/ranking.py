"""How well the classes are ranked, from how well the sets are: the two AUC are one line apart."""

from typing import Any

import numpy as np

from uulearn._checks import number
from uulearn.metrics import Estimate
from uulearn.priors import Priors


def class_auc(set_auc: Any, set_priors: Any) -> Estimate:
    """AUC of the classes from the AUC of two sets, the richer one taken as positive.

    A pair of rows, one of either set, holds a positive and a negative one the right way round with probability
    theta (1 - theta'), the wrong way round with theta' (1 - theta), and else two of one class, which a score orders by
    chance (Menon et al. 2015, corollary 3)::

        AUC = 1/2 + (AUC_sets - 1/2) / (theta - theta')

    The best ranking of the sets is thus the best ranking of the classes, whatever the priors.

    Parameters
    ----------
    set_auc : float or Estimate
        AUC of the sets on rows that were not trained on, such as
        ``sklearn.metrics.roc_auc_score(y, clf.decision_function(X))``; of an `Estimate` the standard error counts too.
    set_priors : mapping or sequence
        Shares of positives of the two sets.

    Returns
    -------
    Estimate
        Unbiased where `set_auc` is, and never clipped. Without a standard error given, it has none (NaN).

    Examples
    --------
    >>> from uulearn import class_auc
    >>> round(class_auc(0.7, (0.9, 0.4)).value, 3)
    0.9
    """
    given = (
        set_auc
        if isinstance(set_auc, Estimate)
        else Estimate(number("set_auc", set_auc, low=0.0, high=1.0), *[float("nan")] * 3)
    )
    priors = set_priors if isinstance(set_priors, Priors) else Priors(set_priors, prior=0.5)
    if len(priors.shares) != 2:
        raise ValueError(
            f"set_priors must name two sets for the AUC of one against the other; got {len(priors.shares)}. With more, "
            "use metrics.evaluate."
        )
    apart = priors.theta - priors.theta_prime
    value, low, high = (0.5 + (end - 0.5) / apart for end in (given.value, given.low, given.high))
    error = given.standard_error / apart
    if np.any(priors.standard_errors):
        wider = float(np.hypot(error, (value - 0.5) / apart * np.sqrt(np.sum(priors.standard_errors**2))))
        # The interval grows as its standard error does.
        low, high = (value + (end - value) * wider / error for end in (low, high))
        error = wider
    return Estimate(value, error, low, high)

"""Where priors come from when nobody has counted: from the sets alone, from a few labels, and for unlabeled targets."""

from uulearn.estimation.labels import priors_from_labels
from uulearn.estimation.result import DoubtfulPriorsWarning, SetPriors, TargetPrior
from uulearn.estimation.shares import estimate_set_priors
from uulearn.estimation.target import estimate_target_prior

__all__ = [
    "DoubtfulPriorsWarning",
    "SetPriors",
    "TargetPrior",
    "estimate_set_priors",
    "estimate_target_prior",
    "priors_from_labels",
]

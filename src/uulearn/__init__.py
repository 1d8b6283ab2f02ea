"""Train any binary classifier from unlabeled data.

Bring two or more sets of rows whose shares of positives differ and are known; no row needs a label.
Every public name is loaded when it is first used, so ``import uulearn`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "Priors": "priors",
    "Uncertain": "priors",
    "estimate_set_priors": "estimation",
    "estimate_target_prior": "estimation",
    "make_unlabeled_sets": "sets",
    "priors_from_labels": "estimation",
    "UUClassifier": "estimators.reduction",
    "UUKernelClassifier": "estimators.kernel",
    "UULinearClassifier": "estimators.linear",
    "UUNeuralClassifier": "estimators.neural",
    "UUSearch": "selection.search",
    "sensitivity": "selection.wrong_priors",
    "CalibratedUUClassifier": "estimators.calibrated",
    "choose_threshold": "threshold",
    "class_auc": "ranking",
    "shift_prior": "calibration",
}
_MODULES = ("baselines", "datasets", "displays", "losses", "metrics", "risk", "selection", "theory")

__all__ = [*_HOME, *_MODULES]

if TYPE_CHECKING:
    from uulearn import baselines as baselines
    from uulearn import datasets as datasets
    from uulearn import displays as displays
    from uulearn import losses as losses
    from uulearn import metrics as metrics
    from uulearn import risk as risk
    from uulearn import selection as selection
    from uulearn import theory as theory
    from uulearn.calibration import shift_prior as shift_prior
    from uulearn.estimation import estimate_set_priors as estimate_set_priors
    from uulearn.estimation import estimate_target_prior as estimate_target_prior
    from uulearn.estimation import priors_from_labels as priors_from_labels
    from uulearn.estimators.calibrated import CalibratedUUClassifier as CalibratedUUClassifier
    from uulearn.estimators.kernel import UUKernelClassifier as UUKernelClassifier
    from uulearn.estimators.linear import UULinearClassifier as UULinearClassifier
    from uulearn.estimators.neural import UUNeuralClassifier as UUNeuralClassifier
    from uulearn.estimators.reduction import UUClassifier as UUClassifier
    from uulearn.priors import Priors as Priors
    from uulearn.priors import Uncertain as Uncertain
    from uulearn.ranking import class_auc as class_auc
    from uulearn.selection.search import UUSearch as UUSearch
    from uulearn.selection.wrong_priors import sensitivity as sensitivity
    from uulearn.sets import make_unlabeled_sets as make_unlabeled_sets
    from uulearn.threshold import choose_threshold as choose_threshold


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f"uulearn.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"uulearn.{name}")
    else:
        raise AttributeError(f"module 'uulearn' has no attribute {name!r}; it offers {', '.join(__all__)}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

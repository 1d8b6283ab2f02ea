"""The lists that laws run over: a new estimator joins here and is thereby tested."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression

from uulearn import (
    UUClassifier,
    UUKernelClassifier,
    UULinearClassifier,
    baselines,
    make_unlabeled_sets,
)


def logistic(**options: Any) -> UUClassifier:
    """The reduction around a classifier that is quick and knows sample weights."""
    return UUClassifier(LogisticRegression(), **options)


def unmixed(**options: Any) -> UUClassifier:
    """The other route."""
    return UUClassifier(LogisticRegression(), route="unmix", **options)


def smooth(shape: tuple[int, ...]) -> Any:
    """A network in which rows have nothing to do with each other, as they have under batch norms."""
    from torch import nn

    return nn.Sequential(nn.Linear(shape[0], 16), nn.Tanh(), nn.Linear(16, 1))


def neural(**options: Any) -> Any:
    """Steps on all rows at once: of smaller batches the laws hold on expectation, of these they hold exactly."""
    from uulearn import UUNeuralClassifier

    options.pop("calibrate", None)  # networks calibrate on the rows they hold out
    whole = {"batch_size": 10**6, "epochs": 60, "learning_rate": 0.3, "validation_fraction": 0, "refine": 0}
    return UUNeuralClassifier(smooth, **{"loss": "logistic", "cv": 3, "random_state": 0, **whole, **options})


ESTIMATORS: dict[str, Callable[..., Any]] = {
    "linear": UULinearClassifier,
    "kernel": UUKernelClassifier,
    "weight": logistic,
    "unmix": unmixed,
}
if find_spec("torch"):
    ESTIMATORS["neural"] = neural


BASELINES: dict[str, Callable[..., Any]] = {
    "biased": baselines.BiasedClassifier,
    "ccn": baselines.CCNClassifier,
    "ccn-pooled": partial(baselines.CCNClassifier, reading="pooled"),
    "ber": partial(baselines.BERClassifier, hidden=10, C=0.1, random_state=0),
    "ber-fc": baselines.BERFCClassifier,
    "psvm": partial(baselines.ProportionSVM, kernel="linear", C=0.1, n_init=2, random_state=0),
    "psvm-rbf": partial(baselines.ProportionSVM, n_init=2, random_state=0),
    "um-ssc": baselines.SurrogateSetClassifier,
}


def expected_failures(estimator: Any) -> dict[str, str]:
    """Checks of scikit-learn that are themselves wrong for a binary classifier."""
    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7):
        return {}
    reason = "scikit-learn before 1.7 names the classes by the first row, which it has shuffled"
    # Kernels refuse sparse rows, which that check lets pass.
    kinds = ("dense",) if isinstance(estimator, UUKernelClassifier) else ("dense", "sparse")
    return dict.fromkeys([f"check_sample_weight_equivalence_on_{kind}_data" for kind in kinds], reason)


def blobs(
    set_priors: Any = (0.9, 0.4), sizes: Any = (600, 300), *, seed: int = 0, distance: float = 2.0, columns: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, set labels and true classes of two round clouds."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], 4000)
    X = rng.normal(size=(8000, columns)) + distance * truth[:, None] * np.eye(columns)[0]
    rows, sets, indices = make_unlabeled_sets(X, truth, set_priors, sizes, random_state=seed)
    return rows, sets, truth[indices]

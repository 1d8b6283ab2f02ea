"""The methods by name: networks that differ in the rows they see and how they weigh them, and those apart."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uulearn.baselines import BERFCClassifier, BiasedClassifier, CCNClassifier
from uulearn.baselines.surrogate import SetCrossEntropy
from uulearn.losses import Loss, get
from uulearn.paper import apart
from uulearn.paper.draws import Draw, everything, shifted, small, unlabeled
from uulearn.paper.problems import Problem
from uulearn.paper.spec import Cell
from uulearn.risk import Columns, row_weights
from uulearn.sets import Sets

Sees = Callable[[Problem, Cell, int], Draw]


@dataclass(frozen=True)
class Network:
    """A method that trains the network of the data set.

    Attributes
    ----------
    title : str
    weigh : callable
        Sets to columns.
    sees : callable
    correction : str
    aim : float or None
        The prior at which hyperparameters are judged, where it is not the target prior.
    loss : callable
        (the loss of the cell, sets) -> the loss trained with.
    """

    title: str
    weigh: Callable[[Sets], Columns] = row_weights
    sees: Sees = unlabeled
    correction: str = "none"
    aim: float | None = None
    loss: Callable[[str, Sets], Loss] = lambda name, sets: get(name, trainable=True)


@dataclass(frozen=True)
class Apart:
    """A method with a model and a solver of its own; see `apart.Model`."""

    title: str
    model: type[apart.Model]
    sees: Sees = unlabeled


def _recipe(kind: Any, **options: Any) -> Callable[[Sets], Columns]:
    """The columns of a comparison method."""

    def weigh(sets: Sets) -> Columns:
        return kind(set_priors=sets.priors, prior=sets.priors.prior, **options)._columns(sets)

    return weigh


METHODS: dict[str, Network | Apart] = {
    "uu": Network("UU"),
    "small-pn": Network("small PN", sees=small),
    "small-pn-shift": Network("small PN prior-shift", sees=shifted),
    "oracle": Network("PN oracle", sees=everything),
    "uu-biased": Network("UU-biased", _recipe(BiasedClassifier)),
    "ccn": Network("CCN", _recipe(CCNClassifier)),
    "ccn-pooled": Network("CCN (pooled rates)", _recipe(CCNClassifier, reading="pooled")),
    "ber-fc": Network("BER-FC", _recipe(BERFCClassifier), aim=0.5),
    "nnuu-relu": Network("nnUU (relu)", correction="relu"),
    "nnuu-abs": Network("nnUU (abs)", correction="abs"),
    "nnuu-leaky": Network("nnUU (leaky)", correction="leaky"),
    "um-ssc": Network(
        "Um-SSC",
        weigh=lambda sets: SetCrossEntropy.of(sets).columns(sets),
        loss=lambda name, sets: SetCrossEntropy.of(sets),
    ),
    "uu-house": Apart("UU (house recipe)", apart.House),
    "ber": Apart("BER", apart.Balanced),
    "psvm": Apart("pSVM", apart.Proportion),
}
LOAD = "load"
"""Of table 1: reads the data set and counts."""

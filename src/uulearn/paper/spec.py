"""What an experiment is made of: cells (problems with their methods) and presets (how much of it is run)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from typing import Any

from uulearn._checks import choose

Values = Mapping[str, Any]
"""What the paper reports, by method: mean and standard deviation in per cent, or a word such as "N/A"."""


@dataclass(frozen=True)
class Cell:
    """One problem: the rows a classifier learns from and where it is judged.

    Attributes
    ----------
    data : str
    methods : tuple of str
    prior : float
        Share of positives among the rows to be predicted, as the methods are told.
    shares, sizes : pair or None
        Theta and theta', n and n'; None where only labelled rows are drawn.
    labeled : int or None
        Labelled rows of the PN oracle, drawn at `prior`; None for all training rows as they are.
    factors : pair or None
        What theta and theta' are multiplied by before the methods are told.
    loss : str
    subsample : int or None
        Rows drawn first, at `prior`; of these, the rows that no set takes judge, weighed to `prior`. None where the
        data set has test rows, which judge as they are.
    paper, log : mapping
        Final errors in the paper, and in the authors' published log.
    """

    data: str
    methods: tuple[str, ...]
    prior: float
    shares: tuple[float, float] | None = None
    sizes: tuple[int, int] | None = None
    labeled: int | None = None
    factors: tuple[float, float] | None = None
    loss: str = "sigmoid"
    subsample: int | None = None
    paper: Values = field(default_factory=dict)
    log: Values = field(default_factory=dict)

    @property
    def told(self) -> tuple[float, float]:
        """The set priors as the methods are told."""
        assert self.shares is not None
        first, second = self.factors or (1.0, 1.0)
        return (self.shares[0] * first, self.shares[1] * second)

    @property
    def setting(self) -> dict[str, Any]:
        """What a record says of the cell; what is not there is left out."""
        facts: dict[str, Any] = {"prior": self.prior, "labeled": self.labeled, "subsample": self.subsample}
        if self.shares is not None and self.sizes is not None:
            facts |= dict(zip(("theta", "theta_prime"), self.shares, strict=True))
            facts |= dict(zip(("n", "n_prime"), self.sizes, strict=True))
        facts |= {"factors": self.factors, "loss": None if self.loss == "sigmoid" else self.loss}
        return {name: value for name, value in facts.items() if value is not None}

    def scaled(self, scale: float) -> "Cell":
        """The same with fewer rows."""
        if scale == 1:
            return self

        def less(rows: int | None) -> Any:
            return None if rows is None else max(2, round(scale * rows))

        sizes = None if self.sizes is None else (less(self.sizes[0]), less(self.sizes[1]))
        return replace(self, sizes=sizes, labeled=less(self.labeled), subsample=less(self.subsample))


@dataclass(frozen=True)
class Tuning:
    """What is chosen from, without a label, where the paper says nothing: for networks, for BER, for pSVM.

    The choice is made once for each data set and method.
    """

    rates: tuple[float, ...] = (0.01, 0.05, 0.2)
    epochs: tuple[int, ...] = (10, 25, 50, 100, 200)
    C: tuple[float, ...] = (0.01, 0.1, 1.0)
    margin_C: tuple[float, ...] = (0.1, 1.0, 10.0, 100.0)
    gamma: tuple[float, ...] = (0.1, 1.0, 10.0)
    """Times that of scikit-learn's "scale"; beside them the linear kernel is tried."""
    starts: int = 10


@dataclass(frozen=True)
class Limit:
    """How much of an experiment is run on a data set: the defaults are the paper to the letter.

    `changes` go before the recipe of the data set.
    """

    draws: int = 10
    epochs: int | None = None
    scale: float = 1.0
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Preset:
    """A limit for every data set, others for some, and whether stand-ins take the place of the data."""

    limit: Limit = Limit()
    by_data: Mapping[str, Limit] = field(default_factory=dict)
    tuning: Tuning = Tuning()
    stand_in: bool = False

    def of(self, data: str) -> Limit:
        """The limit for a data set."""
        return self.by_data.get(data, self.limit)


SMALLEST = Tuning(rates=(0.05, 0.2), epochs=(1, 2), C=(0.1,), margin_C=(1.0,), gamma=(1.0,), starts=1)
SMOKE = Preset(Limit(draws=2, epochs=3, scale=0.01, changes={"learning_rate": 0.05}), tuning=SMALLEST, stand_in=True)
PAPER = Preset()


@dataclass(frozen=True)
class Spec:
    """A figure or table.

    Attributes
    ----------
    name, title : str
    cells : tuple of Cell
    presets : mapping of str to Preset
    optional : tuple of str
        Methods that can be asked for by name, in every cell with sets.
    """

    name: str
    title: str
    cells: tuple[Cell, ...]
    presets: Mapping[str, Preset]
    optional: tuple[str, ...] = ()

    def preset(self, name: str) -> Preset:
        """The preset of that name."""
        return choose("preset", name, self.presets)


def presets(cpu: Preset, smoke: Preset = SMOKE) -> dict[str, Preset]:
    """The three presets every experiment has."""
    return {"smoke": smoke, "cpu": cpu, "paper": PAPER}


def grid(cell: Cell, **choices: Sequence[Any]) -> tuple[Cell, ...]:
    """The cell with every combination of these attributes.

    Examples
    --------
    >>> cell = Cell("mnist", ("uu",), 0.49)
    >>> [one.loss for one in grid(cell, loss=["sigmoid", "logistic"])]
    ['sigmoid', 'logistic']
    """
    return tuple(replace(cell, **dict(zip(choices, chosen, strict=True))) for chosen in product(*choices.values()))


def along(cell: Cell, **columns: Sequence[Any]) -> tuple[Cell, ...]:
    """The cell with the first entry of each column, with the second, ...

    Examples
    --------
    >>> cell = Cell("mnist", ("uu",), 0.49)
    >>> [one.paper for one in along(cell, paper=column("uu", "2.31 (0.16) & 2.35 (0.14)"))]
    [{'uu': (2.31, 0.16)}, {'uu': (2.35, 0.14)}]
    """
    return tuple(replace(cell, **dict(zip(columns, one, strict=True))) for one in zip(*columns.values(), strict=True))


def row(methods: str, values: str) -> dict[str, Any]:
    """The paper's values of several methods in one cell; a star stands for its bold face.

    Examples
    --------
    >>> row("psvm uu", "N/A & 2.87 (0.28) *")
    {'psvm': 'N/A', 'uu': (2.87, 0.28, 'bold')}
    """
    return dict(zip(methods.split(), map(_value, values.split("&")), strict=True))


def column(method: str, values: str) -> list[dict[str, Any]]:
    """The paper's values of one method in several cells.

    Examples
    --------
    >>> column("uu", "1.94 & 2.67")
    [{'uu': (1.94,)}, {'uu': (2.67,)}]
    """
    return [{method: _value(value)} for value in values.split("&")]


def _value(text: str) -> Any:
    try:
        numbers = [float(part) for part in text.replace("(", " ").replace(")", " ").replace("*", "").split()]
    except ValueError:
        return text.strip()
    return (*numbers, "bold") if "*" in text else tuple(numbers)


def reductions(preset: Preset, data: str, epochs: int) -> list[str]:
    """In words, how a preset falls short of the paper's protocol, of so many epochs, on a data set."""
    limit, full = preset.of(data), Limit()
    found = ["scikit-learn's handwritten digits (8 x 8 pixels) stand in for the data"] if preset.stand_in else []
    found += [f"{limit.draws} of {full.draws} repetitions"] if limit.draws < full.draws else []
    if limit.epochs is not None and limit.epochs < epochs:
        found += [f"{limit.epochs} of {epochs} epochs"]
    found += [f"{limit.scale:g} times the rows"] if limit.scale != 1 else []
    return [*found, *(f"{name} {value}" for name, value in limit.changes.items())]


def narrowed(tuning: Tuning) -> list[str]:
    """In words, how a choice of hyperparameters falls short of the full grid."""
    full = Tuning()
    found = [f"{tuning.starts} of {full.starts} starts of pSVM"] if tuning.starts < full.starts else []
    sizes = [prod((len(one.margin_C), len(one.gamma) + 1)) for one in (tuning, full)]
    return [*found, f"{sizes[0]} of {sizes[1]} settings of pSVM"] if sizes[0] < sizes[1] else found

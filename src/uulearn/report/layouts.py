"""How the paper lays out each figure and table: what a run's row, column, panel and line are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from uulearn.results import Run

Name = Callable[[Run], str | None]
"""Where a run belongs; None where it belongs everywhere, as a method does that sees no sets."""
ORACLE = "oracle"


@dataclass(frozen=True)
class Table:
    """A table: the names of a row (of them, all but the first may be None), and the column of a run.

    `order` says which methods come first, those of `aside` come last. `compared` methods are rivals: the best are bold;
    `aside` is never one of them.
    """

    name: str
    title: str
    head: tuple[str, ...]
    rows: tuple[Name, ...]
    column: Name
    order: tuple[str, ...] = ()
    compared: bool = True
    aside: tuple[str, ...] = (ORACLE,)


@dataclass(frozen=True)
class Panels:
    """A figure of curves: rows and columns of panels, and the lines in each; the oracle's is dashed."""

    name: str
    title: str
    row: Name
    column: Name
    line: Name


def title(kind: str) -> Name:
    """What the paper calls the data set or the method of a run."""
    return lambda run: str(run.more.get("titles", {}).get(kind, getattr(run, kind)))


def of_sets(name: Name) -> Name:
    """The name for runs that see sets; the others belong everywhere."""
    return lambda run: name(run) if "theta" in run.setting else None


def fact(key: str, text: str = "{}") -> Name:
    """A number of the setting, if it is there."""
    return lambda run: text.format(_short(run.setting[key])) if key in run.setting else None


def _short(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def pair(run: Run) -> str | None:
    """Theta, theta'."""
    found = run.setting
    return f"{found['theta']:g}, {found['theta_prime']:g}" if "theta" in found else None


def priors(run: Run) -> str:
    """The same, named."""
    return f"θ = {run.setting['theta']:g}, θ' = {run.setting['theta_prime']:g}"


def _gap(run: Run) -> str:
    return f"{run.setting['theta'] - run.setting['theta_prime']:.2f}"


def _drawn(run: Run) -> str:
    return f"{run.setting['n'] + run.setting['n_prime']:,}"


def _together(run: Run) -> str:
    """The column of the half of table 2 in which both priors are wrong in the same direction; else none."""
    first, second = run.setting["factors"]
    return f"ε, ε' = {first:g}, {second:g}" if first == second else ""


def _opposite(run: Run) -> str:
    first, second = run.setting["factors"]
    return f"ε, ε' = {first:g}, {second:g}" if first != second or first == 1 else ""


def _loss(run: Run) -> str:
    return f"{run.setting.get('loss', 'sigmoid')} loss"


ROBUST = (title("data"), pair)
WRONG = "Errors given inaccurate training class priors: ε θ and ε' θ' in place of θ and θ'"
LAYOUTS: dict[str, tuple[Table | Panels, ...]] = {
    "figure-1": (
        Table("errors", "Exact test error of the lines of figure 1", ("data",), (title("data"),), title("method")),
    ),
    "figure-2": (
        Panels("figure-2", "Training deep neural networks", title("data"), of_sets(priors), title("method")),
        Table(
            "table-4",
            "Final classification errors of figure 2",
            ("data", "θ, θ'"),
            (title("data"), of_sets(pair)),
            title("method"),
            order=("small-pn", "small-pn-shift", "uu"),
        ),
    ),
    "figure-3": (
        Panels(
            "figure-3",
            "Moving θ' closer to θ",
            of_sets(title("method")),
            fact("theta", "θ = {}"),
            of_sets(fact("theta_prime", "θ' = {}")),
        ),
        Table(
            "figure-3-errors",
            "Final classification errors of figure 3",
            ("data", "θ, θ'"),
            (title("data"), pair),
            title("method"),
        ),
    ),
    "figure-4": (
        Panels("figure-4", "Comparing the losses", of_sets(priors), _loss, title("method")),
        Table(
            "figure-4-errors",
            "Final classification errors of figure 4",
            ("data", "loss", "θ, θ'"),
            (title("data"), _loss, of_sets(pair)),
            title("method"),
        ),
    ),
    "figure-5": (
        Panels(
            "figure-5",
            "Moving n farther from n'",
            of_sets(title("method")),
            fact("theta", "θ = {}"),
            of_sets(fact("n", "n = {}")),
        ),
        Table(
            "figure-5-errors",
            "Final classification errors of figure 5",
            ("data", "θ, θ'", "n", "n'"),
            (title("data"), pair, fact("n"), fact("n_prime")),
            title("method"),
        ),
    ),
    "table-2": (
        Table("table-2-together", WRONG, ("data", "θ, θ'"), ROBUST, _together, compared=False),
        Table("table-2-opposite", WRONG, ("data", "θ, θ'"), ROBUST, _opposite, compared=False),
    ),
    "table-3": (
        Table(
            "table-3",
            "UU and state-of-the-art methods",
            ("data", "π", "# Sub", "# Train", "Δθ"),
            (title("data"), fact("prior"), fact("subsample"), _drawn, _gap),
            title("method"),
            order=("psvm", "ber", "ber-fc", "uu"),
        ),
    ),
}
"""By experiment; table 1 has a layout of its own, see `tables.loaded`."""

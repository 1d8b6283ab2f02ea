"""What a label-free evaluation says: estimates with their error bars, and what in them contradicts the priors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Estimate:
    """A label-free estimate with its standard error and an interval."""

    value: float
    standard_error: float
    low: float
    high: float

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return (
            f"{self.value:.4f} (standard error {self.standard_error:.4f}, interval {self.low:.4f} to {self.high:.4f})"
        )


class Contradiction(NamedTuple):
    """An estimate outside what the metric can be, by more than chance: the stated priors or the sets are not right.

    Attributes
    ----------
    metric : str
    value, bound : float
        The estimate and the bound that it is beyond.
    p_value : float
        Probability that an estimate strays so far beyond the bound (one side), were the truth at the bound.

    Examples
    --------
    >>> print(Contradiction("tpr", 1.1, 1.0, 0.0004))
    tpr 1.1000 is beyond 1 (p = 0.0004): the stated priors, or that the sets differ in nothing else, must be wrong
    """

    metric: str
    value: float
    bound: float
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.metric} {self.value:.4f} is beyond {self.bound:g} (p = {self.p_value:.2g}): the stated priors, or "
            "that the sets differ in nothing else, must be wrong"
        )


@dataclass(frozen=True, repr=False)
class Report(Mapping[str, Estimate]):
    """Label-free estimates by name; also readable as attributes.

    Attributes
    ----------
    estimates : dict of str to Estimate
    confidence : float
        Level of the intervals.
    contradictions : tuple of Contradiction
        Estimates that no true classifier could have, p < .01 each.

    Examples
    --------
    >>> report = Report({"error": Estimate(0.25, 0.05, 0.15, 0.35)})
    >>> report
    metric              estimate  standard error  95 % interval
    error                 0.2500          0.0500  0.1500 to 0.3500
    >>> report.error.value, report["error"].standard_error, float(report.error)
    (0.25, 0.05, 0.25)
    """

    estimates: dict[str, Estimate]
    confidence: float = 0.95
    contradictions: tuple[Contradiction, ...] = ()

    def __getitem__(self, name: str) -> Estimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_"):  # asked for by copy and pickle, before there are any estimates
            raise AttributeError(name)
        if name not in self.estimates:
            raise AttributeError(f"this report has no {name!r}; it has {', '.join(self.estimates)}")
        return self.estimates[name]

    def __repr__(self) -> str:
        width = max([17, *map(len, self)])
        head = f"{'metric':<{width}}  {'estimate':>9}  {'standard error':>14}  {100 * self.confidence:g} % interval"
        rows = [
            f"{name:<{width}}  {e.value:>9.4f}  {e.standard_error:>14.4f}  {e.low:.4f} to {e.high:.4f}"
            for name, e in self.items()
        ]
        return "\n".join([head, *rows, *map(str, self.contradictions)])

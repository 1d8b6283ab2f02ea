"""What an estimate of priors is: shares that serve as `set_priors=` as they are, with their errors and doubts."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from uulearn.metrics import Estimate
from uulearn.priors import Floats, Uncertain


class DoubtfulPriorsWarning(UserWarning):
    """The estimated priors rest on an assumption that the rows speak against, or on too few rows."""


@dataclass(frozen=True, repr=False, eq=False)
class SetPriors(Mapping[Hashable, Uncertain]):
    """Estimated share of positives of each set: a mapping {set label: share}, as `set_priors=` takes it.

    Its values are `Uncertain`, so that the intervals of label-free metrics allow for their errors.

    Attributes
    ----------
    shares : dict
        Share of each set, by its label, in the order of the sorted labels.
    standard_errors : dict
    intervals : dict
        (low, high) of each set at the level `confidence`, inside [0, 1].
    covariance : ndarray of shape (n_sets, n_sets)
        Of the estimated shares, in the order of `shares`.
    kappas : (float, float) or None
        inf p_U / p_U' = (1 - theta) / (1 - theta') and inf p_U' / p_U = theta' / theta, of the richest set U and the
        poorest U'; None where labels gave the shares.
    method : str
    doubts : tuple of str
        What speaks against the estimate; each was also a `DoubtfulPriorsWarning`.
    confidence : float

    Examples
    --------
    >>> import numpy as np
    >>> found = SetPriors({"A": 0.7, "B": 0.2}, {"A": (0.6, 0.8), "B": (0.1, 0.3)}, np.diag([0.0025, 0.0025]), "labels")
    >>> found
    set                share  standard error  95 % interval
    'A'               0.7000          0.0500  0.6000 to 0.8000
    'B'               0.2000          0.0500  0.1000 to 0.3000
    >>> dict(found)
    {'A': Uncertain(0.7, 0.05), 'B': Uncertain(0.2, 0.05)}
    """

    shares: dict[Hashable, float]
    intervals: dict[Hashable, tuple[float, float]]
    covariance: Floats
    method: str
    kappas: tuple[float, float] | None = None
    doubts: tuple[str, ...] = ()
    confidence: float = 0.95

    @property
    def standard_errors(self) -> dict[Hashable, float]:
        """Square roots of the diagonal of `covariance`, by set label."""
        return dict(zip(self.shares, (float(v) ** 0.5 for v in self.covariance.diagonal()), strict=True))

    def __getitem__(self, label: Hashable) -> Uncertain:
        return Uncertain(self.shares[label], self.standard_errors[label])

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.shares)

    def __len__(self) -> int:
        return len(self.shares)

    def __repr__(self) -> str:
        head = f"{'set':<14}  {'share':>8}  {'standard error':>14}  {100 * self.confidence:g} % interval"
        rows = [
            f"{label!r:<14}  {share:>8.4f}  {error:>14.4f}  {low:.4f} to {high:.4f}"
            for (label, share), error, (low, high) in zip(
                self.items(), self.standard_errors.values(), self.intervals.values(), strict=True
            )
        ]
        return "\n".join([head, *rows, *(f"doubtful: {doubt}" for doubt in self.doubts)])


@dataclass(frozen=True)
class TargetPrior(Estimate):
    """Estimated share of positives of the target: `value` and the interval lie in [0, 1], `unclipped` may not.

    Examples
    --------
    >>> float(TargetPrior(0.0, 0.01, 0.0, 0.018, unclipped=-0.002, method="means"))
    0.0
    """

    unclipped: float
    method: str

"""Class priors of the unlabeled sets and of the target, and the coefficients that rewrite the risk."""

import warnings
from collections.abc import Hashable, Iterable, Set
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._checks import floats, number

Floats = NDArray[np.float64]

CLOSE = 100.0
"""From this growth of the variance on, priors count as close and a warning says so."""
NO_SHARE = (
    " It is the share of positives among the rows of the set: mend it, or give Priors(..., allow_out_of_range=True) to "
    "study wrong ones."
)
ONE_CLASS = (
    " It is the share of positives among the rows to be predicted; were they all of one class, there would be nothing "
    "to learn. Give a share between."
)


class Uncertain(float):
    """A share that is known up to a standard error: a number like any other, whose error widens intervals.

    Parameters
    ----------
    value : float
    standard_error : float, default=0

    Examples
    --------
    >>> share = Uncertain(0.9, 0.02)
    >>> share, share.standard_error, 1 - share
    (Uncertain(0.9, 0.02), 0.02, 0.09...)
    >>> Uncertain.between(0.86, 0.94)
    Uncertain(0.9, 0.0204...)
    """

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Self:
        """Checked, as floats are made here."""
        share = super().__new__(cls, value)
        share.standard_error = number("standard_error", standard_error, low=0, open_high=True)
        return share

    @classmethod
    def between(cls, low: float, high: float, *, confidence: float = 0.95) -> Self:
        """The middle of an interval, with the standard error of a normal one of this confidence."""
        from scipy.special import ndtri

        number("low", low, high=high, why=" Give the ends of the interval in order.")
        number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
        return cls((low + high) / 2, (high - low) / 2 / float(ndtri(0.5 + confidence / 2)))

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]  # what copy and pickle make it of
        """Both numbers, for copy and pickle."""
        return float(self), self.standard_error

    def __repr__(self) -> str:
        return f"Uncertain({float(self):g}, {self.standard_error:.3g})"


class ClosePriorsWarning(UserWarning):
    """The set priors are so close that the rewritten risk is very noisy."""


class Mixtures(NamedTuple):
    """Two mixtures that stand for all sets: those that push a score up and those that push it down.

    Attributes
    ----------
    pull : ndarray of shape (n_sets,)
        v_k = a_k - b_k, positive for the sets of the plus mixture.
    v_plus, v_minus : float
        Sum of |v_k| over the sets of either mixture.
    theta_plus, theta_minus : float
        Share of positives of either mixture.
    """

    pull: Floats
    v_plus: float
    v_minus: float
    theta_plus: float
    theta_minus: float


class Priors:
    """The share of positives of each set and of the target: all the supervision there is.

    With two sets of shares theta > theta' and a target share pi, the risk is (Theorem 2, eq. 9 and 10)::

        R(g) = E_U[a loss(g) + b loss(-g)] + E_U'[d loss(g) + c loss(-g)]

    With more sets the coefficients a_k (of loss(g)) and b_k (of loss(-g)) solve the same linear conditions with the
    smallest variance: minimise sum a_k^2 / n_k subject to sum a_k theta_k = pi and sum a_k (1 - theta_k) = 0, and
    likewise for b_k.

    Parameters
    ----------
    *set_priors : mapping, sequence or numbers
        Share of positives of each set: ``{"clinic A": .7, "clinic B": .2}``, ``(.7, .2)`` or ``.7, .2``. The order
        carries no meaning; a mapping names its sets. A share that is itself an estimate may be `Uncertain`: training
        takes its value, and the intervals of label-free metrics its standard error.
    prior : float
        Share of positives pi among the rows to be predicted, strictly between 0 and 1.
    convex : bool, default=False
        Also ask for a_k + b_k >= 0, which keeps the objective of every row convex for the losses whose
        `linear_odd` is true. It needs min theta_k <= pi <= max theta_k.
    allow_out_of_range : bool, default=False
        Accept set priors outside [0, 1]. The algebra holds; only studies of wrong priors have a use for it.

    Examples
    --------
    >>> from uulearn import Priors
    >>> priors = Priors(0.9, 0.4, prior=0.3)
    >>> priors.a, priors.b, priors.c, priors.d
    (0.36, -0.55999..., 1.26, -0.05999...)
    >>> Priors({"north": 0.2, "south": 0.7, "west": 0.4}, prior=0.5).coefficients()[0].round(3)
    array([-0.355,  0.763,  0.092])
    """

    def __init__(self, *set_priors: Any, prior: float, convex: bool = False, allow_out_of_range: bool = False) -> None:
        labels, values = _read(set_priors)
        span = (-np.inf, np.inf) if allow_out_of_range else (0.0, 1.0)
        open_ends = {"open_low": allow_out_of_range, "open_high": allow_out_of_range}
        values, prior = [_plain(value) for value in values], _plain(prior)
        self.labels = labels
        self.shares: Floats = np.array(
            [
                number(f"set_priors[{label!r}]", value, low=span[0], high=span[1], why=NO_SHARE, **open_ends)
                for label, value in zip(labels, values, strict=True)
            ]
        )
        self.standard_errors: Floats = np.array([getattr(value, "standard_error", 0.0) for value in values])
        self.prior_standard_error = float(getattr(prior, "standard_error", 0.0))
        self.prior = number("prior", prior, low=0.0, high=1.0, open_low=True, open_high=True, why=ONE_CLASS)
        self.convex = convex
        self.allow_out_of_range = allow_out_of_range
        self.named = len(set_priors) == 1 and hasattr(set_priors[0], "keys")
        self._refuse_useless()
        if convex and not self.shares.min() <= self.prior <= self.shares.max():
            raise ValueError(
                f"convex=True needs prior between the smallest and the largest set prior; got prior={self.prior:g} and "
                f"set priors from {self.shares.min():g} to {self.shares.max():g}. No coefficients with a_k + b_k >= 0 "
                "exist there: leave convex=False."
            )
        if self.variance_factor > CLOSE:
            warnings.warn(
                f"set_priors are close (they differ by {np.ptp(self.shares):.3g} at most): the variance of the risk is "
                f"{self.variance_factor:.3g} times that of as many labeled rows. Bring more rows, or sets further "
                "apart.",
                ClosePriorsWarning,
                stacklevel=2,
            )

    @property
    def stated(self) -> tuple[list[float], float]:
        """The shares and the target prior as they were given, `Uncertain` where they are."""
        errors = self.standard_errors.tolist()
        shares = [Uncertain(*pair) if pair[1] else pair[0] for pair in zip(self.shares.tolist(), errors, strict=True)]
        return shares, Uncertain(self.prior, self.prior_standard_error) if self.prior_standard_error else self.prior

    def _refuse_useless(self) -> None:
        if len(self.shares) == 1:
            theta = self.shares[0]
            raise ValueError(
                f"set_priors must name at least two sets; got one, with share {theta:g}. From one set the risk of a "
                "classifier cannot be rewritten whatever its share (Theorem 1): it would need theta = pi/(2 pi - 1), "
                f"here {_contradiction(self.prior)}, which is no probability. Bring a second set with another share."
            )
        if np.ptp(self.shares) == 0:
            which = "both sets" if len(self.shares) == 2 else f"all {len(self.shares)} sets"
            raise ValueError(
                f"set_priors must differ; got {self.shares[0]:g} for {which}. Sets with the same share of positives "
                "carry no information about the classes."
            )

    @property
    def theta(self) -> float:
        """Largest share of positives of a set."""
        return float(self.shares.max())

    @property
    def theta_prime(self) -> float:
        """Smallest share of positives of a set."""
        return float(self.shares.min())

    def _two(self) -> tuple[float, float, float]:
        if len(self.shares) != 2:
            raise ValueError(
                f"a, b, c, d, alpha, alpha_prime and constant are defined for two sets; these priors name "
                f"{len(self.shares)}. Use coefficients() instead."
            )
        return self.theta, self.theta_prime, self.prior

    @property
    def a(self) -> float:
        """Coefficient of loss(g) in the richer set (eq. 10)."""
        theta, theta_prime, pi = self._two()
        return (1 - theta_prime) * pi / (theta - theta_prime)

    @property
    def b(self) -> float:
        """Coefficient of loss(-g) in the richer set (eq. 10)."""
        theta, theta_prime, pi = self._two()
        return -theta_prime * (1 - pi) / (theta - theta_prime)

    @property
    def c(self) -> float:
        """Coefficient of loss(-g) in the poorer set (eq. 10)."""
        theta, theta_prime, pi = self._two()
        return theta * (1 - pi) / (theta - theta_prime)

    @property
    def d(self) -> float:
        """Coefficient of loss(g) in the poorer set (eq. 10)."""
        theta, theta_prime, pi = self._two()
        return -(1 - theta) * pi / (theta - theta_prime)

    @property
    def alpha(self) -> float:
        """Weight of the richer set under a symmetric loss (eq. 12)."""
        theta, theta_prime, pi = self._two()
        return (theta_prime + pi - 2 * theta_prime * pi) / (theta - theta_prime)

    @property
    def alpha_prime(self) -> float:
        """Weight of the poorer set under a symmetric loss (eq. 12)."""
        theta, theta_prime, pi = self._two()
        return (theta + pi - 2 * theta * pi) / (theta - theta_prime)

    @property
    def constant(self) -> float:
        """What eq. 12 subtracts, so that the symmetric form equals the risk itself."""
        theta, theta_prime, pi = self._two()
        return (theta_prime * (1 - pi) + (1 - theta) * pi) / (theta - theta_prime)

    def coefficients(self, sizes: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Coefficients (a_k, b_k) of E_k[loss(g)] and E_k[loss(-g)], in the order the sets were given.

        Parameters
        ----------
        sizes : array-like of shape (n_sets,), optional
            Rows (sum of weights) of each set; equal by default. Two sets leave no choice, so sizes do not matter.

        Returns
        -------
        plus, minus : ndarray of shape (n_sets,)

        Examples
        --------
        >>> Priors(1.0, 0.0, prior=0.3).coefficients()  # labeled rows
        (array([ 0.3, -0. ]), array([-0. ,  0.7]))
        """
        n = np.ones(len(self.shares)) if sizes is None else floats("sizes", sizes)
        if n.shape != self.shares.shape or not np.all(n > 0):
            raise ValueError(
                f"sizes must give a positive size for each of {len(self.shares)} sets; got {sizes!r}. A set without "
                "rows has no say: leave it out of the priors."
            )
        if len(n) == 2 and not self.convex:
            rich = int(np.argmax(self.shares))
            order = [rich, 1 - rich]
            plus, minus = np.empty(2), np.empty(2)
            plus[order], minus[order] = (self.a, self.d), (self.b, self.c)
            return plus, minus
        pull = _smallest(n, self.shares, total=2 * self.prior - 1, moment=self.prior)
        level = _smallest(n, self.shares, total=1.0, moment=self.prior, positive=self.convex)
        return (level + pull) / 2, (level - pull) / 2

    def mixtures(self, sizes: ArrayLike | None = None) -> Mixtures:
        """All sets as two mixtures, split by the sign of a_k - b_k.

        Parameters
        ----------
        sizes : array-like of shape (n_sets,), optional
            As in `coefficients`.

        Examples
        --------
        >>> Priors(0.9, 0.4, prior=0.5).mixtures()
        Mixtures(pull=array([ 1., -1.]), v_plus=1.0, v_minus=1.0, theta_plus=0.9, theta_minus=0.4)
        """
        plus, minus = self.coefficients(sizes)
        pull = plus - minus
        up, down = np.maximum(pull, 0), np.maximum(-pull, 0)
        return Mixtures(
            pull,
            float(up.sum()),
            float(down.sum()),
            float(up @ self.shares / up.sum()),
            float(down @ self.shares / down.sum()),
        )

    @property
    def variance_factor(self) -> float:
        """How many times the variance of the risk exceeds that of as many labeled rows (sets of equal size)."""
        level = _smallest(np.ones(len(self.shares)), self.shares, total=2 * self.prior - 1, moment=self.prior)
        return float(len(level) * (level @ level) / (2 * (self.prior**2 + (1 - self.prior) ** 2)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Priors) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        named = frozenset(zip(self.labels, self.shares.tolist(), self.standard_errors.tolist(), strict=True))
        return named, self.prior, self.prior_standard_error, self.convex, self.allow_out_of_range

    def __repr__(self) -> str:
        shares = ", ".join(f"{label!r}: {share:g}" for label, share in zip(self.labels, self.shares, strict=True))
        return f"Priors({{{shares}}}, prior={self.prior:g}{', convex=True' if self.convex else ''})"


def _read(given: tuple[Any, ...]) -> tuple[tuple[Hashable, ...], list[Any]]:
    """Labels and values of set priors given as one mapping, one sequence or several numbers."""
    if len(given) == 1 and hasattr(given[0], "keys"):  # a mapping, or what turns into one
        named = dict(given[0])
        return tuple(named), list(named.values())
    # A Python set has no order to go by.
    if len(given) == 1 and isinstance(given[0], Iterable) and not isinstance(given[0], (str, bytes, Set)):
        given = tuple(given[0])
    if not given or any(isinstance(value, (str, Set)) or value is None for value in given):
        raise TypeError(
            "set_priors must be a mapping {set label: share of positives} or a sequence of shares in the order of the "
            f"sorted set labels; got {given[0] if len(given) == 1 else given!r}."
        )
    return tuple(range(len(given))), list(given)


def _plain(value: Any) -> Any:
    """An estimate with a standard error, such as a label-free one, as an uncertain number."""
    error = getattr(value, "standard_error", None)
    return value if error is None or isinstance(value, float) else Uncertain(float(value), error)


def _contradiction(pi: float) -> str:
    return "undefined at pi = 1/2" if pi == 0.5 else f"{pi / (2 * pi - 1):.3g}"


def _smallest(n: Floats, theta: Floats, total: float, moment: float, positive: bool = False) -> Floats:
    """Minimise sum s_k^2 / n_k subject to sum s_k = total, sum s_k theta_k = moment and, if asked, s_k >= 0.

    The solution is s_k = n_k (p + q theta_k) on the sets where that is positive: with the inequality, a run of the
    sets sorted by theta, found by dropping negative ones until none is left.
    """
    keep = np.ones(len(n), dtype=bool)
    while True:
        size = n * keep
        centre = size @ theta / size.sum()
        spread = size @ (theta - centre) ** 2
        # Where one share is left, rounding would pass for a spread.
        slope = (moment - total * centre) / spread if np.ptp(theta[keep]) > 0 else 0.0
        solution = size * (total / size.sum() + slope * (theta - centre))
        if not positive or np.all(solution >= 0):
            return np.asarray(solution)
        keep &= solution > 0

"""Argument checks that several rooms need; every message names the argument, the rule and the value."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


def choose(name: str, value: Any, options: Mapping[str, T]) -> T:
    """The entry of `options` called `value`, or a refusal that guesses what was meant."""
    if isinstance(value, str) and value in options:
        return options[value]
    raise ValueError(f"{name} must be one of {quoted(options)}; got {value!r}.{_guess(value, options)}")


def _guess(value: Any, options: Iterable[str]) -> str:
    by_small_letters = {option.lower(): option for option in options}
    close = get_close_matches(value.lower(), by_small_letters, n=1) if isinstance(value, str) else []
    return f" Did you mean {by_small_letters[close[0]]!r}?" if close else ""


def quoted(options: Iterable[Any]) -> str:
    return ", ".join(repr(option) for option in options)


def number(
    name: str,
    value: Any,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    why: str = "",
) -> float:
    """`value` as a float inside the interval, or a refusal that ends with `why`."""
    interval = f"{'(' if open_low else '['}{low:g}, {high:g}{')' if open_high else ']'}"
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number in {interval}; got {value!r} of type {type(value).__name__}.{why}")
    result = float(value)
    above = result > low if open_low else result >= low
    below = result < high if open_high else result <= high
    if not (above and below):
        raise ValueError(f"{name} must be a number in {interval}; got {value!r}.{why}")
    return result


def integer(name: str, value: Any, *, low: int) -> int:
    """`value` as an int that is at least `low`, or a refusal."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < low:
        raise ValueError(f"{name} must be a whole number of at least {low}; got {value!r}.")
    return int(value)


def floats(name: str, values: Any) -> NDArray[np.float64]:
    """`values` as an array of floats, or a refusal; NaN and infinity pass."""
    try:
        given = np.asarray(values)
        if given.dtype.kind != "c":  # numpy would drop the imaginary part
            return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise TypeError(
        f"{name} must hold real numbers; got {_shortened(values)}. Convert them, or drop what is no number."
    ) from None


def _shortened(values: Any, most: int = 80) -> str:
    text = repr(values)
    return text if len(text) <= most else f"{text[: most - 1]}…"

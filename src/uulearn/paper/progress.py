"""How far an experiment is, and the time that is left, by what is done of the work that lay ahead."""

import time
from collections.abc import Callable, Mapping

PAUSE = 10.0
"""Seconds between two lines about one training."""


class Progress:
    """Tells a line when a task begins and ends, and some in between.

    Parameters
    ----------
    tell : callable
    costs : mapping of str to float
        Tasks ahead, and how much work each is.
    jobs : int
        Tasks that run at once: those of other processes are told of when they end.

    Examples
    --------
    >>> progress = Progress(print, {"one": 1.0, "two": 3.0})
    >>> progress.begin("one")
    [1/2] one
    >>> progress.end("one", "2.31 %")
    [1/2] one: 2.31 %, 0 s left
    """

    def __init__(self, tell: Callable[[str], None], costs: Mapping[str, float], jobs: int = 1) -> None:
        self.tell, self.costs, self.jobs = tell, dict(costs), jobs
        self.total, self.ended = len(costs), 0
        self.work, self.start, self.shown = 0.0, time.monotonic(), 0.0

    def begin(self, name: str) -> None:
        """A task begins."""
        self.tell(f"[{self.ended + 1}/{self.total}] {name}")
        self.shown = time.monotonic()

    def step(self, name: str, share: float, text: str) -> None:
        """A share of a task is done; told now and then."""
        if time.monotonic() - self.shown >= PAUSE:
            self.shown = time.monotonic()
            self.tell(f"    {text}{self._left(self.costs[name] * share)}")

    def end(self, name: str, text: str) -> None:
        """A task is done."""
        self.ended, self.work = self.ended + 1, self.work + self.costs.pop(name)
        self.tell(f"[{self.ended}/{self.total}] {name}: {text}{self._left()}")

    def drop(self, name: str, text: str) -> None:
        """A task cannot be done."""
        self.ended, _ = self.ended + 1, self.costs.pop(name)
        self.tell(f"[{self.ended}/{self.total}] {name}: {text}")

    def _left(self, under_way: float = 0.0) -> str:
        done, ahead = self.work + under_way, sum(self.costs.values()) - under_way
        return f", {duration((time.monotonic() - self.start) * ahead / done)} left" if done else ""


def duration(seconds: float) -> str:
    """Seconds in the largest unit that suits.

    Examples
    --------
    >>> duration(40), duration(400), duration(40_000)
    ('40 s', '7 min', '11.1 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"

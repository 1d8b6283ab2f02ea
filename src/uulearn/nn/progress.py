"""A bar on stderr for long trainings: steps, loss, label-free error, rate and time left."""

import sys
from typing import Any, Self

from uulearn.nn import distributed


class Bar:
    """Shows a training in progress; in all processes but the first, and when switched off, it shows nothing.

    Parameters
    ----------
    progress : bool or "auto"
        "auto" shows the bar where stderr is a terminal.
    """

    def __init__(self, progress: bool | str) -> None:
        self._shown: Any = None
        self._task: Any = None
        self._rows = 0
        if progress not in (True, False, "auto"):
            raise ValueError(f"progress must be True, False or 'auto'; got {progress!r}.")
        wanted = sys.stderr.isatty() if progress == "auto" else progress
        if not wanted or distributed.rank() > 0:
            return
        from rich import progress as rich
        from rich.console import Console

        self._shown = rich.Progress(
            rich.TextColumn("{task.description}"),
            rich.BarColumn(),
            rich.TextColumn("epoch {task.fields[epoch]}/{task.fields[epochs]}"),
            rich.TextColumn("{task.fields[facts]}"),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> Self:
        if self._shown is not None:
            self._shown.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._shown is not None:
            self._shown.stop()

    def begin(self, what: str, steps: int, epochs: int, done: int, rows: int) -> None:
        """A new training: its steps an epoch, epochs, epochs already done, and rows an epoch."""
        self._rows = rows
        if self._shown is not None:
            fields = {"epoch": done, "epochs": epochs, "facts": "", "rate": ""}
            self._task = self._shown.add_task(what, total=steps * epochs, completed=steps * done, **fields)
            self._steps = steps

    def advance(self, steps: int) -> None:
        """Some steps more."""
        if self._shown is not None:
            self._shown.advance(self._task, steps)

    def report(self, record: dict[str, Any]) -> None:
        """An epoch is over."""
        if self._shown is None:
            return
        facts = f"loss {record['loss']:.4f}"
        if "error" in record:
            facts += f", error {100 * record['error']:.2f} ± {100 * record['error_se']:.2f} %"
        self._shown.update(
            self._task,
            completed=self._steps * record["epoch"],
            epoch=record["epoch"],
            facts=facts,
            rate=f"{self._rows / record['seconds']:,.0f} rows/s",
        )

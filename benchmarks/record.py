"""Results as data: one JSON line a run, stamped with versions and machine, appended as soon as it is there."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from uulearn.results import stamp

__all__ = ["RESULTS", "append", "read", "stamp", "write"]

RESULTS = Path(__file__).parent / "results"


def read(name: str) -> list[dict[str, Any]]:
    """The finished runs; a line cut short by a kill is dropped."""
    file = RESULTS / f"{name}.jsonl"
    rows = []
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def append(name: str, rows: Iterable[dict[str, Any]]) -> None:
    """Add finished runs."""
    RESULTS.mkdir(exist_ok=True)
    with open(RESULTS / f"{name}.jsonl", "a") as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))


def write(name: str, rows: Iterable[dict[str, Any]]) -> None:
    """Replace the runs of an earlier call."""
    RESULTS.mkdir(exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    part = RESULTS / f".{name}.part"
    part.write_text(text)
    part.replace(RESULTS / f"{name}.jsonl")

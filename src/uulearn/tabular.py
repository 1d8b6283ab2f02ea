"""Tables of numbers as CSV files: one line of column names, then one line of finite numbers a row."""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uulearn._files import replace_file


class Table(NamedTuple):
    """Column names and a float array of shape (n_rows, n_columns)."""

    names: tuple[str, ...]
    rows: NDArray[np.float64]


class TableError(ValueError):
    """A file is no table of numbers; the message names the place."""


def read_table(path: str | Path) -> Table:
    """Read a CSV file of numbers whose first line names the columns.

    Parameters
    ----------
    path : str or Path
        UTF-8, with or without a byte order mark; blank lines are skipped.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read, or is no table of finite numbers; the message names the line and the column.
    """
    path = Path(path)
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            return _parse(path, handle)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist. Check the name of the file.") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} must be a CSV file in UTF-8; it holds other bytes. Export it as CSV.") from None
    except OSError as problem:
        raise TableError(f"{path} cannot be read: {problem.strerror}.") from None


def _parse(path: Path, handle: io.TextIOBase) -> Table:
    lines = _lines(path, csv.reader(handle))
    _, header = next(lines, (0, []))
    if not header:
        raise TableError(f"{path} is empty; it must hold a line of column names and then numbers.")
    names = tuple(name.strip() for name in header)
    _check_names(str(path), names)
    rows = []
    for line, cells in lines:
        if len(cells) != len(names):
            raise TableError(
                f"{path}, line {line}: expected {len(names)} cells, as in the first line; got {len(cells)}. "
                "Complete the line or drop it."
            )
        rows.append([_number(path, line, name, cell) for name, cell in zip(names, cells, strict=True)])
    if not rows:
        raise TableError(f"{path} holds column names but no rows. Add at least one line of numbers.")
    return Table(names, np.array(rows))


def _lines(path: Path, reader: Any) -> Iterator[tuple[int, list[str]]]:
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
    except csv.Error as problem:
        raise TableError(f"{path}, line {reader.line_num}: this is no CSV ({problem}). Export it again.") from None


def _check_names(place: str, names: tuple[str, ...]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(
            f"{place} must give every column a name of its own; got {twice[0]!r} twice. Rename one of them."
        )
    if all(_value(name) is not None for name in names):
        # Taken as names, the first row would be lost without a word.
        raise TableError(
            f"{place} must start with a line of column names; got only numbers. Add a line that names them."
        )


def _number(path: Path, line: int, name: str, cell: str) -> float:
    value = _value(cell)
    if value is None or not np.isfinite(value):
        wanted = "a number" if value is None else "a finite number"
        seen = repr(cell if len(cell) <= 40 else f"{cell[:39]}…")
        raise TableError(
            f"{path}, line {line}, column {name!r}: expected {wanted}; got {seen}. Mend the cell or drop the line."
        )
    return value


def _value(cell: str) -> float | None:
    try:
        # Python reads 1_000 as a thousand; no other program that writes CSV means that.
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def table_text(names: Sequence[str], rows: ArrayLike) -> str:
    """A table as CSV; `read_table` gives back the same numbers to the last bit.

    Parameters
    ----------
    names : sequence of str
        One name a column.
    rows : array-like of shape (n_rows, n_columns)
        Finite numbers; whole-number types are written without a decimal point.

    Examples
    --------
    >>> print(table_text(["height", "width"], [[1.5, 2.0], [0.1, 3.0]]), end="")
    height,width
    1.5,2.0
    0.1,3.0
    """
    values = np.asarray(rows)
    if values.ndim != 2 or values.shape[1] != len(names) or values.shape[0] == 0:
        raise TableError(f"rows must have shape (n_rows, {len(names)}), one column a name; got {values.shape}.")
    if values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        raise TableError("rows must be finite numbers; got other values. Drop these rows or mend them.")
    _check_names("names", tuple(names))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    # Python's own numbers print as the shortest text that reads back as the same number.
    writer.writerows(values.tolist())
    return buffer.getvalue()


def write_table(path: str | Path, names: Sequence[str], rows: ArrayLike) -> None:
    """Write `table_text` to a file, whole or not at all; a file that was there is replaced.

    Parameters
    ----------
    path : str or Path
    names : sequence of str
    rows : array-like of shape (n_rows, n_columns)
    """
    replace_file(Path(path), table_text(names, rows).encode())

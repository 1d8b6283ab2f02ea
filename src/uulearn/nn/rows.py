"""Rows of a table that need not fit in memory: the one seam through which the neural engine reads X."""

import mmap
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import Dataset, IterableDataset

from uulearn._checks import integer, quoted

T = TypeVar("T")
Floats32 = NDArray[np.float32]
Positions = NDArray[np.intp]
Groups = list[tuple[int, Callable[..., Any]]]  # row groups of Parquet: size, and a function that reads columns

RESIDENT = 64 << 20  # mapped bytes of a memmap that may be resident before they are given back
FAULT = 2 << 20  # Linux maps a whole folio of its page cache at one touch, which may be as large as a huge page
NEAR = 64 << 10  # stretches of a file closer than this are asked for as one
NUMERIC = ("int", "uint", "halffloat", "float", "double", "bool")  # Arrow's names of types, without their width


class Rows(Protocol):
    """Rows of a table: its shape, whether all of it is an array in memory, and names of its features, if any.

    `together` rows, side by side, cost no more to read than one of them.
    """

    shape: tuple[int, ...]
    together: int
    in_memory: bool
    names: NDArray[Any] | None

    def take(self, rows: Positions) -> Floats32:
        """These rows as a fresh C-contiguous array; a source not in memory refuses NaN, infinity and missing values."""


def as_rows(X: Any, *, exclude: Sequence[str] = ()) -> Rows:
    """Rows of whatever holds them.

    Parameters
    ----------
    X : ndarray, tensor, numpy.memmap, torch Dataset, path, pyarrow Dataset or ParquetFile
        Numbers of shape (n_rows, n_features) or (n_rows, channels, height, width). A path names a Parquet file or a
        folder of them, read in the order of their names. An item of a Dataset is a row or a tuple that starts with one.
    exclude : sequence of str
        Columns of a Parquet source that are no features, such as the one that names the sets.

    Examples
    --------
    >>> rows = as_rows(np.arange(6).reshape(3, 2))
    >>> rows.take(np.array([2, 0]))
    array([[4., 5.],
           [0., 1.]], dtype=float32)
    """
    if _is_parquet(X):
        return _ParquetRows(X, exclude)
    if len(exclude):
        raise ValueError(f"exclude must be empty unless X is a Parquet source; got {quoted(exclude)}. Leave it out.")
    if isinstance(X, Dataset):
        return _DatasetRows(X)
    if isinstance(X, torch.Tensor):
        X = (X.float() if X.dtype == torch.bfloat16 else X).detach().cpu().numpy()  # numpy has no bfloat16
    if not isinstance(X, np.ndarray):
        known = "an array, a tensor, a memmap, a torch Dataset, a pyarrow Dataset or the path of Parquet files"
        raise TypeError(f"X must be {known}; got {type(X).__name__}. Convert it with numpy.asarray.")
    if X.dtype.kind not in "biuf" or X.ndim < 2 or 0 in X.shape[1:]:
        raise ValueError(f"X must hold rows of numbers; got shape {X.shape} of {X.dtype}. Encode it, a row a sample.")
    owner = _mapped(X)
    return _ArrayRows(X) if owner is None else _MemmapRows(X, owner)


def is_stored(X: Any) -> bool:
    """Whether X is read as it is needed, and not an array in memory."""
    return _is_parquet(X) or isinstance(X, Dataset) or _mapped(X) is not None


def _mapped(X: Any) -> Any:
    """The memmap that an array is, or is a view of; else None."""
    while isinstance(X, np.ndarray) and not isinstance(getattr(X, "_mmap", None), mmap.mmap):
        X = X.base
    return X if isinstance(X, np.ndarray) else None


def column(X: Any, name: str) -> NDArray[Any]:
    """One whole column of a Parquet source, of any type (the set of each row, say), of shape (n_rows,)."""
    _, groups = _parquet(X, "name", [name])
    values = [read(columns=[name]).column(name) for _, read in groups]
    missing = np.concatenate([part.is_null().to_numpy() for part in values])
    if missing.any():
        raise ValueError(f"X must have a {name!r} in every row; row {np.argmax(missing)} has none. Fill it in.")
    parts = (part.to_numpy() for part in values)
    return np.concatenate([np.array(part.tolist()) if part.dtype == object else part for part in parts])


def prefetched(iterable: Iterable[T], ahead: int = 1) -> Iterator[T]:
    """Items of an iterable, the next `ahead` ones computed in a background thread while the caller uses this one.

    Closing the generator stops the thread after the item at work. Torch's settings (`no_grad`) do not reach a thread.

    Examples
    --------
    >>> list(prefetched(n * n for n in range(4)))
    [0, 1, 4, 9]
    """
    source, end = iter(iterable), object()
    pool = ThreadPoolExecutor(1, thread_name_prefix="uulearn-prefetched")
    try:
        pending = deque(pool.submit(next, source, end) for _ in range(integer("ahead", ahead, low=1)))
        while (item := pending.popleft().result()) is not end:
            pending.append(pool.submit(next, source, end))
            yield item  # type: ignore[misc]  # mypy does not tell `end` from an item by identity
    finally:
        pool.shutdown(cancel_futures=True)


class _ArrayRows:
    in_memory, together = True, 1
    names: NDArray[Any] | None = None

    def __init__(self, array: NDArray[Any]) -> None:
        self.shape, self._array = array.shape, array

    def take(self, rows: Positions) -> Floats32:
        return np.ascontiguousarray(self._array.take(_positions(rows, self.shape[0]), axis=0), dtype=np.float32)


class _StoredRows(ABC):
    """Rows that are not in memory; each kind of source says how it reads them."""

    in_memory = False
    together = 1
    names: NDArray[Any] | None = None
    shape: tuple[int, ...]

    def take(self, rows: Positions) -> Floats32:
        rows = _positions(rows, self.shape[0])
        result = np.empty((len(rows), *self.shape[1:]), np.float32)
        with np.errstate(over="ignore"):  # too large for float32 is infinite, and refused as such
            self._read(rows, result)
        _check_finite(result, rows, self.names)
        return result

    @abstractmethod
    def _read(self, rows: Positions, result: Floats32) -> None:
        """Put these rows into `result`."""


class _MemmapRows(_StoredRows):
    def __init__(self, array: NDArray[Any], owner: Any) -> None:
        self.shape = array.shape
        self._array, self._map = array.view(np.ndarray), owner._mmap
        # Pages that were written in mode "c" exist nowhere else: they must not be given back.
        self._droppable, self._resident = owner.mode != "c", 0
        reach = [(size - 1) * stride for size, stride in zip(array.shape[1:], array.strides[1:], strict=True)]
        first_byte = np.frombuffer(self._map, np.uint8).__array_interface__["data"][0]
        self._start = array.__array_interface__["data"][0] - first_byte + sum(min(0, step) for step in reach)
        self._stride, self._extent = array.strides[0], sum(map(abs, reach)) + array.itemsize
        whole = abs(self._stride) >= self._extent
        self._pieces = 1 if whole else prod(array.shape[1:])  # stored column by column, each value lies on its own
        self._piece: int = self._extent if whole else array.itemsize

    def _read(self, rows: Positions, result: Floats32) -> None:
        order = np.argsort(rows, kind="stable")
        gaps = np.diff(rows[order], prepend=-self.shape[0]) * abs(self._stride)
        touched = self._pieces * np.clip(gaps, self._piece, self._piece + FAULT)
        blocks = np.flatnonzero(np.diff(np.cumsum(touched) // RESIDENT)) + 1
        for here, wanted in zip(np.split(order, blocks), np.split(touched, blocks), strict=True):
            if self._droppable and self._resident + wanted.sum() > RESIDENT:
                self._advise("MADV_DONTNEED", 0, len(self._map))  # the page cache keeps them while there is room
                self._resident = 0
            self._resident += int(wanted.sum())
            self._ask_for(rows[here])
            result[here] = self._array[rows[here]]

    def _ask_for(self, rows: Positions) -> None:
        """Have the kernel read these rows at once, and no others: page faults wait in turn, and read far around."""
        far = np.flatnonzero(abs(np.diff(rows) * self._stride) > self._extent + NEAR) + 1
        for run in np.split(rows, far) if len(rows) and self._pieces == 1 else ():
            first, last = sorted((int(run[0]) * self._stride, int(run[-1]) * self._stride))
            self._advise("MADV_WILLNEED", self._start + first, last - first + self._extent)

    def _advise(self, advice: str, start: int, length: int) -> None:
        if hasattr(mmap, advice):  # Windows takes no advice
            page, early = divmod(start, mmap.PAGESIZE)
            self._map.madvise(getattr(mmap, advice), page * mmap.PAGESIZE, early + length)


class _DatasetRows(_StoredRows):
    def __init__(self, dataset: Any) -> None:
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__len__") or len(dataset) == 0:
            known = f"a Dataset with __getitem__ and a length above 0; got {type(dataset).__name__}"
            raise ValueError(f"X must be {known}. Write a stream to a memmap or to Parquet files first.")
        self._dataset = dataset
        self.shape = (len(dataset), *self._numbers(dataset[0], 0).shape)

    def _read(self, rows: Positions, result: Floats32) -> None:
        wanted = rows.tolist()
        together = getattr(self._dataset, "__getitems__", None)
        items = together(wanted) if together and wanted else map(self._dataset.__getitem__, wanted)
        for place, (row, item) in enumerate(zip(wanted, items, strict=True)):
            values = self._numbers(item, row)
            if values.shape != self.shape[1:]:
                shapes = f"{values.shape} in row {row} and {self.shape[1:]} in row 0"
                raise ValueError(f"X must yield rows of one shape; got {shapes}. Crop or pad them.")
            result[place] = values

    @staticmethod
    def _numbers(item: Any, row: int) -> NDArray[Any]:
        values = item[0] if isinstance(item, tuple) and item else item
        values = np.asarray(values.detach().cpu().float() if isinstance(values, torch.Tensor) else values)
        if values.dtype.kind not in "biuf" or values.size == 0 or values.ndim == 0:
            got = f"{type(item).__name__} for row {row}"
            raise ValueError(f"X must yield an array of numbers, or a tuple that starts with one; got {got}. Wrap it.")
        return values


class _ParquetRows(_StoredRows):
    def __init__(self, X: Any, exclude: Sequence[str]) -> None:
        schema, self._groups = _parquet(X, "exclude", exclude)
        self._columns = [name for name in schema.names if name not in exclude]
        if not self._columns:
            raise ValueError(f"exclude must leave a column of features; got {quoted(exclude)}. Exclude fewer.")
        for name in self._columns:
            kind = str(schema.field(name).type)
            if kind.rstrip("0123456789") not in NUMERIC:
                raise ValueError(f"X must hold numbers; got {kind} in column {name!r}. Encode or exclude the column.")
        self._ends = np.cumsum([size for size, _ in self._groups])
        self.together = int(np.median([size for size, _ in self._groups]))
        self._held: tuple[int, Any] = (-1, None)
        self.names = np.array(self._columns)
        self.shape = (int(self._ends[-1]), len(self._columns))

    def _read(self, rows: Positions, result: Floats32) -> None:
        groups, held = np.searchsorted(self._ends, rows, side="right"), self._held[0]
        # The group at hand comes first: the last take, read in order, may have left off inside it.
        for group in sorted(set(groups.tolist()), key=lambda group: (group != held, group)):
            number, values = self._held
            if number != group:
                values, self._held = None, (-1, None)  # one group at a time
                size, read = self._groups[group]
                table, values = read(columns=self._columns), np.empty((size, len(self._columns)), np.float32)
                for place, name in enumerate(self._columns):
                    values[:, place] = table.column(name).cast("float32", safe=False).to_numpy()  # null becomes NaN
                self._held = (group, values)
            here = np.flatnonzero(groups == group)
            result[here] = values[rows[here] - self._ends[group]]  # counted from the end of the group


def _is_parquet(X: Any) -> bool:
    return isinstance(X, str | Path) or type(X).__module__.startswith("pyarrow.")  # pyarrow may not be there to ask


def _parquet(X: Any, argument: str, wanted: Sequence[str]) -> tuple[Any, Groups]:
    """Schema of a Parquet source that has the columns an argument names; its groups of rows, in order."""
    try:
        dataset, parquet = import_module("pyarrow.dataset"), import_module("pyarrow.parquet")
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install uulearn[parquet]") from None
    groups: Groups = []
    try:
        if isinstance(X, str | Path):
            X = dataset.dataset(X, format="parquet", partitioning="hive" if Path(X).is_dir() else None)
        if isinstance(X, parquet.ParquetFile):
            schema, sizes = X.schema_arrow, [X.metadata.row_group(g).num_rows for g in range(X.num_row_groups)]
            groups += [(size, partial(X.read_row_group, g)) for g, size in enumerate(sizes)]
        else:
            schema, parts = X.schema, [part for file in X.get_fragments() for part in file.split_by_row_group()]
            groups += [(part.row_groups[0].num_rows, partial(part.to_table, schema=schema)) for part in parts]
    except (OSError, ValueError, AttributeError) as problem:
        got = repr(str(X)) if isinstance(X, str | Path) else type(X).__name__
        known = "a Parquet file, a folder of them or an unfiltered pyarrow Dataset of them"
        raise ValueError(f"X must be {known}; got {got}. Check the name and the files.") from problem
    if not any(size for size, _ in groups):
        raise ValueError("X must hold at least one row; got Parquet files without rows. Bring rows.")
    if missing := [name for name in wanted if name not in schema.names]:
        listed = quoted(schema.names[:6]) + (", ..." if len(schema.names) > 6 else "")
        raise ValueError(f"{argument} must name columns of X, {listed}; got {quoted(missing)}. Check the spelling.")
    return schema, groups


def _positions(rows: Any, n_rows: int) -> Positions:
    positions = np.asarray(rows, dtype=np.intp)
    if len(positions) and (positions.min() < 0 or positions.max() >= n_rows):
        raise IndexError(f"rows must lie in [0, {n_rows}); got {positions.min()} to {positions.max()}.")
    return positions


def _check_finite(values: Floats32, rows: Positions, names: NDArray[Any] | None) -> None:
    # NaN carries over to the extremes, so no array of flags is needed while all is well.
    if np.isfinite(values.min(initial=0)) and np.isfinite(values.max(initial=0)):
        return
    bad = np.argwhere(~np.isfinite(values.reshape(len(rows), -1)))
    place, feature = bad[np.argmin(rows[bad[:, 0]])]
    found = "NaN or no value" if np.isnan(values[place].flat[feature]) else "infinity (in float32)"
    where = f"row {rows[place]}" + ("" if names is None else f", column {str(names[feature])!r}")
    raise ValueError(f"X must hold finite numbers; got {found} in {where}. Fill or scale such values, or drop the row.")

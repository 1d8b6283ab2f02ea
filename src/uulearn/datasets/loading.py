"""`load`: find the files of a data set, read them, check every row, name the positive classes."""

import hashlib
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn._checks import choose, quoted
from uulearn.datasets.catalogue import BY_NAME, Form, Source, Split
from uulearn.datasets.dataset import Dataset
from uulearn.datasets.readers import Block, DatasetError

NAMES = tuple(BY_NAME)
VARIABLE = "UULEARN_DATA"
DRAW_SEED = 0


def load(
    name: str, *, data_dir: str | os.PathLike[str] | None = None, positive: Collection[Any] | None = None
) -> Dataset:
    """Read a benchmark of the paper, with the paper's positive classes.

    Parameters
    ----------
    name : str
        "mnist", "fashion-mnist", "svhn", "cifar10", "usps", "pendigits", "covertype", "spambase" or "letter".
    data_dir : path, optional
        A folder with one folder a data set: the official files, packed or not, as published. By default that of the
        environment variable UULEARN_DATA; where it is not set either, `sklearn.datasets.fetch_openml` fetches the data
        set and keeps it (but for SVHN, whose extra images OpenML does not have).
    positive : collection, optional
        Official classes to count as positive instead: ``load("covertype", positive=[2])``.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the folder lacks a file; the message says which, and where to get it.
    DatasetError
        If a file is cut short or not the published one.
    ConnectionError
        If OpenML does not answer.

    Notes
    -----
    USPS is the edition of 11,000 digits without test rows that the paper used (usps_all.mat); the one with test rows
    (zip.train and zip.test, or usps.h5, or OpenML) is read where that file is absent, as floats from 0 to 255.
    SVHN is 100,000 rows of train and extra, always the same, in their order.

    Examples
    --------
    >>> load("cifar-10")
    Traceback (most recent call last):
    ValueError: name must be one of 'mnist', ... Did you mean 'cifar10'?
    """
    return open_source(choose("name", name, BY_NAME), find_folder(data_dir), positive)


def find_folder(data_dir: str | os.PathLike[str] | None = None) -> Path | None:
    """The folder of the official files, or None where nobody named one."""
    origin, place = ("data_dir", data_dir) if data_dir is not None else (VARIABLE, os.environ.get(VARIABLE) or None)
    if place is None:
        return None
    path = Path(place).expanduser()
    if not path.is_dir():
        raise NotADirectoryError(f"{origin} must be a folder of data sets; got {str(path)!r}. Give another path.")
    return path


def open_source(source: Source, folder: Path | None, positive: Collection[Any] | None = None) -> Dataset:
    """Read one data set from a folder, or from OpenML."""
    if folder is None:
        from uulearn.datasets.openml import fetch

        splits, origin = fetch(source)
    else:
        splits, origin = read_files(source, folder)
    chosen = _positive(source, np.unique(splits[0][1]).tolist(), positive)
    (X, labels), *rest = splits
    X_test, labels_test = rest[0] if rest else (None, None)
    y, y_test = _binary(labels, chosen), None if labels_test is None else _binary(labels_test, chosen)
    return Dataset(source.name, X, y, X_test, y_test, labels, labels_test, chosen, origin)


def _binary(labels: NDArray[Any], positive: tuple[Any, ...]) -> NDArray[np.int64]:
    return np.isin(labels, positive).astype(np.int64)


def _positive(source: Source, classes: list[Any], positive: Collection[Any] | None) -> tuple[Any, ...]:
    if positive is None:
        return source.positive
    chosen = tuple(dict.fromkeys(np.asarray(list(positive)).tolist()))
    if not set(chosen) <= set(classes) or not 0 < len(chosen) < len(classes):
        raise ValueError(
            f"positive must name some, not all, of the classes of {source.name}, {quoted(classes)}; got "
            f"{quoted(chosen) or 'none'}. Name official classes."
        )
    return chosen


def read_files(source: Source, folder: Path) -> tuple[list[Block], str]:
    """The checked splits, and where they came from."""
    form, paths = find_files(source, folder)
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    try:
        _check_files(form, paths)
        splits = [
            _join(split, blocks, source.draw if role == "training" else None, f"the {role} rows of {source.name}")
            for role, split, blocks in zip(("training", "test"), form.splits, form.read(paths), strict=False)
        ]
    except DatasetError as problem:
        raise DatasetError(f"{problem} Get {paths[0].name}{more} again from {source.url}.") from None
    return splits, f"{paths[0]}{more}"


def find_files(source: Source, folder: Path) -> tuple[Form, list[Path]]:
    """The first form whose files are all there, and the files."""
    found = [(form, [_find(source, folder, name) for name in form.files]) for form in source.forms]
    for form, paths in found:
        here = [path for path in paths if path is not None]
        if len(here) == len(paths):
            return form, here
    # Of the others, the form of which most is there is the one that was meant.
    form, paths = max(found, key=lambda one: (sum(path is not None for path in one[1]), -len(one[1])))
    absent = [name for name, path in zip(form.files, paths, strict=True) if path is None]
    state = f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not there"
    raise FileNotFoundError(
        f"{source.name} needs {', '.join(form.files)} (packed as .gz or not) in {folder / source.folders[0]}; "
        f"{'none is there' if len(absent) == len(paths) else state}. Get what is missing from {source.url}."
    )


def how_to_get(source: Source) -> str:
    """What to fetch, and where to put it."""
    files = min((form.files for form in source.forms), key=len)
    return (
        f"Get {', '.join(files)} from {source.url}, put them into a folder {source.folders[0]!r}, and "
        f"name the folder around it by data_dir= or {VARIABLE}"
    )


def _find(source: Source, folder: Path, name: str) -> Path | None:
    places = (folder / inner / file for inner in source.folders for file in (name, f"{name}.gz"))
    return next((place for place in places if place.is_file()), None)


def _check_files(form: Form, paths: list[Path]) -> None:
    for path, wanted in zip(paths, form.md5, strict=False):
        with path.open("rb") as handle:
            got = hashlib.file_digest(handle, "md5").hexdigest()
        if got != wanted:
            raise DatasetError(
                f"{path} must be the official file, MD5 {wanted}; got {got}, {path.stat().st_size:,} bytes."
            )


def _join(split: Split, blocks: Sequence[Block], draw: int | None, what: str) -> Block:
    """The blocks of a split as one, checked; or some of its rows."""
    for X, labels in blocks:
        if X.shape[1:] != split.shape or len(labels) != len(X):
            raise DatasetError(
                f"{what} must have shape {split.shape} and one class each; got {X.shape[1:]}, and {len(labels):,} "
                f"classes for {len(X):,} rows."
            )
    labels = np.concatenate([labels for _, labels in blocks])
    if labels.dtype.kind == "u":  # as signed numbers they can be subtracted
        labels = labels.astype(np.int64)
    check_counts(split, labels, what)
    if draw is None:
        X = np.concatenate([X for X, _ in blocks]) if len(blocks) > 1 else blocks[0][0]
        X = np.require(X, requirements=["C", "W"])  # views of the bytes of a file can neither be written nor shared
        _check_digest(split, X, labels, what)
        return X, labels
    chosen = np.sort(np.random.default_rng(DRAW_SEED).choice(len(labels), draw, replace=False))
    X = np.empty((draw, *split.shape), blocks[0][0].dtype)
    begin = 0
    for rows, _ in blocks:
        first, last = np.searchsorted(chosen, (begin, begin + len(rows)))
        X[first:last] = rows[chosen[first:last] - begin]
        begin += len(rows)
    return X, labels[chosen]


def check_counts(split: Split, labels: NDArray[Any], what: str) -> None:
    """Refuse other numbers of rows, and of rows of a class, than were published."""
    if len(labels) != split.rows:
        raise DatasetError(f"{what} must be {split.rows:,}; got {len(labels):,}.")
    got = dict(zip(*(column.tolist() for column in np.unique(labels, return_counts=True)), strict=True))
    for name in sorted({*split.counts, *got}, key=str):
        if got.get(name, 0) != split.counts.get(name, 0):
            raise DatasetError(
                f"{what} must hold {split.counts.get(name, 0):,} of class {name!r}; got {got.get(name, 0):,}."
            )


def digest(X: NDArray[Any], labels: NDArray[Any]) -> str:
    """SHA-256 of the rows as little-endian numbers, then one character a class."""
    numbers = np.ascontiguousarray(X, X.dtype.newbyteorder("<"))
    found = hashlib.sha256(numbers.data)
    found.update(labels.astype("S1").tobytes())
    return found.hexdigest()


def _check_digest(split: Split, X: NDArray[Any], labels: NDArray[Any], what: str) -> None:
    if split.sha256 and (got := digest(X, labels)) != split.sha256:
        raise DatasetError(f"{what} must be the published ones, SHA-256 {split.sha256[:12]}…; got {got[:12]}….")

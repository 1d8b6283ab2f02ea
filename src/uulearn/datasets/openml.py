"""The data sets as scikit-learn fetches them from openml.org, brought to the official classes and shapes."""

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn.datasets.catalogue import Source, Split
from uulearn.datasets.loading import check_counts, how_to_get
from uulearn.datasets.readers import Block, DatasetError


def fetch(source: Source) -> tuple[list[Block], str]:
    """The splits, told apart by the published number of rows, and where they came from."""
    known = source.openml
    if known is None:
        raise FileNotFoundError(f"{source.name} is not on OpenML as the paper used it. {how_to_get(source)}.")
    origin = f"OpenML {known.number}"
    values, names = _download(source, known.number)
    if len(values) != sum(split.rows for split in known.splits) or len(names) != len(values):
        rows = sum(split.rows for split in known.splits)
        raise DatasetError(
            f"{origin} must hold the {rows:,} rows of {source.name}; got {len(values):,}.{_instead(source)}"
        )
    try:
        labels = np.array([known.label(str(name)) for name in names.tolist()])
        splits, begin = [], 0
        for split, role in zip(known.splits, ("training", "test"), strict=False):
            here = slice(begin, begin + split.rows)
            check_counts(split, labels[here], f"the {role} rows of {source.name} on {origin}")
            splits.append((_rows(split, values[here], known.rows), labels[here]))
            begin += split.rows
    except ValueError as problem:
        raise DatasetError(f"{origin} must be {source.name} as published: {problem}{_instead(source)}") from None
    return splits, origin


def _download(source: Source, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
    from sklearn.datasets import fetch_openml

    # The parser that needs pandas is many times faster; the other one needs nothing.
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        values, names = fetch_openml(data_id=number, as_frame=False, return_X_y=True, parser=parser)
    except OSError as problem:  # what urllib raises, and what a cache that cannot be written to does
        raise ConnectionError(
            f"{source.name} cannot be fetched from OpenML ({number}): {problem}. Connect.{_instead(source)}"
        ) from None
    return np.asarray(values), np.asarray(names)


def _rows(split: Split, values: NDArray[Any], convert: Any) -> NDArray[Any]:
    values = np.asarray(values, dtype=np.float64)
    if convert is not None:
        values = convert(values)
    elif len(split.shape) == 3:
        values = _whole(values)
    return np.ascontiguousarray(values.reshape(-1, *split.shape))


def _whole(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    pixels = np.clip(values, 0, 255).astype(np.uint8)
    if not np.array_equal(pixels, values):
        raise ValueError("its pixels must be whole numbers from 0 to 255.")
    return pixels


def _instead(source: Source) -> str:
    return f" Or {how_to_get(source).replace('Get', 'get', 1)}."

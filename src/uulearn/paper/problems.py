"""The rows of a data set as an experiment takes them: images by 255, tables standardised, or stand-ins."""

import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn.datasets import Dataset, load
from uulearn.paper import gaussians
from uulearn.paper.spec import Cell

Path = str | os.PathLike[str] | None
GAUSS_ROWS = 40_000
"""Rows of the mixture from which the draws of figure 1 are taken, half of them positive."""
TITLES = {
    "gauss": "Gaussian mixture",
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "svhn": "SVHN",
    "cifar10": "CIFAR-10",
    "usps": "USPS",
}
"""What the paper calls a data set, where that is not its name."""
NEGATIVE_DIGITS = {"svhn": (1, 2, 3, 4, 5, 7), "cifar10": (0, 1, 8, 9)}
"""What a stand-in takes as negative, where that is not the odd digits."""


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows with their classes; `X_test` and `y_test` are None where the rows that no set takes judge.

    Attributes
    ----------
    X, X_test : ndarray of float32
    y, y_test : ndarray of 0 and 1
    source : str
    exact : bool
        Lines are judged by their exact error.
    """

    X: NDArray[np.float32]
    y: NDArray[np.int64]
    X_test: NDArray[np.float32] | None
    y_test: NDArray[np.int64] | None
    source: str
    exact: bool = False


def problem(cell: Cell, stand_in: bool, data_dir: Path) -> Problem:
    """The rows for a cell."""
    if cell.data == "gauss":
        return _mixture()
    folder = None if data_dir is None else os.fspath(data_dir)
    return _problem(cell.data, cell.subsample is not None, stand_in, folder)


@lru_cache(maxsize=1)  # the cells of an experiment come data set by data set
def _problem(data: str, small: bool, stand_in: bool, data_dir: str | None) -> Problem:
    found = dataset(data, stand_in, data_dir)
    if small:
        X, y = found.whole()
        return Problem(standardised(X.reshape(len(X), -1)), y, None, None, found.source)
    assert found.X_test is not None
    return Problem(_pixels(found.X), found.y, _pixels(found.X_test), found.y_test, found.source)


def dataset(data: str, stand_in: bool, data_dir: Path) -> Dataset:
    """The data set itself, or what stands in for it."""
    return digits(data) if stand_in else load(data, data_dir=data_dir)


def digits(data: str) -> Dataset:
    """The handwritten digits that come with scikit-learn, in the form of another data set.

    Examples
    --------
    >>> digits("cifar10").X.shape, digits("letter").X.shape
    ((1497, 3, 8, 8), (1497, 64))
    """
    from sklearn.datasets import load_digits

    found: Any = load_digits()
    X = (found.images[:, None] * (255 / 16)).astype(np.float32)
    X = X.repeat(3, axis=1) if data in NEGATIVE_DIGITS else X
    X = X if data in TITLES else X.reshape(len(X), -1)
    negative = NEGATIVE_DIGITS.get(data, (1, 3, 5, 7, 9))
    y = (~np.isin(found.target, negative)).astype(np.int64)
    positive = tuple(sorted(set(range(10)) - set(negative)))
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[300:], order[:300]
    return Dataset(
        data,
        *(X[train], y[train], X[test], y[test], found.target[train], found.target[test]),
        positive,
        "stand-in: the digits of scikit-learn",
    )


def _pixels(X: NDArray[Any]) -> NDArray[np.float32]:
    return np.asarray(X, dtype=np.float32) / np.float32(255)


def standardised(X: NDArray[Any]) -> NDArray[np.float32]:
    """Columns with mean 0 and variance 1; constant ones are 0. Classes play no part in it."""
    X = np.asarray(X, dtype=np.float32)
    spread = X.std(axis=0, dtype=np.float64)
    scale = np.where(spread > 0, spread, 1).astype(np.float32)
    return (X - X.mean(axis=0, dtype=np.float64).astype(np.float32)) / scale


@lru_cache(maxsize=1)
def _mixture() -> Problem:
    X, y = gaussians.sample(GAUSS_ROWS, 0.5, np.random.default_rng(0))
    return Problem(X.astype(np.float32), y, None, None, "drawn", exact=True)

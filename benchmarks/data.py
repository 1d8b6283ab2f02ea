"""The data sets of the benchmarks, from a folder of official files (UULEARN_DATA), with a binary class each."""

import os
from pathlib import Path

import numpy as np

from uulearn import datasets

POSITIVE = {"covertype": [2]}
"""Where the benchmarks ask for another class than the paper does."""
IMAGES = {"mnist": "mnist", "fashion": "fashion-mnist", "cifar": "cifar10"}
SKIPPED = 77
"""How a benchmark ends whose data is not there: `make bench` goes on with the next one."""


def folder() -> Path:
    """The folder of the official files: the environment variable UULEARN_DATA, else `data`."""
    place = Path(os.environ.get("UULEARN_DATA", "data"))
    if place.is_dir():
        return place
    print("skipped: no data folder. Set UULEARN_DATA to the one that holds spambase, letter, pendigits and covtype")
    raise SystemExit(SKIPPED)


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a table, and the class (0 or 1) of each."""
    return datasets.load(name, data_dir=folder(), positive=POSITIVE.get(name)).whole()


def standardised(X: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and variance 1; constant ones are 0."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1)


def images(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows and classes, test rows and classes; pixels divided by 255.

    MNIST and Fashion-MNIST ("fashion") come as one row an image, CIFAR-10 ("cifar") as (n, 3, 32, 32).
    """
    found = datasets.load(IMAGES[name], data_dir=folder())
    train, test = (
        pixels.astype(np.float32) / 255 if name == "cifar" else pixels.reshape(len(pixels), -1).astype(np.float32) / 255
        for pixels in (found.X, found.X_test)
    )
    return train, found.y, test, found.y_test

"""What `load` gives back."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows with their binary class, the official test rows apart from the others.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n, channels, height, width) or (n, features)
        Images as stored, tables as floats. Not scaled.
    y : ndarray of shape (n,)
        1 for rows whose official class is among `positive`, else 0.
    X_test, y_test : ndarray or None
        The same of the official test rows; None where the data set has none.
    labels, labels_test : ndarray
        The official classes that `y` and `y_test` were made of.
    positive : tuple
        The official classes that count as positive.
    source : str
        Where the rows came from.

    Examples
    --------
    >>> labels = np.array([3, 8, 4, 4])
    >>> data = Dataset("tiny", np.zeros((4, 2)), labels % 2 ^ 1, None, None, labels, None, (4, 8), "memory")
    >>> data
    Dataset('tiny', rows (4, 2), prior 0.750, from memory)
    >>> data.prior
    0.75
    """

    name: str
    X: NDArray[Any]
    y: NDArray[np.int64]
    X_test: NDArray[Any] | None
    y_test: NDArray[np.int64] | None
    labels: NDArray[Any]
    labels_test: NDArray[Any] | None
    positive: tuple[Any, ...]
    source: str

    @property
    def prior(self) -> float:
        """Share of positives among the test rows; among all rows where there are none."""
        return float(np.mean(self.y if self.y_test is None else self.y_test))

    @property
    def features(self) -> int:
        """Numbers in a row: pixels times channels, or columns."""
        return int(np.prod(self.X.shape[1:]))

    def whole(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """All rows and their classes, the test rows last: for protocols that draw their own test rows.

        Examples
        --------
        >>> X, y = np.zeros((3, 2)), np.array([0, 1, 1])
        >>> rows, classes = Dataset("tiny", X, y, X[:1], y[:1], y, y[:1], (1,), "memory").whole()
        >>> rows.shape, classes
        ((4, 2), array([0, 1, 1, 0]))
        """
        if self.X_test is None or self.y_test is None:
            return self.X, self.y
        return np.concatenate([self.X, self.X_test]), np.concatenate([self.y, self.y_test])

    def __repr__(self) -> str:
        test = "" if self.X_test is None else f", test rows {self.X_test.shape}"
        return f"Dataset({self.name!r}, rows {self.X.shape}{test}, prior {self.prior:.3f}, from {self.source})"

"""X as a user gives it to a classifier, checked: the rows, their features as at fit, the shape a module sees."""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import validate_data

from uulearn._checks import integer
from uulearn.nn.rows import Rows, as_rows, is_stored


def read(clf: Any, X: Any, *, reset: bool, aside: str | None = None) -> Rows:
    """Rows of X, with as many features (and of the same names) as at fit; images count all their entries.

    Parameters
    ----------
    clf : estimator
        Learns `n_features_in_` and `feature_names_in_` where `reset`, and is checked against them otherwise.
    X : as in `rows.as_rows`, or a data frame or nested lists
    reset : bool
    aside : str or None
        Column of a Parquet source that names the sets.
    """
    if is_stored(X):
        return _stored(clf, X, reset, aside)
    if isinstance(X, torch.Tensor):
        X = (X.float() if X.dtype == torch.bfloat16 else X).detach().cpu().numpy()  # numpy has no bfloat16
    shape: tuple[int, ...] = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    if len(shape) > 2:
        X = np.asarray(X).reshape(shape[0], prod(shape[1:]))
    X = validate_data(clf, X, dtype=[np.float32, np.uint8], reset=reset)
    return as_rows(X.reshape(shape) if len(shape) > 2 else X)


def _stored(clf: Any, X: Any, reset: bool, aside: str | None) -> Rows:
    try:
        rows = as_rows(X, exclude=[] if aside is None else [aside])
    except ValueError:
        if reset or aside is None:
            raise
        rows = as_rows(X)  # new rows need not say which set they are of
    count = prod(rows.shape[1:])
    if reset:
        clf.n_features_in_ = count
        clf.__dict__.pop("feature_names_in_", None)
        if rows.names is not None:
            clf.feature_names_in_ = np.asarray(rows.names, dtype=object)
    elif count != clf.n_features_in_:
        raise ValueError(
            f"X has {count} features, but {type(clf).__name__} is expecting {clf.n_features_in_}. Bring the same ones."
        )
    elif rows.names is not None and list(rows.names) != list(getattr(clf, "feature_names_in_", rows.names)):
        raise ValueError(
            "X must have the columns it had at fit, in their order; got others. Write them in that order first."
        )
    return rows


def module_shape(module: Any, image_shape: Sequence[int] | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape in which a module sees a row that comes in `shape`.

    Examples
    --------
    >>> module_shape("mlp", None, (10,)), module_shape("resnet32", None, (3072,)), module_shape("mlp", (1, 2, 5), (10,))
    ((10,), (3, 32, 32), (1, 2, 5))
    """
    if image_shape is not None:
        try:
            wanted = tuple(integer("image_shape", side, low=1) for side in image_shape)
        except TypeError:
            raise TypeError(
                f"image_shape must be a sequence (channels, height, width); got {image_shape!r}. Leave it out for rows "
                "that are no images."
            ) from None
        if prod(wanted) != prod(shape):
            raise ValueError(
                f"image_shape must have as many entries as a row of X; got {wanted}, {prod(wanted)} entries, for rows "
                f"of {prod(shape)}. Mend one of them."
            )
        return wanted
    if not isinstance(module, str) or module not in ("allconv", "resnet32"):
        return shape
    if len(shape) == 3:
        if shape[0] not in (1, 3) and shape[2] in (1, 3):
            raise ValueError(
                f"X must hold images of shape (channels, height, width) for module={module!r}; got rows of shape "
                f"{shape}, channels last. Move the channels first: X.transpose(0, 3, 1, 2)."
            )
        return shape
    for channels in (3, 1):
        side = round((shape[0] / channels) ** 0.5)
        if len(shape) == 1 and channels * side * side == shape[0]:
            return channels, side, side
    raise ValueError(
        f"X must hold square images of 3 channels or 1 for module={module!r}; got rows of shape {shape}. Give "
        "image_shape=(channels, height, width)."
    )

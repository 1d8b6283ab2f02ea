"""Rows as a user gives them to a classifier."""

import numpy as np
import pytest
import torch
from sklearn.base import BaseEstimator
from torch.utils.data import TensorDataset

from uulearn.nn.sources import module_shape, read

IMAGES = np.arange(36, dtype=np.uint8).reshape(3, 1, 3, 4)
GIVEN = {
    "array": IMAGES,
    "flat": IMAGES.reshape(3, 12),
    "lists": IMAGES.tolist(),
    "float64": IMAGES.astype(float),
    "tensor": torch.tensor(IMAGES),
    "bfloat16": torch.tensor(IMAGES).to(torch.bfloat16).requires_grad_(),
    "Dataset": TensorDataset(torch.tensor(IMAGES)),
}


@pytest.mark.parametrize("X", GIVEN.values(), ids=GIVEN)
def test_all_entries_of_a_row_are_its_features(X):
    """However the rows come, they are the same numbers, and as many as at fit."""
    clf = BaseEstimator()
    rows = read(clf, X, reset=True)
    assert clf.n_features_in_ == 12
    assert np.array_equal(rows.take(np.arange(3)).reshape(3, 12), IMAGES.reshape(3, 12))
    assert all(read(clf, other, reset=False).shape[0] == 3 for other in GIVEN.values())
    with pytest.raises(ValueError, match="X has 6 features, but BaseEstimator is expecting 12"):
        read(clf, IMAGES[:, :, :, :2], reset=False)


@pytest.mark.parametrize(
    ("module", "given", "shape", "seen"),
    [
        ("mlp", None, (12,), (12,)),
        ("mlp", None, (1, 3, 4), (1, 3, 4)),
        ("allconv", None, (784,), (1, 28, 28)),
        ("resnet32", None, (3072,), (3, 32, 32)),
        ("resnet32", None, (2, 3, 4), (2, 3, 4)),
        ("resnet32", (4, 3, 1), (1, 3, 4), (4, 3, 1)),
        (torch.nn.Identity(), None, (768,), (768,)),
    ],
)
def test_shape_a_module_sees(module, given, shape, seen):
    """Said, or guessed for the networks for images, else that of the rows."""
    assert module_shape(module, given, shape) == seen

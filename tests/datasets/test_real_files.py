"""The official files, where they are at hand: what is published about them holds, to the last pixel."""

from dataclasses import replace

import numpy as np
import pytest
import real

from uulearn import datasets
from uulearn.datasets.catalogue import BY_NAME
from uulearn.datasets.loading import open_source
from uulearn.datasets.readers import usps_text

pytestmark = real.needed


def loaded(name, **options):
    try:
        return datasets.load(name, data_dir=real.FOLDER, **options)
    except FileNotFoundError as problem:
        pytest.skip(str(problem))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in ("svhn", "cifar10") else []) for name in datasets.NAMES],
)
def test_rows_and_classes(name):
    """Checksums hold (or it would not load); shapes, types and the share of positives are those of table 1."""
    data = loaded(name)
    splits = BY_NAME[name].forms[0].splits
    assert data.X.shape[1:] == splits[0].shape
    assert data.X.dtype == (np.uint8 if data.X.ndim == 4 else np.float64)
    positives = sum(splits[-1].counts[label] for label in data.positive)
    assert data.prior == positives / splits[-1].rows
    assert set(np.unique(data.y)) == {0, 1}


def test_covertype_as_a_benchmark():
    """Class 2 against the rest is the larger half of it."""
    assert round(loaded("covertype", positive=[2]).prior, 4) == 0.4876


def test_usps_forms_agree():
    """The HDF5 file and the text hold the same test digits."""
    pytest.importorskip("h5py")
    text = real.FOLDER / "usps" / "zip.test.gz"
    if not text.exists():
        pytest.skip("no zip.test.gz here")
    source = BY_NAME["usps"]
    data = open_source(replace(source, forms=source.forms[2:]), real.FOLDER)
    images, classes = usps_text(text)
    np.testing.assert_array_equal(data.X_test, images)
    np.testing.assert_array_equal(data.labels_test, classes)

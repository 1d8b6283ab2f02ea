import sys

import numpy as np
import official
import pytest

from uulearn.datasets.loading import open_source
from uulearn.datasets.readers import DatasetError, grey, usps_hdf5


@pytest.mark.parametrize("packed", [True, False])
def test_idx(tmp_path, packed):
    """Grey images keep their bytes and get a channel; the files may be packed."""
    images, labels, test_images, test_labels = official.write_idx(tmp_path / "mnist", packed)
    data = open_source(official.source("mnist"), tmp_path)
    np.testing.assert_array_equal(data.X, images[:, None])
    np.testing.assert_array_equal(data.X_test, test_images[:, None])
    np.testing.assert_array_equal(data.labels, labels)
    np.testing.assert_array_equal(data.y_test, test_labels % 2 == 0)
    assert data.X.dtype == np.uint8


def test_svhn(tmp_path):
    """Format 2: rows last, 10 for the digit 0. Train and extra are one split, in their order."""
    made = official.write_svhn(tmp_path / "svhn")
    data = open_source(official.source("svhn", counts={name: 4 for name in range(10)}), tmp_path)
    np.testing.assert_array_equal(data.X, np.concatenate([made["train"][0], made["extra"][0]]))
    np.testing.assert_array_equal(data.labels, np.concatenate([made["train"][1], made["extra"][1]]))
    np.testing.assert_array_equal(data.X_test, made["test"][0])
    np.testing.assert_array_equal(data.y_test, np.isin(made["test"][1], (0, 6, 8, 9)))


def test_svhn_draws(tmp_path):
    """The rows drawn are distinct rows of train and extra with their classes, and every time the same."""
    made = official.write_svhn(tmp_path / "svhn")
    source = official.source("svhn", counts={name: 4 for name in range(10)}, draw=25)
    data, again = (open_source(source, tmp_path) for _ in range(2))
    everything = np.concatenate([made["train"][0], made["extra"][0]])
    digits = np.concatenate([made["train"][1], made["extra"][1]])
    index = [int(np.flatnonzero((everything == row).all(axis=(1, 2, 3)))[0]) for row in data.X]
    assert len(set(index)) == len(data.y) == 25
    assert index == sorted(index)
    assert min(index) < 20 <= max(index)
    np.testing.assert_array_equal(data.labels, digits[index])
    np.testing.assert_array_equal(data.X, again.X)
    assert len(data.y_test) == 20


def test_usps_matlab(tmp_path):
    """Digits 1, ..., 9, 0 one after another, pixels down the columns; the images come out upright."""
    upright = np.random.default_rng(0).integers(256, size=(10, 1100, 16, 16), dtype=np.uint8)
    stored = np.roll(upright, -1, axis=0).transpose(3, 2, 1, 0).reshape(256, 1100, 10)
    (tmp_path / "usps_all.mat").write_bytes(official.matlab(data=stored))
    data = open_source(official.source("usps", counts={name: 1100 for name in range(10)}), tmp_path)
    assert data.X.shape == (11_000, 1, 16, 16)
    for digit in range(10):
        np.testing.assert_array_equal(data.X[data.labels == digit, 0], upright[digit])
    assert data.X_test is None
    assert data.prior == 0.5


def zip_rows(seed):
    thousandths = np.random.default_rng(seed).integers(-1000, 1001, size=(20, 256))
    return official.balanced(seed), thousandths


def test_usps_text(tmp_path):
    """The class first, grey values from -1 to 1; they come out on the scale of bytes."""
    for name, seed in (("zip.train", 0), ("zip.test", 1)):
        lines = (f"{c} {' '.join(str(v / 1000) for v in row)} \n" for c, row in zip(*zip_rows(seed), strict=True))
        (tmp_path / name).write_text("".join(lines))
    data = open_source(official.source("usps", form=1), tmp_path)
    classes, thousandths = zip_rows(0)
    np.testing.assert_allclose(data.X.reshape(20, 256), (thousandths + 1000) * 255 / 2000, rtol=1e-6)
    np.testing.assert_array_equal(data.labels, classes)
    assert data.X.min() >= 0
    assert data.X.max() <= 255


def test_usps_hdf5(tmp_path):
    """The same digits, halved and shifted: the very same numbers come out."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "usps.h5", "w") as file:
        for name, seed in (("train", 0), ("test", 1)):
            classes, thousandths = zip_rows(seed)
            file[f"{name}/data"] = ((thousandths / 1000 + 1) / 2).astype(np.float32)
            file[f"{name}/target"] = classes
    data = open_source(official.source("usps", form=2), tmp_path)
    np.testing.assert_array_equal(data.X, grey(zip_rows(0)[1] / 1000))
    np.testing.assert_array_equal(data.labels_test, zip_rows(1)[0])


def test_hdf5_needs_its_package(tmp_path, monkeypatch):
    """The sentence says what to install."""
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "usps.h5").write_bytes(b"\x89HDF")
    with pytest.raises(ModuleNotFoundError, match=r"usps\.h5 needs the package h5py, .*: pip install h5py\.$"):
        usps_hdf5(tmp_path / "usps.h5")


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
def test_tables(tmp_path, end):
    """Numbers and one class, last or first, a number or a letter; either kind of line ends."""
    lines = [f"{', '.join(str(number + 0.5) for number in range(57))},{kind}" for kind in (0, 1, 1)]
    (tmp_path / "spambase.data").write_bytes(end.join(lines).encode())
    data = open_source(official.source("spambase", counts={0: 1, 1: 2}), tmp_path)
    np.testing.assert_array_equal(data.X, [np.arange(57) + 0.5] * 3)
    assert data.y.tolist() == [1, 0, 0]  # the paper's positives are not spam
    lines = [f"{kind},{','.join(str(number) for number in range(16))}" for kind in "NAM"]
    (tmp_path / "letter-recognition.data").write_bytes(end.join([*lines, ""]).encode())
    data = open_source(official.source("letter", counts={"A": 1, "M": 1, "N": 1}), tmp_path)
    assert data.labels.tolist() == ["N", "A", "M"]
    assert data.y.tolist() == [0, 1, 1]
    assert data.X.dtype == float
    assert data.X[0].tolist() == list(range(16))


def test_rows_can_be_changed(tmp_path):
    """Rows and classes belong to the caller: nothing is a view of a file."""
    official.write_idx(tmp_path / "mnist", packed=False)
    data = open_source(official.source("mnist"), tmp_path)
    for array in (data.X, data.X_test, data.labels, data.y):
        assert array.flags.writeable
        assert array.flags.c_contiguous


def test_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    """What the system says is passed on."""
    from uulearn.datasets import readers

    def denied(_):
        raise PermissionError(13, "Permission denied")

    (tmp_path / "t").touch()
    monkeypatch.setattr(readers, "content", denied)
    with pytest.raises(DatasetError, match=r"t must be an idx file of bytes; it cannot be read: Permission denied\.$"):
        readers.idx(tmp_path / "t", 1)

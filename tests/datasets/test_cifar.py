import io
import pickle
import sys
import warnings
from contextlib import suppress

import numpy as np
import official
import pytest

from uulearn.datasets import cifar
from uulearn.datasets.loading import open_source
from uulearn.datasets.readers import DatasetError

FORMS = ("binary", "python", "binary archive", "python archive")
FIVE = {name: 10 for name in range(10)}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_rows(tmp_path, form):
    """Batches one after another, bytes in the order red, green, blue."""
    images, labels = official.write_cifar(tmp_path / "cifar10", form)
    data = open_source(official.source("cifar10", FORMS.index(form), counts=FIVE), tmp_path)
    np.testing.assert_array_equal(data.X, images)
    np.testing.assert_array_equal(data.labels, labels)
    np.testing.assert_array_equal(data.y, (labels >= 2) & (labels <= 7))
    assert len(data.y_test) == 20


@pytest.mark.parametrize("inner", ["cifar10/cifar-10-batches-py", "cifar-10-batches-py", "."])
def test_unpacked_archives_are_found(tmp_path, inner):
    """Where the archive was unpacked, the batches lie in a folder of their own."""
    official.write_cifar(tmp_path / inner, "python")
    assert len(open_source(official.source("cifar10", 1, counts=FIVE), tmp_path).y) == 100


def test_pickles_of_today():
    """A batch that was saved anew by NumPy 2 is read too."""
    labels = official.balanced()
    images = official.rows((3, 32, 32), labels)
    batch = {"data": images.reshape(-1, 3072), "labels": labels.tolist()}
    found, classes = cifar.from_python(pickle.dumps(batch, protocol=4))
    np.testing.assert_array_equal(found, images)
    np.testing.assert_array_equal(classes, labels)


class Mischief:
    ran = False

    def __reduce__(self):
        return exec, ("import test_mischief",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pickle.dumps(Mischief()), "it asks for builtins.exec, which no batch needs and which is not run"),
        (pickle.dumps({"data": np.array([print], object), "labels": [0]}), "it holds an array of type 'O8'"),
        (pickle.dumps([1, 2]), "it must be a dictionary of data and labels"),
        (pickle.dumps({"data": np.zeros((2, 7), np.uint8), "labels": [0, 1]}), r"got uint8 of shape \(2, 7\)"),
        (b"\x80\x02}", "its bytes end too early"),
        (b"", "its bytes end too early"),
    ],
    ids=["code", "objects", "a list", "other rows", "cut short", "empty"],
)
def test_no_code_is_run(tmp_path, content, why):
    """A pickle that asks for anything but arrays of bytes is refused before it gets it."""
    (tmp_path / "data_batch_1").write_bytes(content)
    with pytest.raises(DatasetError, match=f"data_batch_1 must be a Python batch of CIFAR-10; .*(?:{why})"):
        cifar.python_batch(tmp_path / "data_batch_1")
    assert "test_mischief" not in sys.modules


def test_types_of_numpy_are_left_alone(tmp_path):
    """A pickle may set the state of the type it builds, but not of the one that all arrays share."""
    batch = official.python_batch(official.rows((3, 32, 32), [1]), [1])
    forged = batch.replace(b"J\xff\xff\xff\xffJ\xff\xff\xff\xffJ\0\0\0\0tb", b"J\x09\0\0\0J\x09\0\0\0J\0\0\0\0tb")
    assert forged != batch
    with warnings.catch_warnings(), suppress(Exception):  # whether it is refused is NumPy's affair
        warnings.simplefilter("ignore")
        cifar.from_python(forged)
    assert np.dtype(np.uint8).itemsize == 1


def mosaic(images):
    from PIL import Image

    tiles = images.reshape(100, 100, 3, 32, 32).transpose(0, 3, 1, 4, 2).reshape(3200, 3200, 3)
    buffer = io.BytesIO()
    Image.fromarray(tiles).save(buffer, "WEBP", lossless=True, quality=0, method=0)
    return buffer.getvalue()


def test_mosaics(tmp_path):
    """100 images a line, line by line; the classes come from a file of their own."""
    pytest.importorskip("PIL")
    images = np.zeros((10_000, 3, 32, 32), np.uint8)
    images[1, 0], images[100, 1, 0], images[9_999, 2, :, 31] = 200, 100, 50
    (tmp_path / "b.webp").write_bytes(mosaic(images))
    np.testing.assert_array_equal(cifar.mosaic(tmp_path / "b.webp"), images)
    np.savez(tmp_path / "labels.npz", y_train=np.arange(5), y_test=np.arange(3))
    train, test = cifar.classes(tmp_path / "labels.npz")
    assert (train.tolist(), test.tolist()) == ([0, 1, 2, 3, 4], [0, 1, 2])


def test_mosaics_need_pillow(tmp_path, monkeypatch):
    """The sentence says what to install."""
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ModuleNotFoundError, match=r"b\.webp needs the package PIL, .*'uulearn\[plot\]' \(or Pillow\)"):
        cifar.mosaic(tmp_path / "b.webp")

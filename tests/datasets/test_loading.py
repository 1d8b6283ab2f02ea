"""Which file is read, and every refusal of a file, one row each."""

import gzip
from dataclasses import replace

import numpy as np
import official
import pytest

from uulearn import datasets
from uulearn.datasets.catalogue import BY_NAME
from uulearn.datasets.loading import digest, find_folder, open_source
from uulearn.datasets.readers import DatasetError

MNIST = official.source("mnist")
LABELS = official.balanced()


@pytest.mark.parametrize("name", ["mnist", "MNIST/raw"])
def test_where_files_may_lie(tmp_path, name):
    """In a folder named after the data set, or as torchvision keeps them."""
    official.write_idx(tmp_path / name)
    data = open_source(MNIST, tmp_path)
    assert data.source == f"{tmp_path / name / 'train-images-idx3-ubyte.gz'} and 3 more"


def test_the_folder(tmp_path, monkeypatch):
    """The argument goes before the variable; an empty variable names no folder."""
    monkeypatch.setenv("UULEARN_DATA", str(tmp_path / "other"))
    assert find_folder(str(tmp_path)) == tmp_path
    with pytest.raises(NotADirectoryError, match=r"UULEARN_DATA must be a folder of data sets; got '.*other'\. Give"):
        find_folder()
    monkeypatch.setenv("UULEARN_DATA", "")
    assert find_folder() is None
    with pytest.raises(NotADirectoryError, match="data_dir must be a folder of data sets; got 'no such folder'"):
        datasets.load("mnist", data_dir="no such folder")


def test_other_positive_classes(tmp_path):
    """The official classes are kept, and any of them may be positive."""
    labels = official.write_idx(tmp_path / "mnist")[1]
    data = open_source(MNIST, tmp_path, positive=np.array([3, 7, 3]))
    assert data.positive == (3, 7)
    np.testing.assert_array_equal(data.y, (labels == 3) | (labels == 7))
    assert data.prior == 0.2
    assert open_source(MNIST, tmp_path).positive == (0, 2, 4, 6, 8)


@pytest.mark.parametrize(
    ("positive", "got"), [([], "none"), ([10], "10"), (range(10), "0, 1, .*"), (["3"], "'3'")], ids=repr
)
def test_positive_classes_that_leave_no_choice(tmp_path, positive, got):
    """None, all, or one that is no class of the data set."""
    official.write_idx(tmp_path / "mnist")
    with pytest.raises(
        ValueError, match=rf"positive must name some, not all, of the classes of mnist, 0, .*; got {got}\."
    ):
        open_source(MNIST, tmp_path, positive=positive)


def test_checksums(tmp_path):
    """One pixel that differs is one too many; the digest does not depend on how a class is stored."""
    images, labels, *_ = official.write_idx(tmp_path / "mnist")
    assert digest(images, labels) == digest(images, labels.astype(np.int64))
    form = MNIST.forms[0]
    first = replace(form.splits[0], sha256=digest(images[:, None], labels))
    checked = replace(MNIST, forms=(replace(form, splits=(first, form.splits[1])),))
    assert len(open_source(checked, tmp_path).y) == 20
    images[3, 4, 5] ^= 1
    official.write_idx(tmp_path / "mnist", train_images=official.idx(images))
    with pytest.raises(DatasetError, match="the training rows of mnist must be the published ones, SHA-256"):
        open_source(checked, tmp_path)


def test_names():
    """A slip of the pen is guessed at."""
    for name, meant in {"MNIST": "mnist", "cifar-10": "cifar10", "iris": None, "Letters": "letter"}.items():
        with pytest.raises(
            ValueError, match=rf"one of 'mnist', .*got '{name}'\.( Did you mean '{meant}'\?)?$"
        ) as found:
            datasets.load(name)
        assert ("Did you mean" in str(found.value)) == (meant is not None)


IMAGES = official.idx(official.rows((28, 28), LABELS))
WAY_OUT = r" Get train-images-idx3-ubyte(\.gz)? and 3 more again from https://.*/mnist/\.$"
WRONG = {
    "packed bytes cut short": (
        {"train-images-idx3-ubyte.gz": gzip.compress(IMAGES)[:-20]},
        r"train-images-idx3-ubyte\.gz must be an idx file of bytes; its bytes end too early\.",
    ),
    "a packed byte changed": (
        {"train-images-idx3-ubyte.gz": gzip.compress(IMAGES)[:-6] + b"123456"},
        r"train-images-idx3-ubyte\.gz must be an idx file of bytes; it cannot be read: CRC check failed",
    ),
    "bytes cut short": (
        {"train-images-idx3-ubyte.gz": IMAGES[:-1]},
        r"train-images-idx3-ubyte\.gz must be an idx file of bytes; reading it failed: 15,680 bytes must follow its "
        r"header; got 15,679\.",
    ),
    "a header cut short": (
        {"train-images-idx3-ubyte.gz": IMAGES[:9]},
        r"train-images-idx3-ubyte\.gz must be an idx file of bytes; its bytes end too early\.",
    ),
    "a page of HTML": (
        {"t10k-labels-idx1-ubyte.gz": b"<!DOCTYPE html>"},
        r"t10k-labels-idx1-ubyte\.gz must be an idx file of bytes; reading it failed: it must start with the bytes "
        r"0, 0, 8, 1; got \[60, 33, 68, 79\]\.",
    ),
    "an empty file": (
        {"t10k-labels-idx1-ubyte.gz": b""},
        r"t10k-labels-idx1-ubyte\.gz must be an idx .* start with the bytes 0, 0, 8, 1; got \[\]\.",
    ),
    "images for classes": (
        {"train-labels-idx1-ubyte.gz": IMAGES},
        r"train-labels-idx1-ubyte\.gz must be .* start with the bytes 0, 0, 8, 1; got \[0, 0, 8, 3\]\.",
    ),
    "images of another size": (
        {"train-images-idx3-ubyte.gz": official.idx(official.rows((8, 8), LABELS))},
        r"the training rows of mnist must have shape \(1, 28, 28\) and one class each; got \(1, 8, 8\), and 20 classes "
        r"for 20 rows\.",
    ),
    "classes of other rows": (
        {"train-labels-idx1-ubyte.gz": official.idx(LABELS[:-1])},
        r"the training rows of mnist must have shape .* one class each; got \(1, 28, 28\), and 19 classes for "
        r"20 rows\.",
    ),
    "too few rows": (
        {
            "t10k-images-idx3-ubyte.gz": official.idx(official.rows((28, 28), LABELS[:-1])),
            "t10k-labels-idx1-ubyte.gz": official.idx(LABELS[:-1]),
        },
        r"the test rows of mnist must be 20; got 19\.",
    ),
    "another class": (
        {"train-labels-idx1-ubyte.gz": official.idx(np.where(LABELS == 3, 30, LABELS).astype(np.uint8))},
        r"the training rows of mnist must hold 2 of class 3; got 0\.",
    ),
}


@pytest.mark.parametrize(("files", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_files(tmp_path, files, sentence):
    """One sentence with the file, the rule and the value, then where to get it."""
    official.write_idx(tmp_path / "mnist")
    for name, content in files.items():
        (tmp_path / "mnist" / name).write_bytes(content)
    with pytest.raises(DatasetError, match=f"(?:{sentence}).*{WAY_OUT}"):
        open_source(MNIST, tmp_path)


OTHERS = {
    "MATLAB, no such variable": (
        "svhn",
        0,
        {"train_32x32.mat": official.matlab(Z=[1])},
        r"train_32x32\.mat must be a MATLAB file of cropped digits \(format 2\); reading it failed: it must "
        r"hold X and y\.",
    ),
    "MATLAB, cut short": (
        "svhn",
        0,
        {"extra_32x32.mat": official.matlab(X=np.eye(40))[:150]},
        r"extra_32x32\.mat must be a MATL",
    ),
    "MATLAB, no such format": (
        "svhn",
        0,
        {"test_32x32.mat": b"\x89PNG" * 99},
        r"test_32x32\.mat must be a MATLAB file of",
    ),
    "MATLAB, other type": (
        "svhn",
        0,
        {"train_32x32.mat": official.matlab(X=np.zeros((32, 32, 3, 2)), y=[[1], [2]])},
        r"X must hold bytes of shape \(32, 32, 3, n\); got float64 of shape \(32, 32, 3, 2\)\.",
    ),
    "USPS, other shape": (
        "usps",
        0,
        {"usps_all.mat": official.matlab(data=np.zeros((256, 3, 10), np.uint8))},
        r"usps_all\.mat must be the MATLAB file .*: data must hold bytes of shape \(256, 1100, 10\); got "
        r"uint8 of shape \(256, 3, 10\)\.",
    ),
    "a table with a word": (
        "spambase",
        0,
        {"spambase.data": b"1,2,3\n1,oops,3\n"},
        r"spambase\.data must be a table of numbers with one class a line; reading it failed: .*'oops'.*\.",
    ),
    "a table with a short line": (
        "spambase",
        0,
        {"spambase.data": b"1,2,3\n1,2\n"},
        r"spambase\.data .* columns .* row 2",
    ),
    "an empty table": ("covertype", 0, {"covtype.data": b"\n"}, r"covtype\.data must be .* failed: it holds no line\."),
    "a table of bytes": (
        "covertype",
        0,
        {"covtype.data": b"\xff\xfe"},
        r"covtype\.data must be .* failed: 'ascii' codec",
    ),
    "a class between others": (
        "spambase",
        0,
        {"spambase.data": b"1,0.5\n"},
        r"its classes must be whole numbers from 0",
    ),
    "a class of two letters": (
        "letter",
        0,
        {"letter-recognition.data": b"AB,1\n"},
        r"letter-recognition\.data must be .*'AB'|ord",
    ),
    "another number of columns": (
        "spambase",
        0,
        {"spambase.data": b"1,2,0\n"},
        r"the training rows of spambase must have shape \(57,\) and one class each; got \(2,\), and 1 classes "
        r"for 1 rows\.",
    ),
    "binary, cut short": (
        "cifar10",
        0,
        {
            f"{name}.bin": b"1" * 3000
            for name in ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch")
        },
        r"data_batch_1\.bin must be a binary batch of CIFAR-10; reading it failed: its bytes must be a "
        r"multiple of 3,073; got 3,000\.",
    ),
    "an archive of something else": (
        "cifar10",
        2,
        {"cifar-10-binary.tar.gz": official.tar({"readme.html": b"hello"})},
        r"cifar-10-binary\.tar\.gz must be the archive of CIFAR-10; reading it failed: it must hold "
        r"data_batch_1\.bin, ",
    ),
    "an archive cut short": (
        "cifar10",
        2,
        {"cifar-10-binary.tar.gz": official.tar({"data_batch_1.bin": np.random.default_rng(0).bytes(30730)})[:-9000]},
        r"cifar-10-binary\.tar\.gz must be the archive of CIFAR-10; ",
    ),
}


@pytest.mark.parametrize(("name", "form", "files", "sentence"), OTHERS.values(), ids=OTHERS)
def test_wrong_files_of_other_formats(tmp_path, name, form, files, sentence):
    """So it is for every format, whatever the library that reads it says."""
    if name == "svhn":
        official.write_svhn(tmp_path)
    for file, content in files.items():
        (tmp_path / file).write_bytes(content)
    with pytest.raises(DatasetError, match=rf"(?:{sentence})[^\n]* Get \S+( and \d more)? again from https?://\S+\.$"):
        open_source(official.source(name, form), tmp_path)


def test_the_official_bytes_of_svhn(tmp_path):
    """Known by their published MD5 alone: any other file is refused before it is read."""
    official.write_svhn(tmp_path)
    sentence = (
        r"train_32x32\.mat must be the official file, MD5 e26dedcc434d2e4c54c9b2d4a06d8373; got [0-9a-f]{32}, "
        r"[\d,]+ bytes\. Get"
    )
    with pytest.raises(DatasetError, match=sentence):
        datasets.load("svhn", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("name", "present", "sentence"),
    [
        (
            "mnist",
            [],
            r"mnist needs train-images-idx3-ubyte, .* \(packed as \.gz or not\) in .*mnist; none is there\. Get",
        ),
        (
            "mnist",
            ["mnist/train-images-idx3-ubyte"],
            r"mnist; train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte are not there\.",
        ),
        ("cifar10", [], r"cifar10 needs cifar-10-binary\.tar\.gz \(packed"),
        (
            "cifar10",
            ["cifar10/test_batch"],
            r"cifar10 needs data_batch_1, .*; data_batch_1, .*data_batch_5 are not there",
        ),
        ("usps", ["usps/zip.test.gz"], r"usps needs zip\.train, zip\.test \(.*; zip\.train is not there\."),
        ("covertype", [], r"covertype needs covtype\.data \(.* in .*covtype; none is there\."),
    ],
)
def test_missing_files(tmp_path, name, present, sentence):
    """The sentence names the form that was meant, what it lacks and where to get it."""
    for file in present:
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    with pytest.raises(FileNotFoundError, match=sentence) as caught:
        datasets.load(name, data_dir=tmp_path)
    assert str(caught.value).endswith(f"from {BY_NAME[name].url}.")

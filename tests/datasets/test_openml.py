"""The path through scikit-learn, with its fetcher replaced: nothing here asks the network."""

from dataclasses import replace

import numpy as np
import official
import pytest
import sklearn.datasets

from uulearn import datasets
from uulearn.datasets import openml
from uulearn.datasets.catalogue import SOURCES
from uulearn.datasets.loading import open_source
from uulearn.datasets.readers import DatasetError

KNOWN = [source for source in SOURCES if source.openml]


@pytest.fixture
def served(monkeypatch):
    """What the fetcher returns and what it was asked for."""
    state = {"asked": []}

    def fetch_openml(**options):
        state["asked"].append(options)
        if "raises" in state:
            raise state["raises"]
        return state["values"], state["names"]

    monkeypatch.delenv("UULEARN_DATA", raising=False)
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return state


def shrunk(source):
    """Two rows of each class, as OpenML names them."""
    known = replace(source.openml, splits=tuple(official.small(split) for split in source.openml.splits))
    classes = [name for split in known.splits for name in split.counts for _ in range(2)]
    names = [str(name + 1) if source.name == "usps" else str(name) for name in classes]
    return replace(source, openml=known), np.array(classes), np.array(names, dtype=object)


def numbers(source, n):
    shape = source.openml.splits[0].shape
    rng = np.random.default_rng(0)
    if source.name == "usps":
        return rng.integers(-1000, 1001, size=(n, *shape)) / 1000
    return rng.integers(256, size=(n, *shape)).astype(float)


@pytest.mark.parametrize("as_text", [False, True], ids=["floats", "objects"])
@pytest.mark.parametrize("source", KNOWN, ids=lambda source: source.name)
def test_every_data_set(served, source, as_text):
    """Official classes, shapes and types, the test rows last; columns of categories come as text."""
    source, classes, names = shrunk(source)
    values = numbers(source, len(classes))
    flat = values.reshape(len(classes), -1)
    served |= {"values": flat.astype(str).astype(object) if as_text else flat, "names": names}
    data = open_source(source, None)
    split = source.openml.splits[0]
    assert data.source == f"OpenML {source.openml.number}"
    np.testing.assert_array_equal(data.labels, classes[: split.rows])
    np.testing.assert_array_equal(data.y, np.isin(data.labels, source.positive))
    if data.X_test is not None:
        np.testing.assert_array_equal(data.labels_test, classes[split.rows :])
    X, _ = data.whole()
    wanted = (values + 1) * 127.5 if source.name == "usps" else values
    np.testing.assert_allclose(X, wanted, rtol=1e-6)
    assert X.dtype == (float if X.ndim == 2 else np.float32 if source.name == "usps" else np.uint8)
    assert data.labels.dtype.kind == ("U" if source.name == "letter" else "i")
    (asked,) = served["asked"]
    assert asked["data_id"] == source.openml.number
    assert not asked["as_frame"]


def test_load(served):
    """Without a folder `load` comes here, with the published numbers of rows."""
    letters = SOURCES[-1].openml.splits[0].counts
    served |= {"values": np.ones((20_000, 16)), "names": np.repeat([*letters], [*letters.values()])}
    data = datasets.load("letter", positive="AB")
    assert data.prior == (789 + 766) / 20_000


def test_without_pandas(served, monkeypatch):
    """The parser that needs no pandas is asked for."""
    monkeypatch.setattr(openml, "find_spec", lambda name: None)
    served |= {"values": np.ones((20_000, 16)), "names": np.array(["A"] * 20_000)}
    with pytest.raises(DatasetError):
        datasets.load("letter")
    assert served["asked"][0]["parser"] == "liac-arff"


LETTER, _, NAMES = shrunk(SOURCES[-1])
MNIST, _, DIGITS = shrunk(SOURCES[0])
INSTEAD = (
    r" Or get .* from https?://\S+, put them into a folder '\w+', and name the folder around it by data_dir= or UUL"
)


@pytest.mark.parametrize(
    ("source", "answer", "kind", "sentence"),
    [
        (
            SOURCES[2],
            {},
            FileNotFoundError,
            r"svhn is not on OpenML as the paper used it\. Get train_32x32\.mat, .* from http://ufldl.*/, put "
            r"them into",
        ),
        (
            LETTER,
            {"raises": OSError("no route to host")},
            ConnectionError,
            rf"letter cannot be fetched from OpenML \(6\): no route to host\. Connect\.{INSTEAD}",
        ),
        (
            LETTER,
            {"values": np.ones((51, 16)), "names": NAMES[:51]},
            DatasetError,
            rf"OpenML 6 must hold the 52 rows of letter; got 51\.{INSTEAD}",
        ),
        (
            LETTER,
            {"values": np.ones((52, 16)), "names": np.roll(NAMES, 1)[[0] * 52]},
            DatasetError,
            r"OpenML 6 must be letter as published: the training rows of letter on OpenML 6 must hold 2 of class "
            r"'A'; got",
        ),
        (
            LETTER,
            {"values": np.ones((52, 9)), "names": NAMES},
            DatasetError,
            r"OpenML 6 must be letter as published: cannot reshape",
        ),
        (
            MNIST,
            {"values": np.full((40, 784), 0.5), "names": DIGITS},
            DatasetError,
            r"OpenML 554 must be mnist as published: its pixels must be whole numbers from 0 to 255\.",
        ),
        (
            MNIST,
            {"values": np.zeros((40, 784)), "names": np.sort(DIGITS)},
            DatasetError,
            r"the training rows of mnist on OpenML 554 must hold 2 of class 0; got 4",
        ),
        (
            MNIST,
            {"values": np.zeros((40, 784)), "names": np.array(["zero"] * 40)},
            DatasetError,
            r"OpenML 554 must be mnist as published: invalid literal",
        ),
    ],
    ids=["svhn", "offline", "rows", "classes", "columns", "pixels", "order", "names"],
)
def test_refused(served, source, answer, kind, sentence):
    """What differs from the published rows is refused, with the other way to get them."""
    served |= answer
    with pytest.raises(kind, match=sentence):
        open_source(source, None)

import pytest

from uulearn.datasets import NAMES
from uulearn.datasets.catalogue import SOURCES

PAPER = {  # training rows, test rows, features, share of positives: table 1, and the UCI and USPS pages
    "mnist": (60_000, 10_000, 784, 0.49),
    "fashion-mnist": (60_000, 10_000, 784, 0.50),
    "svhn": (100_000, 26_032, 3_072, 0.27),
    "cifar10": (50_000, 10_000, 3_072, 0.60),
    "usps": (11_000, 0, 256, 0.50),
    "pendigits": (7_494, 3_498, 16, 0.50),
    "covertype": (581_012, 0, 54, 0.04),
    "spambase": (4_601, 0, 57, 0.61),
    "letter": (20_000, 0, 16, 0.50),
}


def test_names():
    """All the data sets of the paper, no other."""
    assert set(NAMES) == set(PAPER)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_as_the_paper_says(source):
    """Rows, features and the share of positives follow from the shapes and counts of the first form."""
    splits = source.forms[0].splits
    train, test = splits[0], splits[1] if len(splits) == 2 else None
    features = 1
    for size in train.shape:
        features *= size
    positives = sum(splits[-1].counts[name] for name in source.positive)
    found = (source.draw or train.rows, test.rows if test else 0, features, round(positives / splits[-1].rows, 2))
    assert found == PAPER[source.name]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_form_is_checked(source):
    """By a checksum of its numbers, or of its files."""
    for form in source.forms:
        assert all(len(split.sha256) == 64 for split in form.splits) or len(form.md5) == len(form.files)

import numpy as np

from uulearn.datasets import Dataset


def made(test):
    labels = np.array([1, 2, 3, 3])
    split = (np.zeros((3, 1, 2, 2), np.uint8), np.array([1, 1, 1]), np.array([3, 3, 3])) if test else (None,) * 3
    X, y, labels_test = split
    rows = np.ones((4, 1, 2, 2), np.uint8)
    return Dataset("tiny", rows, (labels == 3).astype(int), X, y, labels, labels_test, (3,), "memory")


def test_the_prior_is_that_of_the_rows_to_be_predicted():
    """Test rows where there are some, otherwise all rows."""
    assert made(test=True).prior == 1.0
    assert made(test=False).prior == 0.5


def test_whole():
    """All rows, those of the test last; without test rows nothing is copied."""
    X, y = made(test=True).whole()
    assert X.shape == (7, 1, 2, 2)
    assert y.tolist() == [0, 0, 1, 1, 1, 1, 1]
    data = made(test=False)
    assert data.whole()[0] is data.X


def test_features():
    """An image has as many as it has numbers."""
    assert made(test=False).features == 4


def test_text():
    """Short enough for a terminal, whatever the size."""
    assert repr(made(test=True)) == (
        "Dataset('tiny', rows (4, 1, 2, 2), test rows (3, 1, 2, 2), prior 1.000, from memory)"
    )

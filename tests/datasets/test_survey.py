import sys

import official
import pytest

from uulearn.datasets import NAMES, loading, survey


def test_nothing_there(tmp_path):
    """Every data set gets a line that says how to get it; each is told of once."""
    told = []
    lines = survey(tmp_path, told.append)
    assert [line.name for line in lines] == list(NAMES)
    assert told == [line.title for line in lines]
    for line in lines:
        assert line.missing
        assert line.problem.startswith(f"{line.name} needs ")
        assert not line.source


def test_no_folder(monkeypatch):
    """Nothing is fetched: the lines say what to get and where to put it."""
    monkeypatch.delenv(loading.VARIABLE, raising=False)
    for line in survey(progress=lambda _: None):
        assert line.missing
        assert line.problem.startswith("Get ")
        assert line.problem.endswith("and name the folder around it by data_dir= or UULEARN_DATA.")


def test_found_and_wrong(tmp_path, monkeypatch):
    """One that is there is counted; one that is there but wrong says so and is not missing."""
    official.write_idx(tmp_path / "mnist")
    (tmp_path / "spambase.data").write_text("1,2,0\n")
    names = {"mnist": official.source("mnist"), "spambase": official.source("spambase")}
    # By its path: the name `survey` of the package is the function.
    monkeypatch.setattr(sys.modules["uulearn.datasets.survey"], "BY_NAME", names)
    good, bad = survey(tmp_path, lambda _: None)
    assert (good.title, good.train, good.test, good.features, good.prior) == ("MNIST", 20, 20, 784, 0.5)
    assert good.source.endswith("train-images-idx3-ubyte.gz and 3 more")
    assert not good.problem
    assert "spambase must have shape (57,)" in bad.problem
    assert not bad.missing
    assert not bad.source


def test_a_folder_that_is_none(tmp_path):
    """Refused at once."""
    with pytest.raises(NotADirectoryError, match="data_dir must be a folder of data sets"):
        survey(tmp_path / "none", print)

"""The bar says loss, label-free error, rate and time left; switched off, it says nothing."""

import sys

import pytest

from uulearn.nn import progress
from uulearn.nn.progress import Bar


def train(bar, records, done=0):
    """Two epochs of a training of 40 steps an epoch, 3000 rows each."""
    with bar:
        bar.begin("folds", 40, 4, done, 3000)
        for record in records:
            bar.advance(32)
            bar.report(record)


RECORDS = [
    {"epoch": 1, "loss": 0.5, "seconds": 1.0},
    {"epoch": 2, "loss": 0.25, "seconds": 2.0, "error": 0.0123, "error_se": 0.0045},
]


def test_text(capfd, monkeypatch):
    """The last line stands after the training: what is trained, epochs, loss, error, rate, time left."""
    monkeypatch.setenv("COLUMNS", "120")
    train(Bar(True), RECORDS)
    text = capfd.readouterr().err.splitlines()[-1]
    for fact in ("folds", "epoch 2/4", "loss 0.2500, error 1.23 ± 0.45 %", "1,500 rows/s", "0:00:"):
        assert fact in text


def test_without_error(capfd):
    """Without held-out rows there is no error to show."""
    train(Bar(True), RECORDS[:1])
    text = capfd.readouterr().err
    assert "loss 0.5000" in text
    assert "error" not in text


def test_going_on(capfd):
    """A training that goes on from a checkpoint starts where it was."""
    train(Bar(True), [], done=3)
    text = capfd.readouterr().err
    assert "epoch 3/4" in text
    assert text.count("━") == 30  # of 40


@pytest.mark.parametrize("progress", [False, "auto"])
def test_off(capfd, progress):
    """Switched off, or on a stream that is no terminal, nothing is written."""
    train(Bar(progress), RECORDS)
    assert capfd.readouterr() == ("", "")


def test_auto_on_a_terminal(capfd, monkeypatch):
    """On a terminal it is shown unless switched off."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    train(Bar("auto"), RECORDS)
    assert "epoch 2/4" in capfd.readouterr().err


def test_one_process_speaks(capfd, monkeypatch):
    """Of many processes the first alone shows it."""
    monkeypatch.setattr(progress.distributed, "rank", lambda: 1)
    train(Bar(True), RECORDS)
    assert capfd.readouterr().err == ""


def test_refusal():
    """Any other word is refused."""
    with pytest.raises(ValueError, match="progress must be True, False or 'auto'; got 'yes'"):
        Bar("yes")

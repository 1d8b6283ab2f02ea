import errno
import os

import pytest

from uulearn import _files
from uulearn._files import append_line, replace_file


def test_replaces(tmp_path):
    """The content is there, whole, and nothing else is left in the folder."""
    target = tmp_path / "a.txt"
    for content in (b"old", b"", b"new\n"):
        replace_file(target, content)
        assert target.read_bytes() == content
    assert os.listdir(tmp_path) == ["a.txt"]


def test_permissions_are_the_usual_ones(tmp_path):
    """Who may read the file is what any other program's file would say."""
    (tmp_path / "usual").write_text("")
    replace_file(tmp_path / "ours", b"")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=repr)
def test_cut_short(tmp_path, monkeypatch, step, problem):
    """When a write fails or is interrupted, the old file is as it was and no part of the new one is left."""
    target = tmp_path / "a.txt"
    target.write_bytes(b"old")

    def fail(*_):
        raise problem

    monkeypatch.setattr(_files.os, step, fail)
    with pytest.raises(type(problem)):
        replace_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_append_line(tmp_path):
    """Lines follow one another; what stands behind the last line end stays only if it is whole."""
    path = tmp_path / "f"
    append_line(path, b"one", bool)
    append_line(path, b"two", bool)
    path.write_bytes(path.read_bytes() + b"cut")
    append_line(path, b"three", lambda tail: tail != b"cut")
    path.write_bytes(path.read_bytes() + b"whole")
    append_line(path, b"four", lambda tail: tail == b"whole")
    assert path.read_bytes() == b"one\ntwo\nthree\nwhole\nfour\n"


@pytest.mark.parametrize("tail", [b"", b"cut"])
def test_append_line_to_a_full_disk(tmp_path, monkeypatch, tail):
    """A line that cannot be written whole is not there at all."""
    path = tmp_path / "f"
    path.write_bytes(b"one\n" + tail)
    real, room = os.write, iter([3])

    def write(handle, content):
        size = next(room, 0)
        if not size:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, content[:size])

    monkeypatch.setattr(_files.os, "write", write)
    with pytest.raises(OSError, match="No space left"):
        append_line(path, b"two and more", lambda tail: False)
    assert path.read_bytes() == b"one\n"

import hashlib
import json
import os

import pytest

from uulearn import output
from uulearn.output import MANIFEST, OutputError, OutputFolder


def digests(folder):
    return json.loads((folder / MANIFEST).read_text())["sha256"]


def test_lists_what_it_writes(tmp_path):
    """The manifest gives the SHA-256 of each file; the folder is made when it is needed, not before."""
    path = tmp_path / "new" / "deep"
    folder = OutputFolder(path, ["a", "b"])
    assert not path.exists()
    assert folder.write("a", b"1") == path / "a"
    folder.write("b", b"2")
    assert digests(path) == {name: [hashlib.sha256(text).hexdigest()] for name, text in [("a", b"1"), ("b", b"2")]}
    assert sorted(os.listdir(path)) == ["a", "b", MANIFEST]


def test_overwrites_its_own(tmp_path):
    """Another run replaces what the last one wrote, fills in what was removed, and leaves all else alone."""
    (tmp_path / "foreign").write_bytes(b"mine")
    first = OutputFolder(tmp_path, ["a", "b"])
    first.write("a", b"1")
    first.write("b", b"1")
    (tmp_path / "b").unlink()
    second = OutputFolder(tmp_path, ["a", "b"])
    second.write("a", b"2")
    second.write("b", b"2")
    assert [(tmp_path / name).read_bytes() for name in ("a", "b", "foreign")] == [b"2", b"2", b"mine"]


def in_the_way(name):
    """Ways to be in the way of a file: what puts it there, and what is said about it."""

    def foreign(path):
        (path / name).write_bytes(b"mine")

    def changed(path):
        OutputFolder(path, [name]).write(name, b"1")
        (path / name).write_bytes(b"edited")

    def folder(path):
        (path / name).mkdir()

    def link(path):
        (path / "elsewhere").write_bytes(b"mine")
        (path / name).symlink_to(path / "elsewhere")

    move = "Move it, or choose another folder."
    return [
        (foreign, f"is in the way: uulearn did not write it. {move}"),
        (changed, f"was changed since uulearn wrote it. {move}"),
        (folder, f"is in the way and is no plain file. {move}"),
        (link, f"is in the way and is no plain file. {move}"),
    ]


@pytest.mark.parametrize(("put", "message"), in_the_way("a"), ids=["foreign", "changed", "folder", "link"])
def test_refuses(tmp_path, put, message):
    """What it did not write, or somebody changed, is refused before and at the writing, and stays as it is."""
    early = OutputFolder(tmp_path, ["a"])
    put(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(OutputError) as caught:
        OutputFolder(tmp_path, ["b", "a"])
    assert str(caught.value) == f"{tmp_path / 'a'} {message}"
    with pytest.raises(OutputError, match="in the way"):
        early.write("a", b"2")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "text", ["", "{}", "[1]", '{"written_by": "uulearn"}', '{"written_by": "uulearn", "sha256": {"a": 1}}', "\udcff"]
)
def test_refuses_a_strange_manifest(tmp_path, text):
    """A file by the name of the manifest that is none is foreign too."""
    (tmp_path / MANIFEST).write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(OutputError, match=f"{MANIFEST} is in the way: uulearn did not write it"):
        OutputFolder(tmp_path, ["a"])


def test_refuses_a_file_for_a_folder(tmp_path):
    """The folder itself may be taken."""
    (tmp_path / "a").write_text("")
    with pytest.raises(OutputError, match=r"must be a folder; a file of that name is there"):
        OutputFolder(tmp_path / "a", [])


@pytest.mark.parametrize("write", [1, 2, 3], ids=["before the file", "at the file", "after the file"])
@pytest.mark.parametrize("old", [None, b"old"], ids=["first", "again"])
def test_cut_short(tmp_path, monkeypatch, write, old):
    """Wherever a run is cut short, no file is half written and the next run takes all it finds for its own."""
    if old is not None:
        OutputFolder(tmp_path, ["a"]).write("a", old)
    folder, count = OutputFolder(tmp_path, ["a"]), iter(range(1, 9))

    def cut(path, content):
        if next(count) == write:
            raise KeyboardInterrupt
        real(path, content)

    real = output.replace_file
    monkeypatch.setattr(output, "replace_file", cut)
    with pytest.raises(KeyboardInterrupt):
        folder.write("a", b"new")
    monkeypatch.undo()
    found = (tmp_path / "a").read_bytes() if (tmp_path / "a").exists() else None
    assert found == (b"new" if write == 3 else old)
    OutputFolder(tmp_path, ["a"]).write("a", b"next")
    assert (tmp_path / "a").read_bytes() == b"next"
    assert sorted(os.listdir(tmp_path)) == ["a", MANIFEST]

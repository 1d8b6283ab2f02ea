import os

import numpy as np
import pytest

from uulearn import _files
from uulearn.tabular import Table, TableError, read_table, table_text, write_table


@pytest.mark.parametrize(
    "rows",
    [
        [[1, -2], [3, 4]],
        np.random.default_rng(0).normal(size=(50, 2)) * 10.0 ** np.arange(-25, 25)[:, None],
        np.random.default_rng(0).normal(size=(9, 2)).astype(np.float32),
        np.array([[5e-324, 1.7976931348623157e308], [-0.0, 0.1]]),
        np.array([[2**53, 0]], dtype=np.uint64),
    ],
    ids=["whole", "any size", "float32", "extreme", "unsigned"],
)
def test_round_trip(tmp_path, rows):
    """What is written is read back to the last bit."""
    path = tmp_path / "t.csv"
    names = ("a, quoted", 'the "b"')
    write_table(path, names, rows)
    table = read_table(path)
    assert table.names == names
    np.testing.assert_array_equal(table.rows, np.asarray(rows, dtype=float))
    assert np.array_equal(np.signbit(table.rows), np.signbit(np.asarray(rows, dtype=float)))


@pytest.mark.parametrize(
    "text",
    ["a,b\n1,2\n", "a,b\r\n1,2\r\n", "a,b\n1,2", "\ufeffa,b\n1,2\n", " a ,b\n\n 1 ,2e0\n\n", '"a","b"\n"1","2"\n'],
    ids=["plain", "windows", "no last newline", "byte order mark", "blanks", "quoted"],
)
def test_dialects(tmp_path, text):
    """What spreadsheets write is read alike."""
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    table = read_table(str(path))
    assert isinstance(table, Table)
    assert table.names == ("a", "b")
    assert table.rows.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "t.csv does not exist. Check the name of the file."),
        (b"", "t.csv is empty; it must hold a line of column names and then numbers."),
        (b"\n\n", "t.csv is empty; it must hold a line of column names and then numbers."),
        (b"a,b\n", "t.csv holds column names but no rows. Add at least one line of numbers."),
        (
            b"a,b\n1,2\n\n3\n",
            "t.csv, line 4: expected 2 cells, as in the first line; got 1. Complete the line or drop it.",
        ),
        (
            b"a,b\n1,2,3\n",
            "t.csv, line 2: expected 2 cells, as in the first line; got 3. Complete the line or drop it.",
        ),
        (b"a,b\n1,2\n3,x\n", "t.csv, line 3, column 'b': expected a number; got 'x'. Mend the cell or drop the line."),
        (b"a,b\n,2\n", "t.csv, line 2, column 'a': expected a number; got ''. Mend the cell or drop the line."),
        (b"a\n1_000\n", "t.csv, line 2, column 'a': expected a number; got '1_000'. Mend the cell or drop the line."),
        (
            b"a\nNaN\n",
            "t.csv, line 2, column 'a': expected a finite number; got 'NaN'. Mend the cell or drop the line.",
        ),
        (
            b"a\n-inf\n",
            "t.csv, line 2, column 'a': expected a finite number; got '-inf'. Mend the cell or drop the line.",
        ),
        (
            b"a\n1e999\n",
            "t.csv, line 2, column 'a': expected a finite number; got '1e999'. Mend the cell or drop the line.",
        ),
        (
            b"a\n" + b"x" * 99 + b"\n",
            f"t.csv, line 2, column 'a': expected a number; got '{'x' * 39}…'. Mend the cell or drop the line.",
        ),
        (b"a,b, a\n1,2,3\n", "t.csv must give every column a name of its own; got 'a' twice. Rename one of them."),
        (
            b"1,2\n3,4\n",
            "t.csv must start with a line of column names; got only numbers. Add a line that names them.",
        ),
        (b"a\n\xff\xfe\n", "t.csv must be a CSV file in UTF-8; it holds other bytes. Export it as CSV."),
        (
            b"a\n" + b"1" * 200_000 + b"\n",
            "t.csv, line 2: this is no CSV (field larger than field limit (131072)). Export it again.",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else repr(value)[:24],
)
def test_refused_to_read(tmp_path, monkeypatch, content, message):
    """Each fault has its sentence, with the place."""
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_table("t.csv")
    assert str(caught.value) == message


def test_a_folder_is_no_table(tmp_path):
    """What the system says about the path is passed on."""
    with pytest.raises(TableError, match=r"cannot be read: .+\.$"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("names", "rows", "message"),
    [
        (["a"], [[1, 2]], r"rows must have shape \(n_rows, 1\), one column a name; got \(1, 2\)\."),
        (["a"], [1, 2], r"rows must have shape \(n_rows, 1\), one column a name; got \(2,\)\."),
        (["a"], np.empty((0, 1)), r"rows must have shape \(n_rows, 1\), one column a name; got \(0, 1\)\."),
        (["a"], [[np.nan]], r"rows must be finite numbers; got other values\. Drop these rows or mend them\."),
        (["a"], [["x"]], r"rows must be finite numbers; got other values\. Drop these rows or mend them\."),
        (["a", "a"], [[1, 2]], r"names must give every column a name of its own; got 'a' twice\. Rename one of them\."),
        (["0", "1"], [[1, 2]], r"names must start with a line of column names; got only numbers\."),
    ],
)
def test_refused_to_write(tmp_path, names, rows, message):
    """A table that could not be read back is not written."""
    with pytest.raises(TableError, match=message):
        write_table(tmp_path / "t.csv", names, rows)
    assert os.listdir(tmp_path) == []


def test_whole_or_not_at_all(tmp_path, monkeypatch):
    """A write that fails leaves the old table."""
    path = tmp_path / "t.csv"
    write_table(path, ["a"], [[1]])

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(_files.os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_table(path, ["a"], [[2]])
    assert path.read_text() == table_text(["a"], [[1]]) == "a\n1\n"
    assert os.listdir(tmp_path) == ["t.csv"]

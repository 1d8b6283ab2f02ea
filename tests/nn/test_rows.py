import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, IterableDataset, Subset, TensorDataset

from uulearn.nn import rows as module
from uulearn.nn.rows import as_rows, column, prefetched

parquet = pytest.importorskip("pyarrow.parquet")
pyarrow = pytest.importorskip("pyarrow")
datasets = pytest.importorskip("pyarrow.dataset")

N, D = 1000, 3
TABLE = np.random.default_rng(0).integers(-99, 99, size=(N, D)).astype(np.float32)
SETS = np.where(np.arange(N) % 3 == 0, "east", "western")
ORDERS = {
    "forward": np.arange(N),
    "backward": np.arange(N)[::-1],
    "shuffled": np.random.default_rng(1).permutation(N),
    "few": np.array([999, 0, 512]),
    "repeated": np.array([5, 700, 5, 5, 699, 700]),
    "none": np.array([], dtype=np.intp),
}


def mapped(folder, table, mode="r", **options):
    path = folder / "table.bin"
    path.write_bytes(table.tobytes(order=options.get("order", "C")))
    return np.memmap(path, table.dtype, mode, shape=table.shape, **options)


def written(path, table=TABLE, **columns):
    data = {f"x{j}": table[:, j] for j in range(table.shape[1])} | columns
    parquet.write_table(pyarrow.table(data), path, row_group_size=128)
    return path


def parts_of(folder):
    """The table cut into a folder of three files, in the order of their names."""
    for part, rows in enumerate(np.split(np.arange(N), [300, 301])):
        written(folder / f"part{part}.parquet", TABLE[rows])
    return folder


class Images(Dataset):
    """A Dataset of nothing but the two methods; an item is an array."""

    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, row):
        return self.items[row]


class Together(Images):
    def __getitem__(self, row):
        assert row == 0, "only the shape is asked for item by item"
        return self.items[row]

    def __getitems__(self, rows):
        return [self.items[row] for row in rows]


class Stream(IterableDataset):
    def __iter__(self):
        return iter(TABLE)


# Each source holds TABLE; whether it is in memory, and the folder it may write to.
SOURCES = {
    "array": (True, lambda folder: TABLE),
    "float64": (True, lambda folder: TABLE.astype(np.float64)),
    "int16 by columns": (True, lambda folder: np.asfortranarray(TABLE.astype(np.int16))),
    "tensor": (True, lambda folder: torch.tensor(TABLE, requires_grad=True)),
    "bfloat16 tensor": (True, lambda folder: torch.tensor(TABLE, dtype=torch.bfloat16)),
    "drawn from a memmap": (True, lambda folder: mapped(folder, TABLE)[np.arange(N)]),
    "memmap": (False, lambda folder: mapped(folder, TABLE)),
    "memmap int16, r+": (False, lambda folder: mapped(folder, TABLE.astype(np.int16), "r+")),
    "memmap big-endian, c": (False, lambda folder: mapped(folder, TABLE.astype(">f8"), "c")),
    "memmap by columns": (False, lambda folder: mapped(folder, TABLE, order="F")),
    "sliced memmap": (False, lambda folder: mapped(folder, np.pad(TABLE, ((7, 5), (2, 4))))[7:-5, 2:-4]),
    "memmap upside down": (False, lambda folder: mapped(folder, TABLE[::-1, ::-1].copy())[::-1, ::-1]),
    "every other row": (False, lambda folder: mapped(folder, np.repeat(TABLE, 2, axis=0))[::2]),
    "view of a memmap": (False, lambda folder: np.asarray(mapped(folder, TABLE)[:])),
    "npy": (False, lambda folder: np.save(folder / "t.npy", TABLE) or np.load(folder / "t.npy", mmap_mode="r")),
    "Parquet": (False, lambda folder: written(folder / "t.parquet")),
    "Parquet of float64": (False, lambda folder: str(written(folder / "t.parquet", TABLE.astype(np.float64)))),
    "Parquet folder": (False, parts_of),
    "pyarrow Dataset": (False, lambda folder: datasets.dataset(parts_of(folder), format="parquet")),
    "ParquetFile": (False, lambda folder: parquet.ParquetFile(written(folder / "t.parquet"))),
    "Dataset of tuples": (False, lambda folder: TensorDataset(torch.tensor(TABLE), torch.zeros(N))),
    "Dataset of arrays": (False, lambda folder: Images(TABLE)),
    "Dataset by batches": (False, lambda folder: Together(torch.tensor(TABLE))),
    "Subset": (False, lambda folder: Subset(Images(TABLE[::-1]), range(N - 1, -1, -1))),
}


@pytest.fixture(params=SOURCES, name="source")
def a_source(request, tmp_path):
    in_memory, build = SOURCES[request.param]
    return build(tmp_path), in_memory


def test_take_is_indexing(source):
    """Rows in any order, repeated or none, are those of the table, as an array that nobody else holds."""
    X, in_memory = source
    rows = as_rows(X)
    assert rows.shape == (N, D)
    assert rows.in_memory is in_memory
    for order in ORDERS.values():
        taken = rows.take(order)
        assert taken.dtype == np.float32
        assert taken.flags.c_contiguous
        np.testing.assert_array_equal(taken, TABLE[order])
        taken[...] = -1
    np.testing.assert_array_equal(rows.take(np.arange(N)), TABLE)


@pytest.mark.parametrize("bad", [[0, N], [-1]], ids=["beyond", "before"])
def test_rows_outside(source, bad):
    """No source counts from the end, and none reads beyond it."""
    with pytest.raises(IndexError, match=r"rows must lie in \[0, 1000\); got "):
        as_rows(source[0]).take(np.array(bad))


def test_many_blocks(monkeypatch, tmp_path):
    """Giving pages back in the middle of a take changes nothing, whatever the layout."""
    monkeypatch.setattr(module, "RESIDENT", 5000)
    monkeypatch.setattr(module, "FAULT", 1000)
    monkeypatch.setattr(module, "NEAR", 10)
    for name in [name for name in SOURCES if "memmap" in name or name == "every other row"]:
        rows = as_rows(SOURCES[name][1](tmp_path))
        for order in ORDERS.values():
            np.testing.assert_array_equal(rows.take(order), TABLE[order])


def test_images(tmp_path):
    """Rows of more dimensions keep them, also with the channels moved first."""
    images = np.random.default_rng(0).integers(0, 255, (50, 8, 6, 3), np.uint8)
    order = np.array([49, 3, 3, 0])
    for X in (mapped(tmp_path, images), images, Images(images), torch.tensor(images)):
        np.testing.assert_array_equal(as_rows(X).take(order), images[order])
    rows = as_rows(mapped(tmp_path, images).transpose(0, 3, 1, 2))
    assert rows.shape == (50, 3, 8, 6)
    np.testing.assert_array_equal(rows.take(order), images.transpose(0, 3, 1, 2)[order])


@pytest.mark.parametrize("mode", ["r+", "c"])
def test_written_pages_survive(monkeypatch, tmp_path, mode):
    """What was written into the memmap is still there after its pages were given back."""
    monkeypatch.setattr(module, "RESIDENT", 1)
    X = mapped(tmp_path, TABLE, mode)
    X[7] = 4
    rows = as_rows(X)
    for _ in range(2):
        assert rows.take(np.arange(N))[7].tolist() == [4, 4, 4]
    assert X[7].tolist() == [4, 4, 4]
    X.flush()
    on_disk = np.fromfile(tmp_path / "table.bin", np.float32).reshape(N, D)
    assert on_disk[7].tolist() == ([4, 4, 4] if mode == "r+" else TABLE[7].tolist())


def test_names_and_exclude(tmp_path):
    """Columns of a Parquet source keep their order and names; those that are no features can be left out."""
    path = written(tmp_path / "t.parquet", name=SETS, flag=np.arange(N) % 2 == 0)
    rows = as_rows(path, exclude=["name", "x1"])
    assert rows.names.tolist() == ["x0", "x2", "flag"]
    expected = np.column_stack([TABLE[:, [0, 2]], np.arange(N) % 2 == 0])
    np.testing.assert_array_equal(rows.take(ORDERS["shuffled"]), expected[ORDERS["shuffled"]])
    assert as_rows(TABLE).names is None


def test_column(tmp_path):
    """A column is read whole and keeps its type; a text is no object."""
    coded = pyarrow.array(SETS.tolist()).dictionary_encode()
    path = written(tmp_path / "t.parquet", name=SETS, coded=coded, number=np.arange(N))
    for source in (path, str(path), parquet.ParquetFile(path), datasets.dataset(path)):
        for name in ("name", "coded"):
            assert column(source, name).tolist() == SETS.tolist()
            assert column(source, name).dtype.kind == "U"
        np.testing.assert_array_equal(column(source, "number"), np.arange(N), strict=True)


def test_sets_as_folders(tmp_path):
    """A folder of folders called name=value has that column."""
    for kind in ("east", "west"):
        (tmp_path / f"set={kind}").mkdir()
        written(tmp_path / f"set={kind}" / "t.parquet")
    assert column(tmp_path, "set").tolist() == ["east"] * N + ["west"] * N
    rows = as_rows(tmp_path, exclude=["set"])
    np.testing.assert_array_equal(rows.take(np.arange(2 * N)), np.vstack([TABLE, TABLE]))


def test_groups_are_decoded_once(tmp_path):
    """A take decodes the groups it needs, each once, and the next take finds the last one at hand."""
    rows = as_rows(written(tmp_path / "t.parquet"))
    decoded = []
    rows._groups = [
        (size, lambda columns, group=group, read=read: decoded.append(group) or read(columns=columns))
        for group, (size, read) in enumerate(rows._groups)
    ]
    rows.take(np.array([500, 10, 505, 11, 900]))
    assert decoded == [0, 3, 7]
    rows.take(np.array([10, 901, 902]))
    assert decoded == [0, 3, 7, 0]
    rows.take(np.array([0, 5]))
    assert decoded == [0, 3, 7, 0]


def with_value(value, dtype=np.float32):
    table = TABLE.astype(dtype)
    table[[17, 400], 1] = value
    return table


BAD_VALUES = {
    "memmap, NaN": (lambda folder: mapped(folder, with_value(np.nan)), r"got NaN or no value in row 17\. "),
    "memmap, inf": (lambda folder: mapped(folder, with_value(-np.inf)), r"got infinity \(in float32\) in row 17\. "),
    "memmap, too large": (lambda folder: mapped(folder, with_value(1e300, float)), r"got infinity .* in row 17\. "),
    "Dataset": (lambda folder: Images(with_value(np.nan)), r"got NaN or no value in row 17\. "),
    "Dataset, too large": (lambda folder: Images(with_value(1e300, float)), r"got infinity .* in row 17\. "),
    "Parquet, NaN": (
        lambda folder: written(folder / "t.parquet", with_value(np.nan)),
        r"got NaN or no value in row 17, column 'x1'\. Fill or scale such values, or drop the row\.",
    ),
    "Parquet, too large": (
        lambda folder: written(folder / "t.parquet", with_value(1e300, float)),
        r"got infinity \(in float32\) in row 17, column 'x1'\. ",
    ),
    "Parquet, null": (
        lambda folder: written(folder / "t.parquet", flag=[None if n in (17, 18) else True for n in range(N)]),
        r"got NaN or no value in row 17, column 'flag'\. ",
    ),
}


@pytest.mark.parametrize(("build", "message"), BAD_VALUES.values(), ids=BAD_VALUES)
def test_values_are_checked(tmp_path, build, message):
    """The first bad row among those read is named, whatever their order; rows that are not read are not judged."""
    rows = as_rows(build(tmp_path))
    rows.take(np.arange(17))
    with pytest.raises(ValueError, match=r"X must hold finite numbers; " + message):
        rows.take(np.arange(N)[::-1])


REFUSALS = {
    "list": (lambda folder: as_rows([[1.0]]), TypeError, r"X must be an array, .*; got list\. Convert it"),
    "text": (lambda folder: as_rows(np.array([["a"]])), ValueError, r"X must hold rows of numbers; got .* of <U1\."),
    "complex": (lambda folder: as_rows(torch.zeros(2, 2, dtype=torch.cfloat)), ValueError, r"of complex64\. Encode"),
    "flat": (lambda folder: as_rows(np.zeros(3)), ValueError, r"X must hold rows of numbers; got shape \(3,\) of"),
    "no features": (lambda folder: as_rows(np.zeros((3, 0))), ValueError, r"got shape \(3, 0\) of float64\."),
    "exclude of an array": (
        lambda folder: as_rows(TABLE, exclude=["a"]),
        ValueError,
        r"exclude must be empty unless X is a Parquet source; got 'a'\. Leave it out\.",
    ),
    "stream": (
        lambda folder: as_rows(Stream()),
        ValueError,
        r"X must be a Dataset with __getitem__ and a length above 0; got Stream\. Write a stream to a memmap or to ",
    ),
    "empty Dataset": (lambda folder: as_rows(Images([])), ValueError, r"and a length above 0; got Images\."),
    "Dataset of dicts": (
        lambda folder: as_rows(Images([{"x": 1}])),
        ValueError,
        r"X must yield an array of numbers, or a tuple that starts with one; got dict for row 0\.",
    ),
    "Dataset of numbers": (lambda folder: as_rows(Images([1.0])), ValueError, r"got float for row 0\."),
    "Dataset of two shapes": (
        lambda folder: as_rows(Images([np.zeros(4), np.zeros(1)])).take(np.array([0, 1])),
        ValueError,
        r"X must yield rows of one shape; got \(1,\) in row 1 and \(4,\) in row 0\. Crop or pad them\.",
    ),
    "no file": (
        lambda folder: as_rows(folder / "none.parquet"),
        ValueError,
        r"X must be a Parquet file, a folder of them .*; got .*none\.parquet.*\. Check the name and the files\.",
    ),
    "no Parquet": (
        lambda folder: as_rows(mapped(folder, TABLE) is None or folder / "table.bin"),
        ValueError,
        r"X must be a Parquet file, .*; got .*table\.bin.*\. Check the name and the files\.",
    ),
    "empty folder": (lambda folder: as_rows(folder), ValueError, r"at least one row; got Parquet files without rows"),
    "no rows": (
        lambda folder: as_rows(written(folder / "t.parquet", TABLE[:0])),
        ValueError,
        r"X must hold at least one row; got Parquet files without rows\. Bring rows\.",
    ),
    "filtered": (
        lambda folder: as_rows(datasets.dataset(written(folder / "t.parquet")).filter(datasets.field("x0") > 0)),
        ValueError,
        r"unfiltered pyarrow Dataset of them; got FileSystemDataset\. Check the name and the files\.",
    ),
    "pyarrow Table": (
        lambda folder: as_rows(pyarrow.table({"a": [1]})),
        ValueError,
        r"X must be a Parquet file, .*; got Table\. Check the name and the files\.",
    ),
    "text in Parquet": (
        lambda folder: as_rows(written(folder / "t.parquet", name=SETS)),
        ValueError,
        r"X must hold numbers; got string in column 'name'\. Encode or exclude the column\.",
    ),
    "all excluded": (
        lambda folder: as_rows(written(folder / "t.parquet"), exclude=["x0", "x1", "x2"]),
        ValueError,
        r"exclude must leave a column of features; got 'x0', 'x1', 'x2'\. Exclude fewer\.",
    ),
    "unknown exclude": (
        lambda folder: as_rows(written(folder / "t.parquet"), exclude=["x9"]),
        ValueError,
        r"exclude must name columns of X, 'x0', 'x1', 'x2'; got 'x9'\. Check the spelling\.",
    ),
    "unknown column": (
        lambda folder: column(written(folder / "t.parquet"), "x9"),
        ValueError,
        r"name must name columns of X, 'x0', 'x1', 'x2'; got 'x9'\. Check the spelling\.",
    ),
    "column of an array": (
        lambda folder: column(TABLE, "a"),
        ValueError,
        r"X must be a Parquet file, .*; got ndarray\. Check the name and the files\.",
    ),
    "column with a gap": (
        lambda folder: column(written(folder / "t.parquet", s=["a"] * 200 + [None] + ["b"] * (N - 201)), "s"),
        ValueError,
        r"X must have a 's' in every row; row 200 has none\. Fill it in\.",
    ),
    "nothing ahead": (
        lambda folder: next(prefetched([1], ahead=0)),
        ValueError,
        r"ahead must be a whole number of at least 1; got 0\.",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), REFUSALS.values(), ids=REFUSALS)
def test_refusals(tmp_path, call, kind, message):
    """Every refusal is one readable line."""
    with pytest.raises(kind, match=message) as caught:
        call(tmp_path)
    assert "\n" not in str(caught.value)


def test_without_pyarrow(monkeypatch):
    """A path without pyarrow says what to install."""
    for name in ("pyarrow", "pyarrow.dataset", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"^Parquet files need pyarrow: pip install uulearn\[parquet\]$"):
        as_rows("table.parquet")


def test_pyarrow_is_lazy():
    """Rows of arrays never load pyarrow."""
    code = "import sys, uulearn.nn.rows as rows, numpy; rows.as_rows(numpy.eye(2)); print('pyarrow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def background():
    return [thread for thread in threading.enumerate() if thread.name.startswith("uulearn-prefetched")]


@pytest.mark.parametrize("ahead", [1, 3])
def test_prefetched_runs_ahead(ahead):
    """Exactly `ahead` further items are computed while the caller holds one, and none before it asks."""
    computed = [threading.Event() for _ in range(10)]

    def items():
        for number, event in enumerate(computed):
            event.set()
            yield number

    ready = prefetched(items(), ahead)
    assert not background()
    assert next(ready) == 0
    assert computed[ahead].wait(10)
    assert not computed[ahead + 1].wait(0.05)
    assert list(ready) == list(range(1, 10))
    assert not background()


def test_prefetched_overlaps():
    """The work of the thread and of the caller go on at the same time."""
    begun = time.perf_counter()
    for _ in prefetched(time.sleep(0.05) for _ in range(6)):
        time.sleep(0.05)
    assert time.perf_counter() - begun < 0.55


def test_prefetched_passes_errors_on():
    """An error reaches the caller after the items before it, and the thread is gone."""

    def items():
        yield 1
        raise KeyError("lost")

    ready = prefetched(items())
    assert next(ready) == 1
    with pytest.raises(KeyError, match="lost"):
        next(ready)
    assert not background()


def test_prefetched_closed_early():
    """Closing stops the thread, and the items that nobody waits for are never computed."""
    computed = []
    ready = prefetched((computed.append(n) or n for n in range(1000)), ahead=2)
    next(ready)
    ready.close()
    assert not background()
    assert len(computed) <= 4


THROUGH = """
import sys
import numpy as np
from uulearn.nn.rows import as_rows

def resident(field):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field)) / 1024

X = np.memmap(sys.argv[1], np.float32, "r", shape=(100_000, 1024))
rows = as_rows(X)
rows.take(np.arange(10))
open("/proc/self/clear_refs", "w").write("5")  # the peak so far is forgotten
before = resident("VmRSS")
rng = np.random.default_rng(0)
for step in range(0, 100_000, 5000):
    assert rows.take(np.arange(step, step + 5000)).sum() == 0
for _ in range(20):
    rows.take(rng.integers(100_000, size=2000))
print(resident("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("written_before", [False, True], ids=["sparse", "in the page cache"])
def test_memory_of_a_memmap_is_bounded(tmp_path, written_before):
    """Reading through a 400 MB memmap, in order and at random, keeps less than 150 MB resident."""
    path = tmp_path / "large.bin"
    with path.open("wb") as handle:
        handle.truncate(100_000 * 4096)
        for _ in range(6 if written_before else 0):
            handle.write(bytes(64 << 20))
    done = subprocess.run([sys.executable, "-c", THROUGH, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 150

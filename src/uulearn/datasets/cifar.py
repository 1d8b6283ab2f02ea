"""The forms of CIFAR-10: binary batches, Python batches, an archive of either, and lossless WebP mosaics."""

import io
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uulearn.datasets.readers import Block, content, need, reads

BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
SIZE = 3 * 32 * 32


@reads("a binary batch of CIFAR-10")
def binary_batch(path: Path) -> Block:
    """See `from_binary`."""
    return from_binary(content(path))


@reads("a Python batch of CIFAR-10")
def python_batch(path: Path) -> Block:
    """See `from_python`."""
    return from_python(content(path))


@reads("the archive of CIFAR-10")
def archive(path: Path, names: tuple[str, ...], decode: Callable[[bytes], Block]) -> dict[str, Block]:
    """The named members of a .tar.gz, whatever folder they are in, read in one pass."""
    found = {}
    with tarfile.open(path, "r|*") as members:
        for member in members:
            name = Path(member.name).name
            stream = members.extractfile(member) if name in names else None
            if stream is not None:
                found[name] = decode(stream.read())
    absent = [name for name in names if name not in found]
    if absent:
        raise ValueError(f"it must hold {', '.join(absent)}")
    return found


def from_binary(data: bytes) -> Block:
    """Every row is one byte of class and 3,072 bytes of red, green and blue."""
    if not data or len(data) % (1 + SIZE):
        raise ValueError(f"its bytes must be a multiple of {1 + SIZE:,}; got {len(data):,}")
    rows = np.frombuffer(data, np.uint8).reshape(-1, 1 + SIZE)
    return rows[:, 1:].reshape(-1, 3, 32, 32), rows[:, 0]


def from_python(data: bytes) -> Block:
    """A pickle of a dictionary with `data` and `labels`, read without running anything it names."""
    batch = _Unpickler(io.BytesIO(data), encoding="latin1").load()
    if not isinstance(batch, dict) or not {"data", "labels"} <= batch.keys():
        raise ValueError("it must be a dictionary of data and labels")
    rows = np.asarray(batch["data"])
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != SIZE:
        raise ValueError(f"data must hold bytes of shape (n, {SIZE}); got {rows.dtype} of shape {rows.shape}")
    return rows.reshape(-1, 3, 32, 32), np.array(batch["labels"], np.uint8)


def _empty(_kind: Any, shape: Any, code: Any) -> NDArray[Any]:
    return np.empty(shape, code)


def _dtype(code: str, *_flags: Any) -> np.dtype[Any]:
    if code not in ("b", "u1"):  # plain bytes: no type of objects, whose elements could be anything
        raise pickle.UnpicklingError(f"it holds an array of type {code!r}")
    return np.dtype(code, copy=True)  # a pickle goes on to set its state, which the one everybody uses must not see


KNOWN = {
    ("numpy.core.multiarray", "_reconstruct"): _empty,
    ("numpy._core.multiarray", "_reconstruct"): _empty,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): _dtype,
}


class _Unpickler(pickle.Unpickler):
    """An array of bytes is all that a batch needs, so nothing else that a pickle can name is built or called."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in KNOWN:
            return KNOWN[module, name]
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no batch needs and which is not run")


@reads("a WebP mosaic of 100 times 100 images")
def mosaic(path: Path) -> NDArray[np.uint8]:
    """The 10,000 images of a batch, row by row."""
    need("PIL", "'uulearn[plot]' (or Pillow)", f"{path}")
    from PIL import Image

    with Image.open(path) as picture:
        pixels = np.asarray(picture.convert("RGB"))
    return pixels.reshape(100, 32, 100, 32, 3).transpose(0, 2, 4, 1, 3).reshape(-1, 3, 32, 32)


@reads("the classes of CIFAR-10 as y_train and y_test")
def classes(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The classes of batches 1 to 5 in order, and of the test batch."""
    with np.load(path, allow_pickle=False) as file:
        return file["y_train"].astype(np.uint8), file["y_test"].astype(np.uint8)

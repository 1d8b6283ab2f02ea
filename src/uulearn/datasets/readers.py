"""Readers of the file formats that the data sets were published in: idx, MATLAB, HDF5 and text.

Every reader takes one file and gives rows with their official classes. None runs code that a file may hold.
"""

import gzip
import io
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Block = tuple[NDArray[Any], NDArray[Any]]
"""Rows and the official class of each."""

Read = TypeVar("Read", bound=Callable[..., Any])


class DatasetError(ValueError):
    """A file is not what was published; the message names it, what is wrong with it and where to get it."""


def reads(kind: str) -> Callable[[Read], Read]:
    """Turn whatever goes wrong in a reader of one file into a sentence that names the file and its `kind`."""

    def decorate(read: Read) -> Read:
        @wraps(read)
        def checked(path: Path, *options: Any) -> Any:
            try:
                return read(path, *options)
            except (DatasetError, ImportError, MemoryError):
                raise
            except EOFError:
                raise DatasetError(f"{path} must be {kind}; its bytes end too early.") from None
            except OSError as problem:
                raise DatasetError(
                    f"{path} must be {kind}; it cannot be read: {problem.strerror or problem}."
                ) from None
            except Exception as problem:  # broken bytes make the libraries below raise almost anything
                raise DatasetError(f"{path} must be {kind}; reading it failed: {problem}.") from None

        return checked  # type: ignore[return-value]  # `wraps` keeps the signature, which mypy cannot see

    return decorate


def content(path: Path) -> bytes:
    """The bytes of a file, unpacked where they are gzip."""
    packed = path.read_bytes()
    return gzip.decompress(packed) if packed[:2] == b"\x1f\x8b" else packed


def need(package: str, extra: str, what: str) -> None:
    """Refuse if an optional package is missing, saying how to get it."""
    if find_spec(package.partition(".")[0]) is None:
        raise ModuleNotFoundError(f"{what} needs the package {package}, which is missing: pip install {extra}.")


@reads("an idx file of bytes")
def idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The format of MNIST: two zero bytes, type 8, the number of dimensions, big-endian sizes, then the bytes."""
    data = content(path)
    if data[:4] != bytes([0, 0, 8, dimensions]):
        raise ValueError(f"it must start with the bytes 0, 0, 8, {dimensions}; got {list(data[:4])}")
    start = 4 + 4 * dimensions
    if len(data) < start:
        raise EOFError
    sizes = tuple(np.frombuffer(data[4:start], ">u4").tolist())
    if len(data) - start != prod(sizes):
        raise ValueError(f"{prod(sizes):,} bytes must follow its header; got {len(data) - start:,}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(sizes)


def idx_pair(images: Path, labels: Path) -> Block:
    """Grey images and their classes."""
    return idx(images, 3)[:, None], idx(labels, 1)


@reads("a table of numbers with one class a line")
def table(path: Path, label: int, letters: bool = False) -> Block:
    """Text of commas; column `label` (0 or -1) holds the class, a whole number or a letter."""
    values = _text(path, ",", {label: ord} if letters else None)
    classes, rows = values[:, label], np.delete(values, label, axis=1)
    return rows, np.array([chr(code) for code in classes.astype(int)]) if letters else _bytes(classes)


def _text(path: Path, delimiter: str | None, converters: Any = None) -> NDArray[np.float64]:
    text = content(path).decode("ascii")
    if not text.strip():
        raise ValueError("it holds no line")
    return np.loadtxt(io.StringIO(text), delimiter=delimiter, converters=converters, ndmin=2)


def _bytes(classes: NDArray[Any]) -> NDArray[np.uint8]:
    codes = np.clip(classes, 0, 255).astype(np.uint8)
    if not np.array_equal(codes, classes):
        raise ValueError("its classes must be whole numbers from 0 to 255")
    return codes


@reads("a MATLAB file of cropped digits (format 2)")
def svhn(path: Path) -> Block:
    """X of shape (32, 32, 3, n) and y with 10 for the digit 0. The images are a view: extra_32x32.mat is large."""
    X, y = _matlab(path, "X", "y")
    if X.ndim != 4 or X.dtype != np.uint8:
        raise ValueError(f"X must hold bytes of shape (32, 32, 3, n); got {X.dtype} of shape {X.shape}")
    return X.transpose(3, 2, 0, 1), _bytes(y.ravel()) % 10


@reads("the MATLAB file of 8-bit USPS digits")
def usps_matlab(path: Path) -> Block:
    """data of shape (256, 1100, 10) in the order 1, ..., 9, 0 of the digits; pixels run down the columns."""
    (data,) = _matlab(path, "data")
    if data.shape != (256, 1100, 10) or data.dtype != np.uint8:
        raise ValueError(f"data must hold bytes of shape (256, 1100, 10); got {data.dtype} of shape {data.shape}")
    upright = data.transpose(2, 1, 0).reshape(-1, 1, 16, 16).swapaxes(2, 3)
    return upright, ((np.arange(10).repeat(1100) + 1) % 10).astype(np.uint8)


def _matlab(path: Path, *names: str) -> list[NDArray[Any]]:
    from scipy.io import loadmat

    with path.open("rb") as handle:
        found = loadmat(handle, variable_names=names)
    if not all(name in found for name in names):
        raise ValueError(f"it must hold {' and '.join(names)}")
    return [found[name] for name in names]


@reads("a text of USPS digits, 257 numbers a line")
def usps_text(path: Path) -> Block:
    """The class, then 256 grey values from -1 to 1 with three decimals."""
    values = _text(path, None)
    return grey(values[:, 1:]), _bytes(values[:, 0])


@reads("an HDF5 file of USPS digits")
def usps_hdf5(path: Path) -> tuple[Block, Block]:
    """The training rows and the test rows of the same digits, grey values from 0 to 1."""
    need("h5py", "h5py", f"{path}")
    import h5py

    with h5py.File(path) as file:
        first, second = (
            (grey(np.asarray(file[f"{name}/data"], np.float64) * 2 - 1), _bytes(file[f"{name}/target"][:]))
            for name in ("train", "test")
        )
    return first, second


def grey(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Grey values from -1 to 1 as images on the scale 0 to 255, rounded to the three decimals they were given with."""
    thousandths = np.round(values * 1000)
    return ((thousandths + 1000) * 0.1275).astype(np.float32).reshape(-1, 1, 16, 16)

"""Small files in the official formats of the data sets, and sources that expect just these."""

import gzip
import io
import struct
import tarfile
from dataclasses import replace

import numpy as np
from scipy.io import savemat

from uulearn.datasets.catalogue import BY_NAME, Split

TWO = {name: 2 for name in range(10)}


def source(name, form=0, counts=TWO, test=TWO, draw=None):
    """The source of that name with one form, whose files hold so many rows of each class; no checksum."""
    known = BY_NAME[name]
    splits = [replace(split, sha256="") for split in known.forms[form].splits]
    splits = tuple(replace(split, counts=how) for split, how in zip(splits, (counts, test), strict=False))
    return replace(known, forms=(replace(known.forms[form], splits=splits, md5=()),), draw=draw)


def rows(shape, classes, seed=0):
    """Random bytes, one row a class."""
    return np.random.default_rng(seed).integers(256, size=(len(classes), *shape), dtype=np.uint8)


def balanced(seed=0):
    """Two of each digit, in any order."""
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(10), 2)).astype(np.uint8)


def idx(values):
    return bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape) + values.tobytes()


def write_idx(folder, packed=True, **changed):
    """The four files of MNIST; returns images and classes of both splits."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for seed, split in enumerate(("train", "t10k")):
        labels = balanced(seed)
        images = rows((28, 28), labels, seed)
        for name, values in ((f"{split}-images-idx3-ubyte", images), (f"{split}-labels-idx1-ubyte", labels)):
            content = changed.get(name.partition("-idx")[0].replace("-", "_"), idx(values))
            place = folder / (f"{name}.gz" if packed else name)
            place.write_bytes(gzip.compress(content) if packed else content)
        made += [images, labels]
    return made


def matlab(**arrays):
    buffer = io.BytesIO()
    savemat(buffer, arrays, do_compression=True)
    return buffer.getvalue()


def write_svhn(folder):
    """Three files of cropped digits; images as (n, 3, 32, 32) and digits by file."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for seed, name in enumerate(("train", "extra", "test")):
        digits = balanced(seed)
        images = rows((3, 32, 32), digits, seed)
        as_stored = np.where(digits == 0, 10, digits)[:, None]
        (folder / f"{name}_32x32.mat").write_bytes(matlab(X=images.transpose(2, 3, 1, 0), y=as_stored))
        made[name] = images, digits
    return made


def binary_batch(images, labels):
    return b"".join(bytes([label]) + image.tobytes() for image, label in zip(images, labels, strict=True))


def python_batch(images, labels):
    """A batch as Python 2 pickled it, opcode by opcode: what `pickle.dumps` writes today looks different."""

    def text(value):
        return b"U" + bytes([len(value)]) + value

    def number(value):
        return b"J" + struct.pack("<i", value)

    data = images.tobytes()
    kind = b"cnumpy\ndtype\n" + text(b"u1") + number(0) + number(1) + b"\x87R"
    kind += b"(" + number(3) + text(b"|") + b"NNN" + number(-1) + number(-1) + number(0) + b"tb"
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n" + number(0) + b"\x85" + text(b"b") + b"\x87R"
    shape = number(len(images)) + number(3072) + b"\x86"
    array += b"(" + number(1) + shape + kind + b"\x89T" + struct.pack("<i", len(data)) + data + b"tb"
    names = b"](" + b"".join(number(int(label)) for label in labels) + b"e"
    return b"\x80\x02}(" + text(b"data") + array + text(b"labels") + names + b"u."


def tar(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"cifar-10-batches/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def write_cifar(folder, form):
    """Six batches of 20 images in the form asked for; images and classes of the training split."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for seed, name in enumerate([*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]):
        labels = balanced(seed)
        made[name] = rows((3, 32, 32), labels, seed), labels
    ending, encode = (".bin", binary_batch) if "binary" in form else ("", python_batch)
    files = {name + ending: encode(*batch) for name, batch in made.items()}
    if "archive" in form:
        files = {f"cifar-10-{form.split()[0]}.tar.gz": tar({"batches.meta": b"names", **files})}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    batches = list(made.values())[:-1]
    return np.concatenate([images for images, _ in batches]), np.concatenate([labels for _, labels in batches])


def small(split: Split) -> Split:
    """The same classes, two rows each."""
    return replace(split, counts={name: 2 for name in split.counts}, sha256="")

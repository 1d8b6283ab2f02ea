"""What is known of every data set: files, shapes, rows of each class, checksums, positive classes.

A checksum is taken of the numbers that were read, not of a file: SHA-256 of the rows and of one byte a class. So it
holds for every form the same rows come in, packed or not, with either kind of line ends. Only where nobody here could
read the official files (SVHN) their published MD5 stands instead.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from uulearn.datasets import cifar, readers
from uulearn.datasets.readers import Block

EVEN = (0, 2, 4, 6, 8)


@dataclass(frozen=True)
class Split:
    """The official training rows, or the official test rows.

    Attributes
    ----------
    shape : tuple of int
        Of one row.
    counts : mapping
        Official class to its number of rows.
    sha256 : str
        Of the rows, then one byte a class; empty where it is not known.
    """

    shape: tuple[int, ...]
    counts: Mapping[Any, int]
    sha256: str = ""

    @property
    def rows(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Form:
    """One way the data set comes in files.

    Attributes
    ----------
    files : tuple of str
        Their names; each may end in .gz as well.
    read : callable
        The paths of the files to the blocks of each split.
    splits : tuple of Split
        The training split and, where there is one, the test split.
    md5 : tuple of str
        Of the files; empty where the SHA-256 of the splits is known.
    """

    files: tuple[str, ...]
    read: Callable[[list[Path]], list[list[Block]]]
    splits: tuple[Split, ...]
    md5: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpenML:
    """The same rows on openml.org: `label` turns its class names into the official ones, `rows` its numbers."""

    number: int
    splits: tuple[Split, ...]
    label: Callable[[str], Any] = int
    rows: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Source:
    """A data set: its forms (the first complete one is read), where the files may lie, and its positive classes.

    `draw` rows are drawn from the training split where the paper does so.
    """

    name: str
    title: str
    url: str
    folders: tuple[str, ...]
    forms: tuple[Form, ...]
    positive: tuple[Any, ...]
    openml: OpenML | None = None
    draw: int | None = None


def _digits(*counts: int) -> dict[Any, int]:
    return dict(enumerate(counts))


def _idx(paths: list[Path]) -> list[list[Block]]:
    return [[readers.idx_pair(*paths[:2])], [readers.idx_pair(*paths[2:])]]


def _one_by_one(read: Callable[[Path], Block], paths: list[Path]) -> list[list[Block]]:
    """One split a file."""
    return [[read(path)] for path in paths]


def _last_is_test(read: Callable[[Path], Block], paths: list[Path]) -> list[list[Block]]:
    return [[read(path) for path in paths[:-1]], [read(paths[-1])]]


def _class_last(path: Path) -> Block:
    return readers.table(path, -1)


def _letter_first(path: Path) -> Block:
    return readers.table(path, 0, True)


def _both(paths: list[Path]) -> list[list[Block]]:
    train, test = readers.usps_hdf5(paths[0])
    return [[train], [test]]


def _archive(ending: str, decode: Callable[[bytes], Block], paths: list[Path]) -> list[list[Block]]:
    names = tuple(name + ending for name in (*cifar.BATCHES, "test_batch"))
    found = cifar.archive(paths[0], names, decode)
    return [[found[name] for name in names[:-1]], [found[names[-1]]]]


def _mosaics(paths: list[Path]) -> list[list[Block]]:
    *batches, test, labels = paths
    train_classes, test_classes = cifar.classes(labels)
    train = [(cifar.mosaic(path), train_classes[10_000 * k : 10_000 * (k + 1)]) for k, path in enumerate(batches)]
    return [train, [(cifar.mosaic(test), test_classes)]]


IDX = tuple(f"{split}-{what}-ubyte" for split in ("train", "t10k") for what in ("images-idx3", "labels-idx1"))
UCI = "https://archive.ics.uci.edu"

MNIST = (
    Split(
        (1, 28, 28),
        _digits(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949),
        "9bb5918edf2e1c6e3d63d36ac718656068b15633d20e415dba6620e0114fd0a1",
    ),
    Split(
        (1, 28, 28),
        _digits(980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009),
        "23924ed92bb20146db800bd3a984036a881c319f6d4d4a9f41fdfbd02f72c460",
    ),
)
FASHION = (
    Split((1, 28, 28), _digits(*[6000] * 10), "3a6b65be800672450ceea69fa0158ebaa0c51a8e7926028fae8eef5bac4784b3"),
    Split((1, 28, 28), _digits(*[1000] * 10), "adbb788218cdfd387b3982539aa751011e0b3915c9ad9637c77bd9b53752909b"),
)
CIFAR = (
    Split((3, 32, 32), _digits(*[5000] * 10), "0d156b834ed0560b4b05087d34f32ba6ff4ee05a57f5b1a0dc04f040fec5d312"),
    Split((3, 32, 32), _digits(*[1000] * 10), "afc0c7e80c1cba5cdd225e7b78134ead151249da4d5cd7bd5e61b4b8989b8005"),
)
# Training and extra images together, as the paper draws from both.
SVHN = (
    Split((3, 32, 32), _digits(50498, 104421, 85325, 69262, 58091, 60372, 47309, 49592, 40403, 39115)),
    Split((3, 32, 32), _digits(1744, 5099, 4149, 2882, 2523, 2384, 1977, 2019, 1660, 1595)),
)
ROWEIS = (
    Split((1, 16, 16), _digits(*[1100] * 10), "755fdaae577561b42559ee14952017e3e4778ebc1c96ff45b5fab8228fffb5d6"),
)
ZIP = (
    Split(
        (1, 16, 16),
        _digits(1194, 1005, 731, 658, 652, 556, 664, 645, 542, 644),
        "d6c990ba0cd56d725afa444bb45bb823302e910c1a5313459e2bab7fcfaa6c1e",
    ),
    Split(
        (1, 16, 16),
        _digits(359, 264, 198, 166, 200, 160, 170, 147, 166, 177),
        "c29e07de791e40fdb2d2e2a8e4291a300f515f4251c130691d4a5d73f5f5904a",
    ),
)
PENDIGITS = (
    Split(
        (16,),
        _digits(780, 779, 780, 719, 780, 720, 720, 778, 719, 719),
        "448f81c43e830860d61f32a493bd690789d3e367e0edc1362b4254c9acdcaa9a",
    ),
    Split(
        (16,),
        _digits(363, 364, 364, 336, 364, 335, 336, 364, 336, 336),
        "2ef9566bcf59dd58c484c812eed4cb2ca9cad2cd104d53e4315062d59b4c96d9",
    ),
)
COVERTYPE = (
    Split(
        (54,),
        dict(zip(range(1, 8), (211840, 283301, 35754, 2747, 9493, 17367, 20510), strict=True)),
        "529024519198ef6cc3dce84b7fdc48a87aa52505aabb9e13866795ca59e90edc",
    ),
)
SPAMBASE = (Split((57,), _digits(2788, 1813), "353d1672165eb06005faa5a0819a58eef56c9f9f3021c8b8d1b7096e9d17d242"),)
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LETTER_COUNTS = (
    *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),  # A to M
    *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
)
LETTER = (
    Split(
        (16,),
        dict(zip(LETTERS, LETTER_COUNTS, strict=True)),
        "604ac078009faef2499f5429de98dca8e1082188da290725230f00fd67c3df20",
    ),
)

SOURCES = (
    Source(
        "mnist",
        "MNIST",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        ("mnist", "MNIST/raw"),
        (Form(IDX, _idx, MNIST),),
        EVEN,
        OpenML(554, MNIST),
    ),
    Source(
        "fashion-mnist",
        "Fashion-MNIST",
        "https://github.com/zalandoresearch/fashion-mnist",
        ("fashion-mnist", "FashionMNIST/raw"),
        (Form(IDX, _idx, FASHION),),
        EVEN,  # T-shirt, pullover, coat, shirt, bag
        OpenML(40996, FASHION),
    ),
    Source(
        "svhn",
        "SVHN",
        "http://ufldl.stanford.edu/housenumbers/",
        ("svhn", "."),
        (
            Form(
                ("train_32x32.mat", "extra_32x32.mat", "test_32x32.mat"),
                partial(_last_is_test, readers.svhn),
                SVHN,
                (
                    "e26dedcc434d2e4c54c9b2d4a06d8373",
                    "a93ce644f1a588dc4d68dda5feec44a7",
                    "eb5a983be6a315427106f1b164d9cef3",
                ),
            ),
        ),
        (0, 6, 8, 9),
        # OpenML has no extra images, from which most of the paper's 100,000 rows are drawn.
        draw=100_000,
    ),
    Source(
        "cifar10",
        "CIFAR-10",
        "https://www.cs.toronto.edu/~kriz/cifar.html",
        (
            "cifar10",
            "cifar10/cifar-10-batches-bin",
            "cifar10/cifar-10-batches-py",
            ".",
            "cifar-10-batches-bin",
            "cifar-10-batches-py",
        ),
        (
            Form(
                tuple(f"{name}.bin" for name in (*cifar.BATCHES, "test_batch")),
                partial(_last_is_test, cifar.binary_batch),
                CIFAR,
            ),
            Form((*cifar.BATCHES, "test_batch"), partial(_last_is_test, cifar.python_batch), CIFAR),
            Form(("cifar-10-binary.tar.gz",), partial(_archive, ".bin", cifar.from_binary), CIFAR),
            Form(("cifar-10-python.tar.gz",), partial(_archive, "", cifar.from_python), CIFAR),
            Form((*(f"{name}.webp" for name in (*cifar.BATCHES, "test_batch")), "labels.npz"), _mosaics, CIFAR),
        ),
        (2, 3, 4, 5, 6, 7),  # bird, cat, deer, dog, frog, horse
        OpenML(40927, CIFAR),
    ),
    Source(
        "usps",
        "USPS",
        "https://cs.nyu.edu/~roweis/data.html",
        ("usps", "."),
        (
            # The edition of the paper comes first; the others are the digits of the same envelopes, cut otherwise.
            Form(("usps_all.mat",), partial(_one_by_one, readers.usps_matlab), ROWEIS),
            Form(("zip.train", "zip.test"), partial(_one_by_one, readers.usps_text), ZIP),
            Form(("usps.h5",), _both, ZIP),
        ),
        EVEN,
        OpenML(41082, ZIP, label=lambda name: int(name) - 1, rows=readers.grey),  # its classes are called 1 to 10
    ),
    Source(
        "pendigits",
        "pendigits",
        f"{UCI}/dataset/81",
        ("pendigits", "."),
        (Form(("pendigits.tra", "pendigits.tes"), partial(_one_by_one, _class_last), PENDIGITS),),
        EVEN,
        OpenML(32, PENDIGITS),
    ),
    Source(
        "covertype",
        "covertype",
        f"{UCI}/dataset/31",
        ("covtype", "covertype", "."),
        (Form(("covtype.data",), partial(_one_by_one, _class_last), COVERTYPE),),
        (7,),
        OpenML(1596, COVERTYPE),
    ),
    Source(
        "spambase",
        "spambase",
        f"{UCI}/dataset/94",
        ("spambase", "."),
        (Form(("spambase.data",), partial(_one_by_one, _class_last), SPAMBASE),),
        (0,),  # no spam: only it has the rows that table 3 asks for
        OpenML(44, SPAMBASE),
    ),
    Source(
        "letter",
        "letter",
        f"{UCI}/dataset/59",
        ("letter", "."),
        (Form(("letter-recognition.data",), partial(_one_by_one, _letter_first), LETTER),),
        tuple(LETTERS[:13]),
        OpenML(6, LETTER, label=str),
    ),
)
BY_NAME = {source.name: source for source in SOURCES}

"""Table 1 of the paper as found in a folder: rows, features and share of positives of every data set."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from uulearn.datasets.catalogue import BY_NAME, Source
from uulearn.datasets.loading import find_folder, how_to_get, open_source
from uulearn.datasets.readers import DatasetError


@dataclass(frozen=True)
class Line:
    """One data set: what was found, or why not.

    Attributes
    ----------
    name, title : str
    train, test : int
        Rows; 0 where there are none.
    features : int
    prior : float
        Share of positives among the test rows, or among all where there are none.
    source : str
        Where it was found; empty if it was not.
    problem : str
        Why it could not be read, and what to do; empty if it was.
    missing : bool
        A file is not there, which is no fault.
    """

    name: str
    title: str
    train: int = 0
    test: int = 0
    features: int = 0
    prior: float = float("nan")
    source: str = ""
    problem: str = ""
    missing: bool = False


def survey(data_dir: str | os.PathLike[str] | None = None, progress: Callable[[str], None] = print) -> list[Line]:
    """Read every data set of a folder and tell what it holds. Nothing is fetched.

    Parameters
    ----------
    data_dir : path, optional
        As for `load`; where no folder is named, every data set is missing.
    progress : callable
        Told the title of the next data set, once for each.

    Returns
    -------
    list of Line

    Raises
    ------
    NotADirectoryError
        If the named folder is none.
    """
    folder = find_folder(data_dir)
    lines = []
    for source in BY_NAME.values():
        progress(source.title)
        lines.append(_line(source, folder))
    return lines


def _line(source: Source, folder: Path | None) -> Line:
    line = Line(source.name, source.title)
    if folder is None:
        return replace(line, missing=True, problem=f"{how_to_get(source)}.")
    try:
        data = open_source(source, folder)
    except FileNotFoundError as problem:
        return replace(line, missing=True, problem=str(problem))
    except (DatasetError, ImportError, OSError) as problem:
        return replace(line, problem=str(problem))
    return replace(
        line,
        train=len(data.y),
        test=0 if data.y_test is None else len(data.y_test),
        features=data.features,
        prior=data.prior,
        source=data.source,
    )

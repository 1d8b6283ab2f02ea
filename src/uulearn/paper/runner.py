"""Runs what an experiment still lacks: skips what is recorded, records what is finished, goes on after a kill."""

import os
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread

import numpy as np

from uulearn import results
from uulearn._checks import choose, integer
from uulearn.datasets import DatasetError
from uulearn.paper.problems import Path as Folder
from uulearn.paper.progress import Progress
from uulearn.paper.spec import Spec
from uulearn.paper.specs import find
from uulearn.paper.work import Task, checkpoint, work
from uulearn.results import Run

STATES = "unfinished"
"""The folder, beside the records, of trainings under way."""
ABSENT = (FileNotFoundError, DatasetError, ConnectionError)
"""Why the rows of a data set may not be had."""


@dataclass
class Outcome:
    """What became of an experiment.

    Attributes
    ----------
    path : Path
        The file of its records.
    planned, recorded, ran : int
        Runs in all, of them recorded before, and run now.
    absent : dict
        Data sets that could not be had, and why.
    """

    path: Path
    planned: int
    recorded: int
    ran: int = 0
    absent: dict[str, str] = field(default_factory=dict)


def plan(spec: Spec, preset: str, methods: Collection[str] = (), datasets: Collection[str] = ()) -> list[Task]:
    """The tasks of an experiment, narrowed to some methods and data sets.

    Examples
    --------
    >>> len(plan(find("figure-2"), "cpu")), len(plan(find("figure-2"), "cpu", methods=["uu"], datasets=["mnist"]))
    (24, 2)
    """
    spec.preset(preset)
    own = dict.fromkeys(method for cell in spec.cells for method in cell.methods)
    for method in methods:
        choose("methods", method, own | dict.fromkeys(spec.optional))
    for data in datasets:
        choose("datasets", data, dict.fromkeys(cell.data for cell in spec.cells))
    wanted = set(methods)
    tasks = [
        Task(spec.name, preset, number, method)
        for number, cell in enumerate(spec.cells)
        if not datasets or cell.data in datasets
        for method in (*cell.methods, *(spec.optional if cell.shares is not None else ()))
        if (method in wanted if wanted else method in cell.methods)
    ]
    if not tasks:
        raise ValueError(
            f"methods and datasets must leave something of {spec.name} to run; none of these methods runs on these "
            "data sets. Name others."
        )
    return tasks


def reproduce(
    name: str,
    preset: str = "cpu",
    *,
    data_dir: Folder = None,
    output: str | os.PathLike[str] = "results",
    jobs: int = 1,
    methods: Collection[str] = (),
    datasets: Collection[str] = (),
    tell: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Run a figure or table of the paper, as far as it is not recorded yet.

    Parameters
    ----------
    name : str
        "figure-1" to "figure-5", "table-1" to "table-4".
    preset : {"smoke", "cpu", "paper"}
    data_dir : path, optional
        As for `uulearn.datasets.load`.
    output : path
        Folder of the records; each experiment has a file in it, to which runs are only ever added.
    jobs : int
        Processes that work at once.
    methods, datasets : collection of str
        All by default.
    tell : callable
        Told of the progress, line by line.

    Returns
    -------
    Outcome
    """
    spec = find(name)
    tasks = plan(spec, preset, methods, datasets)
    integer("jobs", jobs, low=1)
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"output must be a folder; {folder} is a file. Choose another folder.")
    path = folder / f"{spec.name}.jsonl"
    runs = {run.key: run for run in results.read(path)}
    keys = {task: task.planned() for task in tasks}
    done = {task: [runs[key] for key in keys[task] if key in runs] for task in tasks}
    lacking = [task for task in tasks if len(done[task]) < len(keys[task])]
    outcome = Outcome(path, sum(map(len, keys.values())), sum(map(len, done.values())))
    for task in set(tasks) - set(lacking):  # killed between the last record and here
        _forget(task, folder)
    progress = Progress(tell, {task.name: task.cost for task in lacking}, jobs)
    do = partial(_do, data_dir=data_dir, folder=folder, path=path)
    for task, found in _each(do, {task: done[task] for task in lacking}, jobs, progress, outcome):
        outcome.ran += found.ran
        if found.absent:
            outcome.absent[task.cell.data] = found.absent
            progress.drop(task.name, f"{task.cell.data} is not to be had")
        else:
            progress.end(task.name, found.summary)
    with suppress(OSError):  # not there, or in use by another run
        (folder / STATES).rmdir()
    return outcome


@dataclass(frozen=True)
class Done:
    """What became of one task."""

    ran: int = 0
    summary: str = ""
    absent: str = ""


def _each(
    do: Callable[..., Done], lacking: dict[Task, list[Run]], jobs: int, progress: Progress, outcome: Outcome
) -> Iterator[tuple[Task, Done]]:
    """Each task with what became of it, as they are finished."""
    if jobs == 1 or len(lacking) < 2:
        for task, done in lacking.items():
            if task.cell.data in outcome.absent:
                yield task, Done(absent=outcome.absent[task.cell.data])
                continue
            progress.begin(task.name)
            yield task, do(task, done, tell=partial(progress.step, task.name))
        return
    with _workers(jobs) as pool:
        under_way: dict[Future[Done], Task] = {pool.submit(do, *each): each[0] for each in lacking.items()}
        for future in as_completed(under_way):
            yield under_way[future], future.result()


@contextmanager
def _workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that share the cores, and end with this one, however it ends."""
    share = max(1, (os.cpu_count() or 1) // jobs)
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_start_worker, initargs=(share,))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _start_worker(threads: int) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when torch is loaded
        os.environ[name] = str(threads)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(
    task: Task,
    done: Collection[Run],
    *,
    data_dir: Folder,
    folder: Path,
    path: Path,
    tell: Callable[[float, str], None] = lambda share, text: None,
) -> Done:
    """Run a task and record what it lacked."""
    ran = 0
    try:
        for run in work(task, data_dir, folder / STATES, tell, done):
            if run.key not in {one.key for one in results.read(path)}:  # another command may have been quicker
                results.append(path, run)
                ran += 1
    except ABSENT as problem:
        if task.limits.stand_in or ran:
            raise
        return Done(absent=str(problem))
    _forget(task, folder)
    own = set(task.planned())
    errors = [run.error for run in results.read(path) if run.key in own]
    spread = f" ({100 * np.std(errors, ddof=1):.2f})" if len(errors) > 1 else ""
    return Done(ran, f"{100 * np.mean(errors):.2f}{spread} %")


def _forget(task: Task, folder: Path) -> None:
    """Drop the checkpoints of a task whose runs are all recorded."""
    for stage in ("choice", "training"):
        path = checkpoint(task, folder / STATES, stage)
        for left in (path, *path.parent.glob(f".{path.name}.*.part")):  # the latter by a kill while it was written
            left.unlink(missing_ok=True)

"""What `uulearn reproduce` and `uulearn report` do; each gives the exit code."""

import sys
from pathlib import Path

from uulearn import results
from uulearn.output import OutputError, OutputFolder
from uulearn.paper import specs

NOTHING_RAN = "The others are recorded; run again once these are there, or name others by --datasets."


def reproduce(
    name: str, preset: str, data: Path | None, output: Path, jobs: int, methods: list[str], datasets: list[str]
) -> int:
    """Run what is lacking, then show the tables of the experiment."""
    from uulearn.paper import reproduce as run
    from uulearn.report import make

    try:
        spec = specs.find(name)
        outcome = run(
            name,
            preset,
            data_dir=data,
            output=output,
            jobs=jobs,
            methods=methods,
            datasets=datasets,
            tell=_tell,
        )
    except (ValueError, NotADirectoryError) as problem:  # wrong names, and files in the way
        return _say(str(problem), 2)
    except ImportError as problem:
        extra = f"reproduce needs the extra 'torch' ({problem.name} is missing): pip install \"uulearn[torch]\""
        return _say(extra if problem.name else str(problem), 1)  # what reads a data set has a sentence of its own
    except OSError as problem:
        return _say(f"{output} cannot hold the records: {problem.strerror or problem}.", 1)
    found = [run for run in results.read(outcome.path) if (run.experiment, run.preset) == (spec.name, preset)]
    for table in make(found).tables:
        print(table.text())
    print(f"{outcome.path}: {outcome.planned} runs planned, {outcome.recorded} were recorded, {outcome.ran} ran now")
    for reason in outcome.absent.values():
        _say(reason, 1)
    return _say(NOTHING_RAN, 1) if outcome.absent else 0


def report(folder: Path, output: Path) -> int:
    """Write every table and figure there are runs for."""
    from uulearn.report import make

    if not folder.is_dir():
        return _say(f"DIR must be a folder of records; got {str(folder)!r}. Give another path.", 2)
    try:
        runs = [run for path in sorted(folder.glob("*.jsonl")) for run in results.read(path)]
        if not runs:
            return _say(f"{folder} holds no record (*.jsonl) of a run. Run uulearn reproduce first.", 2)
        pages = make(runs)
        place = OutputFolder(output, pages.files)
        paths = [place.write(name, content) for name, content in pages.files.items()]
    except (OutputError, results.ResultsError) as problem:
        return _say(str(problem), 2)
    except OSError as problem:
        return _say(f"{output} cannot hold the files: {problem.strerror or problem}.", 1)
    for table in pages.tables:
        print(table.text())
    for path in paths:
        print(path)
    return 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _say(reason: str, code: int) -> int:
    _tell(f"uulearn: {reason}")
    return code

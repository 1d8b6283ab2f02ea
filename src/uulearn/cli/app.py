"""The verbs of the command line: each reads its options, calls one room and shows what came back."""

from pathlib import Path
from typing import Annotated

import typer

from uulearn import __version__

app = typer.Typer(name="uulearn", add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"uulearn {__version__}")
        raise typer.Exit()


@app.callback(invoke_without_command=True, epilog="Start with:\n\n  uulearn demo")
def uulearn(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Train any binary classifier from unlabeled sets of rows whose shares of positives differ and are known."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(
    help="Learn digits from two files without a label, and draw figure 1 of the paper.\n\n"
    "Writes the two unlabeled sets, the rows to be predicted and the figure into a folder, and overwrites nothing "
    "there that it did not write itself. Takes less than a minute and downloads nothing.",
    epilog="Examples:\n\n  uulearn demo\n\n  uulearn demo --output digits --seed 3",
)
def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for the files; made if it is not there.")
    ] = Path("uulearn-demo"),
    seed: Annotated[int, typer.Option(min=0, max=9999, metavar="N", help="Another number draws other rows.")] = 0,
) -> None:
    """`uulearn demo`."""
    from uulearn.cli import screen
    from uulearn.demo import STEPS, run
    from uulearn.output import OutputError

    try:
        with screen.progress(STEPS) as tell:
            shown = run(output, seed, progress=tell)
    except OutputError as problem:
        raise _refused(str(problem), 2) from None
    except OSError as problem:
        raise _refused(f"{output} cannot hold the files: {problem.strerror or problem}.", 1) from None
    screen.show_demo(shown, output)


@app.command(
    help="Show which data sets of the paper are in a folder: rows, features and share of positives (table 1).\n\n"
    "Reads every file and checks it against what was published; fetches nothing. Ends with code 1 if a file is not the "
    "published one. A data set that is not there is no fault: its line says where to get it.",
    epilog="Examples:\n\n  uulearn data --data ~/benchmarks\n\n  UULEARN_DATA=~/benchmarks uulearn data",
)
def data(
    folder: Annotated[
        Path | None,
        typer.Option("--data", "-d", metavar="DIR", help="Folder of the official files. Default: UULEARN_DATA."),
    ] = None,
) -> None:
    """`uulearn data`."""
    from uulearn.cli import screen
    from uulearn.datasets import NAMES, survey

    try:
        with screen.progress(len(NAMES)) as tell:
            lines = survey(folder, tell)
    except NotADirectoryError as problem:
        raise _refused(str(problem), 2) from None
    screen.show_data(lines)
    if any(line.problem and not line.missing for line in lines):
        raise typer.Exit(1)


@app.command(
    help="Run a figure or table of the paper, as far as it is not recorded yet, and show its numbers beside the "
    "paper's.\n\n"
    "SPEC is figure-1 to figure-5 or table-1 to table-4. Every finished run is added to DIR/SPEC.jsonl at once; killed "
    "and started again, the command goes on where it was. Presets: smoke (seconds, on small stand-ins for the data), "
    "cpu (the paper's protocol, reduced where two cores need it; the records say how) and paper (to the letter).",
    epilog="Examples:\n\n  uulearn reproduce figure-1\n\n"
    "  uulearn reproduce table-3 --preset cpu --data ~/benchmarks --output results\n\n"
    "  uulearn reproduce figure-2 --data ~/benchmarks --datasets mnist --methods uu,oracle --jobs 2",
)
def reproduce(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The figure or table.", show_default=False)],
    preset: Annotated[str, typer.Option(metavar="NAME", help="smoke, cpu or paper.")] = "cpu",
    folder: Annotated[
        Path | None,
        typer.Option("--data", "-d", metavar="DIR", help="Folder of the official files. Default: UULEARN_DATA."),
    ] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder of the records; made if it is not there.")
    ] = Path("results"),
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Processes that work at once.")] = 1,
    methods: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Only these methods, such as uu,ccn.", show_default=False)
    ] = None,
    datasets: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Only these data sets.", show_default=False)
    ] = None,
) -> None:
    """`uulearn reproduce`."""
    from uulearn.cli import experiments

    raise typer.Exit(experiments.reproduce(spec, preset, folder, output, jobs, _names(methods), _names(datasets)))


@app.command(
    help="Make the tables and figures of recorded runs, in the paper's layout, with the paper's values beside ours.\n\n"
    "Reads the records in a folder and writes tables as text, Markdown and LaTeX, and figures as PNG and SVG, into "
    "DIR/report. Overwrites nothing there that it did not write itself.",
    epilog="Examples:\n\n  uulearn report results\n\n  uulearn report results --output figures",
)
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the records.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder for the files. Default: DIR/report.", show_default=False
        ),
    ] = None,
) -> None:
    """`uulearn report`."""
    from uulearn.cli import experiments

    raise typer.Exit(experiments.report(folder, folder / "report" if output is None else output))


def _names(given: list[str] | None) -> list[str]:
    """Names from options that may come more than once, each with some."""
    return [name.strip() for one in given or () for name in one.split(",") if name.strip()]


def _refused(reason: str, code: int) -> typer.Exit:
    typer.echo(f"uulearn: {reason}", err=True)
    return typer.Exit(code)

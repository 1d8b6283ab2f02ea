"""What the terminal shows: results on stdout, progress on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from uulearn import datasets, demo
from uulearn.metrics import Estimate

SNIPPET = """\
from uulearn import UUClassifier
clf = UUClassifier(set_priors={"a": 0.9, "b": 0.4}, prior=0.25, refine="auto")
clf.fit(X, which_set)  # "a" or "b" for every row: the set it came from
clf.predict(X_new)     # 0 or 1"""


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Show each step as it is told: a bar on a terminal, a line anywhere else."""
    console = Console(stderr=True)
    if not console.is_terminal:
        count = iter(range(1, steps + 1))
        yield lambda step: console.print(f"[{next(count)}/{steps}] {step}", markup=False, highlight=False)
        return
    columns = SpinnerColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=steps)
        begun = iter(range(steps))
        yield lambda step: bar.update(task, description=step, completed=next(begun))


def show_demo(shown: demo.Shown, folder: Path) -> None:
    """Print what the demo found."""
    console = Console(highlight=False)
    _digits(console, shown.digits, folder)
    _mixture(console, shown)
    _ending(console, shown.digits)


def show_data(lines: list[datasets.Line]) -> None:
    """Print the data sets that were found as the paper's table 1, then what to do about the others."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("data set", no_wrap=True)
    for name in ("train", "test", "features", "positive"):
        table.add_column(name, justify="right", no_wrap=True)
    found = [line for line in lines if line.source]
    for line in found:
        test = f"{line.test:,}" if line.test else "-"
        table.add_row(line.title, f"{line.train:,}", test, f"{line.features:,}", f"{line.prior:.3f}")
    if found:
        console.print(table)
        console.print("\npositive: their share among the test rows; among all rows where there are none", style="dim")
    for kind, chosen in (
        ("Found in", {line.title: line.source for line in found}),
        ("Not as published", {line.title: line.problem for line in lines if line.problem and not line.missing}),
        ("Not here", {line.title: line.problem for line in lines if line.missing}),
    ):
        if chosen:
            console.print(f"\n[bold]{kind}[/bold]\n")
        for title, text in chosen.items():
            _plain(console, f"  {title}: {text}")


def _digits(console: Console, found: demo.digits.Comparison, folder: Path) -> None:
    a, b = found.size.sets
    share_a, share_b = demo.digits.SET_PRIORS
    console.print("\n[bold]Handwritten digits, even or odd, learned without a single label[/bold]\n")
    about = (
        f"{a} rows, {100 * share_a:.0f} % of them even",
        f"{b} rows, {100 * share_b:.0f} % of them even",
        f"{found.size.target} rows to be predicted, {100 * demo.digits.PRIOR:.0f} % of them even",
    )
    paths = [str(folder / name) for name in demo.digits.FILES]
    for path, text in zip(paths, about, strict=True):
        _plain(console, f"  {path:<{max(map(len, paths))}}  {text}")
    console.print("\nThe files hold pixels only. Training is told these shares and nothing else.\n")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("\nclassifier")
    table.add_column("estimated error\n(95 % interval)", justify="right", no_wrap=True)
    table.add_column("true\nerror", justify="right", style="bold green", no_wrap=True)
    table.add_column("naive\n(no labels)", justify="right", style="red", no_wrap=True)
    table.add_column("oracle\n(all labels)", justify="right", no_wrap=True)
    for line in found.lines:
        table.add_row(line.kind, _interval(line.estimate), *map(_percent, (line.error, line.naive, line.oracle)))
    _whole(console, table)
    console.print(
        f"\nestimated error: from the two sets alone; {found.size.folds}-fold cross-fitting scores each row by a model "
        "that never saw it, and uulearn.metrics.evaluate turns the scores into the error at the target's share. "
        "Penalties and rounds of refinement are chosen by it too. "
        f"The other columns: mistakes on the {found.size.target} rows to be predicted, counted with labels that no "
        "file holds. naive: takes all of set_a for even and all of set_b for odd. oracle: trained on the true label of "
        "every row of both sets.",
        style="dim",
    )


def _mixture(console: Console, shown: demo.Shown) -> None:
    found = shown.mixture
    console.print("\n[bold]Figure 1 of the paper: two Gaussians, linear models, exact errors[/bold]\n")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for line in found.lines:
        style = "bold green" if line.name == "UU" else ""
        table.add_row(line.name, line.sees, Text(_percent(line.error), style), style=style)
    table.add_row("Bayes", "the best of all classifiers", _percent(found.least), style="dim")
    _whole(console, table)
    console.print()
    _plain(console, f"  {shown.figure}")


def _ending(console: Console, found: demo.digits.Comparison) -> None:
    best = found.best
    console.print(
        f"\nPicked by its estimated error alone, the best classifier ({best.kind}) gets "
        f"[bold green]{_percent(best.error)}[/bold green] of the digits wrong, and neither the training nor the choice "
        f"saw a label. The naive way gets [red]{_percent(best.naive)}[/red] wrong; training on all "
        f"{sum(found.size.sets):,} labels, {_percent(best.oracle)}.\n"
    )
    console.print("[bold]On your own data:[/bold]\n")
    for line in SNIPPET.splitlines():
        _plain(console, f"  {line}")
    console.print()


def _whole(console: Console, table: Table) -> None:
    """A table with all its columns; a narrower screen breaks its lines, but no figure is cut."""
    needed = console.measure(table, options=console.options.update(width=1_000)).maximum
    Console(highlight=False, width=max(console.width, needed)).print(table)


def _plain(console: Console, text: str) -> None:
    """A path or code: never wrapped, so that it can be copied."""
    console.print(text, markup=False, soft_wrap=True)


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _interval(estimate: Estimate) -> str:
    # The estimate is unbiased and may fall below zero by chance; the error itself cannot.
    low, high = (min(max(100 * end, 0.0), 100.0) for end in (estimate.low, estimate.high))
    return f"{_percent(estimate.value)} ({low:.1f} to {high:.1f})"

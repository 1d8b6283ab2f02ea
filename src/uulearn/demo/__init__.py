"""What `uulearn demo` shows: handwritten digits learned from two unlabeled files, and figure 1 of the paper."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from uulearn.demo import digits, mixture
from uulearn.output import OutputFolder
from uulearn.report import figure_one

FIGURE = "figure_one.png"
STEPS = digits.STEPS + mixture.STEPS
"""How often `run` reports progress."""


@dataclass(frozen=True)
class Shown:
    """All that the demo found; `figure` is where the picture is."""

    digits: digits.Comparison
    mixture: mixture.Comparison
    figure: Path


def run(
    path: str | Path, seed: int = 0, size: digits.Size = digits.FULL, progress: Callable[[str], None] = print
) -> Shown:
    """Run both parts and write their files.

    Parameters
    ----------
    path : str or Path
        The folder for the files; see `OutputFolder` for what it never overwrites.
    seed : int
    size : digits.Size
    progress : callable
        Told what comes next, `STEPS` times.
    """
    folder = OutputFolder(path, [*digits.FILES, FIGURE])
    # Matrices this small gain nothing from threads, and threads that wait for one another on busy cores lose much.
    with threadpool_limits(1):
        first = digits.compare(folder, seed, size, progress)
        second = mixture.compare(seed, progress)
    return Shown(first, second, folder.write(FIGURE, figure_one.png(_figure(second))))


def _figure(found: mixture.Comparison) -> figure_one.Figure:
    sets = [
        figure_one.Scatter(f"Set {name}, no labels: {len(points):,} rows, {100 * share:.0f} % positive", points)
        for name, share, points in found.sets
    ]
    return figure_one.draw(
        sets,
        figure_one.Scatter(f"The rows to be predicted: {100 * mixture.PRIOR:.0f} % positive", found.test),
        found.truth,
        [
            figure_one.Boundary(f"{line.name} ({line.sees})", line.weights, line.intercept, line.error)
            for line in found.lines
        ],
        (mixture.CENTRE, -mixture.CENTRE),
        least_error=found.least,
    )

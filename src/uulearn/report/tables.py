"""Tables in the paper's layout: our means and standard deviations, the paper's below, the best in bold."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from uulearn.report.layouts import Table
from uulearn.results import Run, paired, summarise

LEVEL = 0.01
"""Of the paired t-test: what is not worse than the best at this level is bold as well."""


@dataclass(frozen=True)
class Entry:
    """What stands in one place of a table."""

    text: str = ""
    bold: bool = False


@dataclass(frozen=True)
class TableDisplay:
    """A table, as text, Markdown or LaTeX.

    Attributes
    ----------
    title : str
    head : sequence of str
    lines : sequence of sequence of Entry
    labels : int
        Columns at the left that name the row.
    notes : sequence of str
    """

    title: str
    head: Sequence[str]
    lines: Sequence[Sequence[Entry]]
    labels: int
    notes: Sequence[str] = ()

    @classmethod
    def from_runs(cls, runs: Iterable[Run], layout: Table) -> Self:
        """The table of the runs of one experiment at one preset."""
        runs = list(runs)
        ranks = {method: k for k, method in enumerate(layout.order)} | {method: len(runs) for method in layout.aside}
        ranked = sorted(runs, key=lambda run: ranks.get(run.method, len(layout.order))) if layout.order else runs
        columns = sorted(dict.fromkeys(name for run in ranked if (name := layout.column(run))), key=_middle)
        lines: list[list[Entry]] = []
        for labels, cells in _rows(runs, layout).items():
            for who in ("ours", "paper", "log"):
                entries = {"ours": _ours, "paper": _paper, "log": _log}[who](cells, layout)
                if entries:
                    named = [Entry(label) for label in labels] if who == "ours" else [Entry()] * len(labels)
                    lines.append([*named, Entry(who), *(entries.get(name, Entry()) for name in columns)])
        return cls(layout.title, [*layout.head, "", *columns], lines, len(layout.head) + 1, notes(runs))

    def text(self) -> str:
        """Plain text; `*` marks what is bold."""
        rows = [[Entry(name) for name in self.head], *self.lines]
        shown = [[entry.text + ("*" if entry.bold else " ") for entry in row] for row in rows]
        widths = [max(len(row[k]) for row in shown) for k in range(len(self.head))]
        lines = [
            "  ".join(
                part.ljust(width) if k < self.labels else part.rjust(width)
                for k, (part, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in shown
        ]
        rule = "-" * max(map(len, lines))
        return "\n".join([self.title, "", lines[0], rule, *lines[1:], "", *self.notes, ""])

    def markdown(self) -> str:
        """A table of Markdown."""
        rows = [[f"**{one.text}**" if one.bold else one.text for one in line] for line in self.lines]
        below = ["---"] * self.labels + ["---:"] * (len(self.head) - self.labels)
        lines = ["| " + " | ".join(row) + " |" for row in [list(self.head), below, *rows]]
        return "\n".join([f"**{self.title}**", "", *lines, "", *(f"- {note}" for note in self.notes), ""])

    def latex(self) -> str:
        """A table of LaTeX, for the package booktabs."""
        form = "l" * self.labels + "r" * (len(self.head) - self.labels)
        rows = [
            " & ".join(f"\\textbf{{{_tex(one.text)}}}" if one.bold else _tex(one.text) for one in line) + " \\\\"
            for line in self.lines
        ]
        body = [" & ".join(map(_tex, self.head)) + " \\\\", "\\midrule", *rows]
        table = [f"\\begin{{tabular}}{{{form}}}", "\\toprule", *body, "\\bottomrule", "\\end{tabular}"]
        caption = " ".join([f"{self.title}.", *self.notes])
        top = ["\\begin{table}", f"\\caption{{{_tex(caption)}}}", "\\begin{center}\\small"]
        return "\n".join([*top, *table, "\\end{center}", "\\end{table}", ""])


Cells = dict[str, list[Run]]


def _middle(name: str) -> str:
    """Columns of factors stand in their order; others stay where they are."""
    return name if name.startswith("ε") else ""


def _rows(runs: list[Run], layout: Table) -> dict[tuple[str, ...], Cells]:
    """The runs of each row by column; what belongs everywhere stands in every row of the same first names."""
    labels = {run.key: tuple(name(run) for name in layout.rows) for run in runs}
    whole = dict.fromkeys(one for one in labels.values() if None not in one)
    if not whole:
        whole = dict.fromkeys(labels.values())
    found: dict[tuple[str, ...], Cells] = {}
    for row in whole:
        cells: Cells = {}
        for run in runs:
            if all(own is None or own == name for own, name in zip(labels[run.key], row, strict=True)):
                column = layout.column(run)
                if column:
                    cells.setdefault(column, []).append(run)
        if cells:
            found[tuple(name or "" for name in row)] = cells
    return found


def _ours(cells: Cells, layout: Table) -> dict[str, Entry]:
    best = _best(cells, layout) if layout.compared else set()
    found = {}
    for name, runs in cells.items():
        summary = summarise(runs, ["method"])[0]
        found[name] = Entry(_numbers(100 * summary.mean, 100 * summary.std), name in best)
    return found


def _best(cells: Cells, layout: Table) -> set[str]:
    """The least mean error, and all that a paired t-test does not tell from it."""
    means = {
        name: summarise(runs, ["method"])[0].mean
        for name, runs in cells.items()
        if runs[0].method not in layout.aside and len(runs) > 1
    }
    if len(means) < 2:
        return set()
    least = min(means, key=lambda name: means[name])
    return {name for name in means if name == least or _tied(cells[name], cells[least])}


def _tied(a: list[Run], b: list[Run]) -> bool:
    common = {run.seed for run in a} & {run.seed for run in b}
    return len(common) > 1 and paired(a, b).p_value >= LEVEL


def _paper(cells: Cells, layout: Table) -> dict[str, Entry]:
    return _given("paper", cells)


def _log(cells: Cells, layout: Table) -> dict[str, Entry]:
    return _given("log", cells)


def _given(kind: str, cells: Cells) -> dict[str, Entry]:
    """The paper's values, which travel in the records."""
    given = {name: runs[0].more.get(kind) for name, runs in cells.items()}
    return {
        name: Entry(value) if isinstance(value, str) else Entry(_numbers(*value[:2]), "bold" in value[2:])
        for name, value in given.items()
        if value is not None
    }


def _numbers(mean: float, std: float = math.nan) -> str:
    return f"{mean:.2f}" if math.isnan(std) else f"{mean:.2f} ({std:.2f})"


def loaded(runs: Sequence[Run]) -> TableDisplay:
    """Table 1: every data set as loaded, and what the paper says of it."""
    head = ["data", "", "# Train", "# Test", "# Feature", "π"]
    lines = []
    for run in runs:
        ours = list(run.more["loaded"].values())
        name = run.more.get("titles", {}).get("data", run.data)
        for who, label, values in (("ours", name, ours), ("paper", "", run.more.get("paper", ()))):
            if values:
                shown = [f"{value:,}" if isinstance(value, int) else f"{value:.2f}" for value in values]
                lines.append([Entry(label), Entry(who), *map(Entry, shown)])
    return TableDisplay("Specification of benchmark datasets", head, lines, 2, notes(runs))


def notes(runs: Iterable[Run]) -> list[str]:
    """What a reader must know: the preset, the runs there are, and every reduction."""
    runs = list(runs)
    facts_of: dict[str, dict[str, None]] = {}
    for run in runs:
        name = run.more.get("titles", {}).get("data", run.data)
        facts_of.setdefault(name, {}).update(dict.fromkeys(run.more.get("reduced", ())))
    by_facts: dict[tuple[str, ...], list[str]] = {}
    for name, facts in facts_of.items():
        by_facts.setdefault(tuple(facts), []).append(name)
    counts = sorted({one.n for one in summarise(runs)})
    span = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    what = "Counts" if "loaded" in runs[0].more else "Mean and standard deviation of the error in per cent"
    plural = "" if counts[-1] == 1 else "s"
    found = [f"{what}; preset {runs[0].preset}, {span} run{plural} each."]
    found += [f"Reduced on {', '.join(names)}: {'; '.join(facts)}." for facts, names in by_facts.items() if facts]
    return found


def _tex(text: str) -> str:
    symbols: dict[str, Any] = {
        "θ'": "$\\theta'$",
        "Δθ": "$\\Delta\\theta$",
        "θ": "$\\theta$",
        "π": "$\\pi$",
        "ε'": "$\\epsilon'$",
        "ε": "$\\epsilon$",
    }
    for plain, meant in {"%": "\\%", "#": "\\#", "_": "\\_", **symbols}.items():
        text = text.replace(plain, meant)
    return text

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from uulearn.report.layouts import LAYOUTS, Table
from uulearn.report.tables import TableDisplay, loaded
from uulearn.results import Run

TABLE_4 = next(layout for layout in LAYOUTS["figure-2"] if isinstance(layout, Table))
TABLE_3 = LAYOUTS["table-3"][0]
TITLES = {"small-pn": "small PN", "uu": "UU", "oracle": "PN oracle", "psvm": "pSVM", "ber": "BER"}
PAIR = {"prior": 0.49, "theta": 0.9, "theta_prime": 0.1, "n": 30_000, "n_prime": 30_000}


def some(method, errors, setting, experiment="figure-2", data="mnist", **more):
    titles = {"data": data.upper(), "method": TITLES[method]}
    return [
        Run(experiment, "cpu", method, data, setting, seed, error, None, 1, {}, "", {"titles": titles, **more})
        for seed, error in enumerate(errors)
    ]


NOISE = np.tile([0.0005, -0.0005], 5)
RUNS = [
    *some("oracle", 0.015 + NOISE, {"prior": 0.49}, paper=[1.44, 0.08]),
    *some("small-pn", 0.036 + NOISE, {"prior": 0.49}, paper=[3.56, 0.13]),
    *some("uu", 0.020 + NOISE, PAIR, paper=[2.37, 0.17, "bold"], log=[1.94], reduced=["5 of 10 repetitions"]),
    *some("uu", 0.036 - NOISE, {**PAIR, "theta": 0.8, "theta_prime": 0.2}, paper=[2.55, 0.11, "bold"]),
]


def test_layout():
    """Rows of the paper; methods that see no sets stand in every row of their data; the oracle comes last."""
    table = TableDisplay.from_runs(RUNS, TABLE_4)
    assert table.head == ["data", "θ, θ'", "", "small PN", "UU", "PN oracle"]
    found = [[entry.text for entry in line] for line in table.lines]
    assert found == [
        ["MNIST", "0.9, 0.1", "ours", "3.60 (0.05)", "2.00 (0.05)", "1.50 (0.05)"],
        ["", "", "paper", "3.56 (0.13)", "2.37 (0.17)", "1.44 (0.08)"],
        ["", "", "log", "", "1.94", ""],
        ["MNIST", "0.8, 0.2", "ours", "3.60 (0.05)", "3.60 (0.05)", "1.50 (0.05)"],
        ["", "", "paper", "3.56 (0.13)", "2.55 (0.11)", "1.44 (0.08)"],
    ]


def test_bold():
    """The best and what a paired t-test at 1 % does not tell from it; never the oracle; the paper's own bold face."""
    table = TableDisplay.from_runs(RUNS, TABLE_4)
    bold = [[entry.text for entry in line if entry.bold] for line in table.lines]
    assert bold == [["2.00 (0.05)"], ["2.37 (0.17)"], [], ["3.60 (0.05)", "3.60 (0.05)"], ["2.55 (0.11)"]]


def test_bold_is_paired():
    """Errors that differ by far less than they vary are told apart, as both saw the same rows."""
    spread = np.linspace(0.01, 0.05, 10)
    tiny = np.random.default_rng(1).normal(0.001, 0.0002, 10)
    setting = {**PAIR, "subsample": 4_000}
    runs = [*some("psvm", spread + tiny, setting, "table-3"), *some("ber", spread, setting, "table-3")]
    table = TableDisplay.from_runs(runs, TABLE_3)
    assert [entry.bold for entry in table.lines[0][-2:]] == [False, True]


def test_one_run():
    """A single run has neither a standard deviation nor a rival."""
    table = TableDisplay.from_runs([run for run in RUNS if run.seed == 0], TABLE_4)
    assert [entry.text for entry in table.lines[0][3:]] == ["3.65", "2.05", "1.55"]
    assert not any(entry.bold for line in table.lines for entry in line if entry.text in ("3.65", "2.05"))


def test_text():
    """Columns stand below each other; a star marks the bold; notes say what is reduced."""
    lines = TableDisplay.from_runs(RUNS, TABLE_4).text().splitlines()
    assert lines[0] == "Final classification errors of figure 2"
    assert lines[4].split("  ")[-1].strip() == "1.50 (0.05)"
    assert "2.00 (0.05)*" in lines[4]
    assert len({line.rindex(")") for line in (lines[4], lines[5], lines[7])}) == 1
    assert lines[-2:] == [
        "Mean and standard deviation of the error in per cent; preset cpu, 10 runs each.",
        "Reduced on MNIST: 5 of 10 repetitions.",
    ]


def test_markdown():
    """A row has as many cells as the head, and bold is bold."""
    lines = TableDisplay.from_runs(RUNS, TABLE_4).markdown().splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert {row.count("|") for row in rows} == {7}
    assert "**2.00 (0.05)**" in rows[2]
    assert "- Reduced on MNIST: 5 of 10 repetitions." in lines


def test_latex():
    """Balanced, escaped, and with the same numbers."""
    text = TableDisplay.from_runs(RUNS, TABLE_4).latex()
    assert text.count("{") == text.count("}")
    assert text.count("\\begin") == text.count("\\end") == 3
    assert "MNIST & 0.9, 0.1 & ours & 3.60 (0.05) & \\textbf{2.00 (0.05)} & 1.50 (0.05) \\\\" in text
    assert "$\\theta$, $\\theta'$" in text
    assert not any(letter in text for letter in "θεπΔ")


def test_loaded():
    """Table 1: what was loaded above what the paper says."""
    more = {
        "loaded": {"train": 60_000, "test": 10_000, "features": 784, "prior": 0.4926},
        "paper": [60_000, 10_000, 784, 0.49],
    }
    table = loaded(some("uu", [0.0], {"prior": 0.49}, "table-1", **more))
    assert [[entry.text for entry in line] for line in table.lines] == [
        ["MNIST", "ours", "60,000", "10,000", "784", "0.49"],
        ["", "paper", "60,000", "10,000", "784", "0.49"],
    ]

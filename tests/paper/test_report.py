"""The report of all experiments, from their records alone."""

import pytest

pytest.importorskip("matplotlib")

from uulearn.paper.specs import ALIASES, SPECS
from uulearn.report import make


def test_all(runs):
    """Every figure has a picture and every table its three forms; each paper value that was recorded is shown."""
    pages = make(runs)
    for name in (*SPECS, *ALIASES):
        endings = {file.rpartition(".")[2] for file in pages.files if file.startswith(name)}
        assert ({"png", "svg"} if name.startswith("figure") else {"txt", "md", "tex"}) <= endings, name
    table = pages.files["table-3-smoke.txt"].decode()
    for value in ("4.03 (0.27)", "1.97 (0.78)*", "18.27 (5.17)", "14.13 (2.02)"):
        assert value in table
    assert "2.37 (0.17)*" in pages.files["table-4-smoke.md"].decode().replace("**2.37 (0.17)**", "2.37 (0.17)*")
    assert "digits (8 x 8 pixels) stand in for the data" in table
    assert all(len(content) > 200 for content in pages.files.values())

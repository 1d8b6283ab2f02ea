"""Benchmarks are run by hand; what `make bench` needs of them is tested."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the benchmarks are not part of what is installed")
@pytest.mark.parametrize("name", ["label_free_choice", "label_free_priors", "linear", "reduction", "tables"])
def test_without_data(name, tmp_path):
    """A benchmark without its data says so and ends in a way of its own, so that the next one runs."""
    command = [sys.executable, FOLDER / f"{name}.py"]
    environment = os.environ | {"UULEARN_DATA": str(tmp_path / "none")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 77
    assert done.stdout.startswith("skipped: no data folder. Set UULEARN_DATA")

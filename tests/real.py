"""Where the official files of the data sets are, if they are on this machine."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_PLACES = (os.environ.get("UULEARN_DATA"), _ROOT / "data", _ROOT.parent / "shared" / "data")
FOLDER = next((Path(place).resolve() for place in _PLACES if place and Path(place).is_dir()), None)

needed = pytest.mark.skipif(
    FOLDER is None, reason="no real data here: UULEARN_DATA names no folder of the official files"
)

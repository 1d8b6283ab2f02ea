"""One thread for BLAS and OpenMP: the problems are small, and threads of a busy machine wait for each other.

Networks are tested where torch is installed.
"""

import os
from importlib.util import find_spec

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

collect_ignore_glob: list[str] = []
if not find_spec("torch"):
    collect_ignore_glob = ["nn/test_*.py", "estimators/test_neural.py"]


def pytest_report_header() -> str | None:
    """What is left out is said, once."""
    left_out = ", ".join(collect_ignore_glob)
    return f"torch is not installed: {left_out} are not collected" if left_out else None

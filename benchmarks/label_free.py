"""What the library says without a label, held against the truth: each question is a script of its own.

    python benchmarks/label_free.py coverage run          intervals of the metrics
    python benchmarks/label_free.py choice develop        the choice among classifiers; then confirm
    python benchmarks/label_free.py calibration develop   probabilities; then confirm
    python benchmarks/label_free.py priors develop        estimated priors, and what they cost; then confirm
    python benchmarks/label_free.py speed run             evaluation of ten million rows

`report` in place of the last word prints what is recorded; `--help` after it says more. Everything is developed on
pendigits, letter and covertype, and confirmed once on spambase, USPS and Fashion-MNIST.
"""

import runpy
import sys
from pathlib import Path

PARTS = ("coverage", "choice", "calibration", "priors", "speed")

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        sys.exit(__doc__)
    script = Path(__file__).with_name(f"label_free_{sys.argv[1]}.py")
    sys.argv = [str(script), *sys.argv[2:]]
    runpy.run_path(str(script), run_name="__main__")

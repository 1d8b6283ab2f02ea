"""One epoch of a small network on a float32 memory map larger than what may stay in memory; says the peak."""

import argparse
import json
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from uulearn import UUNeuralClassifier
from uulearn.nn.models import MLP


def resident(field: str) -> float:
    """Gigabytes that Linux counts for this process, pages of mapped files included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1e6 * 1.024
    raise SystemExit(f"{field} is not in /proc/self/status: this measurement needs Linux")


def main(options: Any) -> None:
    torch.set_num_threads(options.threads)
    sets = np.load(options.folder / "set.npy")
    X = np.memmap(options.folder / "X.dat", dtype=np.float32, mode="r").reshape(len(sets), -1)
    clf = UUNeuralClassifier(
        module=partial(MLP, hidden=(64, 64)),
        set_priors={0: 0.1, 1: 0.9},
        prior=0.5,
        batch_size=options.batch,
        epochs=1,
        refine=0,
        validation_fraction=0,
        random_state=options.seed,
    )
    before = resident("VmHWM")
    began = time.perf_counter()
    clf.fit(X, sets)
    seconds = time.perf_counter() - began
    found = {"seconds": seconds, "peak_gigabytes": resident("VmHWM"), "before_fit_gigabytes": before}
    print(json.dumps(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="holds X.dat (float32) and set.npy")
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    main(parser.parse_args())

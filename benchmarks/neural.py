"""Speed, growth and memory of the neural classifier, beside Keras on TensorFlow and beside eager PyTorch loops.

speed    MNIST, 30,000 + 30,000 rows at (.9, .1), the paper's network, batch 128: seconds per network and epoch
conv     ResNet-32 and AllConvNet on random images of CIFAR-10's shape
scaling  seconds per epoch by rows and by members, with the exponent of their growth
memory   one epoch on a float32 memory map of 20 GB, with the peak of the resident memory

Every contender is a process of its own (benchmarks/contenders), and only one computes at a time: they take turns, an
epoch each. The share of the peak counts 6 operations per row and weight, less 2 per row and weight of the first
layer, whose input gradient nobody needs; the peak is the fastest matrix product measured between the same turns.

    python benchmarks/neural.py [speed] [conv] [scaling] [memory] [--rounds 5]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from contenders.turns import HERE, THREADS, Contender, Running, progress, started, take_turns
from data import images
from record import stamp, write

from uulearn import make_unlabeled_sets

KERAS = Path(__file__).parent.parent / ".venv-keras"
SETUP_KERAS = (
    "python3 -m venv .venv-keras && "
    ".venv-keras/bin/python -m pip install -r benchmarks/contenders/requirements-keras.txt"
)
SHARES, SIZES, SEED = (0.1, 0.9), (30_000, 30_000), 0
LAYERS = (784, 300, 300, 300, 300, 1)
MEMORY_COLUMNS, BLOCK = 250, 100_000


def summary(one: Running, section: str, **facts: Any) -> dict[str, Any]:
    """One row of results: seconds per network and epoch."""
    there = stamp()
    return {
        "figure": f"neural_{section}",
        "contender": one.contender.name,
        "precision": one.contender.precision,
        "networks": one.answers[-1]["networks"],
        **facts,
        "seed": SEED,
        "threads": THREADS,
        "seconds": [round(value, 4) for value in one.seconds],
        "best": round(min(one.seconds), 4),
        "median": round(float(np.median(one.seconds)), 4),
        "machine": there["machine"],
        "versions": {**there["versions"], **one.versions},
    }


def table(title: str, rows: list[dict[str, Any]], columns: list[str]) -> None:
    """Plain text: a column as wide as its widest cell."""
    cells = [columns, *([str(row.get(column, "")) for column in columns] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for line in cells:
        print("  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]))
    sys.stdout.flush()


def has_bfloat16() -> bool:
    """Whether the processor multiplies bfloat16 natively."""
    info = Path("/proc/cpuinfo")
    words = info.read_text().split() if info.exists() else []
    return "avx512_bf16" in words or "amx_bf16" in words


def precisions() -> list[str]:
    """The precisions worth timing here, the fastest first."""
    return ["bfloat16", "float32"] if has_bfloat16() else ["float32"]


def ours(model: str, members: int, precision: str, *options: Any) -> Contender:
    """The public estimator with `members` stacked networks."""
    name = f"uulearn {model}, {members} member{'s' * (members > 1)}, {precision}"
    return Contender(name, "ours.py", ("--model", model, "--members", members, *options), precision)


def mnist_sets(folder: Path) -> Path:
    """X and set, drawn from MNIST (even digits are positive), or noise of the same shape where MNIST is missing."""
    file, source = folder / "mnist.npz", Path(os.environ.get("UULEARN_DATA", "data")) / "mnist"
    if source.is_dir():
        X, even, *_ = images("mnist")
        X, sets, _ = make_unlabeled_sets(X, even, SHARES, SIZES, overlap="allow", random_state=SEED)
    else:
        progress(f"no {source}: noise of the same shape serves (UULEARN_DATA names the folder of official files)")
        X, sets = noise(sum(SIZES), 784)
    np.savez(file, X=X, set=sets)
    return file


def noise(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform rows, half of them in each set: speed does not depend on what they show."""
    return np.random.default_rng(SEED).random((n_rows, n_features), np.float32), np.arange(n_rows) % 2


def common(data: Path, n_rows: int, batch: int) -> list[Any]:
    """The options every contender is started with."""
    return ["--data", data, "--rows", n_rows, "--batch", batch, "--seed", SEED, "--threads", THREADS]


def speed(options: argparse.Namespace, folder: Path) -> None:
    """Seconds per network and epoch of the paper's network on MNIST."""
    keras = {"script": "keras_port.py", "python": KERAS / "bin" / "python", "setup": SETUP_KERAS}
    xla = ("--jit", "on", "--steps-per-execution", 50)
    contenders = [
        *(ours("mlp", members, precision) for members in (10, 1) for precision in precisions()),
        Contender("keras on tensorflow, defaults", **keras),
        Contender("keras on tensorflow, XLA, 50 steps a call", options=xla, **keras),
        *(Contender("keras on tensorflow, bfloat16", precision=one, **keras) for one in precisions()[:-1]),
        Contender("torch loop over tensors", "torch_loop.py", ("--loader", "tensors")),
        Contender("torch loop over a DataLoader", "torch_loop.py", ("--loader", "dataloader")),
        Contender("peak", "peak.py"),
    ]
    n_rows = sum(SIZES)
    with started(contenders, common(mnist_sets(folder), n_rows, 128)) as (running, skipped):
        take_turns(running, options.rounds)
    peak = {
        precision: max(answer[precision] for one in running if "peak" in one.contender.name for answer in one.answers)
        for precision in ("float32", "bfloat16")
    }
    weights = [a * b for a, b in pairwise(LAYERS)]
    operations = n_rows * (6 * sum(weights) - 2 * weights[0])
    rows = [summary(one, "speed", rows=n_rows, batch=128) for one in running if one.contender.name != "peak"]
    ratios(rows, [row for row in rows if row["contender"].startswith("uulearn")])
    for row in rows:
        row["gflops"] = round(operations / row["best"] / 1e9, 1)
        row["peak_gflops"] = round(peak[row["precision"]], 1)
        row["share_of_peak"] = round(row["gflops"] / row["peak_gflops"], 3)
    write("neural_speed", rows)
    print(f"\nmatrix-product peaks, GFLOP/s: {json.dumps({name: round(value, 1) for name, value in peak.items()})}")
    columns = ["contender", "precision", "best", "median", "to_stacked", "to_single", "gflops", "share_of_peak"]
    table(f"MNIST, {n_rows} rows, batch 128: seconds per network and epoch", rows, columns)
    print("".join(f"skipped {reason}\n" for reason in skipped))


def ratios(rows: list[dict[str, Any]], mine: list[dict[str, Any]]) -> None:
    """How many times slower each row is than our fastest stacked and our fastest single training."""
    for name, chosen in (
        ("to_stacked", [row for row in mine if row["networks"] > 1]),
        ("to_single", [row for row in mine if row["networks"] == 1]),
    ):
        for row in rows if chosen else []:
            row[name] = round(row["best"] / min(one["best"] for one in chosen), 2)
            row[f"{name}_median"] = round(row["median"] / min(one["median"] for one in chosen), 2)


def conv(options: argparse.Namespace, folder: Path) -> None:
    """Seconds per epoch of the paper's convolutional networks beside the eager loop."""
    X, sets = noise(options.conv_rows, 3 * 32 * 32)
    data = folder / "images.npz"
    np.savez(data, X=X, set=sets)
    rows: list[dict[str, Any]] = []
    for model in ("resnet32", "allconv"):
        contenders = [
            *(ours(model, 1, precision) for precision in precisions()),
            Contender(f"torch loop {model}", "torch_loop.py", ("--model", model)),
        ]
        with started(contenders, common(data, len(X), 500)) as (running, skipped):
            take_turns(running, options.conv_rounds)
        found = [summary(one, "conv", model=model, rows=len(X), batch=500) for one in running]
        ratios(found, [row for row in found if row["contender"].startswith("uulearn")])
        rows += found
        print("".join(f"skipped {reason}\n" for reason in skipped))
    write("neural_conv", rows)
    columns = ["contender", "precision", "best", "median", "to_single"]
    table(f"3x32x32 images, {len(X)} rows, batch 500: seconds per epoch", rows, columns)


def scaling(options: argparse.Namespace, folder: Path) -> None:
    """Seconds per epoch by rows and by members."""
    precision, data = precisions()[0], mnist_sets(folder)
    sweeps = {
        "rows": [(n_rows, 10) for n_rows in (15_000, 30_000, 60_000)],
        "members": [(60_000, members) for members in (1, 2, 5, 10)],
    }
    points = sorted({point for sweep in sweeps.values() for point in sweep})
    with ExitStack() as stack:
        running, rows = {}, []
        for point in points:
            contender = ours("mlp", point[1], precision)._replace(name=f"uulearn, {point[0]} rows, {point[1]} members")
            found, skipped = stack.enter_context(started([contender], common(data, point[0], 128)))
            if skipped:
                print(f"skipped {skipped[0]}")
                return
            running[point] = found[0]
        take_turns(list(running.values()), options.rounds)
    for (n_rows, members), one in running.items():
        row = summary(one, "scaling", rows=n_rows, batch=128)
        rows.append({**row, "epoch_best": round(row["best"] * members, 4)})
    best = {(row["rows"], row["networks"]): row["epoch_best"] for row in rows}
    for axis, (name, sweep) in enumerate(sweeps.items()):
        sizes = [point[axis] for point in sweep]
        exponent = float(np.polyfit(np.log(sizes), np.log([best[point] for point in sweep]), 1)[0])
        rows.append({"figure": "neural_scaling_exponent", "by": name, "exponent": round(exponent, 3), "seed": SEED})
        print(f"\nseconds per epoch grow as {name} to the power {exponent:.2f}")
    write("neural_scaling", rows)
    columns = ["contender", "precision", "epoch_best", "best"]
    table("MNIST, batch 128: seconds per epoch (epoch_best) and network (best)", rows[: len(points)], columns)


def memory(options: argparse.Namespace, folder: Path) -> None:
    """Peak memory and seconds of one epoch on a table on disk."""
    n_rows = int(options.gigabytes * 1e9 / 4 / MEMORY_COLUMNS)
    free = shutil.disk_usage(folder).free / 1e9
    if free < 1.1 * options.gigabytes:
        print(f"skipped memory: {folder} has {free:.0f} GB free; it needs {1.1 * options.gigabytes:.0f}")
        print("(--gigabytes makes the table smaller, --folder puts it elsewhere)")
        return
    write_table(folder, n_rows)
    progress("  train one epoch")
    command = [sys.executable, HERE / "memmap.py", "--folder", folder, "--seed", SEED, "--threads", THREADS]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        print(f"skipped memory: {(done.stderr.strip() or 'it ended without a word').splitlines()[-1]}")
        return
    found = {name: round(value, 3) for name, value in json.loads(done.stdout.splitlines()[-1]).items()}
    size = {"rows": n_rows, "columns": MEMORY_COLUMNS, "gigabytes": round(n_rows * MEMORY_COLUMNS * 4 / 1e9, 2)}
    row = {"figure": "neural_memory", **size, **found, "seed": SEED, "threads": THREADS, **stamp()}
    write("neural_memory", [row])
    table("One epoch from a memory map", [row], ["gigabytes", "rows", "seconds", "peak_gigabytes"])


def write_table(folder: Path, n_rows: int) -> None:
    """Block by block: unit normal columns, shifted a little by the hidden class; sets at (.9, .1)."""
    generator = np.random.default_rng(SEED)
    sets = generator.integers(0, 2, n_rows, dtype=np.int8)
    began = time.perf_counter()
    with open(folder / "X.dat", "wb") as file:
        for start in range(0, n_rows, BLOCK):
            block = generator.standard_normal((len(sets[start : start + BLOCK]), MEMORY_COLUMNS), np.float32)
            positive = generator.random(len(block)) < np.take(SHARES, sets[start : start + BLOCK])
            block += np.where(positive, np.float32(0.1), np.float32(-0.1))[:, None]
            block.tofile(file)
    np.save(folder / "set.npy", sets)
    progress(f"  wrote {n_rows} rows in {time.perf_counter() - began:.0f} s")


SECTIONS = {"speed": speed, "conv": conv, "scaling": scaling, "memory": memory}


def main(options: argparse.Namespace) -> None:
    for name in options.sections or SECTIONS:
        progress(name)
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            SECTIONS[name](options, Path(folder))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="section", help="any of: " + ", ".join(SECTIONS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--conv-rounds", type=int, default=3)
    parser.add_argument("--conv-rows", type=int, default=2000)
    parser.add_argument("--gigabytes", type=float, default=20.0)
    parser.add_argument("--folder", type=Path, help="where the temporary files go")
    chosen = parser.parse_args()
    if unknown := set(chosen.sections) - set(SECTIONS):
        parser.error(f"no section {sorted(unknown)[0]!r}; there are {', '.join(SECTIONS)}")
    main(chosen)

"""Contenders as processes that take turns: only one computes at a time, the others wait on their stdin."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
THREADS = 2


class Contender(NamedTuple):
    """A script under contenders/ and how it is started."""

    name: str
    script: str
    options: tuple[Any, ...] = ()
    precision: str = "float32"
    python: Path = Path(sys.executable)
    setup: str = ""


class Running:
    """A contender that is built and warm, and waits."""

    def __init__(self, contender: Contender, common: list[Any], log: Any) -> None:
        command = [contender.python, HERE / contender.script, *common, "--precision", contender.precision]
        self.contender = contender
        self.versions: dict[str, str] = {}
        self.seconds: list[float] = []
        self.answers: list[dict[str, Any]] = []
        self.log = log
        self.process = subprocess.Popen(
            [str(part) for part in (*command, *contender.options)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": str(THREADS)},
        )

    def answer(self) -> dict[str, Any]:
        """The next line, or the reason why there is none."""
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self.log.seek(0)
            last = self.log.read().decode(errors="replace").strip().splitlines()[-1:]
            raise ChildProcessError(f"{self.contender.name}: ended with status {status}: {''.join(last)}")
        return json.loads(line)

    def epoch(self) -> dict[str, Any]:
        """Ask for one epoch and wait until it is done."""
        self.process.stdin.write("epoch\n")
        self.process.stdin.flush()
        self.answers.append(self.answer())
        if "seconds" in self.answers[-1]:
            self.seconds.append(self.answers[-1]["seconds"] / self.answers[-1]["networks"])
        return self.answers[-1]


def progress(*words: Any) -> None:
    """To stderr, as stdout is for the tables."""
    print(*words, file=sys.stderr, flush=True)


@contextmanager
def started(contenders: list[Contender], common: list[Any]) -> Iterator[tuple[list[Running], list[str]]]:
    """The contenders that could start, one after another, and why the others could not."""
    running, skipped = [], []
    with ExitStack() as stack:
        for contender in contenders:
            progress(f"  start {contender.name}")
            try:
                if not contender.python.exists():
                    raise FileNotFoundError(f"{contender.name}: no environment for it; set it up: {contender.setup}")
                one = Running(contender, common, stack.enter_context(tempfile.TemporaryFile()))
                stack.callback(end, one.process)
                one.versions = one.answer()["versions"]
                running.append(one)
            except (OSError, ValueError) as reason:
                skipped.append(str(reason))
                progress(f"  skip {reason}")
        yield running, skipped


def end(process: subprocess.Popen) -> None:
    """Close its stdin, which ends it; kill what does not listen."""
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def take_turns(running: list[Running], rounds: int) -> None:
    """One epoch each, `rounds` times."""
    for turn in range(rounds):
        for one in running:
            found = one.epoch()
            figures = {name: round(value, 3) for name, value in found.items() if isinstance(value, float)}
            progress(f"  round {turn + 1}  {one.contender.name:42} {figures}")

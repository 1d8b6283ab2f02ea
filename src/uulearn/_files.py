"""Writing a file, or one more line of it, whole or not at all."""

import os
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Put `content` at `path` in one step: at any moment a reader sees the old file or the new one, whole."""
    # In the same folder, as a rename is one step only within a file system; `open` gives the usual permissions, which
    # tempfile would not.
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as handle:
            handle.write(content)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def append_line(path: Path, line: bytes, is_whole: Callable[[bytes], bool]) -> None:
    """Add `line`, which has no line end yet, and wait until it is on the disk; processes take turns.

    What an interrupted writer left behind the last line end is dropped, unless `is_whole` says that only its line end
    is missing. A write that fails leaves the lines as they were.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        with _locked(handle):
            end, tail = _tail(handle)
            start, joint = (end, b"\n") if tail and is_whole(tail) else (end - len(tail), b"")
            try:
                os.truncate(handle, start)
                _write(handle, start, joint + line + b"\n")
                os.fsync(handle)
            except BaseException:
                os.truncate(handle, start)
                raise
    finally:
        os.close(handle)


def _tail(handle: int, step: int = 65536) -> tuple[int, bytes]:
    """The size of the file, and what stands behind its last line end."""
    size = os.lseek(handle, 0, os.SEEK_END)
    begin, tail = size, b""
    while begin and b"\n" not in tail:
        begin = max(begin - step, 0)
        os.lseek(handle, begin, os.SEEK_SET)
        tail = os.read(handle, size - begin)
    return size, tail.rpartition(b"\n")[2]


def _write(handle: int, start: int, content: bytes) -> None:
    os.lseek(handle, start, os.SEEK_SET)
    while content:
        content = content[os.write(handle, content) :]


if sys.platform == "win32":
    import msvcrt

    @contextmanager
    def _locked(handle: int) -> Iterator[None]:
        """One byte far behind the end stands for the file."""
        place = 1 << 40

        def switch(mode: int) -> None:
            os.lseek(handle, place, os.SEEK_SET)
            msvcrt.locking(handle, mode, 1)

        switch(msvcrt.LK_LOCK)
        try:
            yield
        finally:
            switch(msvcrt.LK_UNLCK)
else:
    import fcntl

    @contextmanager
    def _locked(handle: int) -> Iterator[None]:
        """The lock goes when the file is closed, however the process ends."""
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield

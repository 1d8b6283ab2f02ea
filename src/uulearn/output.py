"""An output folder that keeps a list of its files, so that only a file it made, and nobody changed, is overwritten."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from uulearn._files import replace_file

MANIFEST = "uulearn-files.json"


class OutputError(ValueError):
    """Something is in the way of an output; the message says what."""


class OutputFolder:
    """Writes files into a folder, each whole or not at all, and lists them with their SHA-256 in a manifest.

    Parameters
    ----------
    path : str or Path
        Made when the first file is written.
    names : iterable of str
        The files to come. What is in their way is refused here, before any work is done for them.

    Raises
    ------
    OutputError
        If a name is taken by a file that is not listed in the manifest, or that changed since it was written.
    """

    def __init__(self, path: str | Path, names: Iterable[str]) -> None:
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise OutputError(f"{self.path} must be a folder; a file of that name is there. Choose another folder.")
        self._listed = self._read_manifest()
        for name in names:
            self._check(name)

    def write(self, name: str, content: bytes) -> Path:
        """Write one file and list it; returns its path."""
        self._check(name)
        self.path.mkdir(parents=True, exist_ok=True)
        target, digest = self.path / name, hashlib.sha256(content).hexdigest()
        # Listed before it is written, next to what was there: whenever a run is cut short, what it leaves is known.
        self._list(name, [*self._listed.get(name, ()), digest])
        replace_file(target, content)
        self._list(name, [digest])
        return target

    def _check(self, name: str) -> None:
        target = self.path / name
        if target.is_symlink() or (target.exists() and not target.is_file()):
            raise OutputError(f"{target} is in the way and is no plain file. Move it, or choose another folder.")
        if not target.exists():
            return
        if name not in self._listed:
            raise OutputError(f"{target} is in the way: uulearn did not write it. Move it, or choose another folder.")
        if hashlib.sha256(target.read_bytes()).hexdigest() not in self._listed[name]:
            raise OutputError(f"{target} was changed since uulearn wrote it. Move it, or choose another folder.")

    def _list(self, name: str, digests: list[str]) -> None:
        self._listed[name] = digests
        content = {"written_by": "uulearn", "sha256": dict(sorted(self._listed.items()))}
        replace_file(self.path / MANIFEST, (json.dumps(content, indent=2) + "\n").encode())

    def _read_manifest(self) -> dict[str, list[str]]:
        manifest = self.path / MANIFEST
        if not manifest.exists() and not manifest.is_symlink():
            return {}
        try:
            listed = _digests(json.loads(manifest.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            listed = None
        if listed is None:
            raise OutputError(f"{manifest} is in the way: uulearn did not write it. Move it, or choose another folder.")
        return listed


def _digests(content: Any) -> dict[str, list[str]] | None:
    """What a manifest lists, or None if it is no manifest."""
    if not isinstance(content, dict) or content.get("written_by") != "uulearn":
        return None
    listed = content.get("sha256")
    if not isinstance(listed, dict) or not all(isinstance(digests, list) for digests in listed.values()):
        return None
    return {name: [str(digest) for digest in digests] for name, digests in listed.items()}

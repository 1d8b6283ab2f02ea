"""The state of a training in one safetensors file with JSON beside the tensors: whole or absent, never half written."""

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from uulearn._files import replace_file

_KEY = "uulearn"


def write(path: Path, tensors: dict[str, Tensor], facts: dict[str, Any]) -> None:
    """Put the state at `path` in one step.

    Parameters
    ----------
    path : Path
    tensors : dict of str to Tensor
    facts : dict
        What JSON can say; its "fingerprint" names the training that the state is of.
    """
    from safetensors.torch import save

    apart = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    for abandoned in path.parent.glob(f".{path.name}.*.part"):  # by a process killed at this very point
        abandoned.unlink(missing_ok=True)
    replace_file(path, save(apart, metadata={_KEY: json.dumps(facts, default=lambda number: number.item())}))


def read(path: Path, fingerprint: str) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
    """The state at `path`, or None if there is none yet; that of another training is refused."""
    from safetensors import SafetensorError, safe_open

    folder = path.parent
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"checkpoint must be a folder; got the file {folder.name}. Give another name.")
    if not path.exists():
        return None
    try:
        if path.is_dir():
            raise IsADirectoryError(path)
        with safe_open(path, "pt") as file:
            facts = json.loads((file.metadata() or {})[_KEY])
            of = facts["fingerprint"]
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
    except (SafetensorError, KeyError, TypeError, ValueError, IsADirectoryError) as error:
        raise ValueError(
            f"checkpoint must be a folder of this library's own files; {path.name} in it is not one. Give another "
            "folder."
        ) from error
    if of != fingerprint:
        raise ValueError(
            f"checkpoint must be of this very training (rows, weights, parameters, seed); {path.name} in that folder "
            "is of another. Give another folder, or delete the files to start anew."
        )
    return tensors, facts

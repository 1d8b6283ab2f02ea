"""The command line. This file needs none of the packages of the extra `cli`, so that it can say which is missing."""

from importlib.util import find_spec

NEEDED = ("typer", "rich", "matplotlib")


def main() -> None:
    """Entry point of the command `uulearn`."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SystemExit(f'uulearn: the command line needs {", ".join(missing)}: pip install "uulearn[cli]"')
    from uulearn.cli.app import app

    app()

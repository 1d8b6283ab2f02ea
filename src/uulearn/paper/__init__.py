"""The experiments of the paper: what each figure and table ran, as data (`specs`), and what runs it (`reproduce`)."""

from typing import TYPE_CHECKING, Any

__all__ = ["reproduce"]

if TYPE_CHECKING:
    from uulearn.paper.runner import reproduce as reproduce


def __getattr__(name: str) -> Any:
    if name != "reproduce":
        raise AttributeError(f"module 'uulearn.paper' has no attribute {name!r}; it offers reproduce")
    from uulearn.paper.runner import reproduce

    return reproduce

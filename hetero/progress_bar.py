"""A progress bar for long work, drawn by rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], description: str = "", *, enabled: bool = True) -> Iterator[T]:
    """Iterate over `items` and show the progress; be silent if the output is not a terminal."""
    if not enabled:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(
        items, description=description, console=console, disable=not console.is_terminal
    )

"""Small calls of the main functions, which compile what those need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable


def search(device: str) -> None:
    """Search a short interval for hard-to-round cases of the exponential function."""
    import tmd

    tmd.search("exp", (1.0, 1.0 + 2.0**-20), bits=24, device=device)


CALLS: dict[str, Callable[[str], None]] = {"search": search}
"""A call of each main function, which takes the name of a device."""

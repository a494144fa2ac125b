"""The cores of the CPU that a process may use."""

from __future__ import annotations

import os


def usable_cores(process: int = 0) -> frozenset[int]:
    """Return the numbers of the cores that a process may use; 0 is this process.

    Raises OSError if there is no such process.
    """
    if hasattr(os, "sched_getaffinity"):
        return frozenset(os.sched_getaffinity(process))
    return frozenset(range(os.cpu_count() or 1))  # systems that do not bind processes to cores

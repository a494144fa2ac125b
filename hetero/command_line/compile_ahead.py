"""Compiling ahead: the main calls of packages, for images, clusters and continuous integration."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable
from pathlib import Path

from hetero.compile_cache.disk_cache import DiskCache
from hetero.compile_cache.store import is_enabled, root
from hetero.devices import Device
from hetero.display.progress_bar import progress

_SOURCES = Path(__file__).parents[2]


def packages() -> list[str]:
    """Return the packages that say what their main calls are, in a module `warm_up`."""
    return sorted(path.parent.name for path in _SOURCES.glob("*/warm_up.py"))


def warm(names: Iterable[str], device: Device) -> list[tuple[str, float, int]]:
    """Make the main calls of packages on a device, so that their code is on disk.

    Returns
    -------
    list of (call, seconds, number of functions that had to be compiled)

    Raises
    ------
    ValueError
        If compiled code is not kept: HETERO_CACHE is 0.
    """
    if not is_enabled():
        raise ValueError(f"compiled code is not kept in {root()}: HETERO_CACHE is 0; unset it")
    calls = [
        (f"{name}.{title}", call)
        for name in names
        for title, call in importlib.import_module(f"{name}.warm_up").CALLS.items()
    ]
    results = []
    for title, call in progress(calls, "compiling"):
        start, before = time.perf_counter(), DiskCache.misses
        call(str(device))
        results.append((title, time.perf_counter() - start, DiskCache.misses - before))
    return results

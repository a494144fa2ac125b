"""Cases by package, run one after the other in this process."""

from __future__ import annotations

import importlib

from faults.judge import Call

PACKAGES = ("hetero", "stablegpu", "rode", "lbm", "sbth", "tmd")


def calls_of(package: str) -> list[Call]:
    """Return the good calls of a package."""
    return importlib.import_module(f"faults.{package}_calls").CALLS

"""Limits of simulations with moving bodies: errors that say what to change."""

from __future__ import annotations

from collections.abc import Mapping

from lbm.boundaries import Solid
from lbm.lattices.precision import Precision

MAX_BODIES = 127
"""Largest number of moving bodies: labels of cells are bytes, of which one bit has a meaning."""


def require_bodies_can_move(moving: Mapping[str, Solid], precision: Precision) -> None:
    """Raise ValueError if something of the simulation does not go with moving solids."""
    name = next(iter(moving))
    body = f"boundaries[{name!r}] has a motion, which"
    if len(moving) > MAX_BODIES:
        raise ValueError(f"at most {MAX_BODIES} solids may have a motion, got {len(moving)}")
    if precision.moments:
        raise ValueError(f"{body} changes populations: use state='populations'")

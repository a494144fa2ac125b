"""Fingerprints of a simulation's arguments, by which ranks notice that theirs differ."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lbm.boundaries import Condition, Solid
from lbm.boundaries.motion import Rotation, check_motion
from lbm.lattices.extent import Triple

_SAMPLES = 16
"""Positions along each axis at which functions are compared."""

_TIMES = (0.0, 0.5, 10.0, 1000.0)
"""Times in steps at which functions of time are compared."""


def fingerprint(value: Any, shape: Triple) -> str:
    """Return a short text that is the same for equal arguments.

    Functions of position are compared by their values at 4096 cells of the domain.
    """
    if isinstance(value, Condition) and value.depends_on:
        return _fingerprint_condition(value, shape)
    if isinstance(value, tuple) and any(isinstance(v, Condition) for v in value):
        return f"({', '.join(fingerprint(v, shape) for v in value)})"
    if callable(value):
        points = ((np.arange(_SAMPLES) * n // _SAMPLES) + 0.5 for n in shape)
        values = value(*np.ix_(*points))
        components = values if isinstance(values, tuple | list) else [values]
        samples = [np.asarray(component, np.float64) for component in components]
        return f"function with the values {_hash(*samples)}"
    if isinstance(value, np.ndarray) and value.ndim:
        return f"array of shape {value.shape} with the hash {_hash(value)}"
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return f"[{', '.join(fingerprint(v, shape) for v in value)}]"  # repr would omit numbers
    return repr(value)


def fingerprint_force(force: Any) -> str:
    """Return the fingerprint of a body force: three numbers, or a function of time."""
    if not callable(force):
        return repr(force)
    return f"function with the values {_hash(*(_at_time(force, t) for t in _TIMES))}"


def _fingerprint_condition(condition: Condition, shape: Triple) -> str:
    """Return the fingerprint of a condition that is a function of position or time."""
    points = np.random.default_rng(0).random((_SAMPLES, 3)) * shape
    values = [_at_time(lambda t: condition.parameters(points, t), t) for t in _TIMES]
    numbers = {
        field.name: number
        for field in dataclasses.fields(condition)
        if not callable(number := getattr(condition, field.name))
    }
    return f"{type(condition).__name__} with {numbers} and the values {_hash(*values)}"


def _at_time(function: Callable[[float], Any], t: float) -> np.ndarray:
    """Return a function's value, or NaN where it has none: a run may end before this time."""
    try:
        return np.asarray(function(t), float)
    except (ArithmeticError, LookupError, ValueError):
        return np.full(1, np.nan)


def fingerprint_solids(solids: Mapping[str, Solid], shape: Triple) -> str:
    """Return the names, conditions and fingerprints of solids."""
    return ", ".join(
        f"{name}: {solid.wall} {fingerprint(solid.condition, shape)} of "
        f"{fingerprint(solid.cells, shape)}{_fingerprint_motion(solid)}"
        for name, solid in solids.items()
    )


def _fingerprint_motion(solid: Solid) -> str:
    """Return the fingerprint of a solid's motion, by its displacements at some times."""
    if solid.motion is None:
        return ""
    motions = check_motion(solid.motion)
    displacements = [_at_time(m.displacement_at, t) for m in motions for t in _TIMES]
    turns = [_at_time(m.angle_at, t) for m in motions for t in _TIMES]
    turning = [(m.centre, m.axis) for m in motions if isinstance(m, Rotation)]
    return f" that moves by {_hash(*displacements, *turns)}, {turning}"


def _hash(*arrays: np.ndarray) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data.cast("B"))
    return digest.hexdigest()

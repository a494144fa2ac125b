"""Checks that the ranks of a simulation agree before it starts."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from lbm._parallel.ranks.communication import Ranks
from lbm.boundaries import Condition, Solid
from lbm.boundaries.motion import Rotation, check_motion
from lbm.geometry import wall_links
from lbm.lattices.extent import Triple


def require_same_arguments(
    ranks: Ranks, shape: Triple, *, solids: Mapping[str, Solid], sponges: Mapping[str, Any],
    scalars: Mapping[str, Any], force: object, **arguments: object,
) -> None:  # fmt: skip
    """Raise ValueError if another rank has another version, geometry, start or setting."""
    ranks.require_same({"shape": shape})
    for kind, parts, function in (("sponges", sponges, "u"), ("scalars", scalars, "start")):
        arguments[kind] = list(parts)
        for name, part in parts.items():
            arguments[f"{kind}[{name!r}]"] = part.describe()
            arguments[f"{function} of {kind}[{name!r}]"] = getattr(part, function)
    described = {name: fingerprint(value, shape) for name, value in arguments.items()}
    described |= {"solids": fingerprint_solids(solids, shape), "force": fingerprint_force(force)}
    ranks.require_same(described)


def require_same_run(ranks: Ranks, steps: int, callbacks: Sequence[tuple[Callable, int]]) -> None:
    """Raise ValueError if another rank runs other steps or callbacks, or something else.

    They would otherwise wait for each other forever. Callbacks are pairs of a callable and its
    period. Those of the user may differ (one rank prints, another does not), those of this package
    may not: they talk to those of the other ranks.
    """
    periods = [every for _, every in callbacks]
    types = [type(callback) for callback, _ in callbacks]
    kinds = [t.__name__ if t.__module__.startswith("lbm.") else "callable" for t in types]
    ranks.require_same_call(
        "run", {"steps": steps, "steps between callbacks": periods, "callbacks": kinds}
    )


def require_fluid(ranks: Ranks, links: wall_links.Links) -> None:
    """Raise ValueError if the domain has no fluid, or a solid covers no cell: it would be ignored.

    `links` are the walls around the cells of this rank.
    """
    for name, size in links.solid_sizes.items():
        if not ranks.sum(size):
            raise ValueError(
                f"boundaries[{name!r}] covers no cell of the domain: correct its position and its "
                "size, or remove it"
            )
    if not ranks.any((links.classes != wall_links.SOLID_CLASS).any()):
        raise ValueError("the solids in boundaries leave no fluid cell in the domain")


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

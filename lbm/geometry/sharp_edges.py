"""Sharp edges of surfaces, at which boundary layers leave them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

SHARPEST_ATTACHED = math.radians(30.0)
"""Angle by which a surface may turn away at once before a boundary layer leaves it: the slant of
Ahmed, Ramm and Faltin (1984), over which the flow stays up to 30 degrees."""

NEAR, FAR = 0.75, 1.5
"""Distances in cells from the foot of a cell at which the surface is looked for. It turns sharply
if it drops by more between them than a plane of that angle: an edge is found up to 0.8 cells away,
and a sphere of more than 2 cells has none."""

LIFT = 0.3
"""Height in cells above the foot from which the surface is looked for, two cells deep."""

DIRECTIONS = 8
"""Directions along the surface in which it is looked for."""

CORNER = 0.25
"""Mean of the unit vectors at twice the angles of edges, below which these are those of a corner
and have no direction in common; 1/3 for one straight edge."""


def find_free_directions(
    shapes: Sequence[Any], feet: np.ndarray, frame: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return in which directions along the surface of shapes no sharp convex edge is near.

    `feet` [cell, 3] are points of the surface, and `frame` two unit vectors [cell, 3] along it
    there. The result [cell, 2, 2] projects vectors along the surface, given in this frame, on the
    edge if there is one; it is 1 where there is none, and 0 at corners.
    """
    normal = np.cross(*frame)
    above = feet + LIFT * normal
    total, count = np.zeros((2, len(feet))), np.zeros(len(feet))
    for angle in 2.0 * math.pi / DIRECTIONS * np.arange(DIRECTIONS):
        along = math.cos(angle) * frame[0] + math.sin(angle) * frame[1]
        down = [(above + s * along - d * normal, -normal) for s in (NEAR, FAR) for d in (0, 1)]
        ahead = [(above + s * along, along) for s in (0.0, FAR / 2.0)]
        met = _meet(shapes, [*down, *ahead])
        near, far = (np.fmin(first, 1.0 + second) for first, second in (met[:2], met[2:4]))
        rises = np.isfinite(met[4:]).any(axis=0)  # such a wall is met before it could drop
        drops = np.isnan(far) | (far - near > (FAR - NEAR) * math.tan(SHARPEST_ATTACHED))
        is_edge = drops & ~rises
        count += is_edge
        total += is_edge * np.array([[math.cos(2.0 * angle)], [math.sin(2.0 * angle)]])
    has_direction = np.hypot(*total) > CORNER * np.maximum(count, 1.0)
    across = 0.5 * np.arctan2(total[1], total[0])
    edge = np.stack([-np.sin(across), np.cos(across)], axis=1)
    on_edge = edge[:, :, None] * edge[:, None] * has_direction[:, None, None]
    result: np.ndarray = np.where((count > 0)[:, None, None], on_edge, np.eye(2))
    return result


def _meet(shapes: Sequence[Any], rays: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return where unit vectors, each from a point, first meet a shape, or NaN, [ray, cell].

    All rays are one call: meshes look at all of their triangles in each.
    """
    points, directions = (np.concatenate(arrays) for arrays in zip(*rays, strict=True))
    met = (np.asarray(shape.distances(points, directions)) for shape in shapes)
    return functools.reduce(np.fmin, met).reshape(len(rays), -1)

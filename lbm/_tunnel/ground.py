"""Ground of tunnels: one that moves with the stream, but for places where a body nearly touches it,
and one whose friction is that of the law of the wall."""

from __future__ import annotations

import numpy as np

from lbm.boundaries import MovingWall, Solid
from lbm.geometry.meshes import TriangleMesh
from lbm.geometry.shapes import Box
from lbm.lattices.extent import Triple

FEWEST_BELOW = 4
"""Least number of cells between a part of the body and ground that moves below it. Half-way walls
that slide past each other in few cells drag far too much fluid along, and pressures build up: at Re
1e6 the lift of a car of 20 cells, wheels on the ground, was -14, and at a yaw of 5 degrees it blew
up. With 2 cells the lift of a car of 32 cells was 1.45, of one without a floor, with 20 cells,
1.75; with 4 they are 0.84 and -0.43, and with all of the ground at rest 0.24 and 0.03."""


def find_low_parts(mesh: TriangleMesh, shape: Triple) -> np.ndarray:
    """Return the columns [x, y] in which the body is near the ground, and those beside them."""
    nx, ny, _ = shape
    low = mesh(*np.ix_(*(np.arange(n) + 0.5 for n in (nx, ny, FEWEST_BELOW)))).any(axis=2)
    around = np.pad(low, 1)
    near: np.ndarray = np.any(
        [around[i : i + nx, j : j + ny] for i in range(3) for j in range(3)], axis=0
    )
    return near


def move_ground(still: np.ndarray, speed: float) -> MovingWall:
    """Return ground that moves along x, but for columns [x, y] where it stands still."""
    last = np.array(still.shape) - 1

    def velocity(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, float, float]:
        i, j = (np.clip(np.floor(c).astype(int), 0, n) for c, n in zip((x, y), last, strict=True))
        return np.where(still[i, j], 0.0, speed), 0.0, 0.0

    return MovingWall(velocity)


def cover_floor(shape: Triple) -> Solid:
    """Return ground with a modelled wall: the lowest layer of cells of a domain."""
    nx, ny, _ = shape
    return Solid(Box((-nx, -ny, -9.0), (2.0 * nx, 2.0 * ny, 1.0)), wall="modelled")

"""Heights above the surface of a moving body, and where it is: formulas for both targets."""

from __future__ import annotations

import math

import numpy as np

from lbm._coupled.moving_bodies.formulas import called, inlined

ROUNDED = 0.25
"""Cells by which interpolation may change a height, see `height_grid`."""

SPHERE, CYLINDER, BOX, GRID = 0, 1, 2, 3
"""Kinds of shapes, the first of their numbers."""


@called
def height(shape, grid, x, y, z):
    """Return the distance of a point of the body's frame from the surface, below 0 inside.

    `shape` has the kind, the position of the shape's centre, what belongs to the kind, and -1 for
    everything outside of the shape, else 1. Beside edges of a box the height is less than the
    distance, but has the same zeros.
    """
    return shape[8] * height_of_kind(shape, grid, x, y, z)


@called
def height_of_kind(shape, grid, x, y, z):
    """Return `height` for what is inside of a shape."""
    x, y, z = x - shape[1], y - shape[2], z - shape[3]
    T = type(x)
    if shape[0] == T(GRID):  # shape[4] is the number of points of the grid in a cell
        x, y, z = x * shape[4], y * shape[4], z * shape[4]
        nz, ny, nx = grid.shape
        if min(x, y, z) < T(0) or x > T(nx - 1) or y > T(ny - 1) or z > T(nz - 1):
            return grid[0, 0, 0]  # its border is at the largest height
        i = min(np.int64(x), nx - 2)
        j = min(np.int64(y), ny - 2)
        k = min(np.int64(z), nz - 2)
        a, b, c = x - T(i), y - T(j), z - T(k)
        low = T(0)
        high = T(0)
        for side in range(2):
            near = grid[k + side, j, i] + a * (grid[k + side, j, i + 1] - grid[k + side, j, i])
            far = grid[k + side, j + 1, i] + a * (
                grid[k + side, j + 1, i + 1] - grid[k + side, j + 1, i]
            )
            low, high = high, near + b * (far - near)
        return low + c * (high - low)
    if shape[0] == T(BOX):
        return max(abs(x) - shape[4], max(abs(y) - shape[5], abs(z) - shape[6]))
    if shape[0] == T(CYLINDER):
        along = x * shape[4] + y * shape[5] + z * shape[6]
        x, y, z = x - along * shape[4], y - along * shape[5], z - along * shape[6]
        return math.sqrt(x * x + y * y + z * z) - shape[7]
    return math.sqrt(x * x + y * y + z * z) - shape[4]


@inlined
def turn_into_frame(pose, row, first, x, y, z):
    """Return a direction of the box in the body's frame, by the pose that begins at `first`."""
    return (
        pose[row, first + 3] * x + pose[row, first + 4] * y + pose[row, first + 5] * z,
        pose[row, first + 6] * x + pose[row, first + 7] * y + pose[row, first + 8] * z,
        pose[row, first + 9] * x + pose[row, first + 10] * y + pose[row, first + 11] * z,
    )


@inlined
def find_in_frame(pose, row, first, x, y, z):
    """Return a point of the box in the body's frame, by the pose that begins at column `first`."""
    x, y, z = x - pose[row, first], y - pose[row, first + 1], z - pose[row, first + 2]
    return turn_into_frame(pose, row, first, x, y, z)


ENOUGH = 1e-5
"""Height over the difference along a link at which a share is accepted: coordinates in float32 let
it vary by as much."""

HALF, VELOCITY, SPIN, END = 0, 12, 15, 18
"""First columns of `pose`: centre and rotation at the half step, velocity of the centre and angular
velocity in between, centre and rotation at the end of the step."""

POSE = 30


@inlined
def velocity_at(pose, row, x, y, z):
    """Return the velocity of the body at a point of the box, during the step, and its arm."""
    x, y, z = x - pose[row, 0], y - pose[row, 1], z - pose[row, 2]
    wx, wy, wz = pose[row, 15], pose[row, 16], pose[row, 17]
    return (
        pose[row, 12] + wy * z - wz * y,
        pose[row, 13] + wz * x - wx * z,
        pose[row, 14] + wx * y - wy * x,
        x,
        y,
        z,
    )


@called
def find_share(shape, grid, pose, row, x, y, z, cx, cy, cz):
    """Return how far along the link from a fluid cell, as a share of it, the surface is.

    It is the root of the height along the link by at most five steps of the Illinois rule (Dowell
    and Jarratt 1971), which leave less than 1e-4 of a link that grazes a sphere of two cells.
    """
    T = type(x)
    x, y, z = find_in_frame(pose, row, HALF, x, y, z)
    cx, cy, cz = turn_into_frame(pose, row, HALF, cx, cy, cz)
    low, high = T(0), T(1)
    above = height(shape, grid, x, y, z)
    below = height(shape, grid, x + cx, y + cy, z + cz)
    if above <= T(0):
        return T(0)
    if below >= T(0):
        return T(1)
    enough, side = T(ENOUGH) * (above - below), 0
    for _ in range(5):
        share = low + (high - low) * above / (above - below)
        value = height(shape, grid, x + share * cx, y + share * cy, z + share * cz)
        if abs(value) < enough:
            return share
        if value > T(0):
            low, above = share, value
            if side > 0:
                below = below * T(0.5)
            side = 1
        else:
            high, below = share, value
            if side < 0:
                above = above * T(0.5)
            side = -1
    return low + (high - low) * above / (above - below)

"""Formulas of solids that move through cells, for the items of both targets.

An item is a piece of CHUNK cells along x of the box around a body. After step t three loops run:
`bounce` (`bounce_formulas.py`) lets the body, where it is at time t, return what has run into it;
`cover` marks the cells that it covers at time t + 1; `refill` makes populations for those that it
has left.

All of them read and write populations where step t + 1 loads them. There each belongs to one cell,
so that no two items touch the same: what has run from the fluid cell x into the cell b of the body
is population q that b would load, and what the body returns is the opposite one that x will load.
Labels of cells are 0 for fluid, k for body number k and FRESH + k for cells that it has just left.

A block with a halo has the labels of its halo, too. It returns what has run from its own cells into
the body, and covers and refills those only.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from hetero.jit import FUSED, float_scalar
from lbm.collisions.unroll import inlined
from lbm.geometry.wall_links import FROM
from lbm.lattices.precision import PRECISIONS

CHUNK = 8
"""Cells of an item: 32 bytes of float32, which is what a GPU reads at least."""

FRESH = 128
"""Added to the number of a body in the label of a cell that it has just left."""

UNIT = 2.0**-44
"""Unit of sums of mass, momentum and torque over a body, in lattice units: integers have the same
sum in any order. Sums overflow at 500,000, while links bring in less than a tenth each."""

MASS, MOMENTUM, FORCE, TORQUE, COUNT, OVERLAP = 0, 1, 4, 7, 10, 11
"""First rows of what is summed: mass, less 1 for each cell that COUNT has; momentum that the fluid
loses; force; torque about the centre, in arms of `size[9]` cells; cells covered less cells left;
cells that belong to another body, too."""

SUMS = 12

OWN, END_OF_OWN = 9, 12
"""First numbers of `size` that hold, along x, y and z, a block's own cells: the first one, which is
0 only without a halo, and the end. Before them are the cells and the pitch of the block, the number
of populations, the cells of the box along x and y, the body's label, and whether its wall is
interpolated."""

MEANS = 7
"""Numbers of a cell of which a fresh one beside it gets the mean: density and stress."""

SPHERE, CYLINDER, BOX, GRID = 0, 1, 2, 3
"""Kinds of shapes, the first of their numbers."""


def called(function: Any) -> Any:
    """Compile a formula that need not be inlined: it is long, and called in several places."""
    return float_scalar(function, fastmath=FUSED, no_cpython_wrapper=True, no_cfunc_wrapper=True)


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
        i = min(max(np.int64(math.floor(x)), 0), nx - 2)
        j = min(max(np.int64(math.floor(y)), 0), ny - 2)
        k = min(max(np.int64(math.floor(z)), 0), nz - 2)
        # Beyond the grid its border counts, which is at the largest height.
        a = min(max(x - T(i), T(0)), T(1))
        b = min(max(y - T(j), T(0)), T(1))
        c = min(max(z - T(k), T(0)), T(1))
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


@called
def height_at(shape, grid, pose, row, first, x, y, z):
    """Return `height` of a point of the box, by the pose that begins at column `first`."""
    x, y, z = x - pose[row, first], y - pose[row, first + 1], z - pose[row, first + 2]
    return height(
        shape,
        grid,
        pose[row, first + 3] * x + pose[row, first + 4] * y + pose[row, first + 5] * z,
        pose[row, first + 6] * x + pose[row, first + 7] * y + pose[row, first + 8] * z,
        pose[row, first + 9] * x + pose[row, first + 10] * y + pose[row, first + 11] * z,
    )


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

    It is the root of the height along the link by five steps of the Illinois rule (Dowell and
    Jarratt 1971), which leave less than 1e-4 of a link that grazes a sphere of two cells.
    """
    T = type(x)
    low, high = T(0), T(1)
    above = height_at(shape, grid, pose, row, HALF, x, y, z)
    below = height_at(shape, grid, pose, row, HALF, x + cx, y + cy, z + cz)
    if above <= T(0):
        return T(0)
    if below >= T(0):
        return T(1)
    side = 0
    for _ in range(5):
        share = low + (high - low) * above / (above - below)
        value = height_at(
            shape, grid, pose, row, HALF, x + share * cx, y + share * cy, z + share * cz
        )
        if value == T(0):
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


@inlined
def in_units(value):
    """Return a value as a number of units; what is less than one is cut off."""
    T = type(value)
    return np.int64(value * T(1.0 / UNIT))


@called
def add_impulse(partial, i, mass, j, u, arm, scale):
    """Add momentum j and mass that the body takes up where it moves with u, to the sums."""
    partial[0, i] += in_units(mass)
    fx, fy, fz = j[0] - mass * u[0], j[1] - mass * u[1], j[2] - mass * u[2]
    partial[1, i] += in_units(j[0])
    partial[2, i] += in_units(j[1])
    partial[3, i] += in_units(j[2])
    add_force(partial, i, fx, fy, fz, arm, scale)


@called
def add_force(partial, i, fx, fy, fz, arm, scale):
    """Add a force to the sums of an item, and its torque."""
    partial[4, i] += in_units(fx)
    partial[5, i] += in_units(fy)
    partial[6, i] += in_units(fz)
    x, y, z = arm[0] * scale, arm[1] * scale, arm[2] * scale
    partial[7, i] += in_units(y * fz - z * fy)
    partial[8, i] += in_units(z * fx - x * fz)
    partial[9, i] += in_units(x * fy - y * fx)


@inlined
def wrap(position, n):
    """Return a coordinate from -n to 2 n within a periodic axis of n cells."""
    if position >= n:
        return position - n
    return position + n if position < 0 else position


@inlined
def place(position, axis, size):
    """Return a coordinate of the box in the block, or -1 outside of the block and its halo."""
    if size[OWN + axis] == 0:
        return wrap(position, size[axis])
    return position if position <= size[END_OF_OWN + axis] else -1


@inlined
def is_own(x, y, z, size):
    """Return whether a cell of a block is none of its halo."""
    return (
        size[OWN] <= x < size[END_OF_OWN]
        and size[OWN + 1] <= y < size[END_OF_OWN + 1]
        and size[OWN + 2] <= z < size[END_OF_OWN + 2]
    )


@inlined
def find_piece(i, size, origin, row):
    """Return the first cell of piece i within the box, its end, and the y and z of its cells.

    A piece outside of the block has no cells.
    """
    pieces = (size[5] + CHUNK - 1) // CHUNK  # in a line of the box along x
    line = i // pieces
    by, bz = line % size[6], line // size[6]
    y, z = place(origin[row, 1] + by, 1, size), place(origin[row, 2] + bz, 2, size)
    bx = (i - line * pieces) * CHUNK
    end = min(bx + CHUNK, size[5]) if y >= 0 and z >= 0 else bx
    return bx, end, by, bz, y, z


@inlined
def is_fluid(label):
    """Return whether no body covers a cell."""
    return label == 0 or label >= FRESH


@functools.cache
def make_access(precision: str) -> Any:
    """Make index(x, y, z, q, classes, masks, tables, size), where population q that a cell will
    load is in the flat array of populations."""
    is_folded = PRECISIONS[precision].lanes == 2

    @called
    def index(x, y, z, q, classes, masks, tables, size):
        nx, ny, nz = size[0], size[1], size[2]
        mask = np.int64(masks[classes[(z * ny + y) * nx + x], FROM])
        wall = (mask >> q) & 1
        x = wrap(x + tables[wall, q, 1], nx)
        y = wrap(y + tables[wall, q, 2], ny)
        z = wrap(z + tables[wall, q, 3], nz)
        if is_folded:
            half = nx // 2
            x = 2 * (x % half) + x // half
        return tables[wall, q, 0] * size[3] + (z * ny + y) * nx + x

    return index


@inlined
def equilibrium_of(q, drho, ux, uy, uz, directions, weights):
    """Return the shifted equilibrium of population q."""
    T = type(drho)
    cu = T(directions[q, 0]) * ux + T(directions[q, 1]) * uy + T(directions[q, 2]) * uz
    square = ux * ux + uy * uy + uz * uz
    return weights[q] * (drho + (T(1) + drho) * (T(3) * cu + T(4.5) * cu * cu - T(1.5) * square))


@inlined
def gather_sums(i, partial, lanes):
    """Add up every LANES-th item of a sum: number i of `lanes` [sum, lane]."""
    count = lanes.shape[1]
    k = i // count
    lane = i - k * count
    total = np.int64(0)
    for j in range(lane, partial.shape[1], count):
        total += partial[k, j]
    lanes[k, lane] = total


@inlined
def finish_step(k, lanes, totals, clock):
    """Set sum k of the step, totals[0, k], add it to that of all steps, and go on by a step."""
    total = np.int64(0)
    for j in range(lanes.shape[1]):
        total += lanes[k, j]
    totals[0, k] = total
    totals[1, k] += total
    if k == 0:
        clock[0] += 1

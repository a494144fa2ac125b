"""Formulas of solids that move through cells, for the items of both targets.

After step t three loops run. `bounce` (`bounce_formulas.py`), over the links of cells beside the
surface, lets the body, where it is at time t, return what has run into it. `cover`, over all cells
of the box around the body, marks those that it covers at time t + 1, and lists those beside the
surface and those that changed. `change` (`change_formulas.py`) takes up what newly covered cells
hold, and makes populations for cells that the body has left.

All of them read and write populations where step t + 1 loads them. There each belongs to one cell,
so that no two items touch the same: what has run from the fluid cell x into the cell b of the body
is population q that b would load, and what the body returns is the opposite one that x will load.
Labels of cells are 0 for fluid, k for body number k and FRESH + k for cells that it left in the
last step.

A block with a halo has the labels of its halo, too. It returns what has run from its own cells into
the body, and covers and refills those only.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from hetero.jit import FUSED, float_scalar
from lbm._kernels.formulas.storage_formulas import codec
from lbm.collisions.unroll import matrix_product, per_population
from lbm.geometry.wall_links import FROM
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

FRESH = 128
"""Added to the number of a body in the label of a cell that it has just left."""

NEAR_SURFACE, CHANGED = 1, 2
"""Bits of the lists of cells that `cover` makes: those that the body covers beside its surface, and
those that it covers newly or has left."""

UNIT = 2.0**-44
"""Unit of sums of mass, momentum and torque over a body, in lattice units: integers have the same
sum in any order. Those of a step overflow at 500,000, while a link brings in less than a tenth."""

MASS, MOMENTUM, FORCE, TORQUE, COUNT, OVERLAP = 0, 1, 4, 7, 10, 11
"""First rows of what is summed: mass, less 1 for each cell that COUNT has; momentum that the fluid
loses; force; torque about the centre, in arms of `size[9]` cells; cells covered less cells left;
cells that belong to another body, too."""

SUMS = 12

AXIS_BITS = 20
"""Bits of each coordinate in a list of cells: no axis of a block has a million cells."""

LOW_BITS = 40
"""Bits of the lower part of sums over all steps, which would overflow in long runs."""

OWN, END_OF_OWN, DOMAIN = 9, 12, 15
"""First numbers of `size` that hold, along x, y and z, a block's own cells: the first one, which is
0 only without a halo, and the end; and the cells of the domain. Before them are the cells and the
pitch of the block, the number of populations, the cells of the box along x and y, the body's label,
and whether its wall is interpolated."""

MEANS = 7
"""Numbers of a cell of which a fresh one beside it gets the mean: density and stress."""


OPTIONS = {"fastmath": FUSED, "_nrt": False}
"""Options of formulas that take arrays: without counts of references to these, which take as long
as the rest on a CPU."""


def called(function: Any) -> Any:
    """Compile a formula that need not be inlined: it is long, and called in several places."""
    return float_scalar(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **OPTIONS)


def inlined(function: Any) -> Any:
    """Compile a formula that is always inlined."""
    return float_scalar(function, forceinline=True, **OPTIONS)


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
def find_cell(i, size, origin, row):
    """Return cell number i of the box: in the box, and in the block, where x is -1 outside."""
    line, n = np.uint32(i) // np.uint32(size[5]), np.uint32(size[6])
    bx, bz = i - line * size[5], np.int64(line // n)
    by = np.int64(line) - bz * size[6]
    x, y = place(origin[row, 0] + bx, 0, size), place(origin[row, 1] + by, 1, size)
    z = place(origin[row, 2] + bz, 2, size)
    return (bx, by, bz), (x if y >= 0 and z >= 0 else -1, y, z)


@inlined
def pack_cell(x, y, z):
    """Return the coordinates of a cell as one number, which `unpack_cell` takes."""
    return x + (y << AXIS_BITS) + (z << 2 * AXIS_BITS)


@inlined
def unpack_cell(number, size, origin, row):
    """Return a cell of the block in the box, and its coordinates in the block."""
    mask = (1 << AXIS_BITS) - 1
    x, y, z = number & mask, (number >> AXIS_BITS) & mask, number >> 2 * AXIS_BITS
    return (
        unplace(x, 0, size, origin, row), unplace(y, 1, size, origin, row),
        unplace(z, 2, size, origin, row),
    ), (x, y, z)  # fmt: skip


@inlined
def unplace(position, axis, size, origin, row):
    """Return where a coordinate of the block is in the box, which may have gone on to the image of
    the body beyond a periodic face since the cell was listed."""
    return wrap(position - origin[row, axis], size[DOMAIN + axis])


@inlined
def middle_of(cell, T):
    """Return the middle of a cell of the box."""
    return T(cell[0]) + T(0.5), T(cell[1]) + T(0.5), T(cell[2]) + T(0.5)


@inlined
def is_fluid(label):
    """Return whether no body covers a cell."""
    return label == 0 or label >= FRESH


@inlined
def walls_of(x, y, z, classes, masks, size):
    """Return from which populations that a cell will load come from walls, as bits."""
    return np.int64(masks[classes[(z * size[1] + y) * size[0] + x], FROM])


@functools.cache
def make_access(precision: str, *, is_short: bool = False) -> Any:
    """Make index(x, y, z, q, walls, tables, size), where population q that a cell will load is in
    the flat array of populations; `walls` are those of `walls_of`.

    The short one is for code that is written out for all populations.
    """
    is_folded = PRECISIONS[precision].lanes == 2
    is_fast = not is_folded and not is_short

    @inlined
    def index(x, y, z, q, walls, tables, size):
        nx, ny, nz = size[0], size[1], size[2]
        wall = (walls >> q) & 1
        if is_fast and 0 < x < nx - 1 and 0 < y < ny - 1 and 0 < z < nz - 1:
            return (z * ny + y) * nx + x + tables[wall, q, 4]
        x = wrap(x + tables[wall, q, 1], nx)
        y = wrap(y + tables[wall, q, 2], ny)
        z = wrap(z + tables[wall, q, 3], nz)
        if is_folded:
            half = nx // 2
            x = 2 * (x % half) + x // half
        return tables[wall, q, 0] * size[3] + (z * ny + y) * nx + x

    return index


@functools.cache
def make_load(precision: str, lattice: Lattice) -> Any:
    """Make load(x, y, z, populations, classes, masks, tables, size), what a cell will load."""
    decode, _ = codec(PRECISIONS[precision])
    index, numbers = make_access(precision, is_short=True), tuple(np.arange(lattice.size))

    @per_population(lattice, 1)
    def load_one(q, x, y, z, walls, populations, tables, size):
        return decode(populations[index(x, y, z, q, walls, tables, size)])

    @called
    def load(x, y, z, populations, classes, masks, tables, size):
        walls = walls_of(x, y, z, classes, masks, size)
        return load_one(numbers, x, y, z, walls, populations, tables, size)

    return load


@functools.cache
def make_moments(lattice: Lattice, order: int) -> Any:
    """Make a function of a cell's populations that returns density, momentum, and stress if the
    order is 2."""
    c = np.array(lattice.velocities, float)
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)) if order == 2 else ()
    return matrix_product(np.array([c[:, 0] ** 0, *c.T, *(c[:, a] * c[:, b] for a, b in pairs)]))


@inlined
def equilibrium_of(q, drho, ux, uy, uz, directions, weights):
    """Return the shifted equilibrium of population q."""
    T = type(drho)
    cu = T(directions[q, 0]) * ux + T(directions[q, 1]) * uy + T(directions[q, 2]) * uz
    square = ux * ux + uy * uy + uz * uz
    return weights[q] * (drho + (T(1) + drho) * (T(3) * cu + T(4.5) * cu * cu - T(1.5) * square))


@inlined
def advance_sums(i, partial, totals, clock):
    """Add sums number i of a step, [sum, lane], to those of all steps, and go on by a step."""
    k, lane = i // partial.shape[1], i % partial.shape[1]
    value = partial[k, lane]
    partial[k, lane] = 0
    low = totals[1, k, lane] + value
    carry = low >> LOW_BITS
    totals[0, k, lane] = value
    totals[1, k, lane] = low - (carry << LOW_BITS)
    totals[2, k, lane] += carry
    if i == 0:
        clock[0] += 1

"""Eddy viscosities on the CPU: loops over rows; `Loops` of this folder has the arguments."""

from __future__ import annotations

import functools

import numba
import numpy as np
from numba import prange, types
from numba.core.errors import NumbaError

from hetero.jit import parallel
from lbm._coupled.eddy_viscosity.formulas import central_difference, difference_at_walls
from lbm._kernels.cpu_rows import inner_loop
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.intrinsics.subnormals import flush_subnormals, restore_subnormals
from lbm._kernels.intrinsics.vector_memory import make_load, make_store, pointer_to
from lbm._kernels.intrinsics.vector_width import vector_lanes
from lbm._kernels.intrinsics.vectors import Vector
from lbm.lattices.precision import PRECISIONS, Precision


def _compiles_for_vectors(formula, vector: Vector) -> bool:
    """Return whether the formula of a model takes vectors of cells."""
    along = types.UniTuple(vector, 3)
    signature = along, along, along, vector.dtype
    try:
        formula.compile(signature)
    except NumbaError:  # an error that is not due to vectors occurs again with numbers
        return False
    return bool(formula.overloads[signature].signature.return_type == vector)


def _make_cell(formula):
    """Make cell(u, n, steps, step, sides, constant), the eddy viscosity of one cell.

    u points to the velocity [3, cell] and n is the number of the cell; `step` is the distance of
    the components, and `steps` has those to the six neighbours.
    """

    @inner_loop(forceinline=True)
    def velocity(u, n, step):
        return u[n], u[n + step], u[n + 2 * step]

    @inner_loop(forceinline=True)
    def cell(u, n, steps, step, sides, constant):
        centre = velocity(u, n, step)
        along_x = difference_at_walls(
            velocity(u, n + steps[0], step), centre, velocity(u, n + steps[1], step), sides, 0
        )
        along_y = difference_at_walls(
            velocity(u, n + steps[2], step), centre, velocity(u, n + steps[3], step), sides, 1
        )
        along_z = difference_at_walls(
            velocity(u, n + steps[4], step), centre, velocity(u, n + steps[5], step), sides, 2
        )
        return formula(along_x, along_y, along_z, constant)

    return cell


def _make_vector_of_cells(formula, lanes: int):
    """Make vector(u, n, steps, step, constant): the same for cells with all their neighbours."""
    load = make_load(lanes)

    @inner_loop(forceinline=True)
    def velocity(u, n, step):
        return load(u, n), load(u, n + step), load(u, n + 2 * step)

    @inner_loop(forceinline=True)
    def vector(u, n, steps, step, constant):
        along_x = central_difference(velocity(u, n - 1, step), velocity(u, n + 1, step))
        along_y = central_difference(
            velocity(u, n + steps[2], step), velocity(u, n + steps[3], step)
        )
        along_z = central_difference(
            velocity(u, n + steps[4], step), velocity(u, n + steps[5], step)
        )
        return formula(along_x, along_y, along_z, constant)

    return vector


def _make_vectors(formula, form: Precision):
    """Make vectors(u, n, x, x1, steps, step, sides, viscosity, constant).

    It computes the cells from x on in whole vectors, as long as these end before x1 and no cell in
    them has a wall beside it, and returns the first x that is left. n is the number of the first
    cell of the row.
    """
    lanes = vector_lanes(form.compute)
    if form.lanes > 1 or not _compiles_for_vectors(
        formula, Vector(numba.from_dtype(form.compute), lanes)
    ):
        return inner_loop(
            lambda u, n, x, x1, steps, step, sides, viscosity, constant: x, forceinline=True
        )
    vector, store = _make_vector_of_cells(formula, lanes), make_store(lanes)

    @inner_loop(forceinline=True)
    def vectors(u, n, x, x1, steps, step, sides, viscosity, constant):
        while x + lanes <= x1:
            missing = np.uint8(0)
            for k in range(lanes):
                missing |= sides[n + x + k]
            if missing:
                break
            store(viscosity, n + x, vector(u, n + x, steps, step, constant))
            x += lanes
        return x

    return vectors


@functools.cache
def _make_update(make_formula, precision: str):
    """Make update(moments, sides, viscosity, constant, box) for the formula of a model."""
    form = PRECISIONS[precision]
    formula, (_, encode) = make_formula(), codec(form)
    cell, vectors, word = _make_cell(formula), _make_vectors(formula, form), form.lanes

    @inner_loop
    def update_row(u, sides, viscosity, constant, x0, x1, y, z, shape):
        nz, ny, nx = shape
        n, step, layer = (z * ny + y) * nx, nx * ny * nz, nx * ny
        below, above = nx * (-1 if y > 0 else ny - 1), nx * (1 if y + 1 < ny else 1 - ny)
        back, ahead = layer * (-1 if z > 0 else nz - 1), layer * (1 if z + 1 < nz else 1 - nz)
        inner = -1, 1, below, above, back, ahead
        x = x0
        while x < x1:
            # Vectors never cross the ends of a row, where x wraps around.
            if x > 0:
                x = vectors(u, n, x, min(x1, nx - 1), inner, step, sides, viscosity, constant)
                if x >= x1:
                    break
            steps = inner
            if x == 0 or x + 1 == nx:
                west, east = -1 if x > 0 else nx - 1, 1 if x + 1 < nx else 1 - nx
                steps = west, east, below, above, back, ahead
            position = x if word == 1 else 2 * (x % (nx // 2)) + x // (nx // 2)
            value = cell(u, n + x, steps, step, sides[n + x], constant)
            viscosity[n + position] = encode(value)
            x += 1

    @parallel
    def update(moments, sides, viscosity, constant, box):
        x0, x1, y0, y1, z0, z1 = box
        height, shape = y1 - y0, sides.shape
        for row in prange(height * (z1 - z0)):
            r = np.int64(row)
            settings = flush_subnormals()
            update_row(
                pointer_to(moments[1:]), pointer_to(sides), pointer_to(viscosity), constant, x0, x1,
                y0 + r % height, z0 + r // height, shape,
            )  # fmt: skip
            restore_subnormals(settings)

    return update


def prepare_update(engine, moments, sides, box):
    """Return a function that computes the eddy viscosity of a box."""
    problem = engine.problem
    update = _make_update(type(problem.collision).eddy_viscosity, problem.precision.name)
    constant = problem.precision.compute(problem.collision.constant)
    return lambda: update(moments, sides, engine.viscosity, constant, tuple(box))

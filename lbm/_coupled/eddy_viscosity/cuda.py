"""Eddy viscosities on a GPU; `Loops` of this folder has the arguments."""

from __future__ import annotations

import functools

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from lbm._coupled.eddy_viscosity.formulas import difference_at_walls
from lbm._kernels.formulas.storage_formulas import codec
from lbm.lattices.precision import PRECISIONS

THREADS = 128
"""Threads of a block, along x as far as the part goes; not tuned."""


@functools.cache
def make_update_kernel(make_formula, precision: str):
    """Make update(moments, sides, viscosity, constant, region) for the formula of a model.

    moments [4, cell] and viscosity [cell] are in the dtypes of arithmetic and memory, sides uint8
    [cell]; region is (x0, x1, y0, y1, z0, nx, ny, nz), int64.
    """
    form = PRECISIONS[precision]
    formula, (_, encode), word = make_formula(), codec(form), form.lanes

    def update(moments, sides, viscosity, constant, region):
        """Compute the eddy viscosity of a cell with each thread."""
        x0, x1, y0, y1, z0, nx, ny, nz = region
        x = x0 + cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        y = y0 + cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        z = z0 + cuda.blockIdx.z
        if x >= x1 or y >= y1:
            return
        row = (z * ny + y) * nx
        n = row + x
        centre = moments[1, n], moments[2, n], moments[3, n]
        side = sides[n]
        a = row + (x - 1 if x > 0 else nx - 1)
        b = row + (x + 1 if x + 1 < nx else 0)
        along_x = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), centre,
            (moments[1, b], moments[2, b], moments[3, b]), side, 0,
        )  # fmt: skip
        a = n + nx * (-1 if y > 0 else ny - 1)
        b = n + nx * (1 if y + 1 < ny else 1 - ny)
        along_y = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), centre,
            (moments[1, b], moments[2, b], moments[3, b]), side, 1,
        )  # fmt: skip
        a = n + nx * ny * (-1 if z > 0 else nz - 1)
        b = n + nx * ny * (1 if z + 1 < nz else 1 - nz)
        along_z = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), centre,
            (moments[1, b], moments[2, b], moments[3, b]), side, 2,
        )  # fmt: skip
        position = x if word == 1 else 2 * (x % (nx // 2)) + x // (nx // 2)
        viscosity[row + position] = encode(formula(along_x, along_y, along_z, constant))

    return kernel(update)


def prepare_update(engine, moments, sides, box):
    """Return a function that computes the eddy viscosity of a box, on the current GPU."""
    problem, (nz, ny, nx) = engine.problem, sides.shape
    update = make_update_kernel(type(problem.collision).eddy_viscosity, problem.precision.name)
    width = min(THREADS, -(-(box.x1 - box.x0) // 32) * 32)
    threads = width, THREADS // width, 1
    grid = (
        blocks_for(box.x1 - box.x0, width),
        blocks_for(box.y1 - box.y0, threads[1]),
        box.z1 - box.z0,
    )
    region = box.x0, box.x1, box.y0, box.y1, box.z0, nx, ny, nz
    constant = problem.precision.compute(problem.collision.constant)
    arguments = (
        moments.reshape(4, sides.size), sides.reshape(sides.size), engine.cells(engine.viscosity),
        constant, tuple(map(int, region)),
    )  # fmt: skip
    return Launcher(update, grid, threads, engine.stream, arguments)

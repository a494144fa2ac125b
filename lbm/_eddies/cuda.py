"""Eddy viscosities on a GPU; `lbm._eddies.EddyStore` has the methods."""

from __future__ import annotations

import functools

import numpy as np

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._eddies.formulas import difference_at_walls
from lbm._engines.storage_formulas import codec
from lbm._model.precision import PRECISIONS

THREADS = 128
"""Threads of a block, along x as far as the part goes; not tuned."""


def create_store(engine, sides, interior, edges) -> EddyStore:
    """Create the store of a block in a GPU's memory."""
    return EddyStore(engine, sides, interior, edges)


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
        here = moments[1, n], moments[2, n], moments[3, n]
        side = sides[n]
        a = row + (x - 1 if x > 0 else nx - 1)
        b = row + (x + 1 if x + 1 < nx else 0)
        along_x = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), here,
            (moments[1, b], moments[2, b], moments[3, b]), side, 0,
        )  # fmt: skip
        a = n + nx * (-1 if y > 0 else ny - 1)
        b = n + nx * (1 if y + 1 < ny else 1 - ny)
        along_y = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), here,
            (moments[1, b], moments[2, b], moments[3, b]), side, 1,
        )  # fmt: skip
        a = n + nx * ny * (-1 if z > 0 else nz - 1)
        b = n + nx * ny * (1 if z + 1 < nz else 1 - nz)
        along_z = difference_at_walls(
            (moments[1, a], moments[2, a], moments[3, a]), here,
            (moments[1, b], moments[2, b], moments[3, b]), side, 2,
        )  # fmt: skip
        place = x if word == 1 else 2 * (x % (nx // 2)) + x // (nx // 2)
        viscosity[row + place] = encode(formula(along_x, along_y, along_z, constant))

    return kernel(update)


class EddyStore:
    """The velocity in a block in a GPU's memory."""

    def __init__(self, engine, sides, interior, edges):
        form = engine.problem.precision
        self._engine, self._shape = engine, sides.shape
        profiling.count_transfer(to_device=sides.nbytes)
        with engine.device.active():
            self.moments = cuda.to_device(np.zeros((4, *sides.shape), form.compute))
            self._viscosity = engine.cells(engine.viscosity)
            arrays = (
                self.moments.reshape(4, sides.size),
                cuda.to_device(sides.reshape(-1)),
                self._viscosity,
            )
            self._interior = [self._prepare(box, arrays) for box in interior]
            self._edges = [self._prepare(box, arrays) for box in edges]

    def _prepare(self, box, arrays):
        """Return a function that computes the cells of a box."""
        problem, (nz, ny, nx) = self._engine.problem, self._shape
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
        arguments = *arrays, constant, tuple(map(int, region))
        return prepare_launch(update, grid, threads, self._engine.stream, arguments)

    def update_interior(self):
        for launch in self._interior:
            launch()

    def update_edges(self):
        for launch in self._edges:
            launch()

    def read_velocity(self, t):
        self._engine.copy_moments(t, self._engine.box(), self.moments)

    def _layers(self, z0, z1):
        _, ny, nx = self._shape
        return self._viscosity[z0 * ny * nx : z1 * ny * nx]

    def read_layers(self, z0, z1):
        with self._engine.device.active():
            self._engine.synchronize()
            layers = self._layers(z0, z1)
            profiling.count_transfer(to_host=layers.nbytes)
            return layers.copy_to_host()

    def write_layers(self, z0, values):
        profiling.count_transfer(to_device=values.nbytes)
        _, ny, nx = self._shape
        with self._engine.device.active():
            layers = self._layers(z0, z0 + values.size // (ny * nx))
            layers.copy_to_device(np.ascontiguousarray(values))
            self._engine.synchronize()

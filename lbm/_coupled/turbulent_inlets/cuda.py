"""Turbulent inlets on a GPU; `lbm._coupled.turbulent_inlets.InletRows` has the methods.

The arithmetic is in float64, as on the CPU: it is a small part of a step.
"""

from __future__ import annotations

import numpy as np
from numba import float64

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._coupled.turbulent_inlets.formulas import place_eddy, tent
from lbm.geometry.wall_types import HALF_STEP

THREADS = 128
"""Threads of a block; not tuned."""

ROWS = 4
"""Rows of points that a thread computes: it reads the eddies for all of them once."""


def create_rows(engine, velocity, rows) -> InletRows:
    """Create the rows of an inlet in a GPU's memory."""
    return InletRows(engine, velocity, rows)


@kernel
def place_eddies(step, rate, sizes, lengths, eddies):
    """Compute an eddy in each thread; they pass `rate` times in a step."""
    e = cuda.grid(1)
    if e < eddies.shape[0]:
        y, z, a, b, c = place_eddy(e, (step + HALF_STEP) * rate, sizes, lengths)
        eddies[e, 0], eddies[e, 1] = y, z
        eddies[e, 2], eddies[e, 3], eddies[e, 4] = a, b, c


@kernel(device=True)
def _sum_of_block(value, parts, thread):
    """Return the sum of the values of all threads of a block to each of them.

    parts : float64 [THREADS], shared memory
    """
    parts[thread] = value
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if thread < half:
            parts[thread] += parts[thread + half]
        cuda.syncthreads()
        half //= 2
    return parts[0]


@kernel
def sum_eddies(eddies, sizes, lengths, root, weights, out, inflow):
    """Compute the fluctuations of ROWS points of the plane with each thread, and in each block the
    mass that its points bring in.

    Block (i, k) has THREADS points of each of ROWS rows. The arrays are those of the function of
    `cpu.py`, but for inflow [i, k]. A point needs the eddies of nine tiles; a thread looks at those
    of all its points.
    """
    thread, row = cuda.threadIdx.x, cuda.blockIdx.x * ROWS
    column = cuda.blockIdx.y * THREADS + thread
    parts = cuda.shared.array(THREADS, float64)
    rows_of_tiles, columns_of_tiles, per_tile = sizes[1], sizes[2], sizes[5]
    row_step, column_step = int(root.shape[2] > 1), int(root.shape[3] > 1)
    dy, dz = 0.5 / lengths[2], 0.5 / lengths[3]
    total = 0.0
    if column < out.shape[2]:
        a = cuda.local.array(ROWS, float64)
        b = cuda.local.array(ROWS, float64)
        c = cuda.local.array(ROWS, float64)
        for i in range(ROWS):
            a[i], b[i], c[i] = 0.0, 0.0, 0.0
        first_row = min(int(0.5 * row / lengths[0]), rows_of_tiles - 1)
        last_row = min(int(0.5 * (row + ROWS - 1) / lengths[0]), rows_of_tiles - 1)
        tile_column = min(int(0.5 * column / lengths[1]), columns_of_tiles - 1)
        for tile in range(first_row, last_row + 3):
            first = (tile * (columns_of_tiles + 2) + tile_column) * per_tile
            for e in range(first, first + 3 * per_tile):
                share = tent(dz * column - eddies[e, 1])
                if share > 0.0:
                    y, u, v, w = eddies[e, 0], eddies[e, 2], eddies[e, 3], eddies[e, 4]
                    for i in range(ROWS):
                        height = tent(dy * (row + i) - y) * share
                        a[i] += height * u
                        b[i] += height * v
                        c[i] += height * w
        for i in range(ROWS):
            if row + i < out.shape[1]:
                r, s = (row + i) * row_step, column * column_step
                for k in range(3):
                    velocity = root[k, 0, r, s] * a[i] + root[k, 1, r, s] * b[i]
                    velocity += root[k, 2, r, s] * c[i]
                    out[k, row + i, column] = velocity
                    total += weights[k, row + i, column] * velocity
    total = _sum_of_block(total, parts, thread)
    if thread == 0:
        inflow[cuda.blockIdx.x, cuda.blockIdx.y] = total


@kernel
def sum_inflow(inflow, share, shift):
    """Set shift[0] to `share` times the sum of inflow [i, k], by one block."""
    thread, width = cuda.threadIdx.x, inflow.shape[1]
    parts = cuda.shared.array(THREADS, float64)
    total = 0.0
    for k in range(thread, inflow.size, THREADS):
        total += inflow[k // width, k % width]
    total = _sum_of_block(total, parts, thread)
    if thread == 0:
        shift[0] = share * total


def _write_rows(indices, mean, out, axis, shift, first, table):
    """Set a row of the table of walls in each thread, from row `first` on.

    indices : int64 [2, point], rows and columns of points
    mean : float64 [3, row or 1, column or 1]
    """
    point = cuda.grid(1)
    if point < indices.shape[1]:
        row, column = indices[0, point], indices[1, point]
        i, j = min(row, mean.shape[1] - 1), min(column, mean.shape[2] - 1)
        for k in range(3):
            u = out[k, row, column] + mean[k, i, j]
            if k == axis:
                u -= shift[0]
            table[first + point, 2 + k] = u


write_rows_float32 = kernel(_write_rows)
write_rows_float64 = kernel(_write_rows)


class InletRows:
    """The rows of a turbulent inlet in a GPU's memory."""

    def __init__(self, engine, velocity, rows):
        grid, plane = velocity.grid, velocity.plane
        points, size = len(rows.points), plane.weights.shape
        blocks = blocks_for(size[1], ROWS), blocks_for(size[2], THREADS)
        write_rows = (
            write_rows_float32
            if engine.problem.precision.compute is np.float32
            else write_rows_float64
        )
        self._device, self._velocity, self._engine = engine.device, velocity, engine
        stream, block = engine.stream, (THREADS,)
        with engine.device.active():
            indices, root, weights = (
                cuda.to_device(np.ascontiguousarray(array))
                for array in (
                    velocity.plane.find_places(*rows.points.T),
                    velocity.root,
                    plane.weights,
                )
            )
            self._mean = cuda.to_device(np.ascontiguousarray(velocity.mean))
            eddies, out, inflow, shift = (
                cuda.device_array(shape, np.float64)
                for shape in ((grid.eddies, 5), size, blocks, (1,))
            )
            layout = grid.sizes, grid.lengths
            placement = np.int64(0), velocity.rate, *layout, eddies
            blocks_of_eddies = blocks_for(grid.eddies, THREADS)
            self._place = Launcher(place_eddies, blocks_of_eddies, block, stream, placement)
            sums = eddies, *layout, root, weights, out, inflow
            share = plane.inwards / plane.area
            write = (
                indices, self._mean, out, np.int64(plane.axis), shift, np.int64(rows.first),
                engine.wall_types,
            )  # fmt: skip
            self._launches = [
                Launcher(sum_eddies, blocks, block, stream, sums),
                Launcher(sum_inflow, (1,), block, stream, (inflow, share, shift)),
                Launcher(write_rows, (blocks_for(points, THREADS),), block, stream, write),
            ]
            self._engine.synchronize()  # arrays have arrived, whatever stream steps run on

    def write(self, step):
        if self._velocity.changes:
            mean = np.ascontiguousarray(self._velocity.mean_at(step + HALF_STEP))
            profiling.count_transfer(to_device=mean.nbytes)
            with self._device.active():
                self._mean.copy_to_device(mean)
                self._engine.synchronize()  # the copy may still be under way
        self._place(changes=[(0, step)])
        for launch in self._launches:
            launch()

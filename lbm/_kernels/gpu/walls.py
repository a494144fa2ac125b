"""Tables of walls in a GPU's memory, and a kernel for those that change with time."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from hetero.cuda.driver import cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from lbm._kernels.formulas.wall_formulas import return_from_moving_wall
from lbm._kernels.problem import Problem, fold_rows
from lbm.geometry.wall_links import MOVING, RETURN
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

THREADS = 128
"""Threads of a block of the kernel."""


class WallTables:
    """Tables of the walls of a block on the current GPU.

    Parameters
    ----------
    problem : the block
    stream : of the kernel that updates them

    Attributes
    ----------
    types : `Links.wall_types` in the present step
    arrays : all tables, in the order of `_kernels.gpu.source.ARRAYS`
    """

    def __init__(self, problem: Problem, stream: object):
        form, links = problem.precision, problem.links
        classes = fold_rows(links.classes, form.lanes).reshape(-1)
        masks, added = links.masks_with_returns(), links.added_by_walls()
        tables = classes, masks, links.wall_rows, *(
            table.astype(form.compute) for table in (links.wall_types, added)
        )  # fmt: skip
        self.arrays = tuple(map(cuda.to_device, tables))
        *_, rows, self.types, added_on_gpu = self.arrays
        self._launch: Callable[[], None] | None = None
        varying = links.find_varying_classes()
        varying = varying[masks[varying, RETURN] == MOVING].astype(np.int32)
        if len(varying):
            arguments = cuda.to_device(varying), rows, self.types, added_on_gpu
            grid = (blocks_for(len(varying) * problem.lattice.size, THREADS),)
            adder = make_wall_adder(form.name, problem.lattice)
            self._launch = Launcher(adder, grid, (THREADS,), stream, arguments)
        self.update()

    def update(self) -> None:
        """Take over rows of `types` that have changed."""
        if self._launch is not None:
            self._launch()


@functools.cache
def make_wall_adder(precision: str, lattice: Lattice):
    """Make the kernel that sets `added` [class, q] of classes [k] to what moving walls add."""
    T = PRECISIONS[precision].compute
    velocities, weights = np.array(lattice.velocities, T), np.array(lattice.weights, T)
    zero, size = T(0), lattice.size

    @kernel
    def add_moving_walls(classes, wall_rows, wall_types, added):
        n = cuda.grid(1)
        if n < classes.size * size:
            c, q = classes[n // size], n % size
            velocity_of, weight_of = (
                cuda.const.array_like(velocities),
                cuda.const.array_like(weights),
            )
            k, along = wall_rows[c, q, 0], zero
            for a in range(3):
                along += velocity_of[q, a] * wall_types[k, 2 + a]
            added[c, q] = return_from_moving_wall(zero, weight_of[q], along)

    return add_moving_walls

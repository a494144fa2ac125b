"""What walls whose velocity changes with time add to populations, tabulated on a GPU."""

from __future__ import annotations

import functools

import numpy as np

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from lbm._engines.wall_formulas import return_from_moving_wall
from lbm._model.precision import PRECISIONS
from lbm.lattices import Lattice


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

"""The loop over the cells of a scalar on the CPU; `lbm._coupled.scalars.Loops` has arguments."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._coupled.scalars.formulas import step_cell


@parallel
def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    x0, x1, y0, y1, z0, z1 = box
    height = y1 - y0
    for r in prange(height * (z1 - z0)):
        row = np.int64(r)
        y, z = y0 + row % height, z0 + row // height
        for x in range(x0, x1):
            step_cell(x, y, z, g, target, velocity, classes, kinds, numbers, rates)


def prepare_step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Return a function that collides and streams from g to `target`."""
    return lambda: _step(g, target, velocity, classes, kinds, numbers, rates, box)

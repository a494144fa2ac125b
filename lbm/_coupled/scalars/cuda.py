"""The kernel of the cells of a scalar on a GPU; `lbm._coupled.scalars.Loops` has its arguments."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from lbm._coupled.scalars import formulas

step_cell = formulas.step_cell.py_func if SIMULATOR else formulas.step_cell


def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Step one cell of the box with each thread."""
    x0, x1, y0, y1, z0, z1 = box
    width, height = x1 - x0, y1 - y0
    i = cuda.grid(1)
    if i >= width * height * (z1 - z0):
        return
    x, y, z = x0 + i % width, y0 + i // width % height, z0 + i // (width * height)
    step_cell(x, y, z, g, target, velocity, classes, kinds, numbers, rates)


step_float32, step_float64 = kernel(_step), kernel(_step)


def prepare_step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Return a function that collides and streams from g to `target`, on the current GPU."""
    run = step_float32 if g.dtype == np.float32 else step_float64
    x0, x1, y0, y1, z0, z1 = box
    blocks = launch.blocks_for((x1 - x0) * (y1 - y0) * (z1 - z0))
    arguments = g, target, velocity, classes, kinds, numbers, rates, box
    return Launcher(run, (blocks,), (launch.THREADS,), 0, arguments)

"""The kernel of the cells of a scalar on a GPU; `lbm._coupled.scalars.Loops` has its arguments."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.cuda.launcher import Launcher
from hetero.jit import kernel
from lbm._coupled.scalars.formulas import STREAMS, collide_pair, collide_rest, wall_return
from lbm._kernels.formulas.scalar_formulas import total
from lbm.geometry.wall_links import SOLID_CLASS


def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Step one cell of the box with each thread."""
    x0, x1, y0, y1, z0, z1 = box
    width, height = x1 - x0, y1 - y0
    i = cuda.grid(1)
    if i >= width * height * (z1 - z0):
        return
    x, y, z = x0 + i % width, y0 + i // width % height, z0 + i // (width * height)
    c = classes[z, y, x]
    if c == SOLID_CLASS:
        return
    nz, ny, nx = classes.shape
    f = (g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
         g[5, z, y, x], g[6, z, y, x])  # fmt: skip
    ux, uy, uz = velocity[0, z, y, x], velocity[1, z, y, x], velocity[2, z, y, x]
    s, (even, odd) = total(f), rates
    target[0, z, y, x] = collide_rest(f[0], s, ux, uy, uz, even)
    a, b = collide_pair(f[1], f[2], s, ux, even, odd)
    if kinds[c, 1] == STREAMS:
        target[1, z, y, x + 1 if x + 1 < nx else 0] = a
    else:
        target[2, z, y, x] = wall_return(a, kinds[c, 1], numbers[c, 1], s, ux)
    if kinds[c, 2] == STREAMS:
        target[2, z, y, (x if x > 0 else nx) - 1] = b
    else:
        target[1, z, y, x] = wall_return(b, kinds[c, 2], numbers[c, 2], s, ux)
    a, b = collide_pair(f[3], f[4], s, uy, even, odd)
    if kinds[c, 3] == STREAMS:
        target[3, z, y + 1 if y + 1 < ny else 0, x] = a
    else:
        target[4, z, y, x] = wall_return(a, kinds[c, 3], numbers[c, 3], s, uy)
    if kinds[c, 4] == STREAMS:
        target[4, z, (y if y > 0 else ny) - 1, x] = b
    else:
        target[3, z, y, x] = wall_return(b, kinds[c, 4], numbers[c, 4], s, uy)
    a, b = collide_pair(f[5], f[6], s, uz, even, odd)
    if kinds[c, 5] == STREAMS:
        target[5, z + 1 if z + 1 < nz else 0, y, x] = a
    else:
        target[6, z, y, x] = wall_return(a, kinds[c, 5], numbers[c, 5], s, uz)
    if kinds[c, 6] == STREAMS:
        target[6, (z if z > 0 else nz) - 1, y, x] = b
    else:
        target[5, z, y, x] = wall_return(b, kinds[c, 6], numbers[c, 6], s, uz)


step_float32, step_float64 = kernel(_step), kernel(_step)


def prepare_step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Return a function that collides and streams from g to `target`, on the current GPU."""
    run = step_float32 if g.dtype == np.float32 else step_float64
    x0, x1, y0, y1, z0, z1 = box
    blocks = launch.blocks_for((x1 - x0) * (y1 - y0) * (z1 - z0))
    arguments = g, target, velocity, classes, kinds, numbers, rates, box
    return Launcher(run, (blocks,), (launch.THREADS,), 0, arguments)

"""Loops over the cells of a scalar on the CPU; `lbm._coupled.scalars.Loops` has their arguments."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from lbm._coupled.scalars.formulas import STREAMS, collide_pair, collide_rest, wall_return
from lbm._kernels.formulas.scalar_formulas import total
from lbm.geometry.wall_links import SOLID_CLASS


@serial(forceinline=True)
def _send(target, q, cell, end, h, wall, s, u):
    """Store h in the cell at the end of the link q, or what a wall returns in the cell itself.

    `wall` is the kind of the link, and the number that belongs to it.
    """
    (z, y, x), (kind, number) = cell, wall
    if kind == STREAMS:
        target[q, end[0], end[1], end[2]] = h
    else:
        back = q + 1 if q % 2 else q - 1
        target[back, z, y, x] = wall_return(h, kind, number, s, u)


@serial(forceinline=True)
def _step_row(g, target, velocity, classes, kinds, numbers, rates, extent):
    """Step the cells x0 to x1 of the row (y, z)."""
    x0, x1, y, z = extent
    nz, ny, nx = classes.shape
    zm, zp = (z if z > 0 else nz) - 1, z + 1 if z + 1 < nz else 0
    ym, yp = (y if y > 0 else ny) - 1, y + 1 if y + 1 < ny else 0
    even, odd = rates
    for x in range(x0, x1):
        c = classes[z, y, x]
        if c == SOLID_CLASS:
            continue
        xm, xp = (x if x > 0 else nx) - 1, x + 1 if x + 1 < nx else 0
        f = (g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
             g[5, z, y, x], g[6, z, y, x])  # fmt: skip
        ux, uy, uz = velocity[0, z, y, x], velocity[1, z, y, x], velocity[2, z, y, x]
        s, cell = total(f), (z, y, x)
        target[0, z, y, x] = collide_rest(f[0], s, ux, uy, uz, even)
        a, b = collide_pair(f[1], f[2], s, ux, even, odd)
        _send(target, 1, cell, (z, y, xp), a, (kinds[c, 1], numbers[c, 1]), s, ux)
        _send(target, 2, cell, (z, y, xm), b, (kinds[c, 2], numbers[c, 2]), s, ux)
        a, b = collide_pair(f[3], f[4], s, uy, even, odd)
        _send(target, 3, cell, (z, yp, x), a, (kinds[c, 3], numbers[c, 3]), s, uy)
        _send(target, 4, cell, (z, ym, x), b, (kinds[c, 4], numbers[c, 4]), s, uy)
        a, b = collide_pair(f[5], f[6], s, uz, even, odd)
        _send(target, 5, cell, (zp, y, x), a, (kinds[c, 5], numbers[c, 5]), s, uz)
        _send(target, 6, cell, (zm, y, x), b, (kinds[c, 6], numbers[c, 6]), s, uz)


@parallel
def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    x0, x1, y0, y1, z0, z1 = box
    height = y1 - y0
    for r in prange(height * (z1 - z0)):
        row = np.int64(r)
        extent = x0, x1, y0 + row % height, z0 + row // height
        _step_row(g, target, velocity, classes, kinds, numbers, rates, extent)


def prepare_step(g, target, velocity, classes, kinds, numbers, rates, box):
    """Return a function that collides and streams from g to `target`."""
    return lambda: _step(g, target, velocity, classes, kinds, numbers, rates, box)

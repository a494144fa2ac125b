"""Loops over the cells of a scalar on the CPU; `lbm._scalars.Loops` has their arguments."""

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from lbm._model.wall_links import SOLID_CLASS
from lbm._scalars.formulas import (
    STREAMS,
    add_half_impulse,
    collide_pair,
    collide_rest,
    interpolated_return,
    total,
    wall_return,
)


def zeros(shape, dtype):
    """Allocate an array of zeros."""
    return np.zeros(shape, dtype)


def to_device(array):
    """Return a contiguous copy of an array."""
    return np.array(array, order="C")


@serial(forceinline=True)
def _send(target, q, cell, end, h, kind, number, s, u):
    """Store h in the cell at the end of the link q, or what a wall returns in the cell itself."""
    z, y, x = cell
    if kind == STREAMS:
        target[q, end[0], end[1], end[2]] = h
    else:
        back = q + 1 if q % 2 else q - 1
        target[back, z, y, x] = wall_return(h, kind, number, s, u)


@serial(forceinline=True)
def _step_row(g, target, velocity, classes, kinds, numbers, rates, place):
    """Step the cells x0 to x1 of the row (y, z)."""
    x0, x1, y, z = place
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
        _send(target, 1, cell, (z, y, xp), a, kinds[c, 1], numbers[c, 1], s, ux)
        _send(target, 2, cell, (z, y, xm), b, kinds[c, 2], numbers[c, 2], s, ux)
        a, b = collide_pair(f[3], f[4], s, uy, even, odd)
        _send(target, 3, cell, (z, yp, x), a, kinds[c, 3], numbers[c, 3], s, uy)
        _send(target, 4, cell, (z, ym, x), b, kinds[c, 4], numbers[c, 4], s, uy)
        a, b = collide_pair(f[5], f[6], s, uz, even, odd)
        _send(target, 5, cell, (zp, y, x), a, kinds[c, 5], numbers[c, 5], s, uz)
        _send(target, 6, cell, (zm, y, x), b, kinds[c, 6], numbers[c, 6], s, uz)


@parallel
def _step(g, target, velocity, classes, kinds, numbers, rates, box):
    x0, x1, y0, y1, z0, z1 = box
    height = y1 - y0
    for r in prange(height * (z1 - z0)):
        row = np.int64(r)
        place = x0, x1, y0 + row % height, z0 + row // height
        _step_row(g, target, velocity, classes, kinds, numbers, rates, place)


def prepare_step(g, target, velocity, block):
    """Return a function that collides and streams from g to `target`."""
    return lambda: _step(g, target, velocity, *block)


@parallel
def _interpolate(g, wall, other, factors, sent, returned):
    for i in prange(wall.size):
        halfway = g[wall[i]]
        sent[i] = factors[3, i] - halfway
        returned[i] = interpolated_return(
            halfway, g[other[i]], factors[0, i], factors[1, i], factors[2, i]
        )


@parallel
def _store(g, wall, returned):
    for i in prange(wall.size):
        g[wall[i]] = returned[i]


def interpolate(g, cut):
    """Replace what walls half-way between cells have returned."""
    flat = g.reshape(-1)
    _interpolate(flat, *cut)
    _store(flat, cut.wall, cut.returned)


@parallel
def _add_half_force(fields, g, classes, numbers, box):
    x1, y0, z0 = box[1], box[2], box[4]
    height = fields.shape[2]
    for r in prange(fields.shape[1] * height):
        i, j = np.int64(r) // height, np.int64(r) % height
        y, z = y0 + j, z0 + i
        for x in range(x1):
            if classes[z, y, x] == SOLID_CLASS:
                continue
            s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x],
                       g[4, z, y, x], g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
            drho, ux, uy, uz = (fields[0, i, j, x], fields[1, i, j, x], fields[2, i, j, x],
                                fields[3, i, j, x])  # fmt: skip
            ux, uy, uz = add_half_impulse(drho, ux, uy, uz, s, numbers)
            fields[1, i, j, x], fields[2, i, j, x], fields[3, i, j, x] = ux, uy, uz


def add_half_force(fields, g, classes, numbers, box):
    """Add half of the buoyancy's impulse to the velocities of a box."""
    _add_half_force(fields, g, classes, numbers, box)


@parallel
def _find_not_finite(g, classes, box, flag):
    x0, x1, y0, y1, z0, z1 = box
    height = y1 - y0
    for r in prange(height * (z1 - z0)):
        y, z = y0 + np.int64(r) % height, z0 + np.int64(r) // height
        bad = np.int64(0)
        for x in range(x0, x1):
            s = total((g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x],
                       g[4, z, y, x], g[5, z, y, x], g[6, z, y, x]))  # fmt: skip
            bad += np.int64((s - s != 0) & (classes[z, y, x] != SOLID_CLASS))
        if bad:
            flag[0] = 1


def has_not_finite(g, block):
    """Return whether a value in a fluid cell is not finite."""
    flag = np.zeros(1, np.int32)
    _find_not_finite(g, block.classes, block.box, flag)
    return bool(flag[0])


def read_slab(array, z0, z1):
    """Return a copy of layers."""
    return array[:, z0:z1].copy()


def write_slab(array, z0, values):
    """Set layers from z0 on."""
    array[:, z0 : z0 + values.shape[1]] = values


def read_array(array):
    """Return a copy of an array."""
    return array.copy()


def copy(source, target):
    """Copy an array over another one."""
    np.copyto(target, source)

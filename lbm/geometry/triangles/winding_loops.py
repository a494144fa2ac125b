"""Loops that sum solid angles of triangles over a tree (Barill, Dickson, Schmidt, Levin and
Jacobson 2018), for blocks of cells at a time.
"""

import math

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar_internal

BLOCK = 4
"""Cells along each side of a block, which descends the tree together. Not tuned."""

_CELLS = BLOCK**3

_FAR = 2.0
"""Radii of a node from which on its moments stand for its triangles: the winding number is then
right to 0.005 (`tests/lbm/test_open_meshes.py`)."""

_STACK = 64
"""Nodes that wait during a descent: one for each level of a tree of 2^60 leaves."""

_INSIDE = 0.51
"""Winding number from which on a cell is inside: one half, which it is beside a flat sheet, and
twice the error of the moments."""

_CERTAIN = 0.48
"""Bound of the winding number of caps below which the integer alone decides."""


@scalar_internal
def _distance_to_cube(centre, low):
    """Return the distance of a point from a cube with the side BLOCK."""
    square = 0.0
    for a in range(3):
        outside = max(low[a] - centre[a], centre[a] - low[a] - BLOCK, 0.0)
        square += outside * outside
    return math.sqrt(square)


@scalar_internal
def _bound(centre, radius, area, leaves, low, stack):
    """Return a bound of the winding number in a cube: areas over squares of distances."""
    bound = 0.0
    stack[0], waiting = 0, 1
    while waiting > 0 and bound < _CERTAIN:
        waiting -= 1
        node = stack[waiting]
        free = _distance_to_cube(centre[node], low) - radius[node]
        if free > radius[node] or (free > 0.0 and node >= leaves - 1):
            bound += area[node] / (4.0 * math.pi * free * free)
        elif node >= leaves - 1:
            bound = np.inf
        else:
            stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
            waiting += 2
    return bound


@scalar_internal
def _add_moments(centre, dipole, q, points, winding):
    """Add the winding number of a far node: the potential of its dipole and its quadrupole."""
    trace = q[0] + q[1] + q[2]
    for k in range(_CELLS):
        x, y, z = centre[0] - points[0, k], centre[1] - points[1, k], centre[2] - points[2, k]
        square = 1.0 / (x * x + y * y + z * z)
        cube = square * math.sqrt(square) * (0.25 / math.pi)
        flux = dipole[0] * x + dipole[1] * y + dipole[2] * z
        form = q[0] * x * x + q[1] * y * y + q[2] * z * z
        form += 2.0 * (q[3] * x * y + q[4] * y * z + q[5] * z * x)
        winding[k] += cube * (flux + trace - 3.0 * square * form)


@scalar_internal
def _add_triangle(t, points, winding):
    """Add the solid angle of a triangle over 4 pi (Van Oosterom and Strackee 1983)."""
    for k in range(_CELLS):
        px, py, pz = points[0, k], points[1, k], points[2, k]
        ax, ay, az = t[0, 0] - px, t[0, 1] - py, t[0, 2] - pz
        bx, by, bz = t[1, 0] - px, t[1, 1] - py, t[1, 2] - pz
        cx, cy, cz = t[2, 0] - px, t[2, 1] - py, t[2, 2] - pz
        a = math.sqrt(ax * ax + ay * ay + az * az)
        b = math.sqrt(bx * bx + by * by + bz * bz)
        c = math.sqrt(cx * cx + cy * cy + cz * cz)
        volume = (
            ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        )  # fmt: skip
        height = a * b * c + c * (ax * bx + ay * by + az * bz)
        height += a * (bx * cx + by * cy + bz * cz) + b * (cx * ax + cy * ay + cz * az)
        winding[k] += math.atan2(volume, height) * (0.5 / math.pi)


@parallel
def decide_cells(
    triangles, first, centre, radius, area, dipole, quadrupole, x, y, z, xs, ys, zs, windings
):
    """Replace integers by whether the integer less the winding number of a tree is above one half.

    Parameters
    ----------
    triangles, first, centre, radius, area, dipole, quadrupole : see `winding.Tree`
    x, y, z : increasing float64, coordinates of centres
    xs, ys, zs : int64, where groups of them begin, and their number
    windings : int8 [z, y, x]
    """
    leaves = first.size - 1
    nx, ny, nz = xs.size - 1, ys.size - 1, zs.size - 1
    for block in prange(nx * ny * nz):
        b = np.int64(block)
        i0, i1 = xs[b % nx], xs[b % nx + 1]
        j0, j1 = ys[b // nx % ny], ys[b // nx % ny + 1]
        k0, k1 = zs[b // (nx * ny)], zs[b // (nx * ny) + 1]
        low, stack = np.empty(3), np.empty(_STACK, np.int64)
        low[0] = math.floor(x[i0] / BLOCK) * BLOCK
        low[1] = math.floor(y[j0] / BLOCK) * BLOCK
        low[2] = math.floor(z[k0] / BLOCK) * BLOCK
        if _bound(centre, radius, area, leaves, low, stack) < _CERTAIN:
            for k in range(k0, k1):
                for j in range(j0, j1):
                    for i in range(i0, i1):
                        windings[k, j, i] = np.int8(windings[k, j, i] != 0)
            continue
        points, caps = np.empty((3, _CELLS)), np.zeros(_CELLS)
        for m in range(_CELLS):  # the last centres are repeated where there are less
            points[0, m] = x[min(i0 + m % BLOCK, i1 - 1)]
            points[1, m] = y[min(j0 + m // BLOCK % BLOCK, j1 - 1)]
            points[2, m] = z[min(k0 + m // (BLOCK * BLOCK), k1 - 1)]
        stack[0], waiting = 0, 1
        while waiting > 0:
            waiting -= 1
            node = stack[waiting]
            if _distance_to_cube(centre[node], low) > _FAR * radius[node]:
                _add_moments(centre[node], dipole[node], quadrupole[node], points, caps)
            elif node < leaves - 1:
                stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
                waiting += 2
            else:
                leaf = node - (leaves - 1)
                for t in range(first[leaf], first[leaf + 1]):
                    _add_triangle(triangles[t], points, caps)
        for m in range(_CELLS):
            i, j, k = i0 + m % BLOCK, j0 + m // BLOCK % BLOCK, k0 + m // (BLOCK * BLOCK)
            if i < i1 and j < j1 and k < k1:
                windings[k, j, i] = np.int8(abs(windings[k, j, i] - caps[m]) > _INSIDE)

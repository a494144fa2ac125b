"""Loops that sum solid angles of triangles over a tree (Barill, Dickson, Schmidt, Levin and
Jacobson 2018), for blocks of cells at a time.
"""

import math

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar_internal

BLOCK = 4
"""Cells along each side of a block, which descends the tree together. Not tuned."""

COARSE = 16
"""Cells along each side of blocks that are looked at first. Not tuned."""

_CELLS = BLOCK**3

_FAR = 2.0
"""Least distance, in radii of a node, at which its moments stand for its triangles: the winding
number is then right to 0.005 (`tests/lbm/test_open_meshes.py`)."""

_STACK = 64
"""Nodes that wait during a descent: one for each level of a tree of 2^60 leaves."""

_INSIDE = 0.51
"""Winding number above which a cell is inside: one half, which it is beside a flat sheet, and twice
the error of the moments."""

_CERTAIN = 0.48
"""Bound of the winding number of caps below which the integer alone decides."""

_APART = 3.0
"""Least distance between a node and a cube, in radii of the node, at which areas over squares of
distances are summed for all of its triangles: they are at most 1.8 times too large then."""

_BULGE = 0.06
"""How far winding numbers in a cube may be outside of those in its corners, besides half of their
range: 0.02 beside the edge of a large cap that is as far away as the cube is wide, with reserve."""


@scalar_internal
def _distance_to_cube(cx, cy, cz, low, side):
    """Return the distance of a point from a cube."""
    x = max(low[0] - cx, cx - low[0] - side, 0.0)
    y = max(low[1] - cy, cy - low[1] - side, 0.0)
    z = max(low[2] - cz, cz - low[2] - side, 0.0)
    return math.sqrt(x * x + y * y + z * z)


@scalar_internal
def _bound(centre, radius, area, leaves, low, side, stack):
    """Return a bound of the winding number in a cube, and whether no cap is within its side.

    The bound is the sum of areas over squares of distances, as far as it is small.
    """
    bound, is_free = 0.0, True
    stack[0], waiting = 0, 1
    while waiting > 0 and (bound < _CERTAIN or is_free):
        waiting -= 1
        node = stack[waiting]
        free = _distance_to_cube(centre[node, 0], centre[node, 1], centre[node, 2], low, side)
        free -= radius[node]
        if free > _APART * radius[node] and (free >= side or bound < _CERTAIN):
            bound += area[node] / (4.0 * math.pi * free * free)
            is_free = is_free and free >= side
        elif free >= side and bound >= _CERTAIN:
            continue
        elif node >= leaves - 1:
            bound += area[node] / (4.0 * math.pi * free * free) if free > 0.0 else np.inf
            is_free = is_free and free >= side
        else:
            stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
            waiting += 2
    return bound, is_free


@scalar_internal
def _add_moments(cx, cy, cz, dipole, q, points, winding, count):
    """Add the winding number of a far node: the potential of its dipole and its quadrupole."""
    trace = q[0] + q[1] + q[2]
    for k in range(count):
        x, y, z = cx - points[0, k], cy - points[1, k], cz - points[2, k]
        square = 1.0 / (x * x + y * y + z * z)
        cube = square * math.sqrt(square) * (0.25 / math.pi)
        flux = dipole[0] * x + dipole[1] * y + dipole[2] * z
        form = q[0] * x * x + q[1] * y * y + q[2] * z * z
        form += 2.0 * (q[3] * x * y + q[4] * y * z + q[5] * z * x)
        winding[k] += cube * (flux + trace - 3.0 * square * form)


@scalar_internal
def _add_triangle(t, points, winding, count):
    """Add the solid angle of a triangle over 4 pi (Van Oosterom and Strackee 1983)."""
    for k in range(count):
        px, py, pz = points[0, k], points[1, k], points[2, k]
        ax, ay, az = t[0, 0] - px, t[0, 1] - py, t[0, 2] - pz
        bx, by, bz = t[1, 0] - px, t[1, 1] - py, t[1, 2] - pz
        cx, cy, cz = t[2, 0] - px, t[2, 1] - py, t[2, 2] - pz
        a = math.sqrt(ax * ax + ay * ay + az * az)
        b = math.sqrt(bx * bx + by * by + bz * bz)
        c = math.sqrt(cx * cx + cy * cy + cz * cz)
        volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        height = a * b * c + c * (ax * bx + ay * by + az * bz)
        height += a * (bx * cx + by * cy + bz * cz) + b * (cx * ax + cy * ay + cz * az)
        winding[k] += math.atan2(volume, height) * (0.5 / math.pi)


@scalar_internal
def _sum_tree(tree, low, side, points, count, winding, stack):
    """Store the winding numbers of a tree around the first points [xyz, point] of a cube."""
    triangles, first, centre, radius, _, dipole, quadrupole = tree
    leaves = first.size - 1
    for k in range(count):
        winding[k] = 0.0
    stack[0], waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        cx, cy, cz = centre[node, 0], centre[node, 1], centre[node, 2]
        if _distance_to_cube(cx, cy, cz, low, side) > _FAR * radius[node]:
            _add_moments(cx, cy, cz, dipole[node], quadrupole[node], points, winding, count)
        elif node < leaves - 1:
            stack[waiting], stack[waiting + 1] = 2 * node + 1, 2 * node + 2
            waiting += 2
        else:
            for t in range(first[node - leaves + 1], first[node - leaves + 2]):
                _add_triangle(triangles[t], points, winding, count)


@scalar_internal
def _find_range(tree, low, side, points, winding, stack):
    """Return the least and the largest winding number of a tree in a cube.

    They follow from areas and distances, or from the corners, as the winding number is harmonic
    where no cap is near. If one is, they are infinite.
    """
    bound, is_free = _bound(tree[2], tree[3], tree[4], tree[1].size - 1, low, side, stack)
    if bound < _CERTAIN:
        return -bound, bound
    if not is_free:
        return -np.inf, np.inf
    for m in range(8):
        points[0, m] = low[0] + side * (m % 2)
        points[1, m] = low[1] + side * (m // 2 % 2)
        points[2, m] = low[2] + side * (m // 4)
    _sum_tree(tree, low, side, points, 8, winding, stack)
    least, largest = winding[0], winding[0]
    for m in range(1, 8):
        least, largest = min(least, winding[m]), max(largest, winding[m])
    extra = _BULGE + 0.5 * (largest - least)
    return least - extra, largest + extra


@scalar_internal
def _decide(windings, least, largest):
    """Replace integers by 1 inside and 0 outside if a range of winding numbers is enough for it."""
    if not largest < np.inf:
        return False
    for k in range(windings.shape[0]):
        for j in range(windings.shape[1]):
            for i in range(windings.shape[2]):
                low, high = windings[k, j, i] - largest, windings[k, j, i] - least
                if low <= _INSIDE and high >= -_INSIDE and (low < -_INSIDE or high > _INSIDE):
                    return False
    for k in range(windings.shape[0]):
        for j in range(windings.shape[1]):
            for i in range(windings.shape[2]):
                is_inside = abs(windings[k, j, i] - 0.5 * (least + largest)) > _INSIDE
                windings[k, j, i] = np.int8(is_inside)
    return True


@scalar_internal
def _find_cube(low, x, y, z, side):
    """Store the lowest corner of the cube of the domain that holds a point."""
    low[0] = math.floor(x / side) * side
    low[1] = math.floor(y / side) * side
    low[2] = math.floor(z / side) * side


@parallel
def decide_cells(
    triangles, first, centre, radius, area, dipole, quadrupole,
    x, y, z, xs, ys, zs, blocks_x, blocks_y, blocks_z, windings,
):  # fmt: skip
    """Replace integers by whether the integer less the winding number of a tree is above one half.

    Parameters
    ----------
    triangles, first, centre, radius, area, dipole, quadrupole : see `winding.Tree`
    x, y, z : increasing float64, coordinates of centres
    xs, ys, zs : int64, where groups of at most BLOCK of them begin, and their number
    blocks_x, blocks_y, blocks_z : int64, where the groups of coarse blocks begin, and their number
    windings : int8 [z, y, x]
    """
    tree = (triangles, first, centre, radius, area, dipole, quadrupole)
    nx, ny, nz = blocks_x.size - 1, blocks_y.size - 1, blocks_z.size - 1
    for block in prange(nx * ny * nz):
        b = np.int64(block)
        first_i, last_i = blocks_x[b % nx], blocks_x[b % nx + 1]
        first_j, last_j = blocks_y[b // nx % ny], blocks_y[b // nx % ny + 1]
        first_k, last_k = blocks_z[b // (nx * ny)], blocks_z[b // (nx * ny) + 1]
        low, stack = np.empty(3), np.empty(_STACK, np.int64)
        points, caps = np.empty((3, _CELLS)), np.empty(_CELLS)
        _find_cube(low, x[xs[first_i]], y[ys[first_j]], z[zs[first_k]], COARSE)
        whole = windings[zs[first_k] : zs[last_k], ys[first_j] : ys[last_j],
                         xs[first_i] : xs[last_i]]  # fmt: skip
        least, largest = _find_range(tree, low, COARSE, points, caps, stack)
        if _decide(whole, least, largest):
            continue
        for gk in range(first_k, last_k):
            for gj in range(first_j, last_j):
                for gi in range(first_i, last_i):
                    i0, j0, k0 = xs[gi], ys[gj], zs[gk]
                    part = windings[k0 : zs[gk + 1], j0 : ys[gj + 1], i0 : xs[gi + 1]]
                    _find_cube(low, x[i0], y[j0], z[k0], BLOCK)
                    least, largest = _find_range(tree, low, BLOCK, points, caps, stack)
                    if _decide(part, least, largest):
                        continue
                    count_k, count_j, count_i = part.shape
                    for m in range(_CELLS):  # the last centres are repeated where there are less
                        points[0, m] = x[i0 + min(m % BLOCK, count_i - 1)]
                        points[1, m] = y[j0 + min(m // BLOCK % BLOCK, count_j - 1)]
                        points[2, m] = z[k0 + min(m // (BLOCK * BLOCK), count_k - 1)]
                    _sum_tree(tree, low, BLOCK, points, _CELLS, caps, stack)
                    for m in range(_CELLS):
                        i, j, k = m % BLOCK, m // BLOCK % BLOCK, m // (BLOCK * BLOCK)
                        if i < count_i and j < count_j and k < count_k:
                            part[k, j, i] = np.int8(abs(part[k, j, i] - caps[m]) > _INSIDE)

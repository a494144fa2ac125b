"""Loops over the crossings of lines of cell centres, which run along x, with triangles.

Lines and triangles are compared in the plane (y, z) by one rule for edges: the edge from a to b,
with z_a < z_b, is crossed at all z with z_a <= z < z_b. A triangle is then crossed by none or by
two of its edges, and covers the y from one to the other, without the last. Both triangles at an
edge compute the same numbers from its ends, in the same order. So each line meets a closed surface
as often from outside as from inside, whatever the rounding, and whether it meets edges, vertices
or flat sides; and cell centres on a surface belong to the body on its lower side only, as in
[low, high).
"""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar_internal


@scalar_internal
def first_not_below(values, bound):
    """Return the index of the first of some increasing values that is >= bound."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] < bound:
            low = middle + 1
        else:
            high = middle
    return low


@scalar_internal
def cross_edge(a, b, z):
    """Return (direction, y, x) of the crossing of the plane z with the edge from a to b.

    `direction` is 1 if the edge ascends there, -1 if it descends, and 0 if it is not crossed. Ends
    are (x, y, z).
    """
    direction = 1
    if a[2] > b[2]:
        a, b = b, a
        direction = -1
    if not (a[2] <= z < b[2]):
        return 0, 0.0, 0.0
    share = (z - a[2]) / (b[2] - a[2])
    return direction, a[1] + share * (b[1] - a[1]), a[0] + share * (b[0] - a[0])


@scalar_internal
def corner_of(triangles, t, corner):
    """Return a corner (x, y, z) of triangle t."""
    return triangles[t, corner, 0], triangles[t, corner, 1], triangles[t, corner, 2]


@scalar_internal
def layers_of(triangles, t, z, begin, end):
    """Return the first and the last layer, without it, in [begin, end) that triangle t crosses."""
    a, b, c = triangles[t, 0, 2], triangles[t, 1, 2], triangles[t, 2, 2]
    bottom, top = min(a, b, c), max(a, b, c)
    if begin == end or top <= z[begin] or bottom > z[end - 1]:
        return begin, begin
    layers = z[begin:end]
    return begin + first_not_below(layers, bottom), begin + first_not_below(layers, top)


@scalar_internal
def cross_triangle(triangles, t, z):
    """Return (sign, y0, x0, y1, x1): triangle t covers y0 <= y < y1 in the plane z.

    x runs from x0 to x1. `sign` is 1 where lines along +x enter the body, if the corners are
    anticlockwise seen from outside, -1 where they leave it, and 0 if nothing is covered.
    """
    y_up = x_up = y_down = x_down = 0.0
    is_crossed = False
    for corner in range(3):
        start, end = corner_of(triangles, t, corner), corner_of(triangles, t, (corner + 1) % 3)
        direction, y, x = cross_edge(start, end, z)
        if direction > 0:
            y_up, x_up, is_crossed = y, x, True
        elif direction < 0:
            y_down, x_down = y, x
    if not is_crossed or y_up == y_down:
        return 0, 0.0, 0.0, 0.0, 0.0
    if y_up < y_down:
        return 1, y_up, x_up, y_down, x_down
    return -1, y_down, x_down, y_up, x_up


def _make_loop(visit):
    """Make loop(triangles, y, z, blocks, arrays), which calls `visit` at crossings of the lines.

    y and z are increasing coordinates of the lines, float64, as the triangles [triangle, corner,
    (x, y, z)]; `visit` gets the arrays behind the numbers of the block of layers, of the triangle
    and of the line [k, j], the sign of the triangle, and x of the crossing.
    """

    @parallel
    def loop(triangles, y, z, blocks, arrays):
        for block in prange(blocks):
            begin = np.int64(block) * z.size // blocks
            end = (np.int64(block) + 1) * z.size // blocks
            for t in range(triangles.shape[0]):
                first, last = layers_of(triangles, t, z, begin, end)
                for k in range(first, last):
                    sign, y0, x0, y1, x1 = cross_triangle(triangles, t, z[k])
                    if sign == 0:
                        continue
                    for j in range(first_not_below(y, y0), y.size):
                        if y[j] >= y1:
                            break
                        crossing = x0 + (y[j] - y0) / (y1 - y0) * (x1 - x0)
                        visit(block, t, k, j, sign, crossing, *arrays)

    return loop


@scalar_internal(forceinline=True)
def _add_crossing(block, t, k, j, sign, crossing, x, changes, counts):
    counts[block] += 1
    i = first_not_below(x, crossing)
    if i < x.size:
        changes[k, j, i] += np.int8(sign)


add_crossings = _make_loop(_add_crossing)
"""Adds the changes of the winding number along lines to their cells: arrays are (x, changes,
counts), the increasing centres, int8 [z, y, x], and int64 [block]. A crossing changes the first
cell whose centre is not below it; those behind the last cell change nothing. Overflow does no harm,
as winding numbers are sums modulo 256. The crossings in each block of layers are counted."""


@scalar_internal(forceinline=True)
def _mark_gap(block, t, k, j, sign, crossing, x, halves):
    i = first_not_below(x, crossing) - 1
    if 0 <= i < x.size - 1:
        is_lower = crossing - x[i] <= x[i + 1] - crossing
        halves[k, j, i] |= np.uint8(1 if is_lower else 2)


mark_gaps = _make_loop(_mark_gap)
"""Marks where triangles cross lines between neighbouring centres: arrays are (x, halves), uint8
[z, y, x]. Between x[i] and x[i + 1], bit 1 of halves[.., i] is a crossing in the lower half of the
gap, bit 2 one in the upper half."""


@scalar_internal(forceinline=True)
def _find_outermost(block, t, k, j, sign, crossing, outermost, nearest):
    for side in range(2):
        depth = crossing if side == 0 else -crossing
        if depth < nearest[side, k, j]:
            nearest[side, k, j] = depth
            outermost[side, k, j] = t


find_outermost = _make_loop(_find_outermost)
"""Finds the first and the last triangle along x on lines: arrays are (outermost, nearest), int64
[first or last, z, y], which is -1 where a line meets no triangle, and float64 of this shape,
infinite, which receives x of the first and -x of the last."""


@parallel
def sum_changes(changes, by_parity):
    """Replace changes [z, y, x] along x by 1 in the cells inside, and by 0 elsewhere.

    Cells inside have a winding number other than 0, or with `by_parity` an odd one.
    """
    for k in prange(changes.shape[0]):
        for j in range(changes.shape[1]):
            winding = np.int8(0)
            for i in range(changes.shape[2]):
                winding = np.int8(winding + changes[k, j, i])
                inside = (winding & 1) != 0 if by_parity else winding != 0
                changes[k, j, i] = np.int8(inside)

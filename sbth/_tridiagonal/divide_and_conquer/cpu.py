"""Divide and conquer on the CPU; the products are computed by NumPy's BLAS."""

import math

import numpy as np
from numba import prange

from hetero.jit import SUMS, parallel, scalar
from sbth._tridiagonal.divide_and_conquer import layout as at
from sbth._tridiagonal.divide_and_conquer.deflation_formulas import (
    NO_COUNTS,
    NO_PENDING,
    deflation_tolerance,
    make_scan,
)
from sbth._tridiagonal.divide_and_conquer.leaf_formulas import (
    MAX_SWEEPS,
    first_bulge,
    is_negligible,
    negligible_size,
    ql_rotation,
)
from sbth._tridiagonal.divide_and_conquer.secular_formulas import (
    distance,
    make_root_finder,
    make_sums,
    make_weight,
)

_sums = scalar(fastmath=SUMS)
_take_pole, _keep = make_scan(scalar)
find_root = make_root_finder(scalar, *make_sums(_sums))
_exact_weight = make_weight(_sums)


@scalar
def _rotate_rows(upper, lower, c, s):
    """Replace two rows x and y by c x + s y and c y - s x."""
    for i in range(np.uint64(upper.size)):
        x, y = upper[i], lower[i]
        upper[i] = c * x + s * y
        lower[i] = c * y - s * x


@scalar
def _solve_leaf(d, e, vectors):
    """Compute eigenvalues, in d, and eigenvectors, the rows of `vectors`, of one leaf."""
    m = d.size
    largest = 0.0
    for i in range(m):
        vectors[i, i] = 1.0
        largest = max(largest, abs(d[i]), abs(e[i]))
    for low in range(m):
        for sweep in range(MAX_SWEEPS):
            high, size = low, negligible_size(sweep, largest)
            while high < m - 1 and not is_negligible(e[high], d[high], d[high + 1], size):
                high += 1
            if high == low:
                break
            g = first_bulge(d[low], d[low + 1], e[low], d[high])
            s, c, p = 1.0, 1.0, 0.0
            i = high - 1
            while i >= low:
                e[i + 1], d[i + 1], g, s, c, p = ql_rotation(g, s, c, p, d[i], d[i + 1], e[i])
                if e[i + 1] == 0.0:
                    break
                _rotate_rows(vectors[i], vectors[i + 1], c, -s)
                i -= 1
            e[high] = 0.0
            if i < low:
                d[low] -= p
                e[low] = g
        else:
            d[low] = math.nan


@parallel
def _solve_leaves(d, e, bounds, vectors):
    """Compute eigenvalues and eigenvectors of the leaves."""
    for leaf in prange(bounds.size - 1):
        rows = slice(bounds[leaf], bounds[leaf + 1])
        _solve_leaf(d[rows], e[rows], vectors[rows, rows])


def load(torn, tables, stream=0):
    """Allocate the arrays of a matrix, with copies of what the steps change."""
    n = torn.diagonal.size
    return at.Arrays(
        *(x.copy() for x in torn),
        *(tables.bounds, tables.owner, tables.merges.copy()),
        *(np.zeros((n, n)), np.empty((at.INTEGER_ROWS, n), np.int64)),
        *(np.empty((rows, n)) for rows in (at.FLOAT_ROWS, n, n)),
    )


def upload_indices(indices, stream=0):
    """Return arrays of int64."""
    return indices


def solve_leaves(arrays, stream=0):
    """Replace `values` by the eigenvalues of the leaves, and store their eigenvectors."""
    _solve_leaves(arrays.values, arrays.below, arrays.bounds, arrays.vectors)


@parallel
def _sort_values(merges, values, integers):
    """Sort the eigenvalues of each merge."""
    for g in prange(len(merges)):
        begin, end = merges[g, at.BEGIN], merges[g, at.END]
        order = np.argsort(values[begin:end], kind="mergesort")
        for i in range(order.size):
            integers[at.ORDER, begin + i] = begin + order[i]


def sort_values(arrays, level, stream=0):
    """Store in ORDER the rows of the eigenvalues of each merge, in ascending order."""
    _sort_values(arrays.table[level.merges], arrays.values, arrays.integers)


@scalar
def _place_dropped(begin, undeflated, dropped, floats, integers):
    """List the rows behind those of the roots in GATHER, so that few of them have to be moved."""
    first = begin + undeflated
    values, stays = np.empty(dropped), np.zeros(dropped, np.bool_)
    for i in range(dropped):
        values[i] = floats[at.DROPPED_VALUE, begin + i]
        row = integers[at.DROPPED, begin + i]
        if row >= first:
            stays[row - first] = True
    free = 0
    for i in range(dropped):
        row = integers[at.DROPPED, begin + i]
        slot = row - first
        if slot < 0:
            while stays[free]:
                free += 1
            slot = free
            free += 1
        integers[at.GATHER, first + slot] = row
        floats[at.DROPPED_VALUE, begin + slot] = values[i]


@scalar
def _scan_merge(merge, coupling, vectors, values, floats, integers):
    """Set up the secular equation of one merge."""
    begin, middle, end = merge[at.BEGIN], merge[at.MIDDLE], merge[at.END]
    rho, sign = 2.0 * abs(coupling), math.copysign(1.0, coupling)
    largest = largest_weight = 0.0
    for row in range(begin, end):
        z = vectors[row, middle - 1] if row < middle else vectors[row, middle]
        largest = max(largest, abs(values[row]))
        largest_weight = max(largest_weight, abs(z))
    tolerance = deflation_tolerance(largest, math.sqrt(0.5) * largest_weight)
    pending, counts = NO_PENDING, NO_COUNTS
    for i in range(begin, end):
        row = integers[at.ORDER, i]
        upper = row < middle
        z = vectors[row, middle - 1] if upper else sign * vectors[row, middle]
        kind = at.IN_UPPER if upper else at.IN_LOWER
        candidate = row, values[row], math.sqrt(0.5) * z, kind
        pending, counts = _take_pole(
            floats, integers, begin, candidate, rho, tolerance, pending, counts
        )
    if pending[0] >= 0:
        counts = _keep(floats, integers, begin, pending, math.sqrt(rho), counts)
    upper, both, lower, dropped, rotations = counts
    undeflated = upper + both + lower
    merge[at.KEPT], merge[at.TOP] = undeflated, upper
    merge[at.UPPER], merge[at.ROTATIONS] = upper + both, rotations
    for i in range(begin, begin + undeflated):
        kind = integers[at.KIND, i]
        if kind != at.IN_UPPER:
            integers[at.COLUMN, i] += upper + both if kind == at.IN_LOWER else upper
        integers[at.GATHER, begin + integers[at.COLUMN, i]] = integers[at.ROW, i]
    _place_dropped(begin, undeflated, dropped, floats, integers)


@parallel
def _scan_merges(merges, couplings, vectors, values, floats, integers):
    """Set up the secular equations, and apply the rotations."""
    for g in prange(len(merges)):
        _scan_merge(merges[g], couplings[g], vectors, values, floats, integers)


@parallel
def _rotate_vectors(merges, owner, vectors, floats, integers, width):
    """Apply the rotations, in pieces of `width` columns."""
    n = owner.size
    for piece in prange((n + width - 1) // width):
        left, stop = np.int64(piece) * width, min((np.int64(piece) + 1) * width, n)
        for g in range(owner[left], owner[stop - 1] + 1):
            begin = merges[g, at.BEGIN]
            columns = slice(max(left, begin), min(stop, merges[g, at.END]))
            for r in range(begin, begin + merges[g, at.ROTATIONS]):
                first, second = integers[at.FIRST, r], integers[at.SECOND, r]
                c, s = floats[at.COSINE, r], floats[at.SINE, r]
                _rotate_rows(vectors[first, columns], vectors[second, columns], c, s)


_ROTATED_COLUMNS = 256
"""Columns that a thread rotates at a time: two pieces of rows fit into the first-level cache."""


def start_reading(array, stream=0):
    """Return a function that returns an array, which is in host memory already."""
    return lambda: array


def deflate(arrays, level, stream=0):
    """Set up the secular equation of each merge, without what deflation removes from it."""
    merges, owner = arrays.table[level.merges], arrays.owner[level.number]
    couplings, vectors, values = arrays.couplings[level.merges], arrays.vectors, arrays.values
    floats, integers = arrays.floats, arrays.integers
    _scan_merges(merges, couplings, vectors, values, floats, integers)
    if merges[:, at.ROTATIONS].any():
        _rotate_vectors(arrays.table, owner, vectors, floats, integers, _ROTATED_COLUMNS)
    return start_reading(merges)


@scalar(fastmath=SUMS)
def _sum_of_squares(values):
    """Return the sum of the squares of a vector."""
    total = 0.0
    for i in range(np.uint64(values.size)):
        total += values[i] * values[i]
    return total


@parallel
def _find_roots(merges, owner, values, floats):
    """Compute the roots; the eigenvalues that deflation left follow them."""
    for index in prange(owner.size):
        i, g = np.int64(index), owner[index]
        begin, undeflated = merges[g, at.BEGIN], merges[g, at.KEPT]
        if i >= begin + undeflated:
            values[i] = floats[at.DROPPED_VALUE, i - undeflated]
            continue
        rows = slice(begin, begin + undeflated)
        origin, shift = find_root(floats[at.POLE, rows], floats[at.WEIGHT, rows], i - begin)
        floats[at.ORIGIN, i], floats[at.SHIFT, i] = origin, shift
        values[i] = origin + shift


@parallel
def _refine_weights(merges, owner, floats):
    """Replace the weights by those for which the roots are exact."""
    for index in prange(owner.size):
        i, g = np.int64(index), owner[index]
        begin, undeflated = merges[g, at.BEGIN], merges[g, at.KEPT]
        if i < begin + undeflated:
            rows = slice(begin, begin + undeflated)
            weight = _exact_weight(
                floats[at.POLE, rows], floats[at.ORIGIN, rows], floats[at.SHIFT, rows], i - begin
            )
            floats[at.WEIGHT, i] = math.copysign(weight, floats[at.WEIGHT, i])


@scalar
def _scale_to_unit(row, scratch, columns):
    """Store a vector, divided by its norm, with its elements at other positions."""
    factor = 1.0 / math.sqrt(_sum_of_squares(scratch))
    for i in range(np.uint64(scratch.size)):
        row[columns[i]] = factor * scratch[i]


@scalar
def _divide_weights(poles, weights, origin, shift, out):
    """Compute the elements weight / (pole - root) of an eigenvector."""
    for i in range(np.uint64(poles.size)):
        out[i] = weights[i] / distance(poles[i], origin, shift)


@parallel
def _form_factors(merges, owner, floats, integers, factors):
    """Compute the eigenvectors of the secular equations."""
    for index in prange(owner.size):
        i, g = np.int64(index), owner[index]
        begin, undeflated = merges[g, at.BEGIN], merges[g, at.KEPT]
        if i < begin + undeflated:
            rows, elements = slice(begin, begin + undeflated), np.empty(undeflated)
            poles, weights = floats[at.POLE, rows], floats[at.WEIGHT, rows]
            _divide_weights(poles, weights, floats[at.ORIGIN, i], floats[at.SHIFT, i], elements)
            _scale_to_unit(factors[i, rows], elements, integers[at.COLUMN, rows])


def solve_secular(arrays, level, stream=0):
    """Compute the roots, in `values`, and the eigenvectors of the secular equations."""
    table, owner, floats = arrays.table, arrays.owner[level.number], arrays.floats
    _find_roots(table, owner, arrays.values, floats)
    _refine_weights(table, owner, floats)
    _form_factors(table, owner, floats, arrays.integers, arrays.factors)


@parallel
def _gather_rows(merges, owner, integers, vectors, packed):
    """Sort the rows of the poles into `packed`, without the halves that are 0."""
    for index in prange(owner.size):
        i, merge = np.int64(index), merges[owner[index]]
        begin, middle, end = merge[at.BEGIN], merge[at.MIDDLE], merge[at.END]
        number = i - begin
        if number < merge[at.KEPT]:
            left = begin if number < merge[at.UPPER] else middle
            right = end if number >= merge[at.TOP] else middle
            packed[i, left:right] = vectors[integers[at.GATHER, i], left:right]


@parallel
def _move_dropped(merges, owner, integers, vectors):
    """Move the rows that deflation left out of the way of the new ones."""
    for index in prange(owner.size):
        i, merge = np.int64(index), merges[owner[index]]
        source, columns = integers[at.GATHER, i], slice(merge[at.BEGIN], merge[at.END])
        if i >= merge[at.BEGIN] + merge[at.KEPT] and source != i:
            vectors[i, columns] = vectors[source, columns]


def multiply(arrays, level, roots, read_merges, stream=0):
    """Replace the vectors of the blocks by their products with those of the equations."""
    table, owner = arrays.table, arrays.owner[level.number]
    _gather_rows(table, owner, arrays.integers, arrays.vectors, arrays.packed)
    _move_dropped(table, owner, arrays.integers, arrays.vectors)
    at.multiply_blocks(np, read_merges(), roots, arrays.factors, arrays.packed, arrays.vectors)


@parallel
def _place_vectors(vectors, sources, targets, columns, out):
    """Copy elements to their places."""
    for i in prange(sources.size):
        source, target = sources[i], targets[i]
        for j in range(np.uint64(columns.size)):
            out[target, columns[j]] = vectors[source, j]


def place_vectors(vectors, indices, out, stream=0):
    """Store elements (sources[i], j) of `vectors` as (targets[i], columns[j]) of `out`."""
    _place_vectors(vectors, *indices, out)

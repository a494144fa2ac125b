"""Kernels of divide and conquer: leaves, deflation, roots and factors of all merges of a level."""
# mypy: disallow-untyped-defs=False, disallow-incomplete-defs=False, disallow-untyped-calls=False
# Numba infers the types of device functions.

import math

from numba import float64, int64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.blocks_of_threads import LANES, sum_over_lanes
from sbth._tridiagonal.divide_and_conquer import layout as at
from sbth._tridiagonal.divide_and_conquer.deflation_formulas import (
    NO_COUNTS,
    NO_PENDING,
    deflation_tolerance,
    make_scan,
)
from sbth._tridiagonal.divide_and_conquer.layout import LEAF_ROWS
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
    make_weight,
)

THREADS = 128
"""Threads of a block that work on one row or merge (not tuned)."""


ROOT_THREADS = 128
"""Threads of a block whose warps find a root each (not tuned)."""


WEIGHT_THREADS = 64
"""Threads of a block that compute a weight each: few, so that 10^4 of them occupy the GPU."""


_device = kernel(device=True)

_take_pole, _keep = make_scan(_device)

_exact_weight = make_weight(_device)


@_device
def _evaluate_by_lanes(poles, weights, begin, end, origin, shift):
    """Return the sum over poles and its slope, of which each lane of a warp adds a part."""
    value = slope = 0.0
    for i in range(begin + cuda.threadIdx.x % LANES, end, LANES):
        ratio = weights[i] / distance(poles[i], origin, shift)
        value += weights[i] * ratio
        slope += ratio * ratio
    return sum_over_lanes(value), sum_over_lanes(slope)


@_device
def _sum_squares_by_lanes(values):
    """Return the sum of the squares of a vector, of which each lane of a warp adds a part."""
    total = 0.0
    for i in range(cuda.threadIdx.x % LANES, values.size, LANES):
        total += values[i] * values[i]
    return sum_over_lanes(total)


_find_root = make_root_finder(_device, _evaluate_by_lanes, _sum_squares_by_lanes)


@kernel(launch_bounds=(LEAF_ROWS, 1))
def solve_leaf(d, e, bounds, vectors):
    """Compute eigenvalues and eigenvectors of a leaf by each block.

    Every thread runs the iteration for itself, and rotates one component of all vectors.
    """
    begin, t = bounds[cuda.blockIdx.x], cuda.threadIdx.x
    m = bounds[cuda.blockIdx.x + 1] - begin
    diagonal = cuda.local.array(LEAF_ROWS, float64)
    below = cuda.local.array(LEAF_ROWS, float64)
    z = cuda.local.array(LEAF_ROWS, float64)
    largest = 0.0
    for i in range(m):
        diagonal[i], below[i] = d[begin + i], e[begin + i]
        z[i] = 1.0 if i == t else 0.0
        largest = max(largest, abs(diagonal[i]), abs(below[i]))
    cuda.syncthreads()
    for low in range(m):
        converged = False
        for sweep in range(MAX_SWEEPS):
            high, size = low, negligible_size(sweep, largest)
            while high < m - 1 and not is_negligible(
                below[high], diagonal[high], diagonal[high + 1], size
            ):
                high += 1
            if high == low:
                converged = True
                break
            g = first_bulge(diagonal[low], diagonal[low + 1], below[low], diagonal[high])
            s, c, p = 1.0, 1.0, 0.0
            i = high - 1
            while i >= low:
                radius, d_next, g, s, c, p = ql_rotation(
                    g, s, c, p, diagonal[i], diagonal[i + 1], below[i]
                )
                below[i + 1], diagonal[i + 1] = radius, d_next
                if radius == 0.0:
                    break
                x, y = z[i], z[i + 1]
                z[i], z[i + 1] = c * x - s * y, s * x + c * y
                i -= 1
            below[high] = 0.0
            if i < low:
                diagonal[low] -= p
                below[low] = g
        if not converged:
            diagonal[low] = math.nan
    for i in range(m):
        if t < m:
            vectors[begin + i, begin + t] = z[i]
        if t == 0:
            d[begin + i] = diagonal[i]


@kernel
def rank_values(merges, owner, level, values, integers):
    """Count, for each eigenvalue, those of its merge that precede it; NaN come last.

    A leaf that has not converged has NaN. They keep their rows, so that the host finds them.
    """
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        merge = merges[owner[level, i]]
        begin, value, rank = merge[at.BEGIN], values[i], int64(0)
        for j in range(begin, merge[at.END]):
            other = values[j]
            is_less = other < value or (math.isnan(value) and not math.isnan(other))
            is_equal = other == value or (math.isnan(value) and math.isnan(other))
            rank += is_less or (is_equal and j < i)
        integers[at.ORDER, begin + rank] = i


@_device
def _coupled_element(vectors, row, middle, sign):
    """Return the weight of an eigenvector of the blocks, before it is divided by sqrt(2)."""
    return vectors[row, middle - 1] if row < middle else sign * vectors[row, middle]


@kernel(launch_bounds=(THREADS, 1))
def scan_merge(merges, first, couplings, vectors, values, floats, integers):
    """Set up the secular equation of a merge by each block, from merge number `first` on.

    The poles are processed in order by one thread; the others load them.
    """
    number = first + cuda.blockIdx.x
    merge, coupling = merges[number], couplings[number]
    begin, middle, end = merge[at.BEGIN], merge[at.MIDDLE], merge[at.END]
    rho = 2.0 * abs(coupling)
    sign = math.copysign(1.0, coupling)
    t, half = int64(cuda.threadIdx.x), math.sqrt(0.5)
    rows = cuda.shared.array(THREADS, int64)
    poles = cuda.shared.array(THREADS, float64)
    weights = cuda.shared.array(THREADS, float64)
    largest = largest_weight = 0.0
    for row in range(begin + t, end, THREADS):
        largest = max(largest, abs(values[row]))
        largest_weight = max(largest_weight, abs(_coupled_element(vectors, row, middle, sign)))
    poles[t], weights[t] = largest, largest_weight
    cuda.syncthreads()
    for i in range(THREADS):
        largest = max(largest, poles[i])
        largest_weight = max(largest_weight, weights[i])
    tolerance = deflation_tolerance(largest, half * largest_weight)
    pending, counts = NO_PENDING, NO_COUNTS
    for first in range(begin, end, THREADS):
        cuda.syncthreads()
        if first + t < end:
            row = integers[at.ORDER, first + t]
            rows[t], poles[t] = row, values[row]
            weights[t] = half * _coupled_element(vectors, row, middle, sign)
        cuda.syncthreads()
        if t == 0:
            for i in range(min(THREADS, end - first)):
                kind = at.IN_UPPER if rows[i] < middle else at.IN_LOWER
                candidate = rows[i], poles[i], weights[i], kind
                pending, counts = _take_pole(
                    floats, integers, begin, candidate, rho, tolerance, pending, counts
                )
    if t == 0:
        if pending[0] >= 0:
            counts = _keep(floats, integers, begin, pending, math.sqrt(rho), counts)
        upper, both, lower, _, rotations = counts
        merge[at.KEPT], merge[at.TOP] = upper + both + lower, upper
        merge[at.UPPER], merge[at.ROTATIONS] = upper + both, rotations
    cuda.syncthreads()
    undeflated = merge[at.KEPT]
    for i in range(begin + t, begin + undeflated, THREADS):
        kind = integers[at.KIND, i]
        if kind != at.IN_UPPER:
            integers[at.COLUMN, i] += merge[at.UPPER] if kind == at.IN_LOWER else merge[at.TOP]
        integers[at.GATHER, begin + integers[at.COLUMN, i]] = integers[at.ROW, i]
    for i in range(begin + t, end - undeflated, THREADS):
        integers[at.GATHER, undeflated + i] = integers[at.DROPPED, i]


@kernel
def rotate_vectors(merges, owner, level, vectors, floats, integers):
    """Apply the rotations of all merges, each thread to one column.

    The row that a rotation leaves is often the one that the next rotation takes: it stays in a
    register.
    """
    for column in range(cuda.grid(1), vectors.shape[1], cuda.gridsize(1)):
        merge = merges[owner[level, column]]
        begin = merge[at.BEGIN]
        row, carried = int64(-1), 0.0
        for r in range(begin, begin + merge[at.ROTATIONS]):
            first, second = integers[at.FIRST, r], integers[at.SECOND, r]
            c, s = floats[at.COSINE, r], floats[at.SINE, r]
            if first != row:
                if row >= 0:
                    vectors[row, column] = carried
                carried = vectors[first, column]
            y = vectors[second, column]
            vectors[first, column] = c * carried + s * y
            carried, row = c * y - s * carried, second
        if row >= 0:
            vectors[row, column] = carried


@kernel
def find_roots(merges, owner, level, values, floats):
    """Compute a root by each warp; the eigenvalues that deflation left follow them."""
    i = cuda.grid(1) // LANES
    if i >= values.size:
        return
    merge = merges[owner[level, i]]
    begin, undeflated = merge[at.BEGIN], merge[at.KEPT]
    is_first = cuda.threadIdx.x % LANES == 0
    if i >= begin + undeflated:
        if is_first:
            values[i] = floats[at.DROPPED_VALUE, i - undeflated]
        return
    poles = floats[at.POLE, begin : begin + undeflated]
    weights = floats[at.WEIGHT, begin : begin + undeflated]
    origin, shift = _find_root(poles, weights, i - begin)
    if is_first:
        floats[at.ORIGIN, i], floats[at.SHIFT, i] = origin, shift
        values[i] = origin + shift


@kernel
def refine_weights(merges, owner, level, floats):
    """Replace the weights by those for which the roots are exact, one by each thread."""
    i = cuda.grid(1)
    if i >= floats.shape[1]:
        return
    merge = merges[owner[level, i]]
    begin, undeflated = merge[at.BEGIN], merge[at.KEPT]
    if i >= begin + undeflated:
        return
    poles = floats[at.POLE, begin : begin + undeflated]
    origins = floats[at.ORIGIN, begin : begin + undeflated]
    shifts = floats[at.SHIFT, begin : begin + undeflated]
    weight = _exact_weight(poles, origins, shifts, i - begin)
    floats[at.WEIGHT, i] = math.copysign(weight, floats[at.WEIGHT, i])


@kernel(launch_bounds=(THREADS, 1))
def form_factors(merges, owner, level, floats, integers, factors):
    """Compute an eigenvector of a secular equation by each block."""
    row, t = cuda.blockIdx.x, int64(cuda.threadIdx.x)
    merge = merges[owner[level, row]]
    begin, undeflated = merge[at.BEGIN], merge[at.KEPT]
    if row >= begin + undeflated:
        return
    partial = cuda.shared.array(THREADS, float64)
    origin, shift, square = floats[at.ORIGIN, row], floats[at.SHIFT, row], 0.0
    for i in range(begin + t, begin + undeflated, THREADS):
        element = floats[at.WEIGHT, i] / distance(floats[at.POLE, i], origin, shift)
        square += element * element
    partial[t] = square
    size = THREADS // 2
    while size > 0:
        cuda.syncthreads()
        if t < size:
            partial[t] += partial[t + size]
        size //= 2
    cuda.syncthreads()
    factor = 1.0 / math.sqrt(partial[0])
    for i in range(begin + t, begin + undeflated, THREADS):
        element = floats[at.WEIGHT, i] / distance(floats[at.POLE, i], origin, shift)
        factors[row, begin + integers[at.COLUMN, i]] = factor * element


@kernel
def place_rows(vectors, sources, targets, columns, out):
    """Copy a row of `vectors` to its place by each block of threads."""
    source, target = sources[cuda.blockIdx.x], targets[cuda.blockIdx.x]
    for j in range(cuda.threadIdx.x, columns.size, cuda.blockDim.x):
        out[target, columns[j]] = vectors[source, j]

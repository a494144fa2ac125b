"""Divide and conquer on the GPU: a launch for each step of all merges of a level.

The products of large merges are computed by cuBLAS, through CuPy.
"""

import math

import numpy as np
from numba import float64, int64

from hetero import Device
from hetero.cuda import launch
from hetero.cuda.device_cache import resident_tuple
from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.ready_arrays import (
    PendingCopy,
    allocate_as_one,
    fill_from_gpu,
    fill_from_host,
    fill_with_zeros,
    ready,
)
from hetero.jit import kernel
from hetero.measurement import profiling
from sbth._gpu.blocks_of_threads import LANES, sum_over_lanes
from sbth._tridiagonal.divide_and_conquer import product_kernels as products
from sbth._tridiagonal.divide_and_conquer.deflation_formulas import (
    NO_COUNTS,
    NO_PENDING,
    deflation_tolerance,
    make_scan,
)
from sbth._tridiagonal.divide_and_conquer.layout import (
    BEGIN,
    COLUMN,
    COSINE,
    DROPPED,
    DROPPED_VALUE,
    END,
    FIRST,
    FLOAT_ROWS,
    GATHER,
    IN_LOWER,
    IN_UPPER,
    INTEGER_ROWS,
    KEPT,
    KIND,
    LEAF_ROWS,
    MIDDLE,
    ORDER,
    ORIGIN,
    POLE,
    ROTATIONS,
    ROW,
    SECOND,
    SHIFT,
    SINE,
    TOP,
    UPPER,
    WEIGHT,
    Arrays,
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
    make_weight,
)
from sbth._vendor.array_modules import array_module

_THREADS = 128
"""Threads of a block that work on one row or merge (not tuned)."""

_ROOT_THREADS = 128
"""Threads of a block whose warps find a root each (not tuned)."""

_WEIGHT_THREADS = 64
"""Threads of a block that compute a weight each: few, so that 10^4 of them occupy the GPU."""

LARGE_MERGE = 512
"""Rows of the smallest merges whose products cuBLAS computes, one after the other (not tuned)."""

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


def load(torn, tables, stream=0):
    """Allocate the arrays of a matrix, and copy it and the tables of its tree to the GPU.

    What is of use after the last merge is an allocation of its own.
    """
    n, numbers = torn.diagonal.size, np.concatenate(torn)
    profiling.count_transfer(to_device=numbers.nbytes)
    bounds, owner, merges = _resident_tables(tables)
    vectors, integers = allocate_as_one(
        [((n, n), np.float64), ((INTEGER_ROWS, n), np.int64)], stream
    )
    rows = (FLOAT_ROWS, n, n) if len(owner) > 1 else (0, 0, 0)  # a leaf alone has no merges
    forms = [(numbers.shape, np.float64), *(((k, n), np.float64) for k in rows)]
    on_gpu, *work, table = allocate_as_one([*forms, (merges.shape, np.int64)], stream)
    fill_from_host(on_gpu, numbers, stream)
    fill_with_zeros(vectors, stream)
    fill_from_gpu(table, merges, stream)
    parts = on_gpu[:n], on_gpu[n : 2 * n], on_gpu[2 * n :]
    return Arrays(*parts, bounds, owner, table, vectors, integers, *work)


def _resident_tables(tables):
    """Return the arrays `bounds`, `owner` and `merges` of a tree, which stay on the GPU."""
    on_gpu = resident_tuple(tables)
    return ready(on_gpu.bounds), ready(on_gpu.owner), ready(on_gpu.merges)


def upload_indices(indices, stream=0):
    """Copy arrays of int64 (k,) to the GPU, in one transfer."""
    host = np.concatenate(indices)
    profiling.count_transfer(to_device=host.nbytes)
    (on_gpu,) = allocate_as_one([(host.shape, np.int64)], stream)
    fill_from_host(on_gpu, host, stream)
    ends = np.cumsum([part.size for part in indices]).tolist()
    return [on_gpu[e - part.size : e] for part, e in zip(indices, ends, strict=True)]


def start_reading(array, stream=0):
    """Begin to copy an array to host memory; return the function that waits for the copy."""
    copy = PendingCopy((array,), stream)
    profiling.count_transfer(to_host=array.nbytes)
    return lambda: copy.wait()[0]


def solve_leaves(d, e, bounds, vectors, stream=0):
    """Replace d by the eigenvalues of the leaves, and store their eigenvectors."""
    launch.launch(solve_leaf, bounds.size - 1, LEAF_ROWS, stream, (d, e, bounds, vectors))


@kernel
def rank_values(merges, owner, level, values, integers):
    """Count, for each eigenvalue, those of its merge that precede it; NaN come last.

    A leaf that has not converged has NaN. They keep their rows, so that the host finds them.
    """
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        merge = merges[owner[level, i]]
        begin, value, rank = merge[BEGIN], values[i], int64(0)
        for j in range(begin, merge[END]):
            other = values[j]
            is_less = other < value or (math.isnan(value) and not math.isnan(other))
            is_equal = other == value or (math.isnan(value) and math.isnan(other))
            rank += is_less or (is_equal and j < i)
        integers[ORDER, begin + rank] = i


def _tables(merges):
    """Return the arguments of a kernel that tell which merges are done."""
    return merges.table, merges.owner, merges.level.number


def sort_values(merges, values, integers, stream=0):
    """Store in ORDER the rows of the eigenvalues of each merge, in ascending order."""
    blocks = launch.blocks_for(values.size, _THREADS)
    arguments = *_tables(merges), values, integers
    launch.launch(rank_values, blocks, _THREADS, stream, arguments)


@_device
def _coupled_element(vectors, row, middle, sign):
    """Return the weight of an eigenvector of the blocks, before it is divided by sqrt(2)."""
    return vectors[row, middle - 1] if row < middle else sign * vectors[row, middle]


@kernel(launch_bounds=(_THREADS, 1))
def scan_merge(merges, first, couplings, vectors, values, floats, integers):
    """Set up the secular equation of a merge by each block, from merge number `first` on.

    The poles are processed in order by one thread; the others load them.
    """
    number = first + cuda.blockIdx.x
    merge, coupling = merges[number], couplings[number]
    begin, middle, end = merge[BEGIN], merge[MIDDLE], merge[END]
    rho = 2.0 * abs(coupling)
    sign = math.copysign(1.0, coupling)
    t, half = int64(cuda.threadIdx.x), math.sqrt(0.5)
    rows = cuda.shared.array(_THREADS, int64)
    poles = cuda.shared.array(_THREADS, float64)
    weights = cuda.shared.array(_THREADS, float64)
    largest = largest_weight = 0.0
    for row in range(begin + t, end, _THREADS):
        largest = max(largest, abs(values[row]))
        largest_weight = max(largest_weight, abs(_coupled_element(vectors, row, middle, sign)))
    poles[t], weights[t] = largest, largest_weight
    cuda.syncthreads()
    for i in range(_THREADS):
        largest = max(largest, poles[i])
        largest_weight = max(largest_weight, weights[i])
    tolerance = deflation_tolerance(largest, half * largest_weight)
    pending, counts = NO_PENDING, NO_COUNTS
    for first in range(begin, end, _THREADS):
        cuda.syncthreads()
        if first + t < end:
            row = integers[ORDER, first + t]
            rows[t], poles[t] = row, values[row]
            weights[t] = half * _coupled_element(vectors, row, middle, sign)
        cuda.syncthreads()
        if t == 0:
            for i in range(min(_THREADS, end - first)):
                kind = IN_UPPER if rows[i] < middle else IN_LOWER
                candidate = rows[i], poles[i], weights[i], kind
                pending, counts = _take_pole(
                    floats, integers, begin, candidate, rho, tolerance, pending, counts
                )
    if t == 0:
        if pending[0] >= 0:
            counts = _keep(floats, integers, begin, pending, math.sqrt(rho), counts)
        upper, both, lower, _, rotations = counts
        merge[KEPT], merge[TOP] = upper + both + lower, upper
        merge[UPPER], merge[ROTATIONS] = upper + both, rotations
    cuda.syncthreads()
    kept = merge[KEPT]
    for i in range(begin + t, begin + kept, _THREADS):
        kind = integers[KIND, i]
        if kind != IN_UPPER:
            integers[COLUMN, i] += merge[UPPER] if kind == IN_LOWER else merge[TOP]
        integers[GATHER, begin + integers[COLUMN, i]] = integers[ROW, i]
    for i in range(begin + t, end - kept, _THREADS):
        integers[GATHER, kept + i] = integers[DROPPED, i]


@kernel
def rotate_vectors(merges, owner, level, vectors, floats, integers):
    """Apply the rotations of all merges, each thread to one column.

    The row that a rotation leaves is often the one that the next rotation takes: it stays in a
    register.
    """
    for column in range(cuda.grid(1), vectors.shape[1], cuda.gridsize(1)):
        merge = merges[owner[level, column]]
        begin = merge[BEGIN]
        row, carried = int64(-1), 0.0
        for r in range(begin, begin + merge[ROTATIONS]):
            first, second = integers[FIRST, r], integers[SECOND, r]
            c, s = floats[COSINE, r], floats[SINE, r]
            if first != row:
                if row >= 0:
                    vectors[row, column] = carried
                carried = vectors[first, column]
            y = vectors[second, column]
            vectors[first, column] = c * carried + s * y
            carried, row = c * y - s * carried, second
        if row >= 0:
            vectors[row, column] = carried


def deflate(merges, couplings, vectors, values, floats, integers, stream=0):
    """Set up the secular equation of each merge, without what deflation removes from it."""
    first, size = merges.level.first, merges.level.size
    arguments = merges.table, first, couplings, vectors, values, floats, integers
    launch.launch(scan_merge, size, _THREADS, stream, arguments)
    # The host prepares the products while the GPU rotates vectors and finds the roots.
    is_large = _takes_cublas(merges.level, values.size)
    read_merges = start_reading(merges.table[merges.of_level], stream) if is_large else None
    blocks = launch.blocks_for(values.size, _THREADS)
    arguments = *_tables(merges), vectors, floats, integers
    launch.launch(rotate_vectors, blocks, _THREADS, stream, arguments)
    return read_merges


def _takes_cublas(level, n):
    """Return whether cuBLAS computes the products of a level, for which the host needs sizes."""
    return -(-n // level.size) >= LARGE_MERGE and not SIMULATOR


@kernel
def find_roots(merges, owner, level, values, floats):
    """Compute a root by each warp; the eigenvalues that deflation left follow them."""
    i = cuda.grid(1) // LANES
    if i >= values.size:
        return
    merge = merges[owner[level, i]]
    begin, kept = merge[BEGIN], merge[KEPT]
    is_first = cuda.threadIdx.x % LANES == 0
    if i >= begin + kept:
        if is_first:
            values[i] = floats[DROPPED_VALUE, i - kept]
        return
    poles, weights = (
        floats[POLE, begin : begin + kept],
        floats[WEIGHT, begin : begin + kept],
    )
    origin, shift = _find_root(poles, weights, i - begin)
    if is_first:
        floats[ORIGIN, i], floats[SHIFT, i] = origin, shift
        values[i] = origin + shift


@kernel
def refine_weights(merges, owner, level, floats):
    """Replace the weights by those for which the roots are exact, one by each thread."""
    i = cuda.grid(1)
    if i >= floats.shape[1]:
        return
    merge = merges[owner[level, i]]
    begin, kept = merge[BEGIN], merge[KEPT]
    if i >= begin + kept:
        return
    poles, origins, shifts = (
        floats[POLE, begin : begin + kept],
        floats[ORIGIN, begin : begin + kept],
        floats[SHIFT, begin : begin + kept],
    )
    weight = _exact_weight(poles, origins, shifts, i - begin)
    floats[WEIGHT, i] = math.copysign(weight, floats[WEIGHT, i])


@kernel(launch_bounds=(_THREADS, 1))
def form_factors(merges, owner, level, floats, integers, factors):
    """Compute an eigenvector of a secular equation by each block."""
    row, t = cuda.blockIdx.x, int64(cuda.threadIdx.x)
    merge = merges[owner[level, row]]
    begin, kept = merge[BEGIN], merge[KEPT]
    if row >= begin + kept:
        return
    partial = cuda.shared.array(_THREADS, float64)
    origin, shift, square = floats[ORIGIN, row], floats[SHIFT, row], 0.0
    for i in range(begin + t, begin + kept, _THREADS):
        element = floats[WEIGHT, i] / distance(floats[POLE, i], origin, shift)
        square += element * element
    partial[t] = square
    size = _THREADS // 2
    while size > 0:
        cuda.syncthreads()
        if t < size:
            partial[t] += partial[t + size]
        size //= 2
    cuda.syncthreads()
    factor = 1.0 / math.sqrt(partial[0])
    for i in range(begin + t, begin + kept, _THREADS):
        element = floats[WEIGHT, i] / distance(floats[POLE, i], origin, shift)
        factors[row, begin + integers[COLUMN, i]] = factor * element


def solve_secular(merges, values, floats, integers, factors, stream=0):
    """Compute the roots, in `values`, and the eigenvectors of the secular equations."""
    n, tables = values.size, _tables(merges)
    blocks = launch.blocks_for(LANES * n, _ROOT_THREADS)
    launch.launch(find_roots, blocks, _ROOT_THREADS, stream, (*tables, values, floats))
    blocks = launch.blocks_for(n, _WEIGHT_THREADS)
    launch.launch(refine_weights, blocks, _WEIGHT_THREADS, stream, (*tables, floats))
    launch.launch(form_factors, n, _THREADS, stream, (*tables, floats, integers, factors))


def multiply(merges, integers, factors, packed, vectors, roots, read_merges, stream=0):
    """Replace the vectors of the blocks by their products with those of the equations."""
    level, n = merges.level, len(vectors)
    tables = _tables(merges)
    launch.launch(products.gather_rows, n, _THREADS, stream, (*tables, integers, vectors, packed))
    if read_merges is None:
        size = -(-n // level.size)
        rows, columns = (launch.blocks_for(k, products.TILE) for k in (size, -(-size // 2)))
        tiles, threads = rows * columns, products.TILE_THREADS
        arguments = merges.table, level.first, tiles, factors, packed, vectors
        launch.launch(products.multiply_tiles, 2 * tiles * level.size, threads, stream, arguments)
    else:
        _multiply_by_cublas(read_merges(), factors, packed, vectors, roots, stream)
    launch.launch(products.restore_rows, n, _THREADS, stream, (*tables, packed, vectors))


def _multiply_by_cublas(merges, factors, packed, vectors, roots, stream):
    """Compute the products of large merges."""
    device = Device("cuda", launch.device_id())
    with array_module(device, stream, "sbth.eigh_tridiagonal") as xp:
        factors, packed, vectors = (xp.asarray(a) for a in (factors, packed, vectors))
        for begin, middle, end, kept, top, upper, _ in merges.tolist():
            new = slice(begin + roots[0], begin + min(kept, roots[1]))
            for terms, columns in (
                (slice(begin, begin + upper), slice(begin, middle)),
                (slice(begin + top, begin + kept), slice(middle, end)),
            ):
                xp.matmul(factors[new, terms], packed[terms, columns], out=vectors[new, columns])


@kernel
def place_rows(vectors, sources, targets, columns, out):
    """Copy a row of `vectors` to its place by each block of threads."""
    source, target = sources[cuda.blockIdx.x], targets[cuda.blockIdx.x]
    for j in range(cuda.threadIdx.x, columns.size, cuda.blockDim.x):
        out[target, columns[j]] = vectors[source, j]


def place_vectors(vectors, sources, targets, columns, out, stream=0):
    """Store elements (sources[i], j) of `vectors` as (targets[i], columns[j]) of `out`."""
    if sources.size:
        arguments = ready(vectors), sources, targets, columns, ready(out)
        launch.launch(place_rows, sources.size, _THREADS, stream, arguments)

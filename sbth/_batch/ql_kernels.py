"""Eigenvectors of a batch of tridiagonal matrices by the implicit QL iteration.

A block solves a matrix. One of its threads runs a sweep of the iteration on the tridiagonal matrix,
while all other warps apply the rotations of the sweep before to the rows of the vectors.

The rotations are real. So complex vectors are arrays of real numbers here: a column (n,) of complex
numbers has 2 n rows, of real and imaginary parts in turn.
"""

import math
from typing import Any, NamedTuple

from numba import float32, float64, int32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._batch.status import NOT_CONVERGED, OVERFLOW
from sbth._gpu.approximate_division import reciprocal_root
from sbth._gpu.blocks_of_threads import GLOBAL, LANES, SHARED, kernel_name
from sbth._problem.limits import LARGEST_GPU_BATCH as LARGEST_ORDER
from sbth._tridiagonal.divide_and_conquer.leaf_formulas import (
    MAX_SWEEPS,
    first_bulge,
    is_negligible,
    make_ql_rotation,
    negligible_size,
)

END = -1
"""Last row of a sweep that does not exist, because all off-diagonal elements are 0."""

MOST_IN_SHARED_MEMORY = 256 + LANES
"""Threads of a block for the largest float32 matrices that fit in shared memory. Rows of larger
complex ones share them."""

_SMALLEST_SQUARE = 2.0**-1000
"""Squares below it count as 0, in a matrix of norm 1: the root treats subnormal numbers as 0."""

_UNROLL = 4
"""Rotations for which a thread loads elements before it stores one; `_rotate_rows` has 4."""

_device = kernel(device=True)


@_device
def _unit_vector(f, g):
    """Return (radius, f / radius, g / radius) in a third of the time of `unit_vector`."""
    square = f * f + g * g
    if square < _SMALLEST_SQUARE:
        return 0.0, 0.0, 1.0
    r = reciprocal_root(square)
    return square * r, f * r, g * r


_ql_rotation = make_ql_rotation(_device, _unit_vector)


class Sweep(NamedTuple):
    """Rotations of a sweep: number i, from `first` on, acts on columns i and i + 1, below `high`.

    Attributes
    ----------
    cosines, sines : array (n,)
    range : array (2,) of int
        `first` and `high`.
    """

    cosines: Any
    sines: Any
    range: Any


def float64_count(n: int) -> int:
    """Return how many float64 a block needs in shared memory besides the vectors."""
    return 6 * n


@_device
def run_sweep(d, e, step, n, largest, position, sweep):
    """Run the next sweep on the matrix; return (low, sweeps of it so far, number that failed).

    All rows before `low` have converged. `position` is what the last call returned. Elements of d
    and e are `step` numbers apart.
    """
    low, count, failures = position
    while low < n:
        size = negligible_size(count, largest)
        high = low
        while high < n - 1:
            index = uint64(high) * step
            if is_negligible(e[index], d[index], d[index + step], size):
                break
            high += 1
        if high > low and count < MAX_SWEEPS:
            break
        failures += high > low
        low, count = low + 1, 0
    if low >= n:
        sweep.range[1] = END
        return low, count, failures
    index = uint64(low) * step
    g = first_bulge(d[index], d[index + step], e[index], d[uint64(high) * step])
    s, c, p = 1.0, 1.0, 0.0
    i = uint64(high)
    d_i = d[i * step]
    while i > uint64(low):
        above = i - uint64(1)
        d_above = d[above * step]
        radius, d_next, g, s, c, p = _ql_rotation(g, s, c, p, d_above, d_i, e[above * step])
        e[i * step], d[i * step] = radius, d_next
        if radius == 0.0:
            break
        sweep.cosines[above], sweep.sines[above] = c, s
        i, d_i = above, d_above
    e[uint64(high) * step] = 0.0
    if i == uint64(low):
        d[i * step] -= p
        e[i * step] = g
    sweep.range[0], sweep.range[1] = i, high
    return low, count + 1, failures


@_device
def _rotate_rows(q, ld, rows, sweep, one):
    """Apply the rotations of a sweep to some rows of the vectors, which are stored by columns."""
    cosines, sines = sweep.cosines, sweep.sines
    first, high = sweep.range[0], sweep.range[1]
    begin, step, n = rows
    kind = type(one)
    back = uint64(ld)
    for r in range(begin, n, step):
        index, i = uint64(high * ld + r), uint64(high)
        y = q[index]
        for _ in range((high - first) // _UNROLL):
            index1 = index - back
            index2 = index1 - back
            index3 = index2 - back
            index4 = index3 - back
            x1, x2, x3, x4 = q[index1], q[index2], q[index3], q[index4]
            c1, s1 = kind(cosines[i - uint64(1)]), kind(sines[i - uint64(1)])
            c2, s2 = kind(cosines[i - uint64(2)]), kind(sines[i - uint64(2)])
            c3, s3 = kind(cosines[i - uint64(3)]), kind(sines[i - uint64(3)])
            i -= uint64(4)
            c4, s4 = kind(cosines[i]), kind(sines[i])
            q[index] = s1 * x1 + c1 * y
            y = c1 * x1 - s1 * y
            q[index1] = s2 * x2 + c2 * y
            y = c2 * x2 - s2 * y
            q[index2] = s3 * x3 + c3 * y
            y = c3 * x3 - s3 * y
            q[index3] = s4 * x4 + c4 * y
            y = c4 * x4 - s4 * y
            index = index4
        for _ in range((high - first) % _UNROLL):
            i -= uint64(1)
            c, s, x = kind(cosines[i]), kind(sines[i]), q[index - back]
            q[index] = s * x + c * y
            y = c * x - s * y
            index -= back
        q[index] = y


def make_store(dtype, parts):
    """Make the function that stores the results of a matrix; its arguments are those of a kernel's.

    The elements of the vectors are `parts` numbers of a real type: 1, or 2 if they are complex.
    """

    @_device
    def store_in_order(b, n, tridiagonal, columns, results):
        """Store eigenvalues in ascending order, and the vectors by rows.

        `tridiagonal` holds the eigenvalues, memory for their ranks and the factors of all matrices;
        `columns` the vectors and their leading dimension.
        """
        d, ranks, factors = tridiagonal
        q, ld = columns
        values, vectors, status = results
        t, threads = cuda.threadIdx.x, cuda.blockDim.x
        height = n if parts == 1 else parts * n
        for i in range(t, n, threads):
            rank = 0
            for j in range(n):
                rank += d[j] < d[i] or (d[j] == d[i] and j < i)
            ranks[i] = rank
            value = d[i] / factors[b]
            values[b, rank] = value
            if not abs(float64(dtype(value))) < math.inf:
                status[b] = OVERFLOW
        cuda.syncthreads()
        for row in range(t // LANES, height, threads // LANES):
            for column in range(t % LANES, n, LANES):
                if parts == 1:
                    vectors[b, row * n + int(ranks[column])] = q[column * ld + row]
                else:
                    index = (row // parts * n + int(ranks[column])) * parts + row % parts
                    vectors[b, index] = q[column * ld + row]

    return store_in_order


def _make_kernel(dtype, parts, in_shared_memory):
    """Make the kernel for vectors that fit in shared memory or do not.

    Their elements are `parts` numbers of a real type: 1, or 2 if they are complex.
    """
    words = 8 // (dtype.bitwidth // 8)  # elements in the room of a float64
    store_in_order = make_store(dtype, parts)

    @kernel(
        launch_bounds=(MOST_IN_SHARED_MEMORY, 3) if in_shared_memory else (LARGEST_ORDER + LANES, 1)
    )
    def iterate(tridiagonals, factors, work, size, values, vectors, status):
        """Compute the eigenvalues and eigenvectors of matrix number `blockIdx.x`.

        `work` holds the vectors (count, parts n^2) by columns with which the iteration begins, and
        `vectors` takes the result by rows; they may be the same array if `in_shared_memory`.
        `size` is n and the leading dimension, of real numbers.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        n, ld = size
        height = n if parts == 1 else parts * n
        numbers = cuda.shared.array(0, float64)
        ranges = cuda.shared.array((2, 2), int32)
        d, e = numbers[:n], numbers[n : 2 * n]
        even = Sweep(numbers[2 * n : 3 * n], numbers[3 * n : 4 * n], ranges[0])
        odd = Sweep(numbers[4 * n : 5 * n], numbers[5 * n : 6 * n], ranges[1])
        if in_shared_memory:
            first = 6 * n * words
            q = cuda.shared.array(0, dtype)[first : first + n * ld]
            for column in range(t // LANES, n, threads // LANES):
                for row in range(t % LANES, height, LANES):
                    q[column * ld + row] = work[b, column * height + row]
        else:
            q = work[b]
        for i in range(t, n, threads):
            d[i], e[i] = tridiagonals[0, b, i], tridiagonals[1, b, i]
        if t == 0:
            odd.range[1] = int32(END)
        cuda.syncthreads()
        largest = 0.0
        if t == 0:
            for i in range(n):
                largest = max(largest, abs(d[i]), abs(e[i]))
        position, is_even, is_done = (0, 0, 0), True, False
        rows = t - LANES, max(threads - LANES, 1), height
        while not is_done:
            sweep, last = (even, odd) if is_even else (odd, even)
            if t == 0:
                position = run_sweep(d, e, uint64(1), n, largest, position, sweep)
            elif t >= LANES and last.range[1] != END:
                _rotate_rows(q, ld, rows, last, dtype(1))
            cuda.syncthreads()
            is_done, is_even = sweep.range[1] == END, not is_even
        if t == 0 and position[2] > 0:
            status[b] = NOT_CONVERGED
        store_in_order(b, n, (d, e, factors), (q, ld), (values, vectors, status))

    return iterate


KERNELS = {
    kernel_name("iterate", name, storage): _make_kernel(dtype, parts, storage == SHARED)
    for name, dtype, parts in (
        ("float32", float32, 1),
        ("float64", float64, 1),
        ("complex64", float32, 2),
        ("complex128", float64, 2),
    )
    for storage in (SHARED, GLOBAL)
}
"""The kernels by name: by type, and by whether the vectors are in shared memory."""


@kernel
def store_identities(work, n):
    """Store an identity matrix for each block."""
    for index in range(cuda.threadIdx.x, n * n, cuda.blockDim.x):
        work[cuda.blockIdx.x, index] = 1.0 if index % (n + 1) == 0 else 0.0

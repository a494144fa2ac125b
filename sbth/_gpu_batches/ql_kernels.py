"""Eigenvectors of a batch of tridiagonal matrices by the implicit QL iteration.

A block solves a matrix. One of its threads runs a sweep of the iteration on the tridiagonal matrix,
while all other warps apply the rotations of the sweep before to the rows of the vectors.
"""

import math
from typing import Any, NamedTuple

from numba import float32, float64, int32, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._divide_and_conquer.leaf_formulas import (
    MAX_SWEEPS,
    first_bulge,
    is_negligible,
    negligible_size,
    ql_rotation,
)
from sbth._gpu_batches import LARGEST_ORDER
from sbth._gpu_batches.blocks_of_threads import LANES
from sbth._gpu_batches.status import NOT_CONVERGED, OVERFLOW

_END = -1
"""Last row of a sweep that does not exist, because all off-diagonal elements are 0."""

_device = kernel(device=True)


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
def _run_sweep(d, e, n, largest, position, sweep):
    """Run the next sweep on the matrix; return (low, sweeps of it so far, number that failed).

    All rows before `low` have converged. `position` is what the last call returned.
    """
    low, count, failures = position
    while low < n:
        size = negligible_size(count, largest)
        high = low
        while high < n - 1 and not is_negligible(e[high], d[high], d[high + 1], size):
            high += 1
        if high > low and count < MAX_SWEEPS:
            break
        failures += high > low
        low, count = low + 1, 0
    if low >= n:
        sweep.range[1] = _END
        return low, count, failures
    g = first_bulge(d[low], d[low + 1], e[low], d[high])
    s, c, p = 1.0, 1.0, 0.0
    i = high - 1
    while i >= low:
        radius, d_next, g, s, c, p = ql_rotation(g, s, c, p, d[i], d[i + 1], e[i])
        e[i + 1], d[i + 1] = radius, d_next
        if radius == 0.0:
            break
        sweep.cosines[i], sweep.sines[i] = c, s
        i -= 1
    e[high] = 0.0
    if i < low:
        d[low] -= p
        e[low] = g
    sweep.range[0], sweep.range[1] = i + 1, high
    return low, count + 1, failures


@_device
def _rotate_rows(q, ld, rows, sweep):
    """Apply the rotations of a sweep to some rows of the vectors, which are stored by columns."""
    first, high = sweep.range[0], sweep.range[1]
    begin, step, n = rows
    kind = type(q[0])
    for r in range(begin, n, step):
        place = uint64(high * ld + r)
        y = q[place]
        for i in range(high - 1, first - 1, -1):
            c, s = kind(sweep.cosines[i]), kind(sweep.sines[i])
            before = place - uint64(ld)
            x = q[before]
            q[place] = s * x + c * y
            y = c * x - s * y
            place = before
        q[place] = y


def _make_kernel(dtype, in_shared_memory):
    """Make the kernel for vectors of a type, which fit in shared memory or do not."""
    words = 8 // (dtype.bitwidth // 8)  # elements in the room of a float64

    @kernel(launch_bounds=(LARGEST_ORDER + LANES, 1))
    def iterate(tridiagonals, factors, work, size, values, vectors, status):
        """Compute the eigenvalues and eigenvectors of matrix number `blockIdx.x`.

        `work` holds the vectors (count, n^2) by columns with which the iteration begins, and
        `vectors` takes the result by rows; they may be the same array if `in_shared_memory`.
        """
        b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
        n, ld = size
        numbers = cuda.shared.array(0, float64)
        ranges = cuda.shared.array((2, 2), int32)
        d, e = numbers[:n], numbers[n : 2 * n]
        even = Sweep(numbers[2 * n : 3 * n], numbers[3 * n : 4 * n], ranges[0])
        odd = Sweep(numbers[4 * n : 5 * n], numbers[5 * n : 6 * n], ranges[1])
        if in_shared_memory:
            first = 6 * n * words
            q = cuda.shared.array(0, dtype)[first : first + n * ld]
            for index in range(t, n * n, threads):
                q[index // n * ld + index % n] = work[b, index]
        else:
            q = work[b]
        for i in range(t, n, threads):
            d[i], e[i] = tridiagonals[0, b, i], tridiagonals[1, b, i]
        if t == 0:
            odd.range[1] = int32(_END)
        cuda.syncthreads()
        largest = 0.0
        if t == 0:
            for i in range(n):
                largest = max(largest, abs(d[i]), abs(e[i]))
        position, is_even, is_done = (0, 0, 0), True, False
        rows = t - LANES, max(threads - LANES, 1), n
        while not is_done:
            sweep, last = (even, odd) if is_even else (odd, even)
            if t == 0:
                position = _run_sweep(d, e, n, largest, position, sweep)
            elif t >= LANES and last.range[1] != _END:
                _rotate_rows(q, ld, rows, last)
            cuda.syncthreads()
            is_done, is_even = sweep.range[1] == _END, not is_even
        if t == 0 and position[2] > 0:
            status[b] = NOT_CONVERGED
        # The columns in ascending order of the eigenvalues: their ranks replace the subdiagonal.
        for i in range(t, n, threads):
            rank = 0
            for j in range(n):
                rank += d[j] < d[i] or (d[j] == d[i] and j < i)
            e[i] = rank
            value = d[i] / factors[b]
            values[b, rank] = value
            if not abs(float64(dtype(value))) < math.inf:
                status[b] = OVERFLOW
        cuda.syncthreads()
        for index in range(t, n * n, threads):
            r, c = index // n, index % n
            vectors[b, r * n + int(e[c])] = q[c * ld + r]

    return iterate


def kernel_name(dtype: str, in_shared_memory: bool) -> str:
    """Return the name of a kernel of this module."""
    return f"iterate_{dtype}" + ("" if in_shared_memory else "_in_global_memory")


KERNELS = {
    kernel_name(str(dtype), in_shared): _make_kernel(dtype, in_shared)
    for dtype in (float32, float64)
    for in_shared in (True, False)
}
"""The kernels by name: by type, and by whether the vectors are in shared memory."""


def kernel_for(dtype: str, in_shared_memory: bool) -> Any:
    """Return the kernel for matrices of a type."""
    return KERNELS[kernel_name(dtype, in_shared_memory)]


@kernel
def store_identities(work, n):
    """Store an identity matrix for each block."""
    for index in range(cuda.threadIdx.x, n * n, cuda.blockDim.x):
        work[cuda.blockIdx.x, index] = 1.0 if index % (n + 1) == 0 else 0.0

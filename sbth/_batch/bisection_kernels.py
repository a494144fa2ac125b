"""Eigenvalues of a batch of tridiagonal matrices by bisection, a block for each matrix."""

import math

from numba import float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._batch.status import FINE, NOT_FINITE, OVERFLOW
from sbth._gpu.approximate_division import divide_approximately
from sbth._gpu.blocks_of_threads import power_of_two
from sbth._tridiagonal.bisection.formulas import MAX_PASSES, has_converged, make_pivot

THREADS = 256
"""Threads of the largest block: more rows share them."""

_MOST = 1022
"""Largest exponent of a factor: that of `sbth._problem.inspection.safe_scale`."""

_TINY = 2.0**-1022

_device = kernel(device=True)
_pivot = make_pivot(_device, divide_approximately)


def float64_count(n: int) -> int:
    """Return how many float64 a block needs in shared memory."""
    return 3 * n


@kernel
def scale(d, e, tridiagonals, factors, status):
    """Store tridiagonal matrix number `blockIdx.x`, multiplied by its factor."""
    b, t, n = cuda.blockIdx.x, cuda.threadIdx.x, d.shape[1]
    largest = 0.0
    for i in range(n):
        size = abs(float64(d[b, i]))
        largest = max(largest, size if size >= 0.0 else math.inf)
        if i < n - 1:
            size = abs(float64(e[b, i]))
            largest = max(largest, size if size >= 0.0 else math.inf)
    is_finite, factor = largest < math.inf, 1.0
    if is_finite:
        factor = power_of_two(largest, _MOST)
    for i in range(t, n, cuda.blockDim.x):
        tridiagonals[0, b, i] = d[b, i] * factor if is_finite else 0.0
        tridiagonals[1, b, i] = e[b, i] * factor if is_finite and i < n - 1 else 0.0
    if t == 0:
        factors[b] = factor
        status[b] = FINE if is_finite else NOT_FINITE


@_device
def _limits(d, radii, n):
    """Return the ends of an interval with all eigenvalues, by Gershgorin's discs.

    radii[i] is the magnitude of the element that couples rows i - 1 and i.
    """
    low, high = math.inf, -math.inf
    for i in range(n):
        radius = radii[i] + (radii[i + 1] if i < n - 1 else 0.0)
        low, high = min(low, d[i] - radius), max(high, d[i] + radius)
    slack = 2.0**-50 * n * max(abs(low), abs(high)) + 2.0**-1000
    return low - slack, high + slack


@_device
def _bisect(d, squares, index, interval, tiny, tolerance):
    """Return eigenvalue number `index`."""
    low, high = interval
    for _ in range(MAX_PASSES):
        if has_converged(low, high, tolerance):
            break
        middle, q, below = 0.5 * (low + high), 1.0, 0
        for i in range(squares.size):
            q = _pivot(q, d[i], squares[i], middle, tiny)
            below += q < 0.0
        if below > index:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


@kernel(launch_bounds=(THREADS, 1))
def bisect(tridiagonals, factors, accuracy, values, status):
    """Compute the eigenvalues of matrix number `blockIdx.x`, within `accuracy` times its norm."""
    b, t, threads = cuda.blockIdx.x, cuda.threadIdx.x, cuda.blockDim.x
    n = values.shape[1]
    memory = cuda.shared.array(0, float64)
    d, squares, results = memory[:n], memory[n : 2 * n], memory[2 * n : 3 * n]
    for i in range(t, n, threads):
        d[i] = tridiagonals[0, b, i]
        results[i] = abs(tridiagonals[1, b, i - 1]) if i > 0 else 0.0
        squares[i] = results[i] * results[i]
    cuda.syncthreads()
    low, high = _limits(d, results, n)
    largest = 0.0
    for i in range(n):
        largest = max(largest, squares[i])
    tiny, tolerance = _TINY * max(largest, 1.0), accuracy * max(abs(low), abs(high))
    cuda.syncthreads()
    for index in range(t, n, threads):
        if largest == 0.0:  # a diagonal matrix, of which the elements are exact
            results[index] = d[index]
        else:
            results[index] = _bisect(d, squares, index, (low, high), tiny, tolerance)
    cuda.syncthreads()
    # Neighbours that agree within rounding may be in either order.
    for index in range(t, n, threads):
        value, rank = results[index], 0
        for j in range(n):
            rank += results[j] < value or (results[j] == value and j < index)
        values[b, rank] = value / factors[b]
        if not abs(float64(values[b, rank])) < math.inf:
            status[b] = OVERFLOW

"""The triangular factors T of products of reflections 1 - V T V^H, on a GPU.

Column j of T is -tau_j T_j V_j^H v_j above the diagonal and tau_j on it, where T_j and V_j belong
to the reflections before number j (Schreiber and Van Loan 1989).
"""

from __future__ import annotations

from numba import complex64, complex128, float32, float64, uint64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.jit import kernel

COLUMNS = 64
"""Reflections of a product at most."""

GROUPS = 1 if SIMULATOR else 8
"""Groups of threads of a block, each with a thread for every reflection."""

THREADS = COLUMNS * GROUPS
"""Threads of a block."""

PITCH = COLUMNS + 1
"""Distance of the rows of T in shared memory: odd, to avoid bank conflicts."""

_PRODUCTS = COLUMNS * PITCH
_SUMS = _PRODUCTS + COLUMNS
SHARED_SIZE = _SUMS + THREADS
"""Indices of the parts of shared memory behind T, and the number of its elements."""

_device = kernel(device=True)


@_device
def add_groups(shared, begin, column):
    """Return the sum over the groups of threads for a column; element `begin` is the first."""
    total = shared[begin + column]
    for group in range(1, GROUPS):
        total += shared[begin + uint64(group * COLUMNS) + column]
    return total


@_device
def extend_triangle(shared, offsets, j, tau, zero):
    """Compute column j of T from the products V_j^H v_j with the earlier vectors.

    `offsets` are the indices in shared memory of T, of the products, and of THREADS numbers for
    sums; `zero` is of the type of an element. All threads of a block must call it.
    """
    t, products, sums = offsets
    thread = uint64(cuda.threadIdx.x)
    row, group = thread % uint64(COLUMNS), thread // uint64(COLUMNS)
    total = zero
    if row < j:
        q = row + group
        while q < j:
            total += shared[t + row * uint64(PITCH) + q] * shared[products + q]
            q += uint64(GROUPS)
    shared[sums + thread] = total
    cuda.syncthreads()
    if group == 0:
        value = zero
        if row < j:
            value = -tau * add_groups(shared, sums, row)
        elif row == j:
            value += tau
        shared[t + row * uint64(PITCH) + j] = value


def _make_kernel(dtype):
    """Make the kernel for a type."""

    @kernel(launch_bounds=(THREADS, 1))
    def form(grams, taus, width):
        """Replace each Gram matrix V^H V (width, width) by T, a block for each; `taus` are real.

        A block needs dynamic shared memory for SHARED_SIZE elements.
        """
        columns, pitch = uint64(width), uint64(PITCH)
        thread, block = uint64(cuda.threadIdx.x), uint64(cuda.blockIdx.x)
        shared = cuda.shared.array(0, dtype)
        products, sums = uint64(_PRODUCTS), uint64(_SUMS)
        matrix = block * columns * columns
        for j in range(columns):
            if thread < columns:
                shared[products + thread] = grams[matrix + j * columns + thread].conjugate()
            cuda.syncthreads()
            offsets = uint64(0), products, sums
            extend_triangle(shared, offsets, j, taus[block * columns + j], dtype(0))
            cuda.syncthreads()
        index = thread
        while index < columns * columns:
            i, j = index // columns, index % columns
            grams[matrix + index] = shared[i * pitch + j] if i <= j else dtype(0)
            index += uint64(THREADS)

    return form


KERNELS = {
    f"form_{dtype}": _make_kernel(dtype) for dtype in (float32, float64, complex64, complex128)
}
"""The kernels by name, for each type."""

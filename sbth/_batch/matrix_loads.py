"""Loads of matrices from the caller's arrays to the memory of a block, and their scaling."""

from numba import float64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.arithmetic import Arithmetic
from sbth._gpu.blocks_of_threads import LANES

_device = kernel(device=True)


@_device
def largest_of(memory, count):
    """Return the largest of some real numbers, which may be stored as complex ones."""
    largest = memory[0].real
    for i in range(1, count):
        largest = max(largest, memory[i].real)
    return largest


def make_load(arithmetic: Arithmetic, by_rows: bool = False):
    """Make the function that loads a matrix of real or of complex numbers, by columns or rows."""
    is_complex, magnitude = arithmetic.is_complex, arithmetic.magnitude

    # By rows, element (i, j) is where by columns (j, i) is, its conjugate.
    @_device
    def load(source, layout, a, ld, n, zero):
        """Store both triangles of a Hermitian matrix; return this thread's largest magnitude.

        Element (i, j) with 0 <= i - j <= width is source[offset + i row + j column], or its
        conjugate if `row` is smaller than `column`, because then it is an element (j, i); imaginary
        parts of the diagonal are ignored. NaN counts as infinity.
        """
        offset, row, column, width = layout
        largest = float64(0.0)
        for slow in range(cuda.threadIdx.x // LANES, n, cuda.blockDim.x // LANES):
            for fast in range(cuda.threadIdx.x % LANES, n, LANES):
                i, j = (fast, slow) if row == 1 else (slow, fast)
                if i >= j:
                    value = zero
                    if i - j <= width:
                        value = source[offset + i * row + j * column]
                    if is_complex:
                        if row < column:
                            value = value.conjugate()
                        if i == j:
                            value = zero + value.real
                        if by_rows:
                            value = value.conjugate()
                    a[j * ld + i] = value
                    a[i * ld + j] = value.conjugate()
                    largest = max(largest, magnitude(value))
        return largest

    return load

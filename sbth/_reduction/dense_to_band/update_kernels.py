"""The kernel that completes a factor of the update of a matrix after a panel."""

from numba import complex64, complex128, float32, float64, uint64

from hetero.cuda.driver import cuda
from hetero.jit import kernel
from sbth._gpu.arithmetic import arithmetic_of

THREADS = 256
"""Threads of a block."""


def _make_finish(dtype):
    """Make the kernel that computes W of a panel, for a type."""
    _, real = arithmetic_of(dtype)

    @kernel(launch_bounds=(THREADS, 1))
    def finish(left, right, v, product, position):
        """Replace X (m, b) in `left` by W = X - V P / 2, and store it in `right`, too.

        `position` is m, b, the distance of the rows of `left` and `right`, the indices of the first
        elements of W there, and that of V, whose rows follow each other. P (b, b) is `product`, for
        which a block needs dynamic shared memory.
        """
        m, b, pitch = uint64(position[0]), uint64(position[1]), uint64(position[2])
        in_left, in_right, in_v = uint64(position[3]), uint64(position[4]), uint64(position[5])
        shared, thread = cuda.shared.array(0, dtype), uint64(cuda.threadIdx.x)
        index = thread
        while index < b * b:
            shared[index] = product[index]
            index += uint64(THREADS)
        cuda.syncthreads()
        index = uint64(cuda.blockIdx.x) * uint64(THREADS) + thread
        while index < m * b:
            i, c = index // b, index % b
            total = dtype(0)
            for q in range(b):
                total += v[in_v + i * b + q] * shared[q * b + c]
            w = left[in_left + i * pitch + c] - real(0.5) * total
            left[in_left + i * pitch + c] = w
            right[in_right + i * pitch + c] = w
            index += uint64(THREADS) * uint64(cuda.gridDim.x)

    return finish


KERNELS = {
    f"finish_{dtype}": _make_finish(dtype) for dtype in (float32, float64, complex64, complex128)
}
"""The kernels by name, for each type."""

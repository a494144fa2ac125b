"""Small BLAS operations of the host-driven pipeline, by one block of threads each.

See `studies.sbth.blas.cpu` for the arguments. One block occupies one multiprocessor, which leaves
the others to concurrent tasks (Riesinger 2017, section 5.3).
"""

import math

from numba import int64

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.intrinsics.warp import warp_sum
from hetero.jit import kernel
from hetero.measurement.queue_timer import QueueTimer

_THREADS = 256


def streams(count):
    """Create streams that do not wait for each other."""
    return [0 if SIMULATOR else cuda.stream() for _ in range(count)]


def wait(streams):
    """Wait until all operations on these streams have finished."""
    cuda.synchronize()


def upload(array):
    """Copy an array to the device."""
    return cuda.to_device(array)


def download(array):
    """Copy an array to the host."""
    return array.copy_to_host()


@kernel(device=True)
def _product(count, vectors, x, y):
    """Return x . y, computed by one warp."""
    total = vectors[x] * 0
    for i in range(cuda.threadIdx.x, count, 32):
        total += vectors[x + i] * vectors[y + i]
    return warp_sum(total)


@kernel
def copy_vector(count, source, x, target, y):
    """y = x."""
    for i in range(cuda.threadIdx.x, count, _THREADS):
        target[y + i] = source[x + i]


@kernel
def load_column(count, matrix, column, step, vectors, y):
    """Copy a column of the matrix to y."""
    for i in range(cuda.threadIdx.x, count, _THREADS):
        vectors[y + i] = matrix[column + i * step]


@kernel
def add_vector(count, factor, scalars, scalar, vectors, x, y):
    """y += factor scalar x."""
    alpha = factor * scalars[scalar]
    for i in range(cuda.threadIdx.x, count, _THREADS):
        vectors[y + i] += alpha * vectors[x + i]


@kernel
def dot_vectors(count, vectors, x, y, scalars, scalar):
    """scalar = x . y."""
    total = _product(count, vectors, x, y)
    if cuda.threadIdx.x == 0:
        scalars[scalar] = total


@kernel
def norm_vector(count, vectors, x, scalars, scalar):
    """scalar = |x|."""
    total = _product(count, vectors, x, x)
    if cuda.threadIdx.x == 0:
        scalars[scalar] = math.sqrt(total)


@kernel
def scale_first(count, scalars, norm, vectors, x):
    """Replace a column by a reflection vector that begins with 1, or by 0."""
    length, first = scalars[norm], vectors[x]
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, count, _THREADS):
        value = vectors[x + i] / (first + math.copysign(length, first)) if i > 0 else 1.0
        vectors[x + i] = value if length > 0 else 0.0


@kernel
def scale_length(count, scalars, scalar, vectors, x):
    """Scale x to the length sqrt(2)."""
    length = scalars[scalar]
    for i in range(cuda.threadIdx.x, count, _THREADS):
        if length > 0:
            vectors[x + i] *= math.sqrt(2.0) / length


@kernel
def eliminate_column(count, scalars, norm, vectors, h, matrix, column, step):
    """Store column h as the reflection leaves it."""
    for i in range(cuda.threadIdx.x, count, _THREADS):
        matrix[column + i * step] = -math.copysign(scalars[norm], vectors[h]) if i == 0 else 0.0


@kernel
def symmetric_product(count, matrix, a, step, pitch, vectors, x, y):
    """y = A x, from the lower triangle of A."""
    for i in range(int64(cuda.threadIdx.x), count, _THREADS):
        total = vectors[x] * 0
        for j in range(count):
            total += matrix[a + min(i, j) * pitch + max(i, j) * step] * vectors[x + j]
        vectors[y + i] = total


@kernel
def symmetric_update(count, vectors, x, y, matrix, a, step, pitch):
    """A -= x y^T + y x^T, in the lower triangle."""
    for cell in range(cuda.threadIdx.x, count * count, _THREADS):
        i, j = cell % count, cell // count
        if i >= j:
            update = vectors[x + i] * vectors[y + j] + vectors[y + i] * vectors[x + j]
            matrix[a + j * pitch + i * step] -= update


@kernel
def general_product(rows, columns, matrix, b, step, pitch, vectors, x, y):
    """y = B x."""
    for i in range(cuda.threadIdx.x, rows, _THREADS):
        total = vectors[x] * 0
        for j in range(columns):
            total += matrix[b + j * pitch + i * step] * vectors[x + j]
        vectors[y + i] = total


@kernel
def transposed_product(rows, columns, matrix, b, step, pitch, vectors, x, y):
    """y = B^T x."""
    for j in range(cuda.threadIdx.x // 32, columns, _THREADS // 32):
        total = vectors[x] * 0
        for i in range(cuda.threadIdx.x % 32, rows, 32):
            total += matrix[b + j * pitch + i * step] * vectors[x + i]
        total = warp_sum(total)
        if cuda.threadIdx.x % 32 == 0:
            vectors[y + j] = total


@kernel
def general_update(rows, columns, vectors, x, y, matrix, b, step, pitch):
    """B -= x y^T."""
    for cell in range(cuda.threadIdx.x, rows * columns, _THREADS):
        i, j = cell % rows, cell // rows
        matrix[b + j * pitch + i * step] -= vectors[x + i] * vectors[y + j]


KERNELS = {
    "copy": (copy_vector, _THREADS),
    "copy_column": (load_column, _THREADS),
    "axpy": (add_vector, _THREADS),
    "dot": (dot_vectors, 32),
    "nrm2": (norm_vector, 32),
    "scal_first": (scale_first, _THREADS),
    "scal_length": (scale_length, _THREADS),
    "eliminate": (eliminate_column, _THREADS),
    "symv": (symmetric_product, _THREADS),
    "syr2": (symmetric_update, _THREADS),
    "gemv": (general_product, _THREADS),
    "gemv_t": (transposed_product, _THREADS),
    "ger": (general_update, _THREADS),
}
"""Kernels and their threads, by the names of operations. Each is launched as one block."""


def call(name, operands, stream):
    """Launch an operation."""
    function, threads = KERNELS[name]
    function[1, threads, stream](*operands)


def seconds(call, repeats):
    """Return the mean time of an operation on the GPU alone, without the time of its launch."""
    call()
    timer = QueueTimer(repeats)
    timer.start()
    for _ in range(repeats):
        call()
    return timer.stop() / repeats

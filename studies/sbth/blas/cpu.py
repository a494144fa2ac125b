"""Small BLAS operations of the host-driven pipeline, on vectors and blocks in flat arrays.

x, y, h are indices of vectors in `vectors`, a, b and column those of blocks in `matrix`, and
scalar, norm those of numbers in `scalars`. Blocks are column-major, with columns `pitch` numbers
apart.
"""

import functools
import math
import time

import numpy as np

from hetero.jit import serial


def _operation(function):
    """Compile a loop, but let a plain function call it, as on the GPU."""
    compiled = serial(function)

    @functools.wraps(function)
    def call(*arguments):
        compiled(*arguments)

    return call


def streams(count):
    """Return stand-ins for streams, which the CPU does not have."""
    return [None] * count


def wait(streams):
    """Wait until all operations on these streams have finished."""


def upload(array):
    """Copy an array to the device."""
    return np.array(array)


def download(array):
    """Copy an array to the host."""
    return array.copy()


@_operation
def copy(count, source, x, target, y, stream):
    """y = x."""
    for i in range(count):
        target[y + i] = source[x + i]


@_operation
def axpy(count, factor, scalars, scalar, vectors, x, y, stream):
    """y += factor scalar x."""
    alpha = factor * scalars[scalar]
    for i in range(count):
        vectors[y + i] += alpha * vectors[x + i]


@_operation
def dot(count, vectors, x, y, scalars, scalar, stream):
    """scalar = x . y."""
    total = vectors[x] * 0
    for i in range(count):
        total += vectors[x + i] * vectors[y + i]
    scalars[scalar] = total


@_operation
def nrm2(count, vectors, x, scalars, scalar, stream):
    """scalar = |x|."""
    total = vectors[x] * 0
    for i in range(count):
        total += vectors[x + i] ** 2
    scalars[scalar] = math.sqrt(total)


@_operation
def scal_first(count, scalars, norm, vectors, x, stream):
    """Replace h at x by v = (1, h_2, ..., h_count / (h_1 + sgn(h_1) |h|)), or by 0 if h is 0."""
    length, first = scalars[norm], vectors[x]
    vectors[x] = 1 if length > 0 else 0
    if length > 0:
        for i in range(1, count):
            vectors[x + i] /= first + math.copysign(length, first)


@_operation
def scal_length(count, scalars, scalar, vectors, x, stream):
    """Scale x to the length sqrt(2)."""
    length = scalars[scalar]
    if length > 0:
        for i in range(count):
            vectors[x + i] *= math.sqrt(2.0) / length


@_operation
def eliminate(count, scalars, norm, vectors, h, matrix, column, stream):
    """Store column h as the reflection leaves it."""
    matrix[column] = -math.copysign(scalars[norm], vectors[h])
    for i in range(1, count):
        matrix[column + i] = 0


@_operation
def symv(count, matrix, a, pitch, vectors, x, y, stream):
    """y = A x, from the lower triangle of A."""
    for i in range(count):
        total = vectors[x] * 0
        for j in range(count):
            total += matrix[a + min(i, j) * pitch + max(i, j)] * vectors[x + j]
        vectors[y + i] = total


@_operation
def syr2(count, vectors, x, y, matrix, a, pitch, stream):
    """A -= x y^T + y x^T, in the lower triangle."""
    for j in range(count):
        for i in range(j, count):
            update = vectors[x + i] * vectors[y + j] + vectors[y + i] * vectors[x + j]
            matrix[a + j * pitch + i] -= update


@_operation
def gemv(size, matrix, b, pitch, vectors, x, y, stream):
    """y = B x, where B has the size (rows, columns)."""
    for i in range(size[0]):
        total = vectors[x] * 0
        for j in range(size[1]):
            total += matrix[b + j * pitch + i] * vectors[x + j]
        vectors[y + i] = total


@_operation
def gemv_t(size, matrix, b, pitch, vectors, x, y, stream):
    """y = B^T x, where B has the size (rows, columns)."""
    for j in range(size[1]):
        total = vectors[x] * 0
        for i in range(size[0]):
            total += matrix[b + j * pitch + i] * vectors[x + i]
        vectors[y + j] = total


@_operation
def ger(size, vectors, x, y, matrix, b, pitch, stream):
    """B -= x y^T, where B has the size (rows, columns)."""
    for j in range(size[1]):
        for i in range(size[0]):
            matrix[b + j * pitch + i] -= vectors[x + i] * vectors[y + j]


def seconds(call, repeats):
    """Return the mean time of an operation."""
    call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats

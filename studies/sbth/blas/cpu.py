"""Small BLAS operations of the host-driven pipeline, on vectors and blocks in flat arrays.

x, y, h are indices of vectors in `vectors`, a, b and column those of blocks in `matrix`, and
scalar, norm those of numbers in `scalars`. In memory the rows of a block are `step` numbers apart,
its columns `pitch`. B has `rows` and `columns`.
"""

import math
import time

import numpy as np

from hetero.jit import serial


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


@serial
def copy(count, source, x, target, y):
    """y = x."""
    for i in range(count):
        target[y + i] = source[x + i]


@serial
def copy_column(count, matrix, column, step, vectors, y):
    """Copy a column of the matrix to y."""
    for i in range(count):
        vectors[y + i] = matrix[column + i * step]


@serial
def axpy(count, factor, scalars, scalar, vectors, x, y):
    """y += factor scalar x."""
    alpha = factor * scalars[scalar]
    for i in range(count):
        vectors[y + i] += alpha * vectors[x + i]


@serial
def dot(count, vectors, x, y, scalars, scalar):
    """scalar = x . y."""
    total = vectors[x] * 0
    for i in range(count):
        total += vectors[x + i] * vectors[y + i]
    scalars[scalar] = total


@serial
def nrm2(count, vectors, x, scalars, scalar):
    """scalar = |x|."""
    total = vectors[x] * 0
    for i in range(count):
        total += vectors[x + i] ** 2
    scalars[scalar] = math.sqrt(total)


@serial
def scal_first(count, scalars, norm, vectors, x):
    """Replace h at x by v = (1, h_2, ..., h_count / (h_1 + sgn(h_1) |h|)), or by 0 if h is 0."""
    length, first = scalars[norm], vectors[x]
    vectors[x] = 1 if length > 0 else 0
    if length > 0:
        for i in range(1, count):
            vectors[x + i] /= first + math.copysign(length, first)


@serial
def scal_length(count, scalars, scalar, vectors, x):
    """Scale x to the length sqrt(2)."""
    length = scalars[scalar]
    if length > 0:
        for i in range(count):
            vectors[x + i] *= math.sqrt(2.0) / length


@serial
def eliminate(count, scalars, norm, vectors, h, matrix, column, step):
    """Store column h as the reflection leaves it."""
    matrix[column] = -math.copysign(scalars[norm], vectors[h])
    for i in range(1, count):
        matrix[column + i * step] = 0


@serial
def symv(count, matrix, a, step, pitch, vectors, x, y):
    """y = A x, from the lower triangle of A."""
    for i in range(count):
        total = vectors[x] * 0
        for j in range(count):
            total += matrix[a + min(i, j) * pitch + max(i, j) * step] * vectors[x + j]
        vectors[y + i] = total


@serial
def syr2(count, vectors, x, y, matrix, a, step, pitch):
    """A -= x y^T + y x^T, in the lower triangle."""
    for j in range(count):
        for i in range(j, count):
            update = vectors[x + i] * vectors[y + j] + vectors[y + i] * vectors[x + j]
            matrix[a + j * pitch + i * step] -= update


@serial
def gemv(rows, columns, matrix, b, step, pitch, vectors, x, y):
    """y = B x."""
    for i in range(rows):
        total = vectors[x] * 0
        for j in range(columns):
            total += matrix[b + j * pitch + i * step] * vectors[x + j]
        vectors[y + i] = total


@serial
def gemv_t(rows, columns, matrix, b, step, pitch, vectors, x, y):
    """y = B^T x."""
    for j in range(columns):
        total = vectors[x] * 0
        for i in range(rows):
            total += matrix[b + j * pitch + i * step] * vectors[x + i]
        vectors[y + j] = total


@serial
def ger(rows, columns, vectors, x, y, matrix, b, step, pitch):
    """B -= x y^T."""
    for j in range(columns):
        for i in range(rows):
            matrix[b + j * pitch + i * step] -= vectors[x + i] * vectors[y + j]


OPERATIONS = {
    function.__name__: function
    for function in (
        *(copy, copy_column, axpy, dot, nrm2, scal_first, scal_length, eliminate),
        *(symv, syr2, gemv, gemv_t, ger),
    )
}
"""The operations by their names."""


def call(name, operands, stream):
    """Execute an operation; the stream is a stand-in."""
    OPERATIONS[name](*operands)


def seconds(call, repeats):
    """Return the mean time of an operation."""
    call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats

"""A stand-in for cuBLAS that computes in host memory."""

import ctypes
import functools

import numpy as np

from sbth._vendor import products


def use_host_memory(monkeypatch):
    """Let NumPy compute the products of `_in_place_products`, at addresses in host memory."""

    def routines(dtype):
        return functools.partial(multiply, np.dtype(dtype)), lambda: 0, (0, 1, 2)

    monkeypatch.setattr(products, "_cublas", routines)


def columns_at(address, rows, columns, pitch, dtype):
    """Return a matrix that is stored by columns in host memory."""
    size = (columns - 1) * pitch + rows
    buffer = (ctypes.c_byte * (size * dtype.itemsize)).from_address(address)
    strides = dtype.itemsize, dtype.itemsize * pitch
    return np.lib.stride_tricks.as_strided(np.frombuffer(buffer, dtype), (rows, columns), strides)


def apply(operation, matrix):
    """Return a matrix, its transpose (1) or its conjugate transpose (2)."""
    return (matrix, matrix.T, matrix.conj().T)[operation]


def multiply(
    dtype, handle, op_a, op_b, m, n, k, alpha, a, lda, step_a, b, ldb, step_b, beta, c, ldc, step_c,
    count,
):  # fmt: skip
    """Compute what cuBLAS's gemmStridedBatched does."""
    for i in range(count):
        of_a, of_b = (m, k)[:: -1 if op_a else 1], (k, n)[:: -1 if op_b else 1]
        left = columns_at(a + dtype.itemsize * i * step_a, *of_a, lda, dtype)
        right = columns_at(b + dtype.itemsize * i * step_b, *of_b, ldb, dtype)
        target = columns_at(c + dtype.itemsize * i * step_c, m, n, ldc, dtype)
        factor, keep = (columns_at(p, 1, 1, 1, dtype)[0, 0] for p in (alpha, beta))
        product = factor * (apply(op_a, left) @ apply(op_b, right))
        target[...] = product + keep * target if keep else product

"""Tabulated differences on the GPU: a thread has a polynomial, its coefficients in registers."""

import functools

from numba import int64, uint64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.jit import kernel
from studies.tmd.differences.formulas import add_words

THREADS = 128
"""Number of threads in a block (not tuned)."""


@functools.cache
def advance_kernel(count, words):
    """Return the kernel for polynomials of `count` coefficients of `words` words each."""

    @kernel
    def advance_polynomials(coefficients, out):
        """Fill column u of `out` from column u of `coefficients`; neighbours access neighbours."""
        u = int64(cuda.grid(1))
        if u >= out.shape[2]:
            return
        c = cuda.local.array((count, words), uint64)
        for k in range(count):
            for w in range(words):
                c[k, w] = coefficients[k, w, u]
        for i in range(out.shape[1]):
            out[0, i, u] = c[0, words - 1]
            out[1, i, u] = c[0, words - 2]
            for k in range(count - 1):
                carry = uint64(0)
                for w in range(words):
                    c[k, w], carry = add_words(c[k, w], c[k + 1, w], carry)

    return advance_polynomials


def upload(coefficients):
    """Copy coefficients to the current GPU."""
    return cuda.to_device(coefficients)


def advance(coefficients, out):
    """Start to fill `out` with the values of all polynomials; see `Loops.advance`."""
    count, words, polynomials = coefficients.shape
    grid = launch.blocks_for(polynomials, THREADS)
    advance_kernel(count, words)[grid, THREADS](coefficients, out)


def wait():
    """Wait for the GPU."""
    cuda.synchronize()

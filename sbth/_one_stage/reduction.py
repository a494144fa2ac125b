"""Reduction of a full matrix on a GPU to tridiagonal form in one stage."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.arrays import Array
from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR, cuda, upload
from sbth._one_stage import kernels

_STATIC = 1024
"""Bytes of shared memory that a block has besides what it asks for, at most."""

_ONE_BLOCK = 160
"""Order up to which one block reduces a matrix, which then waits for no other (not tuned)."""


class Reduced(NamedTuple):
    """A matrix A, multiplied by a power of two, as Q T Q^T.

    Attributes
    ----------
    d, e : arrays (n,), (n - 1,)
        Diagonal and subdiagonal of T, in host memory.
    factor : float
        The power of two.
    taus : array (n - 1,), in host memory
    vectors : array (n, n) on the device, or None
        Q is the product of 1 - taus[k] u u^T for k = 0, 1, ..., with u = vectors[k], whose first
        k + 1 elements are 0.
    """

    d: np.ndarray
    e: np.ndarray
    factor: float
    taus: np.ndarray
    vectors: Array | None


def reduce_to_tridiagonal(
    source: Array, n: int, lower: bool, stream: Any, *, keeps_vectors: bool
) -> Reduced | None:
    """Reduce a matrix (n, n), a flat array of Numba on the current GPU, of which one triangle counts.

    Returns None if there is NaN or infinity in the triangle.
    """
    dtype = source.dtype
    blocks = _block_count(n)
    capacity = _capacity(n, blocks, dtype)
    slots = -(-n // blocks)
    outside = max(slots - capacity, 0) * blocks
    numbers = cuda.device_array(3 * n + 2, dtype, stream=stream)
    vectors = cuda.device_array(n * n if keeps_vectors else 1, dtype, stream=stream)
    exchange = kernels.Exchange(
        cuda.device_array(2 * n, dtype, stream=stream),
        cuda.device_array(2 * n, dtype, stream=stream),
        cuda.device_array(blocks, np.float64, stream=stream),
        upload(np.zeros(2, np.int32), stream),
    )
    work = cuda.device_array(max(outside * n, 1), dtype, stream=stream)
    sizes, flags = (n, capacity), (bool(lower), keeps_vectors)
    kernel = kernels.KERNELS[f"reduce_{dtype}"]
    arguments = source, sizes, flags, work, exchange, numbers, vectors
    size = dtype.itemsize * (kernels.scratch_size(n, blocks) + min(capacity, slots) * n)
    launch.request_shared_memory(kernel, arguments, size, _STATIC)
    launch.launch(kernel, blocks, _thread_count(n), stream, arguments, size)
    host = numbers.copy_to_host(stream=stream)
    if not np.isfinite(host[3 * n + 1]):
        return None
    if blocks > 1 and int(exchange.control.copy_to_host(stream=stream)[1]):
        raise RuntimeError(
            "the GPU blocks timed out: one waited in vain for the others. This is a bug in sbth: "
            "please report it with the matrix, which is unchanged"
        )
    d, e, taus = host[: 3 * n].reshape(3, n)
    kept = vectors.reshape(n, n) if keeps_vectors else None
    return Reduced(d, e[: n - 1], float(host[3 * n]), taus[: n - 1], kept)


def _block_count(n: int) -> int:
    """Return the number of blocks, which run at once: one on each multiprocessor."""
    return 1 if SIMULATOR or n <= _ONE_BLOCK else launch.multiprocessors()


def _thread_count(n: int) -> int:
    """Return the threads of a block."""
    return kernels.MOST_THREADS


def _capacity(n: int, blocks: int, dtype: np.dtype) -> int:
    """Return how many rows of a block fit in shared memory."""
    room = (launch.max_shared_memory() - _STATIC) // dtype.itemsize
    return max((room - kernels.scratch_size(n, blocks)) // n, 0)

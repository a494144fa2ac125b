"""Reduction of a full matrix on a GPU to tridiagonal form in one stage."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero.array_libraries import view_as_numba
from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR
from sbth._bulge_chasing.flags import require_meeting
from sbth._one_stage import reduction_kernels as kernels
from sbth._one_stage.block_sums import MOST_THREADS
from sbth.band_storage import require_finite_triangle

_STATIC = 1024
"""Bytes of shared memory that a block has besides what it asks for, at most."""

_ONE_BLOCK = 64
"""Order up to which one block reduces a matrix, which then waits for no other."""

_FEW_WARPS_ORDER = 1200
"""Order up to which 8 warps a block are faster than 16 on an H200."""


class Reduced(NamedTuple):
    """A matrix A, multiplied by a power of two, as Q T Q^T.

    Attributes
    ----------
    d, e : arrays (n,), (n - 1,)
        Diagonal and subdiagonal of T, in host memory.
    factor : float
        The power of two.
    taus : array (n - 1,), in host memory
    vectors : array (n, n) of CuPy, or None
        Q is the product of 1 - taus[k] u u^T for k = 0, 1, ..., with u = vectors[k], whose first
        k + 1 elements are 0.
    """

    d: np.ndarray
    e: np.ndarray
    factor: float
    taus: np.ndarray
    vectors: Any


def reduce_to_tridiagonal(
    xp: ModuleType, matrix: Any, lower: bool, *, keeps_vectors: bool
) -> Reduced:
    """Reduce a matrix (n, n) of `xp`, C-contiguous on the current GPU, of which a triangle counts.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    n, dtype = len(matrix), matrix.dtype
    blocks = _block_count(n)
    capacity = _capacity(n, blocks, dtype)
    slots = -(-n // blocks)
    outside = max(slots - capacity, 0) * blocks
    numbers = xp.empty(3 * n + 2, dtype)
    vectors = xp.empty((n, n) if keeps_vectors else (1, 1), dtype)
    control = xp.zeros(2, np.int32)
    products, rows = xp.empty(2 * n, dtype), xp.empty(2 * n, dtype)
    exchange = products, rows, xp.empty(blocks, np.float64), control
    work = xp.empty(max(outside * n, 1), dtype)
    arguments = (
        *(view_as_numba(matrix.reshape(-1)), (n, capacity), (bool(lower), keeps_vectors)),
        *(view_as_numba(work), kernels.Exchange(*map(view_as_numba, exchange))),
        *(view_as_numba(numbers), view_as_numba(vectors.reshape(-1))),
    )
    kernel = kernels.KERNELS[f"reduce_{dtype}"]
    size = dtype.itemsize * (kernels.scratch_size(n, blocks) + min(capacity, slots) * n)
    launch.request_shared_memory(kernel, arguments, size, _STATIC)
    stream = xp.cuda.get_current_stream().ptr
    threads = _thread_count(n)
    launch.launch(kernel, blocks, threads, stream, arguments, size, cooperative=True)
    host = numbers.get()
    require_finite_triangle(float(host[3 * n + 1]), lower)
    if blocks > 1:
        require_meeting(control)
    d, e, taus = host[: 3 * n].reshape(3, n)
    factor = float(host[3 * n])
    return Reduced(d, e[: n - 1], factor, taus[: n - 1], vectors if keeps_vectors else None)


def fits_in_shared_memory(n: int, dtype: np.dtype) -> bool:
    """Return whether a block of the current GPU has room for its vectors, if not for its rows.

    With 64 KB of shared memory (Turing), it has none in float64 from about n = 2300 on.
    """
    need = dtype.itemsize * kernels.scratch_size(n, _block_count(n)) + _STATIC
    return need <= launch.max_shared_memory()


def _block_count(n: int) -> int:
    """Return the number of blocks, which run at once: one on each multiprocessor."""
    return 1 if SIMULATOR or n <= _ONE_BLOCK else launch.multiprocessors()


def _thread_count(n: int) -> int:
    """Return the threads of a block."""
    return MOST_THREADS // (2 if n <= _FEW_WARPS_ORDER else 1)


def _capacity(n: int, blocks: int, dtype: np.dtype) -> int:
    """Return how many rows of a block fit in shared memory."""
    room = (launch.max_shared_memory() - _STATIC) // dtype.itemsize
    return max((room - kernels.scratch_size(n, blocks)) // n, 0)

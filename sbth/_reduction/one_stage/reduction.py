"""Reduction of a full matrix on a GPU to tridiagonal form in one stage."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import SIMULATOR
from hetero.cuda.ready_arrays import PendingCopy, allocate_as_one, fill_with_zeros, ready
from sbth._gpu.block_sums import MOST_THREADS
from sbth._gpu.flags import require_meeting
from sbth._problem.inspection import require_finite_triangle
from sbth._reduction.one_stage import reduction_kernels as kernels

_STATIC = 1024
"""Bytes of shared memory that a block has besides what it asks for, at most."""

_ONE_BLOCK = 64
"""Order up to which one block reduces a matrix, which then waits for no other."""

_FEW_WARPS_ORDER = 1200
"""Order up to which 8 warps a block are faster than 16 on an H200."""


class RunningReduction:
    """A matrix that the current GPU is reducing; the host can prepare other work meanwhile.

    Q is the product of 1 - taus[k] u u^T for k = 0, 1, ..., with u = vectors[k], whose first k + 1
    elements are 0.

    Parameters
    ----------
    xp : module
        CuPy.
    matrix : array (n, n) of `xp`, C-contiguous, of which a triangle counts
    lower : bool
    keeps_vectors : bool

    Attributes
    ----------
    vectors : array (n, n) of `xp`; (1, 1) without `keeps_vectors`
        Its rows are defined for later work on the current stream, but for the last one.
    """

    def __init__(self, xp: ModuleType, matrix: Any, lower: bool, *, keeps_vectors: bool) -> None:
        n, dtype = len(matrix), matrix.dtype
        self._xp, self._n, self._lower = xp, n, lower
        self._stream = xp.cuda.get_current_stream().ptr
        self.vectors = xp.empty((n, n) if keeps_vectors else (1, 1), dtype)
        blocks = _block_count(n)
        capacity = _capacity(n, blocks, dtype)
        slots = -(-n // blocks)
        outside = max(slots - capacity, 0) * blocks
        forms: list[tuple[tuple[int, ...], Any]] = [
            *(((size,), dtype) for size in (3 * n + 2, 2 * n, 2 * n, max(outside * n, 1))),
            *[((blocks,), np.float64), ((2,), np.int32)],
        ]
        memory = allocate_as_one(forms, self._stream)
        self._numbers, products, rows, work, largest, control = memory
        fill_with_zeros(control, self._stream)
        arguments = (
            *(ready(matrix.reshape(-1)), (n, capacity), (bool(lower), keeps_vectors), work),
            kernels.Exchange(products, rows, largest, control),
            *(self._numbers, ready(self.vectors.reshape(-1))),
        )
        kernel = kernels.KERNELS[f"reduce_{dtype}"]
        size = dtype.itemsize * (kernels.scratch_size(n, blocks) + min(capacity, slots) * n)
        threads = _thread_count(n)
        launch.launch(kernel, blocks, threads, self._stream, arguments, size, cooperative=True)
        # Before other work is launched, for which `finish` need not wait then.
        self._copy = PendingCopy((self._numbers, control), self._stream)

    @property
    def taus(self) -> Any:
        """The factors of the reflections: an array (n - 1,) of `xp`, as `vectors`."""
        return self._xp.asarray(self._numbers[2 * self._n : 3 * self._n - 1])

    def finish(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Wait for the reduction, not for later work on the GPU.

        Returns diagonal and subdiagonal of the tridiagonal matrix T, in host memory, of
        A = Q T Q^T, where A is multiplied by a power of two, and this power.

        Raises
        ------
        ValueError
            There is NaN or infinity in the triangle.
        """
        n, (host, control) = self._n, self._copy.wait()
        require_finite_triangle(float(host[3 * n + 1]), self._lower)
        require_meeting(control)
        d, e = host[: 2 * n].reshape(2, n)
        return d, e[: n - 1], float(host[3 * n])


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

"""Bulge chasing on a GPU by one kernel, whose launch does not wait for it."""

from __future__ import annotations

import numpy as np

from hetero.arrays import Array, Stream
from hetero.cuda import launch
from hetero.cuda.ready_arrays import allocate_as_one, fill_with_zeros, ready
from sbth._reduction.bulge_chasing import cuda_source as text
from sbth._reduction.bulge_chasing.chase_kernels import KERNELS


def start_chase(
    work: Array, d: int, reflectors: Array, stream: Stream = 0, in_flight: int | None = None
) -> Array:
    """Launch the persistent kernel of bulge chasing, without waiting for it.

    Returns an array on the GPU that `require_progress` reads once it is in host memory.
    """
    n, ld = work.shape
    dtype = np.dtype(work.dtype)
    tile, columns = text.choose_tile(d)
    size = text.shared_layout(tile, columns)[1] * dtype.itemsize
    chase = KERNELS[f"chase_{tile}_{dtype}"]
    (memory,) = allocate_as_one([((n + 2,), np.int32)], stream)
    fill_with_zeros(memory, stream)
    control, progress = memory[:2], memory[2:]
    flat, stored = ready(work).reshape(n * ld), ready(reflectors).reshape(reflectors.size)
    arguments = flat, (ld, n, d), progress, control, stored
    resident = launch.multiprocessors() * max(1, launch.max_shared_memory() // (size + 1024))
    max_tasks = max_tasks_of(n, d)
    blocks = min(max_tasks, in_flight or max_tasks, resident)
    launch.launch(chase, blocks, text.thread_count(tile, columns), stream, arguments, size)
    return control


def require_progress(control: Array) -> None:
    """Raise RuntimeError if a block of the persistent kernel waited in vain."""
    failed = int(control[1])
    if failed:
        raise RuntimeError(
            f"the GPU blocks timed out: sweep {failed} waited for sweep {failed - 1}. This is "
            "a bug in sbth: please report it with the matrix, which is unchanged"
        )


def max_tasks_of(n: int, d: int) -> int:
    """Return how many tasks can run at once."""
    return n // (2 * d) + 2

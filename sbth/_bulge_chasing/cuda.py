"""Bulge chasing on the GPU: by one persistent kernel, or by one launch for each wavefront."""

import numpy as np
from numba import float32, float64, int32, uint64

from hetero.codegen import compile_source
from hetero.cuda import launch
from hetero.cuda.driver import cuda, upload
from hetero.intrinsics.flags import load_acquire, store_release
from hetero.jit import kernel
from sbth._bulge_chasing import cuda_source as text
from sbth._bulge_chasing.householder_formulas import reflection
from sbth._bulge_chasing.schedule_formulas import (
    block_extents,
    last_task,
    required_progress,
    step_count,
    sweeps_in_step,
)

_SPINS = 1 << 24
"""Polls of a flag, for some seconds, after which a wait fails."""

_SPINS_BETWEEN_CHECKS = 1 << 12
"""Polls between checks whether another block has failed (not tuned)."""


@kernel(device=True)
def wait_for_progress(progress, sweep, count, control, spins):
    """Spin until a sweep has finished `count` tasks; return 0, or 1 after a timeout.

    `progress` (int32) holds the number of finished tasks of each sweep. After a timeout in any
    block, control[1] (int32) is the number of the sweep whose block was waiting.
    """
    for spin in range(spins):
        if load_acquire(progress, sweep) >= count:
            return 0
        if (
            spin % _SPINS_BETWEEN_CHECKS == _SPINS_BETWEEN_CHECKS - 1
            and load_acquire(control, 1) != 0
        ):
            return 1
    store_release(control, 1, int32(sweep + 1))
    return 1


def _compile_kernel(name: str, source: str, tile: int, columns: int, dtype):
    """Compile the kernel `name` of a generated source."""
    names = {
        **text.shared_layout(tile, columns)[0],
        **{"cuda": cuda, "int32": int32, "U": uint64, "T": dtype, "ALL": 0xFFFFFFFF},
        **{
            "wait": wait_for_progress,
            "SPINS": _SPINS,
            "release": store_release,
            "reflection": reflection,
        },
        **{
            "block_extents": block_extents,
            "last_task": last_task,
            "required_progress": required_progress,
        },
    }
    bounds = (text.thread_count(tile, columns), 1)
    return kernel(launch_bounds=bounds)(compile_source(name, source, names))


# Each kernel is a global, so that the tests can check the budget of each by its name.
TILES = (16, 32, 64)
"""Rows of the tiles for which kernels exist."""

for _tile in TILES:
    _columns = text.choose_tile(_tile)[1]
    for _type in (float32, float64):
        globals()[f"chase_{_tile}_{_type}"] = _compile_kernel(
            "chase", text.persistent_source(_tile, _columns), _tile, _columns, _type
        )
        globals()[f"step_{_tile}_{_type}"] = _compile_kernel(
            "step", text.wavefront_source(_tile, _columns), _tile, _columns, _type
        )


def chase_bulges(work, d, method, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth 2 <= d <= 64 to tridiagonal form in place.

    The reflections are stored in `reflectors` (see `sbth.reflectors` for the layout) unless it is
    empty. `in_flight` limits the block pairs that are processed at once (None: no limit).
    """
    n, ld = work.shape
    tile, columns = text.choose_tile(d)
    threads = text.thread_count(tile, columns)
    size = text.shared_layout(tile, columns)[1] * work.dtype.itemsize
    flat, reflectors = work.reshape(n * ld), reflectors.reshape(reflectors.size)
    common = flat, np.int32(ld), np.int32(n), np.int32(d)
    max_tasks = n // (2 * d) + 2  # tasks that can run at once
    if method == "persistent":
        chase = globals()[f"chase_{tile}_{work.dtype}"]
        progress = upload(np.zeros(n, np.int32), stream)
        control = upload(np.zeros(2, np.int32), stream)
        arguments = (*common, progress, control, reflectors)
        launch.request_shared_memory(chase, arguments, size)
        resident = launch.multiprocessors() * max(1, launch.max_shared_memory() // (size + 1024))
        blocks = min(max_tasks, in_flight or max_tasks, resident)
        chase[blocks, threads, stream, size](*arguments)
        failed = int(control.copy_to_host(stream=stream)[1])
        if failed:
            raise RuntimeError(
                f"the GPU blocks timed out: sweep {failed} waited for sweep {failed - 1}. This is "
                "a bug in sbth: please report it with the matrix, which is unchanged"
            )
        return
    step = globals()[f"step_{tile}_{work.dtype}"]
    slots = min(max_tasks, in_flight or max_tasks)
    state = cuda.device_array((max_tasks + 1, tile), work.dtype, stream=stream)
    taus = cuda.device_array(max_tasks + 1, work.dtype, stream=stream)
    for number, first, count in _list_launches(n, d, slots):
        arguments = (*common, np.int32(number), np.int32(first), state, taus, reflectors)
        if number == 0:
            launch.request_shared_memory(step, arguments, size)
        step[count, threads, stream, size](*arguments)


def _list_launches(n, d, slots):
    """Yield (step, first sweep, number of sweeps) of each launch."""
    for number in range(step_count(n, d)):
        first, stop = sweeps_in_step(number, n, d)
        for begin in range(first, stop, slots):
            yield number, begin, min(slots, stop - begin)

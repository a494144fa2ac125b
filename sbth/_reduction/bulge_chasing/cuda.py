"""Bulge chasing on the GPU: by one persistent kernel, or by one launch for each wavefront."""

import numpy as np

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from sbth._reduction.bulge_chasing import chase_kernels
from sbth._reduction.bulge_chasing import cuda_source as text
from sbth._reduction.bulge_chasing.persistent import max_tasks_of, require_progress, start_chase
from sbth._reduction.bulge_chasing.schedule_formulas import step_count, sweeps_in_step


def chase_bulges(work, d, method, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth 2 <= d <= 64 to tridiagonal form in place.

    A complex one is left with complex subdiagonal elements.
    """
    if method == "persistent":
        control = start_chase(work, d, reflectors, stream, in_flight)
        require_progress(control.copy_to_host(stream=stream))
        return
    n, ld = work.shape
    dtype = np.dtype(work.dtype)
    tile, columns = text.choose_tile(d)
    threads = text.thread_count(tile, columns)
    size = text.shared_layout(tile, columns)[1] * dtype.itemsize
    flat, reflectors = work.reshape(n * ld), reflectors.reshape(reflectors.size)
    sizes = ld, n, d
    max_tasks = max_tasks_of(n, d)
    step = chase_kernels.KERNELS[f"step_{tile}_{dtype}"]
    slots = min(max_tasks, in_flight or max_tasks)
    state = cuda.device_array((max_tasks + 1, tile), dtype, stream=stream)
    taus = cuda.device_array(max_tasks + 1, dtype.type(0).real.dtype, stream=stream)
    for number, first, count in _list_launches(n, d, slots):
        arguments = flat, sizes, np.int32(number), np.int32(first), (state, taus), reflectors
        launch.launch(step, count, threads, stream, arguments, size)


def _list_launches(n, d, slots):
    """Yield (step, first sweep, number of sweeps) of each launch."""
    for number in range(step_count(n, d)):
        first, stop = sweeps_in_step(number, n, d)
        for begin in range(first, stop, slots):
            yield number, begin, min(slots, stop - begin)

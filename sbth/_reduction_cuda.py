"""The reduction on the GPU: one kernel that stays until all is done, or one launch a wavefront."""

import numpy as np
from numba import float32, float64, int32, uint64

from hetero import launch
from hetero._driver import cuda
from hetero.jit import define, kernel
from sbth import _chase_text as text
from sbth._flags import acquire, release
from sbth._order_math import extents, in_step, last_task, needed, steps
from sbth._reduction_math import reflection

_SPINS = 1 << 24  # of seconds: then a wait ends in an error
_LOOKS = 1 << 12  # waits between looks whether another block has failed


@kernel(device=True)
def _wait(progress, sweep, count, control, spins):
    """Until a sweep has done `count` tasks: 0; 1 if it does not come to that, and then the sweep
    that waited is in control[1]."""
    for spin in range(spins):
        if acquire(progress, sweep) >= count:
            return 0
        if spin % _LOOKS == _LOOKS - 1 and acquire(control, 1) != 0:
            return 1
    release(control, 1, int32(sweep + 1))
    return 1


def _compiled(name: str, source: str, tile: int, columns: int, dtype):
    """The kernel `name` of a text."""
    names = {
        **text.places(tile, columns)[0],
        **{"cuda": cuda, "int32": int32, "U": uint64, "T": dtype, "ALL": 0xFFFFFFFF},
        **{"wait": _wait, "SPINS": _SPINS, "release": release, "reflection": reflection},
        **{"extents": extents, "last_task": last_task, "needed": needed},
    }
    bounds = (text.threads_of(tile, columns), 1)
    return kernel(launch_bounds=bounds, cache=False)(define(name, source, names))


# One kernel a tile and a type, so that tests/support/kernels.py can hold each to its budget.
TILES = (16, 32, 64)
for _tile in TILES:
    _columns = text.tile_of(_tile)[1]
    for _type in (float32, float64):
        globals()[f"chase_{_tile}_{_type}"] = _compiled(
            "chase", text.persistent(_tile, _columns), _tile, _columns, _type
        )
        globals()[f"step_{_tile}_{_type}"] = _compiled(
            "step", text.wavefront(_tile, _columns), _tile, _columns, _type
        )


def reduce(work, d, method, in_flight, kept, stream=0):
    """Reduce a working matrix of bandwidth 2 <= d <= 64 in place.

    `kept` takes the reflections (sbth.reflections has the layout), or is empty.
    """
    n, ld = work.shape
    tile, columns = text.tile_of(d)
    threads = text.threads_of(tile, columns)
    size = text.places(tile, columns)[1] * work.dtype.itemsize
    flat, kept = work.reshape(n * ld), kept.reshape(kept.size)
    common = flat, np.int32(ld), np.int32(n), np.int32(d)
    most = n // (2 * d) + 2  # tasks that can run at once
    if method == "persistent":
        chase = globals()[f"chase_{tile}_{work.dtype}"]
        progress = cuda.to_device(np.zeros(n, np.int32), stream=stream)
        control = cuda.to_device(np.zeros(2, np.int32), stream=stream)
        arguments = (*common, progress, control, kept)
        launch.allow_shared_memory(chase, arguments, size)
        resident = launch.multiprocessors() * max(1, launch.shared_memory() // (size + 1024))
        blocks = min(most, in_flight or most, resident)
        chase[blocks, threads, stream, size](*arguments)
        failed = int(control.copy_to_host(stream=stream)[1])
        if failed:
            raise RuntimeError(
                f"the reduction hung at sweep {failed}, waiting for sweep {failed - 1}; please "
                "report this with the matrix"
            )
        return
    step = globals()[f"step_{tile}_{work.dtype}"]
    slots = min(most, in_flight or most)
    reflections = cuda.device_array((most + 1, tile), work.dtype, stream=stream)
    taus = cuda.device_array(most + 1, work.dtype, stream=stream)
    for number, first, count in _launches(n, d, slots):
        arguments = (*common, np.int32(number), np.int32(first), reflections, taus, kept)
        if number == 0:
            launch.allow_shared_memory(step, arguments, size)
        step[count, threads, stream, size](*arguments)


def _launches(n, d, slots):
    """(step, first sweep, sweeps) of each launch."""
    for number in range(steps(n, d)):
        first, stop = in_step(number, n, d)
        for begin in range(first, stop, slots):
            yield number, begin, min(slots, stop - begin)

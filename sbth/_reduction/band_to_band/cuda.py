"""Reduce a wide band to a narrow one on the GPU, with five launches for each wavefront."""

import numpy as np
from numba import float32, float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.cuda.launcher import Launcher
from sbth._reduction.band_to_band.block_pairs import slot_size
from sbth._reduction.band_to_band.panel_kernels import make_panel_kernel, panel_size, panel_threads
from sbth._reduction.band_to_band.product_kernels import (
    block_shape,
    grid_shape,
    make_product_kernels,
)
from sbth._reduction.bulge_chasing.schedule_formulas import (
    last_task,
    step_count,
    sweep_count,
    sweeps_in_step,
)

PANEL = 32
"""Number of subdiagonals that remain, and of columns that a sweep eliminates at once."""

MAX_BANDWIDTH = 46_340
"""Largest d for which indices within a block pair, which are below 2 d^2, fit into 32 bits."""

CHUNK = 16
"""Terms of a product that are in shared memory at a time (not tuned)."""


def _make_kernels(dtype) -> dict:
    """Make the kernels that leave `PANEL` subdiagonals, by name."""
    return make_product_kernels(dtype, PANEL, CHUNK) | {
        "factor": make_panel_kernel(dtype, PANEL, shared=True),
        "factor_memory": make_panel_kernel(dtype, PANEL, shared=False),
    }


KERNELS = {
    f"{name}_{dtype}": kernel
    for dtype in (float32, float64)
    for name, kernel in _make_kernels(dtype).items()
}
"""The kernels by name and dtype."""


def reduce_bandwidth(work, d, b, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth d to b = `PANEL` < d subdiagonals in place."""
    if b != PANEL:
        raise ValueError(f"b must be {PANEL} on a GPU, got {b}")
    if d > MAX_BANDWIDTH:
        raise ValueError(
            f"ab has {d} subdiagonals, but a GPU supports at most {MAX_BANDWIDTH}: use device='cpu'"
        )
    n, reflectors = len(work), reflectors.reshape(reflectors.size)
    slots = last_task(0, n, d, b) // 2 + 3  # the active sweeps, and the one that begins
    launchers = _make_launchers(work, d, b, slots, reflectors, stream)
    for step, first, count, begins in _list_launches(n, d, b, in_flight or slots):
        changes = (_STEP, step), (_FIRST, first)
        for name, launcher in launchers.items():
            if name == "factor":
                launcher(count + begins, changes)
            elif count:
                launcher(grid_shape(name, d, count), changes)


_STEP, _FIRST = 3, 4
"""Positions of the arguments `step` and `first` of the kernels, which change between launches."""


def _make_launchers(work, d, b, slots, reflectors, stream) -> dict[str, Launcher]:
    """Return the prepared launches of the five kernels of a step, in order."""
    n, item = len(work), work.dtype.itemsize
    space = cuda.device_array(slots * slot_size(d, b), work.dtype, stream=stream)
    common = (work.reshape(work.size), space), *map(np.int64, (n, d, 0, 0, slots))
    # Bytes of a panel, and of the other arrays.
    size, small = panel_size(d, b) * item, 2 * b * (b + 2) * item
    shared = size + small <= launch.max_shared_memory()
    panel_numbers = 1 if shared else slots * panel_size(d, b)
    memory = cuda.device_array(panel_numbers, work.dtype, stream=stream)
    launchers = {}
    for name in ("right_products", "factor", "left_products", "correct", "update"):
        if name != "factor":
            kernel = KERNELS[f"{name}_{work.dtype}"]
            launchers[name] = Launcher(kernel, 1, block_shape(name, b), stream, common)
            continue
        kernel = KERNELS[f"{'factor' if shared else 'factor_memory'}_{work.dtype}"]
        arguments, bytes_of_panel = (*common, memory, reflectors), size if shared else 0
        launchers[name] = Launcher(kernel, 1, panel_threads(b), stream, arguments, bytes_of_panel)
    return launchers


def _list_launches(n, d, b, max_pairs):
    """Yield (step, first sweep, number of sweeps, whether another sweep begins) of each launch."""
    for step in range(-1, step_count(n, d, b)):
        first, stop = sweeps_in_step(step, n, d, b)
        # The panel of a new sweep is complete one step before the sweep's first task.
        begins = step % 2 == 1 and stop < sweep_count(n, b)
        for begin in range(first, max(stop, first + 1), max_pairs):
            count = min(max_pairs, stop - begin)
            begins_here = begins and begin + count == stop
            if count or begins_here:
                yield step, begin, count, int(begins_here)

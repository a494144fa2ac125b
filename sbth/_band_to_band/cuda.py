"""Reduce a wide band to a narrow one on the GPU, with five launches for each wavefront."""

import numpy as np
from numba import float32, float64

from hetero.cuda import launch
from hetero.cuda.driver import cuda
from hetero.cuda.launcher import Launcher
from sbth._band_to_band.block_pairs import slot_size
from sbth._band_to_band.panel_kernels import make_panel_kernel, panel_size, panel_threads
from sbth._band_to_band.product_kernels import block_shape, grid_shape, make_product_kernels
from sbth._bulge_chasing.schedule_formulas import last_task, step_count, sweep_count, sweeps_in_step

PANEL = 32
"""Number of subdiagonals that remain, and of columns that a sweep eliminates at once."""

MAX_BANDWIDTH = 46_340
"""Largest d for which indices within a block pair, which are below 2 d^2, fit into 32 bits."""

CHUNK = 16
"""Terms of a product that are in shared memory at a time (not tuned)."""


def _make_kernels(dtype, b: int = PANEL, chunk: int = CHUNK) -> dict:
    """Make the kernels that leave b subdiagonals, by name."""
    return make_product_kernels(dtype, b, min(chunk, b)) | {
        "factor": make_panel_kernel(dtype, b, shared=True),
        "factor_memory": make_panel_kernel(dtype, b, shared=False),
    }


# Each kernel is a global, so that the tests can check the budget of each by its name.
_KERNELS = {"float32": _make_kernels(float32), "float64": _make_kernels(float64)}
for _type, _kernels in _KERNELS.items():
    globals().update({f"{name}_{_type}": function for name, function in _kernels.items()})


def reduce_bandwidth(work, d, b, in_flight, reflectors, stream=0):
    """Reduce a working matrix (n, 2 d) of bandwidth d to b = `PANEL` < d subdiagonals in place.

    The reflections are stored in `reflectors` (see `sbth.reflectors` for the layout) unless it is
    empty. `in_flight` limits the block pairs that are processed at once (None: no limit).
    """
    if b != PANEL:
        raise ValueError(f"b must be {PANEL} on a GPU, got {b}")
    if d > MAX_BANDWIDTH:
        raise ValueError(
            f"ab has {d} subdiagonals, but a GPU supports at most {MAX_BANDWIDTH}: use device='cpu'"
        )
    _run_stage(
        _KERNELS[str(work.dtype)],
        work,
        d,
        b,
        in_flight,
        reflectors.reshape(reflectors.size),
        stream,
    )


def _run_stage(kernels, work, d, b, in_flight, reflectors, stream) -> None:
    """Launch all steps, with kernels that leave b subdiagonals."""
    n = len(work)
    slots = last_task(0, n, d, b) // 2 + 3  # the active sweeps, and the one that begins
    launchers = _make_launchers(kernels, work, d, b, slots, reflectors, stream)
    for step, first, count, begins in _list_launches(n, d, b, in_flight or slots):
        changes = (_STEP, step), (_FIRST, first)
        for name, launcher in launchers.items():
            if name == "factor":
                launcher((count + begins,), changes)
            elif count:
                launcher(grid_shape(name, d, count), changes)


_STEP, _FIRST = 3, 4
"""Positions of the arguments `step` and `first` of the kernels, which change between launches."""


def _make_launchers(kernels, work, d, b, slots, reflectors, stream) -> dict[str, Launcher]:
    """Return the prepared launches of the five kernels of a step, in order."""
    n, item = len(work), work.dtype.itemsize
    space = cuda.device_array(slots * slot_size(d, b), work.dtype, stream=stream)
    common = (work.reshape(work.size), space), *map(np.int64, (n, d, 0, 0, slots))
    size, small = (
        panel_size(d, b) * item,
        2 * b * (b + 2) * item,
    )  # of a panel, and of the other arrays
    shared = size + small <= launch.max_shared_memory()
    panel_numbers = 1 if shared else slots * panel_size(d, b)
    memory = cuda.device_array(panel_numbers, work.dtype, stream=stream)
    launchers = {}
    for name in ("right_products", "factor", "left_products", "correct", "update"):
        if name != "factor":
            launchers[name] = Launcher(kernels[name], block_shape(name, b), stream, common)
            continue
        kernel = kernels["factor" if shared else "factor_memory"]
        arguments, block = (*common, memory, reflectors), (panel_threads(b),)
        if shared:
            launch.request_shared_memory(kernel, arguments, size, small)
        launchers[name] = Launcher(kernel, block, stream, arguments, size if shared else 0)
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

"""A wide band to a narrow one on the GPU: five launches a wavefront, most of the work in tiles."""

import numpy as np
from numba import float32, float64

from hetero import launch
from hetero._driver import Launcher, cuda
from sbth._narrow_panels import panel_size, panels, threads_of
from sbth._narrow_products import block_of, grid_of, products
from sbth._order_math import in_step, last_task, steps, sweeps
from sbth._pairs import slot_size

PANEL = 32
"""Subdiagonals that are left, and columns that a sweep eliminates at once."""

WIDEST = 46_340
"""Subdiagonals up to which places within a block pair, below 2 d^2, have 32 bits."""

CHUNK = 16
"""Terms of a product that are in shared memory at once."""


def _kernels_of(dtype, b: int = PANEL, chunk: int = CHUNK) -> dict:
    """The kernels that leave b subdiagonals, by name."""
    return products(dtype, b, min(chunk, b)) | {
        "factor": panels(dtype, b, shared=True),
        "factor_memory": panels(dtype, b, shared=False),
    }


# By type and name, so that tests/support/kernels_sbth.py can hold each to its budget.
_KERNELS = {"float32": _kernels_of(float32), "float64": _kernels_of(float64)}
for _type, _kernels in _KERNELS.items():
    globals().update({f"{name}_{_type}": made for name, made in _kernels.items()})


def narrow(work, d, b, in_flight, kept, stream=0):
    """Reduce a working matrix of bandwidth d to b < d subdiagonals in place.

    `kept` takes the reflections (sbth.reflections has the layout), or is empty.
    """
    if b != PANEL:
        raise ValueError(f"b must be {PANEL} on a GPU, got {b}")
    if d > WIDEST:
        raise ValueError(f"ab has {d} subdiagonals, a GPU takes at most {WIDEST}: use device='cpu'")
    _run(_KERNELS[str(work.dtype)], work, d, b, in_flight, kept.reshape(kept.size), stream)


def _run(kernels, work, d, b, in_flight, kept, stream) -> None:
    """The launches of `narrow`, with kernels that leave b subdiagonals."""
    n = len(work)
    slots = last_task(0, n, d, b) // 2 + 3  # sweeps under way, and the one that begins
    launchers = _launchers(kernels, work, d, b, slots, kept, stream)
    for step, first, count, begins in _launches(n, d, b, in_flight or slots):
        changes = (_STEP, step), (_FIRST, first)
        for name, launcher in launchers.items():
            if name == "factor":
                launcher((count + begins,), changes)
            elif count:
                launcher(grid_of(name, d, count), changes)


_STEP, _FIRST = 4, 5  # places of what changes among a kernel's arguments


def _launchers(kernels, work, d, b, slots, kept, stream) -> dict[str, Launcher]:
    """Of a step's kernels, in their order."""
    n, item = len(work), work.dtype.itemsize
    space = cuda.device_array(slots * slot_size(d, b), work.dtype, stream=stream)
    common = work.reshape(work.size), space, *map(np.int64, (n, d, 0, 0, slots))
    size, small = panel_size(d, b) * item, 2 * b * (b + 2) * item  # of a panel, and the rest
    shared = size + small <= launch.shared_memory()
    room = 1 if shared else slots * panel_size(d, b)
    memory = cuda.device_array(room, work.dtype, stream=stream)
    found = {}
    for name in ("images", "factor", "coimages", "finish", "update"):
        if name != "factor":
            found[name] = Launcher(kernels[name], block_of(name, b), stream, common)
            continue
        kernel = kernels["factor" if shared else "factor_memory"]
        arguments, block = (*common, memory, kept), (threads_of(b),)
        if shared:
            launch.allow_shared_memory(kernel, arguments, size, small)
        found[name] = Launcher(kernel, block, stream, arguments, size if shared else 0)
    return found


def _launches(n, d, b, most):
    """(step, first sweep, sweeps, whether another one begins) of each wave of launches."""
    for step in range(-1, steps(n, d, b)):
        first, stop = in_step(step, n, d, b)
        # The panel of a new sweep is complete one step before the sweep's first task.
        begins = step % 2 == 1 and stop < sweeps(n, b)
        for begin in range(first, max(stop, first + 1), most):
            count = min(most, stop - begin)
            new = begins and begin + count == stop
            if count or new:
                yield step, begin, count, int(new)

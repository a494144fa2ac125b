"""Reduction of a full matrix to tridiagonal form in one stage, on a GPU, by one running kernel.

For matrices whose rows fit in the shared memory of the multiprocessors, or nearly. A reflection
for each column, which all blocks make, is applied to the rows that each block holds
(`kernels`); the blocks wait for each other once a column. `reduction` launches the kernel.
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from hetero import Device, region
from sbth._array_module import as_module_array
from sbth.band_storage import shape_and_dtype

if TYPE_CHECKING:
    from sbth._one_stage.back_transformation import Blocks
    from sbth._one_stage.reduction import Reduced, RunningReduction

_LARGEST_ORDERS = {
    False: {"float64": 2700, "float32": 3500},
    True: {"float64": 2800, "float32": 3500},
}
"""Orders up to which one stage is faster than two on an H200, for eigenvalues (False) and for
eigenvectors (True), whose back-transformation takes one step less. They lie between measurements
at n = 2500, 3000, 3500 and 4000; of larger matrices most rows do not fit in shared memory."""


def suits_one_stage(device: Device, order: int, dtype: DTypeLike, *, vectors: bool) -> bool:
    """Return whether one stage is faster than two, and the GPU can do it: for real matrices."""
    if device.kind == "cpu":
        return False
    from hetero.cuda.driver import SIMULATOR  # which has no CuPy

    dtype = np.dtype(dtype)
    if SIMULATOR or not 0 < order <= _LARGEST_ORDERS[vectors].get(dtype.name, 0):
        return False
    from sbth._one_stage.reduction import fits_in_shared_memory  # imports CUDA

    with device.active():
        return fits_in_shared_memory(order, dtype)


def start_reduction(
    xp: ModuleType, a: Any, lower: bool, *, keeps_vectors: bool
) -> RunningReduction:
    """Begin to reduce a validated matrix, of which one triangle is read, on the GPU of `xp`."""
    from sbth._one_stage.reduction import RunningReduction  # imports CUDA

    _, dtype = shape_and_dtype("a", a)
    matrix = xp.ascontiguousarray(as_module_array(xp, a), dtype=dtype)
    return RunningReduction(xp, matrix, lower, keeps_vectors=keeps_vectors)


def reduce_for_vectors(xp: ModuleType, a: Any, lower: bool) -> tuple[Reduced, Blocks]:
    """Reduce a validated matrix, and form the blocks of reflections that its eigenvectors need.

    The host takes as long to launch the kernels for the blocks as the GPU for the reduction.

    Raises
    ------
    ValueError
        There is NaN or infinity in the triangle.
    """
    from sbth._one_stage.back_transformation import form_blocks  # imports CUDA

    with region("reduction to tridiagonal form"):
        reduction = start_reduction(xp, a, lower, keeps_vectors=True)
        blocks = form_blocks(xp, reduction)
        return reduction.finish(), blocks

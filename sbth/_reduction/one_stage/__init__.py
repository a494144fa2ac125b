"""Reduction of a full matrix to tridiagonal form in one stage, on a GPU, by one running kernel.

For matrices whose rows fit in the shared memory of the multiprocessors, or nearly. A reflection
for each column, which all blocks make, is applied to the rows that each block holds
(`kernels`); the blocks wait for each other once a column. `reduction` launches the kernel.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from hetero import region
from sbth._problem.limits import LARGEST_ONE_STAGE
from sbth._problem.problem import Problem, Reduced, Stage
from sbth._vendor.array_modules import as_module_array


def fits(problem: Problem) -> bool:
    """Return whether one stage is faster than two, and the GPU can do it: for real matrices."""
    from hetero.cuda.driver import SIMULATOR  # which has no CuPy

    order, dtype = problem.order, problem.dtype
    if SIMULATOR or not 0 < order <= LARGEST_ONE_STAGE[problem.vectors].get(dtype.name, 0):
        return False
    from sbth._reduction.one_stage.reduction import fits_in_shared_memory  # imports CUDA

    with problem.device.active():
        return fits_in_shared_memory(order, dtype)


def _reduce(xp: ModuleType, problem: Problem, before: Any) -> Reduced:
    """Reduce a matrix, of which one triangle is read; form what its eigenvectors need.

    The host takes as long to launch the kernels for the blocks as the GPU for the reduction.
    """
    from sbth._reduction.one_stage.back_transformation import apply_reflections, form_blocks
    from sbth._reduction.one_stage.reduction import RunningReduction  # imports CUDA

    keeps = problem.vectors
    with region("reduction to tridiagonal form"):
        matrix = as_module_array(xp, problem.arrays[0])
        matrix = xp.ascontiguousarray(matrix, dtype=problem.dtype)
        running = RunningReduction(xp, matrix, problem.lower, keeps_vectors=keeps)
        blocks: Any = form_blocks(xp, running) if keeps else None
        d, e, factor = running.finish()

    def transform(xp: ModuleType, vectors: Any) -> Any:
        """Return Q times vectors (n, m), which are overwritten."""
        if vectors.size:
            apply_reflections(xp, blocks, vectors)
        return vectors

    return Reduced(d, e, factor, transform if keeps else None)


ONE_STAGE = Stage(
    lambda problem: "reduction to tridiagonal form",
    _reduce,
    keeps=lambda problem: problem.vectors * problem.dtype.itemsize,
)

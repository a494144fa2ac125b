"""Reduction of a Hermitian band of up to 64 subdiagonals to a real tridiagonal matrix on a GPU."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero.arrays import Workspace
from hetero.cuda.ready_arrays import ready
from sbth import _bulge_chasing, _working_matrix
from sbth._back_transformation import apply_stage
from sbth._bulge_chasing.schedule_formulas import sweep_count
from sbth.reflectors import Stage


class HermitianReduction(NamedTuple):
    """A Hermitian matrix A in the form Q D T D^H Q^H with a real symmetric tridiagonal T.

    Attributes
    ----------
    d, e : arrays (n,), (max(n - 1, 0),) of float
        Diagonal and subdiagonal of T, in host memory.
    phases : array (n,) of complex
        The diagonal of D in host memory, numbers of magnitude 1.
    stage : sbth.reflectors.Stage or None
        The reflections of Q on the GPU, if they were kept and there are any.
    """

    d: np.ndarray
    e: np.ndarray
    phases: np.ndarray
    stage: Stage | None

    def apply(self, xp: ModuleType, vectors: Any) -> Any:
        """Return Q D times real vectors (n, m) as a complex array of `xp`, C-contiguous."""
        rotated = xp.asarray(self.phases)[:, None] * vectors
        if self.stage is None or not rotated.size:
            return rotated
        return apply_stage(xp, self.stage.layout, self.stage.vectors, rotated)


def reduce_hermitian_band(
    xp: ModuleType, ab: Any, lower: bool, factor: float, space: Workspace, *, keeps_vectors: bool
) -> HermitianReduction:
    """Reduce a band that is multiplied by `factor`, a power of two, to a real tridiagonal matrix.

    Parameters
    ----------
    xp : module
        CuPy.
    ab : array (rows, n) of complex64 or complex128 of `xp`
        Band storage of a matrix with at most 64 subdiagonals.
    lower : bool
        Whether `ab` holds the lower triangle. Imaginary parts of the diagonal are ignored.
    factor : float
    space : Workspace
        Its stream is the current one of `xp`.
    keeps_vectors : bool
        Whether the reflections are kept, n^2 numbers.
    """
    rows, n = ab.shape
    width = min(rows - 1, max(n - 1, 0))
    work = xp.empty((n, 2 * max(width, 1)), ab.dtype)
    loops = _working_matrix.loops(space.device)
    if n:
        flat = ready(xp.ascontiguousarray(ab).reshape(-1))
        arguments = flat.arrays, rows - 1, lower, factor, width, ready(work).arrays
        loops.load_band(*arguments, space.stream)
        work.imag[:, 0] = 0
    stage = None
    if width > 1:
        if keeps_vectors:
            vectors = xp.zeros((sweep_count(n), n), ab.dtype)
            stage = Stage(width, 1, vectors)
            reflectors = ready(vectors).arrays
        else:
            reflectors = loops.zeros(0, ab.dtype, space.stream)
        chase_bulges = _bulge_chasing.loops(space.device).chase_bulges
        chase_bulges(ready(work).arrays, width, "persistent", None, reflectors, space.stream)
    columns_on_host = work[:, :2].get()
    e, phases = _make_real(columns_on_host[: max(n - 1, 0), 1])
    return HermitianReduction(columns_on_host[:, 0].real.copy(), e, phases, stage)


def _make_real(below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the real subdiagonal e and the phases D with D_0 = 1 for a complex subdiagonal.

    D^H A D of a tridiagonal A has the elements conj(D_(k+1)) a_k D_k below its diagonal, which are
    |a_k| for D_(k+1) = D_k a_k / |a_k|. Elements so small that they have no phase become 0.
    """
    e = np.abs(below)
    has_phase = e > np.finfo(e.dtype).tiny
    e = np.where(has_phase, e, 0)
    turns = np.ones(len(below) + 1, np.complex128)
    turns[1:][has_phase] = below[has_phase] / e[has_phase]
    phases = np.cumprod(turns)
    return e, (phases / np.abs(phases)).astype(below.dtype)

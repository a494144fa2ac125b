"""Reduction of a band of up to 64 subdiagonals to a real tridiagonal matrix on a GPU."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero import Device
from hetero.cuda import launch
from hetero.cuda.ready_arrays import PendingCopy, ready
from sbth import _working_matrix
from sbth._back_transformation import apply_stage
from sbth._bulge_chasing.cuda import require_progress, start_chase
from sbth._bulge_chasing.schedule_formulas import sweep_count
from sbth._dense_to_band import triangle_kernels
from sbth.reflectors import Stage


class TridiagonalForm(NamedTuple):
    """A symmetric or Hermitian matrix Q D T D^H Q^H with a real tridiagonal T.

    Attributes
    ----------
    d, e : arrays (n,), (max(n - 1, 0),) of float32 or float64
        Diagonal and subdiagonal of T, in host memory.
    phases : array (n,) of complex numbers, or None
        The diagonal of D, numbers of magnitude 1, in host memory; None for real matrices.
    stage : sbth.reflectors.Stage or None
        The reflections of Q on the GPU, if they were kept and there are any.
    """

    d: np.ndarray
    e: np.ndarray
    phases: np.ndarray | None
    stage: Stage | None

    def apply(self, xp: ModuleType, vectors: Any) -> Any:
        """Return Q D times real vectors (n, m), a C-contiguous array of `xp`."""
        if self.phases is not None:
            vectors = xp.asarray(self.phases)[:, None] * vectors
        if self.stage is None or not vectors.size:
            return vectors
        return apply_stage(xp, self.stage.layout, self.stage.vectors, vectors)


def reduce_full_band(xp: ModuleType, a: Any, width: int, *, keeps_vectors: bool) -> TridiagonalForm:
    """Reduce the band of a matrix (n, n) whose elements below it do not count.

    Parameters
    ----------
    xp : module
        CuPy.
    a : array (n, n) of `xp`, C-contiguous
    width : int
        Number of its subdiagonals, at most 64.
    keeps_vectors : bool
        Whether the reflections are kept, n^2 numbers.
    """
    n = len(a)
    width = min(width, max(n - 1, 0))
    work = xp.empty((n, 2 * max(width, 1)), a.dtype)
    if n:
        arguments = ready(a.reshape(-1)), n, width, ready(work)
        kernel = triangle_kernels.KERNELS[f"store_band_{a.dtype}"]
        blocks, stream = launch.grid_stride_blocks(work.size), xp.cuda.get_current_stream().ptr
        launch.launch(kernel, blocks, launch.THREADS, stream, arguments)
    return _reduce(xp, work, width, keeps_vectors)


def reduce_stored_band(
    xp: ModuleType, ab: Any, lower: bool, factor: float, *, keeps_vectors: bool
) -> TridiagonalForm:
    """Reduce a matrix in band storage that is multiplied by `factor`, a power of two.

    `ab` (rows, n) is an array of `xp` with at most 64 subdiagonals. Imaginary parts of the diagonal
    are ignored.
    """
    rows, n = ab.shape
    width = min(rows - 1, max(n - 1, 0))
    work = xp.empty((n, 2 * max(width, 1)), ab.dtype)
    if n:
        flat = ready(xp.ascontiguousarray(ab).reshape(-1)).arrays
        stream = xp.cuda.get_current_stream().ptr
        loops = _working_matrix.loops(Device("cuda"))
        loops.load_band(flat, rows - 1, lower, factor, width, ready(work).arrays, stream)
        work.imag[:, 0] = 0
    return _reduce(xp, work, width, keeps_vectors)


def _reduce(xp: ModuleType, work: Any, width: int, keeps_vectors: bool) -> TridiagonalForm:
    """Reduce a working matrix (n, 2 width)."""
    n, dtype = len(work), work.dtype
    if n == 0:
        none, phases = np.zeros(0, dtype).real, np.zeros(0, dtype)
        return TridiagonalForm(none, none, phases if dtype.kind == "c" else None, None)
    stage, control = None, None
    if width > 1:
        columns = sweep_count(n) if keeps_vectors else 0
        vectors = xp.zeros((columns, n), dtype) if columns else xp.empty((1, 0), dtype)
        stream = xp.cuda.get_current_stream().ptr
        control = start_chase(ready(work), width, ready(vectors), stream)
        stage = Stage(width, 1, vectors) if columns else None
    columns = [ready(xp.ascontiguousarray(work[:, :2]))]
    found = columns if control is None else [*columns, control]
    both, *failure = PendingCopy(found, xp.cuda.get_current_stream().ptr).wait()
    if failure:
        require_progress(failure[0])
    d, e = both[:, 0].real.copy(), both[:-1, 1].copy()
    if dtype.kind == "c":
        return TridiagonalForm(d, *make_real(e), stage)
    return TridiagonalForm(d, e, None, stage)


def make_real(below: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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

"""Reduction of a band of up to 64 subdiagonals to a real tridiagonal matrix on a GPU."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from hetero import Device
from hetero.arrays import Workspace
from hetero.cuda import launch
from hetero.cuda.ready_arrays import PendingCopy, ready
from sbth._back.diamonds import apply_in_waves, form_all_diamonds
from sbth._back.reflections import Reflections
from sbth._problem import working_matrix
from sbth._reduction.bulge_chasing.persistent import require_progress, start_chase
from sbth._reduction.bulge_chasing.schedule_formulas import sweep_count
from sbth._reduction.dense_to_band import triangle_kernels


class RunningReduction:
    """A band that the current GPU is reducing; the host can prepare other work meanwhile.

    The symmetric or Hermitian matrix is Q D T D^H Q^H with a real tridiagonal T. D is diagonal with
    numbers of magnitude 1, and 1 for real matrices.

    Parameters
    ----------
    xp : module
        CuPy.
    work : array (n, 2 width) of `xp`
        Working matrix of at most 64 subdiagonals, which is overwritten.
    width : int
    keeps_vectors : bool
        Whether the reflections are kept and their products are formed.
    """

    def __init__(self, xp: ModuleType, work: Any, width: int, *, keeps_vectors: bool) -> None:
        n, self._dtype = len(work), work.dtype
        self._phases: np.ndarray | None = None
        self._layout, self._diamonds, self._copy = None, None, None
        if n == 0:
            return
        stream, control, vectors = xp.cuda.get_current_stream().ptr, None, None
        if width > 1:
            count = sweep_count(n) if keeps_vectors else 0
            vectors = xp.zeros((count, n), work.dtype) if count else xp.empty((1, 0), work.dtype)
            control = start_chase(ready(work), width, ready(vectors), stream)
        columns = [ready(xp.ascontiguousarray(work[:, :2]))]
        # Copied before the diamonds are formed, so that `finish` does not wait for them.
        self._copy = PendingCopy(columns if control is None else [*columns, control], stream)
        if vectors is not None and vectors.size:
            self._layout = Reflections(width, 1, vectors).layout
            self._diamonds = form_all_diamonds(xp, self._layout, vectors, work.dtype)

    def finish(self) -> tuple[np.ndarray, np.ndarray]:
        """Wait for the reduction, not for later work on the GPU.

        Returns the diagonal and the subdiagonal of T, float32 or float64 in host memory.

        Raises
        ------
        RuntimeError
            Blocks of the GPU timed out, which would be a defect.
        """
        both, *control = self._copy.wait() if self._copy else [np.zeros((0, 2), self._dtype)]
        if control:
            require_progress(control[0])
        d, e = both[:, 0].real.copy(), both[:-1, 1].copy()
        if self._dtype.kind == "c":
            e, self._phases = make_real(e) if len(d) else (e.real, e)
        return d, e

    def apply(self, xp: ModuleType, vectors: Any) -> Any:
        """Return Q D times real vectors (n, m), a C-contiguous array of `xp`, after `finish`."""
        if self._phases is not None:
            vectors = xp.asarray(self._phases)[:, None] * vectors
        if self._layout is None or self._diamonds is None or not vectors.size:
            return vectors
        return apply_in_waves(xp, self._layout, self._diamonds, vectors)


def start_full_band(xp: ModuleType, a: Any, width: int, *, keeps_vectors: bool) -> RunningReduction:
    """Begin to reduce the band of a matrix (n, n) whose elements below it do not count.

    `a` is a C-contiguous array of `xp`, and `width` the number of its subdiagonals, at most 64.
    """
    n = len(a)
    width = min(width, max(n - 1, 0))
    work = xp.empty((n, 2 * max(width, 1)), a.dtype)
    if n:
        arguments = ready(a.reshape(-1)), n, width, ready(work)
        kernel = triangle_kernels.KERNELS[f"store_band_{a.dtype}"]
        blocks, stream = launch.grid_stride_blocks(work.size), xp.cuda.get_current_stream().ptr
        launch.launch(kernel, blocks, launch.THREADS, stream, arguments)
    return RunningReduction(xp, work, width, keeps_vectors=keeps_vectors)


def start_stored_band(
    xp: ModuleType, ab: Any, lower: bool, factor: float, *, keeps_vectors: bool
) -> RunningReduction:
    """Begin to reduce a complex matrix in band storage, multiplied by `factor`, a power of two.

    `ab` (rows, n) is an array of `xp` with at most 64 subdiagonals. Imaginary parts of the diagonal
    are ignored.
    """
    rows, n = ab.shape
    width = min(rows - 1, max(n - 1, 0))
    work = xp.empty((n, 2 * max(width, 1)), ab.dtype)
    if n:
        flat = ready(xp.ascontiguousarray(ab).reshape(-1)).arrays
        device = Device("cuda", work.device.id)
        loops, stream = working_matrix.loops(device), Workspace(device, work).stream
        loops.load_band(flat, rows - 1, lower, factor, width, ready(work).arrays, stream)
        work.imag[:, 0] = 0
    return RunningReduction(xp, work, width, keeps_vectors=keeps_vectors)


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

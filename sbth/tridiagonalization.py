"""Reduction of a symmetric band matrix to tridiagonal form, by pipelined bulge chasing."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device
from hetero.arrays import Workspace
from hetero.devices import device_of
from sbth._problem.arrays import copy_like
from sbth._reduction.bands import Options, reduce_array
from sbth.results import Reflectors, Tridiagonal, TridiagonalReduction


@overload
def tridiagonalize(
    ab: ArrayLike,
    *,
    lower: bool = False,
    method: str | None = None,
    in_flight: int | None = None,
    stages: int | None = None,
    keep_reflectors: Literal[False] = False,
    progress: bool = False,
    device: str | Device | None = None,
) -> Tridiagonal: ...


@overload
def tridiagonalize(
    ab: ArrayLike,
    *,
    lower: bool = False,
    method: str | None = None,
    in_flight: int | None = None,
    stages: int | None = None,
    keep_reflectors: Literal[True],
    progress: bool = False,
    device: str | Device | None = None,
) -> TridiagonalReduction: ...


def tridiagonalize(
    ab: ArrayLike,
    *,
    lower: bool = False,
    method: str | None = None,
    in_flight: int | None = None,
    stages: int | None = None,
    keep_reflectors: bool = False,
    progress: bool = False,
    device: str | Device | None = None,
) -> Tridiagonal | TridiagonalReduction:
    """Reduce a symmetric band matrix to tridiagonal form by orthogonal transformations.

    Parameters
    ----------
    ab : array_like (bandwidth + 1, n) of float
        LAPACK band storage, as `scipy.linalg.eig_banded` takes it: ab[bandwidth + i - j, j] is
        element (i, j) of the upper triangle, or with `lower` ab[i - j, j] is element (i, j) of the
        lower one. Entries outside the matrix are ignored, and `ab` is not modified. float32 is
        computed in float32, everything else in float64. An array on a GPU is reduced there.
    lower : bool
        Whether `ab` holds the lower triangle. As in SciPy, the upper one is the default.
    method : str, optional
        On a CPU "wavefront" (the threads process block pairs of several sweeps at once; the default
        from n = 1000 on) or "serial"; on a GPU "persistent" (one kernel in which blocks wait for
        each other) or "wavefront" (one launch per step). All methods give identical results on one
        device.
    in_flight : int, optional
        On a GPU, the largest number of block pairs that are processed at once, the pipeline length
        of Riesinger (2017). By default as many as the algorithm allows, n / (2 bandwidth).
    stages : 1 or 2, optional
        1 reduces the band to tridiagonal form at once, 2 to 32 subdiagonals first. By default 2
        from 384 subdiagonals (GPU: 65) on, where it is faster. A GPU reduces at most 64
        subdiagonals in one stage.
    keep_reflectors : bool
        Also return the transformation. It takes n^2 numbers, twice as many for wide bands.
    progress : bool
        Show how far long computations on the CPU are.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    Tridiagonal
        The diagonal `d` and the subdiagonal `e` of T, a matrix with the same eigenvalues. NumPy
        arrays, or for an `ab` on a GPU arrays of its library on that GPU. It is a named tuple:
        `d, e = tridiagonalize(ab)`.
    TridiagonalReduction
        With `keep_reflectors`: also the transformation in A = Q T Q^T as `reflectors`, in host
        memory. `d, e, q = tridiagonalize(ab, keep_reflectors=True)`.

    Raises
    ------
    TypeError
        `ab` is complex or does not hold numbers, or `lower` is not a bool.
    ValueError
        `ab` does not have two dimensions, holds NaN or infinity within the band, or is so large
        that elements of T overflow.
    RuntimeError
        The GPU blocks timed out. This is a bug in sbth: please report it. `ab` is unchanged.
    hetero.DeviceUnavailableError

    Notes
    -----
    The algorithm is bulge chasing (Lang 1993; Riesinger 2017, algorithms 1 and 2), with
    6 n^2 bandwidth operations. Wide bands are first reduced to 32
    subdiagonals by blocks of reflections (Bischof, Lang and Sun 2000), which takes as many
    operations again, nearly all in matrix products. Rounding changes each eigenvalue by a small
    multiple of n eps times the norm at most. Matrices near over- or underflow are scaled first.
    """
    requested = Options(method, in_flight, keep_reflectors, stages)
    matrix, ab, device = reduce_array(ab, lower, requested, progress, device)
    order, space = matrix.columns.shape[0], None
    if matrix.factor < 1.0:
        _refuse_overflow("ab", *matrix.diagonals())
    if device.kind == "cuda" and device_of(ab) is not None:
        space = Workspace(device, ab)
    main, below = matrix.diagonals(space)
    if order == 0:
        main, below = copy_like(main, ab), copy_like(below, ab)
    if not keep_reflectors:
        return Tridiagonal(main, below)
    reflectors = Reflectors(order, matrix.kept_on_host(), np.dtype(matrix.columns.dtype))
    return TridiagonalReduction(main, below, reflectors)


def _refuse_overflow(name: str, *results: np.ndarray) -> None:
    """Raise ValueError if an element of the tridiagonal form overflowed."""
    for values in results:
        if not np.isfinite(values).all():
            raise ValueError(
                f"{name} is too large: its tridiagonal form exceeds the largest {values.dtype}, "
                f"{np.finfo(values.dtype).max:.4g}. Divide the matrix by a power of two"
            )

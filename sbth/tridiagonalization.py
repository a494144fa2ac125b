"""Reduction of a symmetric band matrix to tridiagonal form, by pipelined bulge chasing."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from hetero import Device, region, validation
from hetero.arrays import Workspace
from hetero.devices import CPU, device_of, resolve
from hetero.display.progress_bar import loop_progress
from sbth import _band_to_band, _bulge_chasing, _working_matrix
from sbth._bulge_chasing.schedule_formulas import sweep_count
from sbth.band_storage import (
    copy_like,
    diagonals,
    first_diagonals,
    host_workspace,
    is_plainly_safe,
    magnitudes,
    safe_scale,
    shape_and_dtype,
    validate_band,
    validate_bool,
)
from sbth.reflectors import Reflectors, Stage
from sbth.results import Tridiagonal, TridiagonalReduction

LOGGER = logging.getLogger(__name__)

METHODS = {"cpu": ("wavefront", "serial"), "cuda": ("persistent", "wavefront")}
"""Methods of each kind of device, the default first."""

TWO_STAGE_BANDWIDTH = {"cpu": 384, "cuda": 65}
"""Number of subdiagonals from which on a band is reduced in two stages."""

MAX_GPU_BANDWIDTH = 64
"""Most subdiagonals that a GPU reduces in one stage, the height of its tallest tile."""

NARROW_BANDWIDTH = 32
"""Number of subdiagonals that the first of two stages leaves."""

SERIAL_ORDER = 1000
"""Order below which the threads of a CPU would spend most of their time waiting for each other."""

BREAK_EVEN = 500
"""Order from which on an H200 is faster than two CPU cores, transfers included."""


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
        from `TWO_STAGE_BANDWIDTH` subdiagonals on, where it is faster. A GPU reduces at most 64
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
    6 n^2 bandwidth operations. Wide bands (`TWO_STAGE_BANDWIDTH`) are first reduced to 32
    subdiagonals by blocks of reflections (Bischof, Lang and Sun 2000), which takes as many
    operations again, nearly all in matrix products. Rounding changes each eigenvalue by a small
    multiple of n eps times the norm at most. Matrices near over- or underflow are scaled first.
    """
    lower = validate_bool("lower", lower)
    ab = validate_band(ab)
    requested = ReductionOptions(method, in_flight, keep_reflectors, stages)
    device, options = choose_method(ab, requested, device)
    bar = loop_progress("band to tridiagonal", enabled=progress)
    with device.active(), region("band to tridiagonal"), bar:
        space = Workspace(device, ab)
        matrix = reduce_band(ab, lower, options, space)
        if matrix.factor < 1.0:
            _refuse_overflow("ab", *matrix.diagonals())
        main, below = matrix.diagonals(space if device_of(ab) is not None else None)
        if matrix.order == 0:
            main, below = copy_like(main, ab), copy_like(below, ab)
    if not keep_reflectors:
        return Tridiagonal(main, below)
    kept = tuple(_copy_to_host(stage, matrix.space) for stage in matrix.stages)
    return TridiagonalReduction(main, below, Reflectors(matrix.order, kept, matrix.dtype))


def _copy_to_host(stage: Stage, space: Workspace) -> Stage:
    """Return a stage with its reflections in host memory."""
    flat = stage.vectors.reshape(stage.vectors.size)
    return Stage(stage.before, stage.after, space.result(flat, stage.vectors.shape))


def _refuse_overflow(name: str, *results: np.ndarray) -> None:
    """Raise ValueError if an element of the tridiagonal form overflowed."""
    for values in results:
        if not np.isfinite(values).all():
            raise ValueError(
                f"{name} is too large: its tridiagonal form exceeds the largest {values.dtype}, "
                f"{np.finfo(values.dtype).max:.4g}. Divide the matrix by a power of two"
            )


class ReducedMatrix(NamedTuple):
    """A matrix in tridiagonal form on a device.

    Attributes
    ----------
    columns : device array (n, 2)
        Diagonal and subdiagonal, multiplied by `factor`.
    factor : float
        A power of two; 1 unless the matrix is close to over- or underflow.
    stages : tuple of sbth.reflectors.Stage
        The reflections, if they were requested, on the device of `columns`.
    space : Workspace
        A workspace on the device of `columns`.
    """

    columns: np.ndarray
    factor: float
    stages: tuple[Stage, ...]
    space: Workspace

    @property
    def order(self) -> int:
        """Order of the matrix."""
        return self.columns.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements."""
        return np.dtype(self.columns.dtype)

    def diagonals(self, space: Workspace | None = None, *, scaled: bool = False) -> tuple:
        """Return diagonal and subdiagonal as arrays of the kind of `space`, by default of NumPy.

        With `scaled` they are those of the matrix multiplied by `factor`.
        """
        columns = self.columns
        if space is None or self.order == 0:
            # One copy of both columns takes half the time of a kernel and two copies.
            columns = self.space.result(columns.reshape(columns.size), columns.shape)
            space = Workspace(Device("cpu"))
        factor = 1.0 if scaled else self.factor
        shapes = (self.order,), (max(self.order - 1, 0),)
        main, below = (space.output(shape, self.dtype) for shape in shapes)
        loops = _working_matrix.loops(space.device)
        loops.extract_diagonals(columns, self.dtype.type(factor), main, below, space.stream)
        return tuple(space.result(a, shape) for a, shape in zip((main, below), shapes, strict=True))


def order_and_bandwidth(ab: Any) -> tuple[int, int]:
    """Return the order of a matrix in band storage, and the number of its subdiagonals."""
    is_on_host = isinstance(ab, np.ndarray)
    rows, n = ab.shape if is_on_host else shape_and_dtype("ab", ab, allow_complex=True)[0]
    return n, rows - 1 if rows <= n else max(n - 1, 0)


@dataclass(frozen=True)
class ReductionOptions:
    """Settings of the reduction of a band: the arguments of `tridiagonalize` with these names."""

    method: str | None = None
    in_flight: int | None = None
    keep_reflectors: bool = False
    stages: int | None = None


def resolve_for_reduction(device: str | Device | None, ab: Any, order: int, width: int) -> Device:
    """Return the device that reduces a validated `ab` with `width` subdiagonals."""
    return resolve(device, ab, work=order if width > 1 else 0, break_even=BREAK_EVEN)


def choose_method(
    ab: Any, options: ReductionOptions, device: str | Device | None
) -> tuple[Device, ReductionOptions]:
    """Return the device for a validated `ab`, and the options that suit both, without None."""
    method, in_flight = options.method, options.in_flight
    n, width = order_and_bandwidth(ab)
    device = resolve_for_reduction(device, ab, n, width)
    methods = METHODS[device.kind]
    if method is None:
        is_small = device.kind == "cpu" and n < SERIAL_ORDER
        method = "serial" if is_small else methods[0]
    validation.check_choice("method", method, methods)
    if in_flight is not None:
        in_flight = validation.check_integer("in_flight", in_flight, 1)
    stages = _choose_stages(options.stages, width, device.kind)
    return device, ReductionOptions(method, in_flight, options.keep_reflectors, stages)


def _choose_stages(stages: int | None, width: int, kind: str) -> int:
    """Return the number of stages in which `width` subdiagonals are reduced; check a user's."""
    if stages is None:
        return 2 if width >= TWO_STAGE_BANDWIDTH[kind] else 1
    stages = validation.check_integer("stages", stages, 1, 2)
    if stages == 1 and kind == "cuda" and width > MAX_GPU_BANDWIDTH:
        raise ValueError(
            f"stages must be 2 for ab with {width} subdiagonals on a GPU, which reduces at most "
            f"{MAX_GPU_BANDWIDTH} in one stage; or use device='cpu'"
        )
    if stages == 2 and width <= NARROW_BANDWIDTH:
        raise ValueError(
            f"stages must be 1 for ab with {width} subdiagonals: the first of two stages leaves "
            f"{NARROW_BANDWIDTH}"
        )
    return stages


def reduce_band(
    ab: Any, lower: bool, options: ReductionOptions, space: Workspace, name: str = "ab"
) -> ReducedMatrix:
    """Reduce a validated `ab`, on the host or on the device of `space`, to tridiagonal form."""
    n, width = order_and_bandwidth(ab)
    inner = host_workspace(space)
    if device_of(ab) is not None:
        shape, dtype = shape_and_dtype(name, ab)
        ab = space.input(name, ab, dtype).reshape(shape) if n else np.zeros(shape, dtype)
    factor = choose_scale(ab, lower, name, space)
    if width > 1:
        columns, stages = _run_stages(ab, lower, factor, width, options, inner)
        return ReducedMatrix(columns, factor, stages, inner)
    if not isinstance(ab, np.ndarray):
        columns = inner.output((n, 2), ab.dtype).reshape((n, 2))
        loops = _working_matrix.loops(space.device)
        flat = ab.reshape(ab.size)
        loops.load_band(flat, ab.shape[0] - 1, lower, 1.0, width, columns, inner.stream)
        return ReducedMatrix(columns, 1.0, (), inner)
    # Nothing is left to reduce, so no device is needed.
    columns = np.zeros((n, 2), ab.dtype)
    for k, diagonal in enumerate(diagonals(ab, lower)):
        columns[: n - k, k] = diagonal
    return ReducedMatrix(columns, 1.0, (), Workspace(Device("cpu")))


def load_tridiagonal(ab: np.ndarray, lower: bool, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return diagonal and subdiagonal of a validated band in host memory with at most one of these.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band.
    """
    choose_scale(ab, lower, name)
    main, *below = map(np.ascontiguousarray, first_diagonals(ab, lower))
    return main, below[0] if below else np.zeros(max(ab.shape[1] - 1, 0), ab.dtype)


def choose_scale(ab: Any, lower: bool, name: str, space: Workspace | None = None) -> float:
    """Return a power of two that brings the squares of the elements of `ab` into range.

    `ab` is a NumPy array, which needs no `space`, or a two-dimensional device array on the device
    of `space`, one of CuPy if it is complex.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band. Entries outside the matrix are ignored.
    """
    n, width = order_and_bandwidth(ab)
    if isinstance(ab, np.ndarray) and width:
        subdiagonal = ab.item(1, 0) if lower else ab.item(-2, 1)
        if is_plainly_safe(ab, subdiagonal):
            return 1.0  # without the passes below
    if space is None or isinstance(ab, np.ndarray):
        space = Workspace(CPU)
    device = space.device
    if np.dtype(ab.dtype).kind == "c":
        ab = magnitudes(ab)
    inspect_band = _working_matrix.loops(device).inspect_band
    largest, index = inspect_band(ab, lower, width, space.stream)
    if index >= 0:
        k, j = divmod(index, n)
        row, column = (k, j) if lower else (ab.shape[0] - 1 - k, j + k)
        value = float(ab[row, column])
        raise ValueError(f"{name} holds {value} for element ({j + k}, {j}) of the matrix")
    return safe_scale(largest, ab.dtype)


def _run_stages(
    ab: Any, lower: bool, factor: float, width: int, options: ReductionOptions, space: Workspace
) -> tuple[Any, tuple[Stage, ...]]:
    """Reduce a band of 2 or more subdiagonals; return columns (n, 2), and the requested stages."""
    n, dtype, device = ab.shape[1], ab.dtype, space.device
    LOGGER.info(
        *("order %d, %d subdiagonals, %s: stages %d, method %s, on %s", n, width, dtype),
        *(options.stages, options.method, device),
    )
    in_flight, keep = options.in_flight, options.keep_reflectors
    stages: list[Stage] = []

    def allocate_reflectors(before: int, after: int) -> Any:
        """Allocate the reflections of a stage, with size 0 if they are not requested."""
        shape = (sweep_count(n, after) * after, n) if keep else (0, 0)
        vectors = copies.zeros(shape[0] * shape[1], dtype, space.stream).reshape(shape)
        stages.append(Stage(before, after, vectors))
        return vectors

    def allocate_matrix(bandwidth: int) -> Any:
        """Allocate a working matrix."""
        return space.output((n, 2 * bandwidth), dtype).reshape((n, 2 * bandwidth))

    copies, work = _working_matrix.loops(device), allocate_matrix(width)
    flat = space.input("ab", ab, dtype) if isinstance(ab, np.ndarray) else ab.reshape(ab.size)
    copies.load_band(flat, ab.shape[0] - 1, lower, factor, width, work, space.stream)
    if options.stages == 2:
        vectors = allocate_reflectors(width, NARROW_BANDWIDTH)
        reduce_bandwidth = _band_to_band.loops(device).reduce_bandwidth
        reduce_bandwidth(work, width, NARROW_BANDWIDTH, in_flight, vectors, space.stream)
        wide, work, width = work, allocate_matrix(NARROW_BANDWIDTH), NARROW_BANDWIDTH
        copies.truncate(wide, NARROW_BANDWIDTH, work, space.stream)
    vectors = allocate_reflectors(width, 1)
    chase_bulges = _bulge_chasing.loops(device).chase_bulges
    chase_bulges(work, width, options.method, in_flight, vectors, space.stream)
    tridiagonal = allocate_matrix(1)
    copies.truncate(work, 1, tridiagonal, space.stream)

    return tridiagonal, tuple(stages if keep else ())

"""Reduction of a band to tridiagonal form: in one stage, or wide bands in two."""

from __future__ import annotations

import functools
import logging
from contextlib import nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero import Device, region, validation
from hetero.arrays import Workspace
from hetero.devices import CPU, device_of, resolve
from hetero.display.progress_bar import loop_progress
from sbth._back.diamonds import wave_matrices
from sbth._back.reflections import Reflections
from sbth._problem import limits, working_matrix
from sbth._problem.arrays import KEPT_REAL, host_workspace, shape_and_dtype
from sbth._problem.inspection import choose_scale
from sbth._problem.problem import Problem, Reduced, Stage
from sbth._problem.storage import diagonals
from sbth._problem.validation import validate_band, validate_bool
from sbth._reduction import band_to_band, bulge_chasing
from sbth._reduction.bulge_chasing.schedule_formulas import sweep_count

LOGGER = logging.getLogger(__name__)

METHODS = {"cpu": ("wavefront", "serial"), "cuda": ("persistent", "wavefront")}
"""Methods of each kind of device, the default first."""


class Options(NamedTuple):
    """Settings of the reduction of a band: the arguments of `sbth.tridiagonalize`."""

    method: str | None = None
    in_flight: int | None = None
    keep_reflectors: bool = False
    stages: int | None = None

    def chosen(self, order: int, width: int, device: Device) -> Options:
        """Return settings that suit a matrix and a device, without None; check a user's."""
        method, in_flight, keep, stages = self
        methods = METHODS[device.kind]
        if method is None:
            is_small = device.kind == "cpu" and order < limits.SERIAL_ORDER
            method = "serial" if is_small else methods[0]
        elif not isinstance(method, str) or method not in methods:
            validation.check_choice("method", method, methods)
        if in_flight is not None:
            in_flight = validation.check_integer("in_flight", in_flight, 1)
        if stages is None:
            stages = 2 if width >= limits.TWO_STAGE_BANDWIDTH[device.kind] else 1
        else:
            stages = _check_stages(stages, width, device.kind)
        return Options(method, in_flight, keep, stages)


def _check_stages(stages: int, width: int, kind: str) -> int:
    """Return a user's number of stages if `width` subdiagonals can be reduced in so many."""
    stages = validation.check_integer("stages", stages, 1, 2)
    if stages == 1 and kind == "cuda" and width > limits.MAX_GPU_BANDWIDTH:
        raise ValueError(
            f"stages must be 2 for ab with {width} subdiagonals on a GPU, which reduces at most "
            f"{limits.MAX_GPU_BANDWIDTH} in one stage; or use device='cpu'"
        )
    if stages == 2 and width <= limits.NARROW_BANDWIDTH:
        raise ValueError(
            f"stages must be 1 for ab with {width} subdiagonals: the first of two stages leaves "
            f"{limits.NARROW_BANDWIDTH}"
        )
    return stages


class ReducedMatrix(NamedTuple):
    """A matrix in tridiagonal form on a device.

    Attributes
    ----------
    columns : device array (n, 2)
        Diagonal and subdiagonal, multiplied by `factor`.
    factor : float
        A power of two; 1 unless the matrix is close to over- or underflow.
    stages : tuple of Reflections
        The reflections, if they were requested, on the device of `columns`.
    space : Workspace, or None for arrays in host memory
        Of the device of `columns`; its results are NumPy arrays.
    """

    columns: Any
    factor: float
    stages: tuple[Reflections, ...] = ()
    space: Workspace | None = None

    def scaled_diagonals(self) -> tuple[np.ndarray, np.ndarray]:
        """Return diagonal and subdiagonal of the matrix multiplied by `factor`, in host memory."""
        columns, n = self.columns, self.columns.shape[0]
        if self.space is not None:
            # One copy of both columns takes half the time of a kernel and two copies.
            columns = self.space.result(columns.reshape(columns.size), columns.shape)
        return columns[:, 0].copy(), columns[: max(n - 1, 0), 1].copy()

    def diagonals(self, space: Workspace | None = None) -> tuple[Any, Any]:
        """Return diagonal and subdiagonal as arrays of the kind of `space`, by default of NumPy."""
        columns, n = self.columns, self.columns.shape[0]
        if space is None or n == 0:
            if self.space is not None:
                columns = self.space.result(columns.reshape(columns.size), columns.shape)
            space = Workspace(CPU)
        dtype = np.dtype(columns.dtype)
        main, below = space.output((n,), dtype), space.output((max(n - 1, 0),), dtype)
        extract = working_matrix.loops(space.device).extract_diagonals
        extract(columns, dtype.type(self.factor), main, below, space.stream)
        return space.result(main, (n,)), space.result(below, (max(n - 1, 0),))

    def kept_on_host(self) -> tuple[Reflections, ...]:
        """Return the reflections in host memory."""
        if self.space is None:
            return self.stages
        return tuple(stage.on_host(self.space) for stage in self.stages)


def reduce_array(
    ab: Any, lower: bool, options: Options, progress: bool, device: str | Device | None
) -> tuple[ReducedMatrix, Any, Device]:
    """Validate the arguments of `sbth.tridiagonalize`, and reduce the band.

    Returns the reduced matrix, the validated band and the device.
    """
    if lower is not True and lower is not False:
        lower = validate_bool("lower", lower)
    if type(ab) is np.ndarray and ab.dtype in KEPT_REAL and ab.ndim == 2 and len(ab):
        rows, order = ab.shape
    else:
        ab, (rows, order), _ = validate_band(ab)
    width = min(rows - 1, max(order - 1, 0))
    least = limits.BREAK_EVEN["band", False]
    device = resolve(device, ab, work=order if width > 1 else 0, break_even=least)
    options = options.chosen(order, width, device)
    return reduce_band(ab, lower, width, options, device, progress), ab, device


def reduce_band(
    ab: Any, lower: bool, width: int, options: Options, device: Device, progress: bool,
    name: str = "ab",
) -> ReducedMatrix:  # fmt: skip
    """Reduce a validated `ab`, on the host or on the device, to tridiagonal form."""
    is_on_cpu = device.kind == "cpu"
    keep = options.keep_reflectors
    stages: list[Reflections] = []
    bar = loop_progress("band to tridiagonal", enabled=progress)
    with nullcontext() if is_on_cpu else device.active(), region("band to tridiagonal"), bar:
        space, ab = (None, ab) if is_on_cpu else _enter_device(ab, device, name)
        (rows, n), dtype, copies = ab.shape, ab.dtype, working_matrix.loops(device)
        factor = choose_scale(ab, lower, name, space)
        if width <= 1:
            return _load_columns(ab, lower, width, space)
        if LOGGER.isEnabledFor(logging.INFO):
            LOGGER.info(
                *("order %d, %d subdiagonals, %s: stages %d, method %s, on %s", n, width, dtype),
                *(options.stages, options.method, device),
            )
        stream, empty = 0, np.empty
        flat = np.ascontiguousarray(ab).reshape(-1) if is_on_cpu else ab.reshape(ab.size)
        if space is not None:
            stream, empty = space.stream, functools.partial(space.output, flat=False)
            flat = space.input("ab", ab, dtype) if isinstance(ab, np.ndarray) else flat
        work = empty((n, 2 * width), dtype)
        copies.load_band(flat, rows - 1, lower, factor, width, work, stream)
        for after in (limits.NARROW_BANDWIDTH, 1)[-(options.stages or 1) :]:
            shape = (sweep_count(n, after) * after, n) if keep else (0, 0)
            vectors = copies.zeros(shape[0] * shape[1], dtype, stream).reshape(shape)
            stages.append(Reflections(width, after, vectors))
            if after == 1:
                chase = bulge_chasing.loops(device).chase_bulges
                chase(work, width, options.method, options.in_flight, vectors, stream)
            else:
                reduce_bandwidth = band_to_band.loops(device).reduce_bandwidth
                reduce_bandwidth(work, width, after, options.in_flight, vectors, stream)
            wide, work, width = work, empty((n, 2 * after), dtype), after
            copies.truncate(wide, after, work, stream)
        return ReducedMatrix(work, factor, tuple(stages) if keep else (), space)


def _enter_device(ab: Any, device: Device, name: str) -> tuple[Workspace, Any]:
    """Return a workspace of a GPU whose results are NumPy arrays, and a band for its loops."""
    space = Workspace(device, ab)
    if device_of(ab) is not None:
        shape, dtype = shape_and_dtype(name, ab)
        ab = space.input(name, ab, dtype).reshape(shape) if shape[1] else np.zeros(shape, dtype)
    return host_workspace(space), ab


def _load_columns(ab: Any, lower: bool, width: int, space: Workspace | None) -> ReducedMatrix:
    """Return a band of at most one subdiagonal, which is in tridiagonal form."""
    n = ab.shape[1]
    if space is not None and not isinstance(ab, np.ndarray):
        columns = space.output((n, 2), ab.dtype, flat=False)
        flat, rows = ab.reshape(ab.size), ab.shape[0]
        load_band = working_matrix.loops(space.device).load_band
        load_band(flat, rows - 1, lower, 1.0, width, columns, space.stream)
        return ReducedMatrix(columns, 1.0, (), space)
    # Nothing is left to reduce, so no device is needed.
    columns = np.zeros((n, 2), ab.dtype)
    for k, diagonal in enumerate(diagonals(ab, lower)):
        columns[: n - k, k] = diagonal
    return ReducedMatrix(columns, 1.0)


def load_tridiagonal(ab: np.ndarray, lower: bool, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return diagonal and subdiagonal of a validated band in host memory with at most one of these.

    Raises
    ------
    ValueError
        There is NaN or infinity within the band.
    """
    choose_scale(ab, lower, name)
    main, *below = map(np.ascontiguousarray, diagonals(ab, lower))
    return main, below[0] if below else np.zeros(max(ab.shape[1] - 1, 0), ab.dtype)


def _reduce(xp: ModuleType, problem: Problem, before: Any) -> Reduced:
    """Reduce the real band of a problem, and keep the reflections if vectors are wanted."""
    (ab,), lower, width, vectors = problem.arrays, problem.lower, problem.width, problem.vectors
    if width <= 1 and isinstance(ab, np.ndarray):
        d, e = load_tridiagonal(ab, lower, problem.name)
        return Reduced(d, e, was_reduced=False)
    options = Options(keep_reflectors=vectors).chosen(problem.order, width, problem.device)
    matrix = reduce_band(ab, lower, width, options, problem.device, problem.progress, problem.name)
    stages = matrix.stages

    def transform(xp: ModuleType, x: Any) -> Any:
        """Return Q x for an array (n, m) of `xp`, which may be overwritten."""
        for stage in reversed(stages if x.size else ()):
            x = stage.apply(xp, x)
        return x

    d, e = matrix.scaled_diagonals()
    return Reduced(d, e, matrix.factor, transform if vectors else None, was_reduced=width > 1)


def _kept_bytes(problem: Problem) -> int:
    """Return the bytes of the reflections for each element of a matrix (n, n)."""
    if not problem.vectors or problem.width <= 1:
        return 0
    stages = 2 if problem.width >= limits.TWO_STAGE_BANDWIDTH[problem.device.kind] else 1
    return stages * problem.dtype.itemsize


def wave_memory(problem: Problem) -> int:
    """Return the bytes that the back-transformation of a band takes for each element."""
    if not problem.vectors or problem.width <= 1:
        return 0
    width = problem.width if problem.device.kind == "cuda" else limits.MAX_GPU_BANDWIDTH
    return wave_matrices(width) * problem.dtype.itemsize


CHASE = Stage(lambda problem: "bulge chasing" * (problem.width > 1), _reduce, keeps=_kept_bytes)
"""Reduction of a real band by bulge chasing; of at most one subdiagonal, nothing is to be done."""

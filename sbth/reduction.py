"""Band matrix to tridiagonal form, by the pipelined SBTH algorithm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero import Device, errors, region
from hetero.arrays import Workspace, device_of
from hetero.devices import resolve
from hetero.jit import twin
from sbth._order_math import sweeps
from sbth.reflections import Reflections, Stage
from sbth.storage import (
    checked_band,
    checked_bool,
    deliver,
    describe,
    diagonals,
    host_workspace,
    scale_of,
)

METHODS = {"cpu": ("wavefront", "serial"), "cuda": ("persistent", "wavefront")}
"""The methods of each kind of device, the default first."""

WIDE = {"cpu": 384, "cuda": 65}
"""Subdiagonals from which a band is reduced in two steps."""

NARROW = 32
"""Subdiagonals that the first of two steps leaves."""

FEW = 1000
"""Order below which a CPU's threads wait for each other longer than they work."""

BREAK_EVEN = 500
"""Order from which one H200 beats two cores, transfers included."""


def tridiagonalize(
    ab, *, lower: bool = False, method=None, in_flight=None, keep_reflectors=False, device=None
):
    """Reduce a symmetric band matrix to tridiagonal form by orthogonal transformations.

    Parameters
    ----------
    ab : array_like (bandwidth + 1, n) of float
        LAPACK band storage, as `scipy.linalg.eig_banded` takes it: ab[bandwidth + i - j, j] is
        element (i, j) of the upper triangle, or with `lower` ab[i - j, j] is element (i, j) of the
        lower one. Entries outside the matrix are ignored, and `ab` is not modified. float32 stays
        float32, all else is computed in float64. An array on a GPU is reduced there.
    lower : bool
        Whether `ab` holds the lower triangle. As in SciPy, the upper one is the default.
    method : str, optional
        On a CPU "wavefront" (block pairs of several sweeps at once, over the threads; the default
        from n = 1000 on) or "serial"; on a GPU "persistent" (one kernel in which blocks wait for
        each other) or "wavefront" (one launch a step). All give the same bits on one device.
    in_flight : int, optional
        On a GPU: the most block pairs that are worked on at once (the thesis's pipeline length). By
        default all that the algorithm allows, n / (2 bandwidth).
    keep_reflectors : bool
        Also return the transformation. It takes n^2 numbers, twice as many for wide bands.
    device : None, "auto", "cpu", "cuda", "cuda:N" or hetero.Device

    Returns
    -------
    d, e : arrays (n,), (n - 1,)
        Diagonal and subdiagonal of T, a matrix with the same eigenvalues. NumPy arrays, or for an
        `ab` on a GPU arrays of its library on that GPU.
    q : sbth.Reflections, with `keep_reflectors`
        A = Q T Q^T. It is kept in host memory.

    Raises
    ------
    TypeError
        `ab` is complex or holds no numbers, or `lower` is no bool.
    ValueError
        `ab` does not have two dimensions, holds NaN or infinity within the band, or is so large
        that elements of T overflow.
    RuntimeError
        The GPU blocks deadlocked. This is a bug in sbth: please report it. `ab` is unchanged.
    hetero.DeviceUnavailableError

    Notes
    -----
    Lang (1993); thesis, algorithms 1 and 2. 6 n^2 bandwidth operations. Wide bands (`WIDE`) are
    first reduced to 32 subdiagonals by blocks of reflections (Bischof, Lang and Sun 2000), as many
    operations again, nearly all in products of matrices. Each eigenvalue changes by some n eps
    times the norm at most. Entries near over- or underflow are scaled before.
    """
    lower = checked_bool("lower", lower)
    ab = checked_band(ab)
    device, options = choose_method(ab, (method, in_flight, keep_reflectors), device)
    with device.active(), region("band to tridiagonal"):
        space = Workspace(device, ab)
        matrix = reduce_band(ab, lower, options, space)
        if matrix.factor < 1.0:
            _refuse_overflow("ab", *matrix.diagonals())
        main, below = matrix.diagonals(space if device_of(ab) is not None else None)
        if matrix.order == 0:
            main, below = deliver(main, ab), deliver(below, ab)
    reflections = Reflections(matrix.order, matrix.stages, matrix.dtype)
    return (main, below, reflections) if keep_reflectors else (main, below)


def _refuse_overflow(name: str, *results) -> None:
    """Raise the error of a matrix whose tridiagonal form is beyond the largest float."""
    for values in results:
        if not np.isfinite(values).all():
            raise ValueError(
                f"{name} is too large: its tridiagonal form overflows {values.dtype}, which ends "
                f"at {np.finfo(values.dtype).max:.4g}. Divide the matrix by a power of two"
            )


class Tridiagonal(NamedTuple):
    """A matrix in tridiagonal form on a device.

    Attributes
    ----------
    columns : device array (n, 2): diagonal and subdiagonal, multiplied by `factor`
    factor : a power of two, 1 unless the matrix is close to over- or underflow
    stages : tuple of sbth.reflections.Stage, empty if they were not requested
    space : Workspace on the device of `columns`
    """

    columns: np.ndarray
    factor: float
    stages: tuple
    space: Workspace

    @property
    def order(self) -> int:
        return self.columns.shape[0]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.columns.dtype)

    def diagonals(self, space: Workspace | None = None, *, scaled: bool = False):
        """Return diagonal and subdiagonal, as arrays of the kind of `space` or else NumPy arrays.

        With `scaled` they are those of the matrix multiplied by `factor`.
        """
        space = self.space if space is None or self.order == 0 else space
        factor = 1.0 if scaled else self.factor
        shapes = (self.order,), (max(self.order - 1, 0),)
        arrays = [space.output(shape, self.dtype) for shape in shapes]
        loops = twin("sbth._columns", space.device)
        loops.split(self.columns, self.dtype.type(factor), *arrays, space.stream)
        return tuple(space.result(a, shape) for a, shape in zip(arrays, shapes, strict=True))


def _extents(ab) -> tuple[int, int]:
    """Return the order of a matrix in band storage, and the number of its subdiagonals."""
    rows, n = ab.shape if isinstance(ab, np.ndarray) else describe("ab", ab)[0]
    return n, min(rows - 1, max(n - 1, 0))


def choose_method(ab, options, device):
    """Resolve the device for a checked `ab`, and the options (method, in_flight, keep) on it."""
    method, in_flight, keep = options
    n, width = _extents(ab)
    device = resolve(device, ab, work=n if width > 1 else 0, break_even=BREAK_EVEN)
    methods = METHODS[device.kind]
    if method is None:
        few = device.kind == "cpu" and n < FEW
        method = "serial" if few else methods[0]
    errors.one_of("method", method, methods)
    if in_flight is not None:
        in_flight = errors.whole("in_flight", in_flight, 1)
    return device, (method, in_flight, keep)


def reduce_band(ab, lower, options, space: Workspace, name: str = "ab") -> Tridiagonal:
    """Reduce a checked `ab`, on the host or on the device of `space`, to tridiagonal form."""
    n, width = _extents(ab)
    inner = host_workspace(space)
    if device_of(ab) is not None:
        shape, dtype = describe(name, ab)
        ab = space.input(name, ab, dtype).reshape(shape) if n else np.zeros(shape, dtype)
    factor = scaling(ab, lower, name, space)
    if width > 1:
        columns, stages = _reduced(ab, lower, factor, width, options, inner)
        return Tridiagonal(columns, factor, stages, inner)
    if not isinstance(ab, np.ndarray):
        columns = inner.output((n, 2), ab.dtype).reshape((n, 2))
        loops = twin("sbth._columns", space.device)
        flat, one = ab.reshape(ab.size), 1.0
        loops.unpack(flat, ab.shape[0] - 1, lower, one, width, columns, inner.stream)
        return Tridiagonal(columns, one, (), inner)
    # Nothing is left to reduce, so no device is needed.
    columns = np.zeros((n, 2), ab.dtype)
    for k, diagonal in enumerate(diagonals(ab, lower)):
        columns[: n - k, k] = diagonal
    return Tridiagonal(columns, 1.0, (), Workspace(Device("cpu")))


def scaling(ab, lower: bool, name: str, space: Workspace) -> float:
    """Choose a power of two that keeps the squares of the elements of `ab` within range.

    `ab` is a NumPy array, or a two-dimensional device array on the device of `space`.

    Raises
    ------
    ValueError
        NaN or infinity within the band. Entries outside the matrix are ignored.
    """
    n, width = _extents(ab)
    device = Device("cpu") if isinstance(ab, np.ndarray) else space.device
    survey = twin("sbth._columns", device).survey
    largest, index = survey(ab, lower, width, space.stream)
    if index >= 0:
        k, j = divmod(index, n)
        row, column = (k, j) if lower else (ab.shape[0] - 1 - k, j + k)
        value = float(ab[row, column])
        raise ValueError(f"{name} holds {value} for element ({j + k}, {j}) of the matrix")
    return scale_of(largest, ab.dtype)


def _reduced(ab, lower, factor, width, options, space):
    """Reduce a band of 2 or more subdiagonals; return (n, 2) columns, and the stages as kept."""
    method, in_flight, keep = options
    n, dtype, device, kept = ab.shape[1], ab.dtype, space.device, []

    def room(before, after):
        """Memory for a stage's reflections, of no size if they are not wanted."""
        shape = (sweeps(n, after) * after, n) if keep else (0, 0)
        vectors = columns.zeros(shape[0] * shape[1], dtype, space.stream).reshape(shape)
        kept.append((before, after, vectors))
        return vectors

    def matrix(bandwidth):
        return space.output((n, 2 * bandwidth), dtype).reshape((n, 2 * bandwidth))

    columns, work = twin("sbth._columns", device), matrix(width)
    flat = space.input("ab", ab, dtype) if isinstance(ab, np.ndarray) else ab.reshape(ab.size)
    columns.unpack(flat, ab.shape[0] - 1, lower, factor, width, work, space.stream)
    if width >= WIDE[device.kind]:
        loops, vectors = twin("sbth._narrow", device), room(width, NARROW)
        loops.narrow(work, width, NARROW, in_flight, vectors, space.stream)
        wide, work, width = work, matrix(NARROW), NARROW
        columns.cut(wide, NARROW, work, space.stream)
    loops, vectors = twin("sbth._reduction", device), room(width, 1)
    loops.reduce(work, width, method, in_flight, vectors, space.stream)
    tridiagonal = matrix(1)
    columns.cut(work, 1, tridiagonal, space.stream)

    def on_host(array):
        return np.asarray(space.result(array.reshape(array.size), array.shape))

    stages = (Stage(before, after, on_host(v)) for before, after, v in kept if keep)
    return tridiagonal, tuple(stages)

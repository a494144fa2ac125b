"""The route: the one table by which a method is chosen for a problem, and its stages.

A row names a storage, a kind of device, a method, and what the problem must be for it. The first
row that suits is taken. `method="auto"` asks besides whether the row `is_faster`; the numbers of
these questions are in `sbth._problem.limits`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from sbth._problem import limits
from sbth._problem.arrays import copy_like, host_workspace
from sbth._problem.blocks import Block, Partition, join_blocks, partition_band
from sbth._problem.inspection import choose_scale, is_coupled_band, round_to_dtype
from sbth._problem.problem import Problem, Reduced, Stage
from sbth._problem.storage import diagonals
from sbth._reduction import one_stage, two_stages
from sbth._reduction.bands import CHASE, wave_memory
from sbth._reduction.pencils.band import reduce_pencil
from sbth._reduction.pencils.band_as_full import reduce_as_full
from sbth._reduction.pencils.full import module_arrays, reduce_full_pencil
from sbth._route import cusolver
from sbth._route.crossovers import is_faster_as_full, reduces_bands_faster, thread_key
from sbth._tridiagonal.bisection.eigenvalues import solve_values
from sbth._tridiagonal.divide_and_conquer.merge_tree import MATRICES, require_memory
from sbth._tridiagonal.pairs import solve_by_lapack, solve_pairs, solve_parts
from sbth._vendor.array_modules import array_module, as_library_array, module_on
from sbth._vendor.lapack import LAPACK_BAND, LAPACK_BAND_AS_FULL, LAPACK_FULL

LOGGER = logging.getLogger(__name__)


def least_order(problem: Problem, kind: str) -> int:
    """Return the order from which on this package solves a real tridiagonal matrix, not LAPACK.

    `kind` is that of the selection among the eigenvalues of the matrix, a block of the problem's.
    """
    vectors = problem.vectors
    if problem.device.kind != "cpu" or problem.method == "sbth":
        return 0
    if problem.method != "auto":
        return limits.NEVER
    if not vectors and kind != "a":
        return limits.SOME_VALUES
    if problem.order < limits.SMALLEST_TRIDIAGONAL[vectors]:
        return limits.NEVER  # without the number of threads, for which Numba takes a microsecond
    return limits.TRIDIAGONAL[thread_key(), vectors]


def _as_given(problem: Problem) -> Reduced:
    """Return the tridiagonal matrix of a problem."""
    d, e, sizes = problem.arrays
    return Reduced(d, e, 1.0, None, False, sizes)


def _solve_tridiagonal(xp: ModuleType, problem: Problem, reduced: Reduced | None) -> Any:
    """Solve the tridiagonal matrix that a reduction has left, or that is given."""
    if reduced is None:
        reduced = _as_given(problem)
    kind = problem.selection.kind
    least = least_order(problem, kind)
    if not problem.vectors:
        of_blocks = least_order(problem, "a") if kind == "i" else least
        return solve_values(problem, reduced, least, of_blocks), None
    read, vectors = solve_pairs(xp, problem, reduced, least)
    if reduced.transform is not None:
        with region("back-transformation"):
            vectors = reduced.transform(xp, vectors)
    return read(), vectors


def _tridiagonal_memory(problem: Problem) -> int:
    """Return the bytes of divide and conquer, or of the back-transformation, for each element.

    A few vectors of a tridiagonal matrix need no (n, n) matrices: the solver asks for itself.
    """
    if not problem.vectors or problem.width <= 1:
        return 0
    full = problem if problem.form == "band" else problem._replace(width=limits.MAX_GPU_BANDWIDTH)
    return max(MATRICES * 8 + problem.dtype.itemsize, wave_memory(full))


def _describe_tridiagonal(problem: Problem) -> str:
    """Return the steps from the tridiagonal matrix on."""
    if problem.order >= least_order(problem, problem.selection.kind):
        name = "divide and conquer" if problem.vectors else "bisection"
    elif problem.vectors:
        name = "LAPACK's divide and conquer (stevd)"
    else:
        name = "LAPACK's QL iteration without square roots (sterf)"
    is_reduced = problem.width > 1 or problem.form == "full"
    return name + ", back-transformation" * (problem.vectors and is_reduced)


TRIDIAGONAL = Stage(_describe_tridiagonal, _solve_tridiagonal, _tridiagonal_memory)
"""The tridiagonal matrix, and the way back from its eigenvectors to those of the matrix."""


class Row(NamedTuple):
    """A way to solve problems.

    Attributes
    ----------
    form : {"tridiagonal", "band", "full"}
    device : {"cpu", "cuda"}
    method : str
        The method that a caller names for it; "" for any.
    kinds : str
        Kinds of numbers: "f" real, "c" complex.
    stages : tuple of Stage
    fits : function, optional
        Whether it is for a problem, by any method.
    is_faster : function, optional
        Whether it is faster than the rows below.
    """

    form: str
    device: str
    method: str
    kinds: str
    stages: tuple[Stage, ...]
    fits: Callable[[Problem], bool] | None = None
    is_faster: Callable[[Problem], bool] | None = None


ROWS = (
    Row("tridiagonal", "cpu", "", "f", (TRIDIAGONAL,)),
    Row("tridiagonal", "cuda", "", "f", (TRIDIAGONAL,)),
    Row("band", "cpu", "", "f", (CHASE, TRIDIAGONAL), fits=lambda p: p.width <= 1),
    Row("band", "cpu", "sbth", "f", (CHASE, TRIDIAGONAL), is_faster=reduces_bands_faster),
    Row("band", "cpu", "lapack", "fc", (LAPACK_BAND_AS_FULL,), fits=is_faster_as_full),
    Row("band", "cpu", "lapack", "fc", (LAPACK_BAND,)),
    Row("band", "cuda", "sbth", "f", (CHASE, TRIDIAGONAL)),
    Row("band", "cuda", "sbth", "c", (two_stages.WIDE_COMPLEX_BAND, TRIDIAGONAL),
        fits=two_stages.is_wide),
    Row("band", "cuda", "sbth", "c", (two_stages.COMPLEX_BAND, TRIDIAGONAL)),
    Row("full", "cpu", "lapack", "fc", (LAPACK_FULL,)),
    Row("full", "cuda", "cusolver", "fc", (cusolver.CUSOLVER,), is_faster=cusolver.is_faster),
    Row("full", "cuda", "sbth", "f", (one_stage.ONE_STAGE, TRIDIAGONAL), fits=one_stage.fits),
    Row("full", "cuda", "sbth", "fc", (two_stages.TWO_STAGES, TRIDIAGONAL)),
)  # fmt: skip
"""The ways, the first choice first."""

_ROWS_OF: dict[tuple[str, str, str], list[Row]] = {}
for _row in ROWS:
    for _kind in _row.kinds:
        _ROWS_OF.setdefault((_row.form, _row.device, _kind), []).append(_row)


_LEAST_LARGE = 400
"""Order below which no way takes as many bytes as `hetero.memory.SMALL`, with at most 384 for an
element."""


class Route(NamedTuple):
    """The way of a problem.

    Attributes
    ----------
    problem : Problem
    row : Row
    """

    problem: Problem
    row: Row

    def describe(self) -> str:
        """Return the steps, for example "sbth: bulge chasing, bisection"."""
        steps = ", ".join(filter(None, (x.describe(self.problem) for x in self.row.stages)))
        return f"sbth: {steps}" if len(self.row.stages) > 1 or self.row.method == "" else steps

    @property
    def works_on_full(self) -> bool:
        """True if the matrix is reduced as a full one."""
        return self.row.stages[0].works_on_full

    def memory(self) -> int:
        """Return the bytes that the way needs for each element of an (n, n) matrix."""
        held_bytes = most = 0
        for stage in self.row.stages:
            if stage.memory is not None:
                most = max(most, held_bytes + stage.memory(self.problem))
            if stage.keeps is not None:
                held_bytes += stage.keeps(self.problem)
        return most


def route(problem: Problem) -> Route:
    """Return the way of a problem, whose arrays it does not read."""
    return Route(problem, _choose_row(problem))


def _choose_row(problem: Problem) -> Row:
    """Return the row of the table for a problem."""
    method = problem.method
    for row in _ROWS_OF.get((problem.form, problem.device.kind, problem.dtype.kind), ()):
        if row.fits is not None and not row.fits(problem):
            continue
        if row.method == method or not row.method:
            return row
        if method == "auto" and (row.is_faster is None or row.is_faster(problem)):
            return row
    raise ValueError(
        f"method={method!r} is not for {problem.form} matrices of {problem.dtype} on "
        f"{problem.device}"
    )


def solve(problem: Problem) -> Any:
    """Return the selected eigenvalues, and eigenvectors, as arrays of the caller's library."""
    if problem.form == "tridiagonal" and problem.vectors:
        return _solve_tridiagonal_pairs(problem)
    device = problem.device
    if device.kind == "cpu":
        values, vectors = _follow(np, problem)
        values = _finish(problem, values)
        return values if vectors is None else (values, vectors)
    dtype, like = problem.dtype, problem.like
    needs_module = problem.vectors or problem.form == "full" or dtype.kind == "c"
    if not needs_module and problem.second is None:  # of a band alone, there are no products
        values, _ = _follow(None, problem)
        return copy_like(_finish(problem, values), like)
    is_band_pencil = problem.second is not None and problem.form == "band"
    routine = problem.routine + " with b_band" * is_band_pencil
    with module_on(device, like, routine) as xp:
        values, vectors = _follow(xp, problem)
        if isinstance(values, np.ndarray):
            values = copy_like(_finish(problem, values), like)
        else:
            values = as_library_array(xp, values, like)
        return values if vectors is None else (values, as_library_array(xp, vectors, like))


def _finish(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Return eigenvalues in the type of the problem, and within its interval."""
    values = round_to_dtype(problem.name, values, problem.dtype)
    return values if problem.selection.kind != "v" else problem.selection.clip(values)


def _follow(xp: ModuleType | None, problem: Problem) -> tuple[Any, Any]:
    """Return the selected eigenvalues, and eigenvectors (n, m) or None, arrays of `xp`.

    A pencil becomes a matrix, and a band in host memory is solved by its diagonal blocks.

    Raises
    ------
    MemoryError
        The device has too little memory; the message says how much is needed.
    """
    if problem.second is not None:
        assert xp is not None
        standard, transform = _reduce_pencil(xp, problem)
        values, vectors = _follow(xp, standard)
        return values, None if vectors is None else transform(vectors)
    row = _choose_row(problem)
    if problem.form == "band":
        band, lower = problem.arrays[0], problem.lower
        if isinstance(band, np.ndarray) and not is_coupled_band(band, lower):
            partition = partition_band(band, lower)
            if not partition.is_whole:
                return _solve_blocks(xp, problem, partition)
    if LOGGER.isEnabledFor(logging.INFO):
        way = Route(problem, row).describe()
        LOGGER.info("order %d, on %s: %s", problem.order, problem.device, way)
    if problem.order >= _LEAST_LARGE and (problem.vectors or problem.device.kind == "cuda"):
        need = Route(problem, row).memory()
        require_memory(problem.order, problem.device, need, vectors=problem.vectors)
    left: Any = None
    for stage in row.stages:
        left = stage.run(xp, problem, left)
    return left


def _reduce_pencil(xp: ModuleType, problem: Problem) -> tuple[Problem, Callable[[Any], Any]]:
    """Return the problem of one matrix, and the function that turns its eigenvectors into x.

    On a GPU bands are treated as full matrices.
    """
    (a,), b, lower = problem.arrays, problem.second, problem.lower
    standard = problem._replace(second=None, lower=True)
    if problem.form == "band" and xp is np:
        band, x = reduce_pencil(a, b, lower, vectors=problem.vectors)
        width = min(len(band) - 1, max(problem.order - 1, 0))
        return standard._replace(arrays=(band,), width=width, dtype=band.dtype), lambda y: x @ y
    if problem.form == "band":
        c, transform = reduce_as_full(xp, a, b, lower, problem.device)
    else:
        c, transform = reduce_full_pencil(xp, *module_arrays(xp, a, b), lower)
    standard = standard._replace(form="full", arrays=(c,), dtype=c.dtype)
    return standard, lambda y: transform(xp.ascontiguousarray(y))


def _solve_blocks(
    xp: ModuleType | None, problem: Problem, partition: Partition
) -> tuple[np.ndarray, Any]:
    """Solve the diagonal blocks of a band."""
    band, vectors, dtype = problem.arrays[0], problem.vectors, problem.dtype
    choose_scale(band, problem.lower, problem.name)  # refuses NaN and infinity
    single = partition.single
    main, units = diagonals(band, problem.lower)[0].real[single], None
    if vectors:
        assert xp is not None
        main, units = main.astype(float), xp.eye(single.size, dtype=band.dtype)
    blocks: list[Block] = [(single, main, units)]
    for rows in partition.groups:
        part = problem._replace(
            arrays=(np.ascontiguousarray(band[:, rows]),), order=rows.size,
            width=min(problem.width, rows.size - 1), selection=problem.selection.of_part(vectors),
        )  # fmt: skip
        values, columns = _follow(xp, part)
        values = values if vectors else round_to_dtype(problem.name, values, dtype)
        blocks.append((rows, values, columns))
    return join_blocks(xp or np, problem.selection, blocks, (problem.order, band.dtype))


def _solve_tridiagonal_pairs(problem: Problem) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors of a tridiagonal matrix; the simulator has no CuPy."""
    device, like, dtype = problem.device, problem.like, problem.dtype
    reduced = _as_given(problem)
    least = least_order(problem, problem.selection.kind)
    if (pairs := solve_by_lapack(problem, reduced, least)) is not None:
        return _finish(problem, pairs[0]), pairs[1].astype(dtype, copy=False)
    with device.active():
        space = Workspace(device, like)
        if device.kind == "cuda":
            from hetero.cuda.driver import SIMULATOR

            if not SIMULATOR:
                with array_module(device, space.stream, problem.routine):
                    pass  # which says if CuPy is missing
        placed = solve_parts(problem, reduced, least, host_workspace(space))
        rows = placed.place_rows(space, dtype)
        values = _finish(problem, placed.read_values())
        vectors = space.result(rows, (len(values), problem.order))
        return copy_like(values, like), vectors.T

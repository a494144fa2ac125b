"""Launches of the kernels that solve a batch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hetero import region
from hetero.arrays import Array
from hetero.cuda import launch
from hetero.cuda.ready_arrays import allocate_as_one, fill_with_zeros
from hetero.display.progress_bar import report_loop, reports_loops
from sbth._batch import (
    bisection_kernels,
    householder_kernels,
    pencil_kernels,
    ql_kernels,
    rotation_kernels,
)
from sbth._batch.reduction_steps import scratch_size
from sbth._batch.status import FINE, NOT_FINITE, OVERFLOW
from sbth._batch.warp_steps import ROWS
from sbth._gpu.arithmetic import LANES
from sbth._gpu.blocks_of_threads import GLOBAL, REGISTERS, SHARED, kernel_name, round_to_warps
from sbth._problem.limits import LARGEST_GPU_BATCH as LARGEST_ORDER
from sbth._tridiagonal.divide_and_conquer.leaf_formulas import MAX_SWEEPS

_CHUNK = 1 << 27
"""Elements of the matrices that are solved at once, which bounds the memory for work."""

_SHOWN_CHUNK = 1 << 25
"""The same if a progress bar is shown, which advances with each chunk."""

_STATIC = 64
"""Bytes that blocks have in shared memory besides what they ask for."""

_SWEEPS = 28
"""Sweeps of a round (not tuned). Their rotations take less than twice the room of a matrix."""

_USUAL_SWEEPS = 2.6
"""Sweeps for each row after which the host asks whether all matrices have converged: 3000 random
matrices of order 32 took 67 to 80."""

_ACCURACY = {"float32": 2.0**-27, "float64": 2.0**-53}
"""Length of the last interval of bisection relative to the norm."""


class Layout(NamedTuple):
    """Places of the elements of matrices in an array.

    Element (i, j) of matrix b with 0 <= i - j <= width is number
    b step + offset + i row + j column; those farther from the diagonal are 0.
    """

    offset: int
    row: int
    column: int
    width: int
    step: int

    @classmethod
    def of_full(cls, n: int, lower: bool) -> Layout:
        """Return the layout of matrices (n, n) of which one triangle is read."""
        return cls(0, *((n, 1) if lower else (1, n)), n - 1, n * n)

    @classmethod
    def of_band(cls, n: int, width: int, lower: bool) -> Layout:
        """Return the layout of LAPACK's band storage (width + 1, n)."""
        if lower:
            return cls(0, n, 1 - n, width, (width + 1) * n)
        return cls(width * n, 1 - n, n, width, (width + 1) * n)


class _Memory:
    """Arrays on the device for some matrices of a batch."""

    def __init__(self, count: int, n: int, stream: Any) -> None:
        forms = ((2, count, n), np.float64), ((count,), np.float64), ((count,), np.int8)
        self.tridiagonals, self.factors, self.status = allocate_as_one(forms, stream)


class Results(NamedTuple):
    """Arrays on the device for the results of a batch.

    Attributes
    ----------
    values : array (count, n)
        In ascending order.
    vectors : array (count, n n), or None
        Matrices by rows, of which the columns are eigenvectors. Of the type of the matrices.
    """

    values: Array
    vectors: Array | None

    def part(self, begin: int, end: int) -> Results:
        """Return the arrays for some of the matrices."""
        vectors = None if self.vectors is None else self.vectors[begin:end]
        return Results(self.values[begin:end], vectors)


class Source(NamedTuple):
    """Full or band matrices on the device.

    Attributes
    ----------
    array : flat array
    layout : Layout
    """

    array: Array
    layout: Layout

    def part(self, begin: int, end: int) -> Array:
        """Return the flat array of some of the matrices."""
        return self.array[begin * self.layout.step : end * self.layout.step]


def solve_matrices(source: Source, results: Results, stream: Any) -> np.ndarray:
    """Solve full or band matrices; returns for each one of the numbers of `status`."""

    def solve(part: Results, begin: int, memory: _Memory) -> None:
        """Solve the matrices from number `begin` on."""
        array = source.part(begin, begin + len(part.values))
        _solve_matrices(array, source.layout, part, memory, stream)

    return _solve_in_chunks(results, solve, stream)


def solve_pencils(first: Source, second: Source, results: Results, stream: Any) -> np.ndarray:
    """Solve A x = lambda B x with A in `first` and B in `second`, likewise."""
    n, dtype = results.values.shape[1], str(first.array.dtype)
    reduce, restore = (pencil_kernels.KERNELS[f"{x}_{dtype}"] for x in ("reduce", "restore"))
    threads = round_to_warps(n)

    def solve(part: Results, begin: int, memory: _Memory) -> np.ndarray:
        """Solve the pencils from number `begin` on; return their states."""
        count = len(part.values)
        matrices, end = ((count, n * n), dtype), begin + count
        forms = matrices, matrices, ((count,), np.int8)
        reduced, factors, status = allocate_as_one(forms, stream)
        fill_with_zeros(status, stream)  # FINE
        layouts = tuple(first.layout), tuple(second.layout)
        with region("Cholesky factorization"):
            arrays = first.part(begin, end), second.part(begin, end)
            arguments = *arrays, layouts, n, reduced, factors, status
            launch.launch(reduce, count, threads, stream, arguments)
        _solve_matrices(
            reduced.reshape(reduced.size), Layout.of_full(n, True), part, memory, stream
        )
        if part.vectors is not None:
            launch.launch(restore, count, threads, stream, (factors, status, part.vectors, n))
        of_pencil = status.copy_to_host(stream=stream)
        of_matrix = memory.status.copy_to_host(stream=stream)
        of_matrix[of_matrix == NOT_FINITE] = OVERFLOW
        return np.where(of_pencil == FINE, of_matrix, of_pencil)

    return _solve_in_chunks(results, solve, stream)


def solve_tridiagonals(d: Array, e: Array, results: Results, stream: Any) -> np.ndarray:
    """Solve the matrices of diagonals d (count, n) and subdiagonals e (count, n), likewise.

    The last element of each subdiagonal is not read.
    """
    n, dtype = results.values.shape[1], str(results.values.dtype)
    threads = min(round_to_warps(n), bisection_kernels.THREADS)

    def solve(part: Results, begin: int, memory: _Memory) -> None:
        """Solve the matrices from number `begin` on."""
        count = len(memory.factors)
        matrices = slice(begin, begin + count)
        arguments = d[matrices], e[matrices], memory.tridiagonals, memory.factors, memory.status
        launch.launch(bisection_kernels.scale, count, threads, stream, arguments)
        work = _work_array(part, dtype, False, stream)
        if part.vectors is not None:
            launch.launch(ql_kernels.store_identities, count, threads, stream, (work, n))
        _solve_tridiagonals(memory, work, part, stream)

    return _solve_in_chunks(results, solve, stream)


def _solve_in_chunks(
    results: Results, solve: Callable[[Results, int, _Memory], np.ndarray | None], stream: Any
) -> np.ndarray:
    """Call `solve` for chunks of a batch; return the status of each matrix."""
    count, n = results.values.shape
    chunk = min(_CHUNK, _SHOWN_CHUNK) if reports_loops() else _CHUNK
    most, status = max(chunk // (n * n), 1), np.empty(count, np.int8)
    with report_loop(count) as advance:
        for begin in range(0, count, most):
            end = min(begin + most, count)
            memory = _Memory(end - begin, n, stream)
            states = solve(results.part(begin, end), begin, memory)
            if states is None:
                states = memory.status.copy_to_host(stream=stream)
            status[begin:end] = states
            advance(end - begin)
    return status


def _solve_matrices(
    source: Array, layout: Layout, part: Results, memory: _Memory, stream: Any
) -> None:
    """Compute the results of the full or band matrices in `source`, a flat array."""
    (count, n), dtype = part.values.shape, str(source.dtype)
    storage = _storage_of_reduction(n, dtype)
    work = _work_array(part, dtype, storage == GLOBAL, stream)
    with region("reduction to tridiagonal form"):
        reduce = householder_kernels.KERNELS[kernel_name("reduce", dtype, storage)]
        arguments = source, tuple(layout), (n, _pitch(n, storage)), work
        results = memory.tridiagonals, memory.factors, memory.status, part.vectors is not None
        threads, size = _reduction_threads(n, storage), _reduction_bytes(n, dtype, storage)
        launch.launch(reduce, count, threads, stream, (*arguments, *results), size)
    _solve_tridiagonals(memory, work, part, stream)


def _solve_tridiagonals(memory: _Memory, work: Array, results: Results, stream: Any) -> None:
    """Compute the results of the tridiagonal matrices in `memory`, of which `work` holds Q."""
    (count, n), real = results.values.shape, str(results.values.dtype)
    tridiagonals, factors, status = memory.tridiagonals, memory.factors, memory.status
    with region("eigenvalues of the tridiagonal matrix"):
        if results.vectors is None:
            arguments = tridiagonals, factors, _ACCURACY[real], results.values, status
            threads = min(round_to_warps(n), bisection_kernels.THREADS)
            size = 8 * bisection_kernels.float64_count(n)
            launch.launch(bisection_kernels.bisect, count, threads, stream, arguments, size)
            return
        dtype = str(results.vectors.dtype)
        if _iterates_in_rounds(n, dtype):
            _iterate_in_rounds(memory, work, results, stream)
            return
        storage = SHARED if _iterates_in_shared_memory(n, dtype) else GLOBAL
        iterate = ql_kernels.KERNELS[kernel_name("iterate", dtype, storage)]
        rows = n if dtype == real else 2 * n  # real and imaginary parts
        if dtype != real:
            work, results = work.view(real), Results(results.values, results.vectors.view(real))
        sizes = n, _pitch(rows, storage)
        arrays = tridiagonals, factors, work, sizes, results.values, results.vectors, status
        most = ql_kernels.MOST_IN_SHARED_MEMORY - LANES if storage == SHARED else LARGEST_ORDER
        threads = LANES + min(round_to_warps(rows), most)
        size = _ql_bytes(n, dtype, storage)
        launch.launch(iterate, count, threads, stream, arrays, size)


def _iterate_in_rounds(memory: _Memory, work: Array, results: Results, stream: Any) -> None:
    """Compute eigenvalues and eigenvectors by rounds of sweeps and of their rotations."""
    assert results.vectors is not None
    (count, n), dtype = results.values.shape, str(results.vectors.dtype)
    find, apply, store = (
        rotation_kernels.KERNELS[f"{verb}_{dtype}"]
        for verb in ("find_rotations", "apply_rotations", "store")
    )
    usual = math.ceil(_USUAL_SWEEPS * n / _SWEEPS)
    rounds = usual + MAX_SWEEPS * n // _SWEEPS  # that suffice for all matrices
    positions, rotations, ranges, counts, unfinished = allocate_as_one(
        [
            ((count, 3), np.int32),
            ((count, _SWEEPS, 2, n), dtype),
            ((count, _SWEEPS, 2), np.int32),
            ((count,), np.int32),
            ((rounds,), np.int32),
        ],
        stream,
    )
    fill_with_zeros(unfinished, stream)
    threads = rotation_kernels.THREADS
    arrays = memory.tridiagonals, positions, rotations, ranges, counts
    size = 8 * rotation_kernels.float64_count(n)
    for number in range(rounds):
        blocks = -(-count // threads)
        launch.launch(find, blocks, threads, stream, (*arrays, number, unfinished), size)
        launch.launch(apply, count, threads, stream, (rotations, ranges, counts, work))
        is_checked = number >= usual - 1
        if is_checked and unfinished.copy_to_host(stream=stream)[number] == 0:
            break
    arguments = memory.tridiagonals, memory.factors, positions, work, *results, memory.status
    launch.launch(store, count, threads, stream, arguments)


def _work_array(part: Results, dtype: str, is_needed: bool, stream: Any) -> Array:
    """Return an array for the matrices, which the results can hold if the iteration copies them."""
    count, n = part.values.shape
    if part.vectors is not None:
        if _iterates_in_shared_memory(n, dtype):
            return part.vectors
        is_needed = True
    return allocate_as_one([((count, n * n) if is_needed else (1, 1), dtype)], stream)[0]


def _storage_of_reduction(n: int, dtype: str) -> str:
    """Return where a matrix of order n is while a block reduces it."""
    storages = (SHARED,) if n > ROWS or np.dtype(dtype).kind == "c" else (REGISTERS, SHARED)
    most = launch.max_shared_memory()
    return next(
        (storage for storage in storages if _reduction_bytes(n, dtype, storage) <= most), GLOBAL
    )


def _pitch(n: int, storage: str) -> int:
    """Return the distance of columns: odd in shared memory, to avoid bank conflicts."""
    return {SHARED: n | 1, GLOBAL: n, REGISTERS: ROWS | 1}[storage]


def _reduction_threads(n: int, storage: str) -> int:
    """Return how many threads reduce a matrix: one to four for each row."""
    if storage == REGISTERS:
        return ROWS
    rows = round_to_warps(n)
    most = LARGEST_ORDER
    if storage == SHARED:
        most = min(householder_kernels.MOST_THREADS, rows * -(-n // 32))
    return rows * max(most // rows, 1)


def _reduction_bytes(n: int, dtype: str, storage: str) -> int:
    """Return the shared memory of a block that reduces a matrix."""
    rows = ROWS if storage == REGISTERS else n
    scratch = scratch_size(rows, _reduction_threads(n, storage))
    return np.dtype(dtype).itemsize * (
        scratch + (0 if storage == GLOBAL else _pitch(n, storage) * n)
    )


def _ql_bytes(n: int, dtype: str, storage: str) -> int:
    """Return the shared memory of a block that iterates."""
    parts = 2 if np.dtype(dtype).kind == "c" else 1
    column = np.dtype(dtype).itemsize // parts * _pitch(parts * n, SHARED)
    return 8 * ql_kernels.float64_count(n) + (column * n if storage == SHARED else 0)


def _iterates_in_rounds(n: int, dtype: str) -> bool:
    """Return whether rounds of sweeps and rotations solve tridiagonal matrices of order n."""
    return n <= ROWS and np.dtype(dtype).kind != "c" and _iterates_in_shared_memory(n, dtype)


def _iterates_in_shared_memory(n: int, dtype: str) -> bool:
    """Return whether the vectors of a matrix fit in shared memory."""
    return _ql_bytes(n, dtype, SHARED) + _STATIC <= launch.max_shared_memory()

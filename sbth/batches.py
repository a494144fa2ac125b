"""Batches of matrices over several devices, the workers of an executor, or ranks of MPI."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from hetero.distributed.engines import Engine
from hetero.distributed.joining import concatenate
from hetero.distributed.worker_devices import Devices
from sbth._batch.over_batches import MATRIX_DIMENSIONS, flatten, validate_batch
from sbth._batch.pieces import pieces
from sbth._problem.validation import validate_bool


class Part(NamedTuple):
    """Matrices of a batch that one device solves.

    Attributes
    ----------
    first : index of the first of them in the batch
    arrays : array arguments of the solver, with one leading dimension
    """

    first: tuple[int, ...]
    arrays: dict[str, np.ndarray]


def solve_batch(
    solver: Callable[..., Any],
    *arrays: Any,
    executor: Executor | None = None,
    comm: Any = None,
    device: Devices = None,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Solve a batch of matrices by several devices, by an executor's workers, or by ranks.

    Parameters
    ----------
    solver : function
        `sbth.eigh`, `eigvalsh`, `eig_banded`, `eigvals_banded`, `eigh_tridiagonal` or
        `eigvalsh_tridiagonal`.
    *arrays : array_like (..., n, n), (..., bandwidth + 1, n) or (..., n)
        The solver's array arguments with leading dimensions, which are broadcast, in host memory.
    executor : concurrent.futures.Executor, optional
        Solves parts of the batch in parallel: in processes, which must be started with
        `mp_context=multiprocessing.get_context("spawn")`, by `mpi4py.futures.MPIPoolExecutor`, or
        by Dask's `Client(...).get_executor()`. Each worker takes a GPU of its own if there is one.
    comm : communicator of mpi4py, optional
        All its ranks call `solve_batch` alike, share the matrices, and get all results.
    device : None, "auto", "cpu", "cuda", "cuda:N", hetero.Device, or several devices
        Several, such as ["cuda:0", "cuda:1"] or "cuda:all", solve side by side. With an executor or
        `comm`, "cpu" or "cuda": what each worker takes.
    progress : bool
        Whether to show a progress bar.
    **options
        Further arguments of the solver, such as `lower`, `b_band` or `subset_by_index`.

    Returns
    -------
    array, or tuple of arrays
        The same as solver(*arrays, **options): its results with the leading dimensions.

    Raises
    ------
    TypeError, ValueError
        As the solver; the message counts matrices from the first one of a part. Without leading
        dimensions there is nothing to share.
    hetero.DeviceUnavailableError

    Notes
    -----
    Results are those of one device of the same kind, bit for bit, because no matrix depends on the
    others of its batch. Parts are sent with their matrices: it pays where solving one takes longer
    than copying it, which a process does at some GB/s.

    Examples
    --------
    >>> import numpy as np, sbth
    >>> a = np.array([[[2.0, 1.0], [1.0, 2.0]], [[0.0, 3.0], [3.0, 0.0]]])
    >>> sbth.solve_batch(sbth.eigvalsh, a, device=["cpu", "cpu"])
    array([[ 1.,  3.],
           [-3.,  3.]])
    """
    dimensions = _dimensions_of(solver)
    engine = Engine.create(device, executor, comm)
    if engine.is_single:
        return solver(*arrays, progress=progress, device=engine.local, **options)
    with engine.raised_by_all():
        arguments = dict(inspect.signature(solver).bind(*arrays, **options).arguments)
        lead, parts = _divide(solver, arguments, dimensions, engine.count_parts())
        if not parts:
            return solver(**arguments)
        common = {name: x for name, x in arguments.items() if name not in parts[0].arrays}
    results = engine.run(
        functools.partial(_solve_part, solver, common),
        parts,
        title=f"{solver.__name__}, {math.prod(lead)} matrices",
        show_progress=validate_bool("progress", progress),
    )
    if isinstance(results[0], tuple):
        return tuple(_join(outputs, lead) for outputs in zip(*results, strict=True))
    return _join(results, lead)


def _dimensions_of(solver: Any) -> dict[str, int]:
    """Return the dimensions of the array arguments of a solver for one matrix."""
    dimensions = MATRIX_DIMENSIONS.get(solver) if callable(solver) else None
    if dimensions is None:
        raise ValueError(
            "solver must be a function of this package that takes batches, such as sbth.eigh, got "
            f"{solver!r}"
        )
    return dimensions


def _divide(
    solver: Callable[..., Any], arguments: dict[str, Any], dimensions: dict[str, int], most: int
) -> tuple[tuple[int, ...], list[Part]]:
    """Return the leading dimensions of a batch, and at most so many parts of about equal lengths.

    Raises
    ------
    TypeError, ValueError
        The arrays do not hold numbers, do not match, or have no leading dimensions.
    """
    batch, lead = validate_batch(arguments, dimensions)
    if not lead:
        raise ValueError(
            f"{next(iter(dimensions))} must be an array with leading dimensions, which several "
            f"devices share: call sbth.{solver.__name__} for one matrix"
        )
    arrays, count = flatten(batch, lead, dimensions), math.prod(lead)
    return lead, [
        Part(
            tuple(int(i) for i in np.unravel_index(piece.start, lead)),
            {name: array[piece.start : piece.stop] for name, array in arrays.items()},
        )
        for piece in pieces(count, most)
    ]


def _solve_part(
    solver: Callable[..., Any], common: dict[str, Any], part: Part, device: Device
) -> Any:
    """Solve the matrices of a part; errors say where in the batch it begins."""
    try:
        return solver(**(common | part.arrays), device=device)
    except (TypeError, ValueError) as error:
        raise type(error)(f"counted from matrix {part.first}: {error}") from error


def _join(results: Sequence[np.ndarray], lead: tuple[int, ...]) -> np.ndarray:
    """Return the results of all parts with the leading dimensions of the batch."""
    whole = concatenate(results)
    return whole.reshape(lead + whole.shape[1:])

"""Calls of the public functions with batches that a GPU solves."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hetero import Device
from hetero.arrays import Workspace
from hetero.devices import device_of, resolve
from sbth._problem.arrays import is_sparse, real_dtype, shape_and_dtype
from sbth._problem.inspection import require_finite_triangle
from sbth._problem.limits import BATCH_BREAK_EVEN, LARGEST_GPU_BATCH
from sbth._problem.selection import Selection
from sbth._problem.storage import matrix_of_batch
from sbth._problem.validation import validate_bool, validate_numbers
from sbth._vendor.array_modules import array_module, as_module_array


class GpuBatch(NamedTuple):
    """A batch of matrices, or of pencils of two matrices, that are solved on a GPU.

    Attributes
    ----------
    form : {"full", "band", "tridiagonal"}
    arrays : dict of arrays by name, in host memory or on the GPU
        For a generalized problem A x = lambda B x, A and B.
    lead : tuple of int
        Leading dimensions that the arrays share.
    order : int
        Order n of the matrices.
    dtype : numpy.dtype
        Type to compute in.
    lower : bool
    has_vectors : bool
    selection : Selection
    device : Device
    """

    form: str
    arrays: dict[str, Any]
    lead: tuple[int, ...]
    order: int
    dtype: np.dtype
    lower: bool
    has_vectors: bool
    selection: Selection
    device: Device

    @property
    def size(self) -> int:
        """Number of matrices."""
        return math.prod(self.lead)


def solve_on_gpu(
    form: str, arguments: dict[str, Any], dimensions: dict[str, int], has_vectors: bool
) -> Any:
    """Return the results of a call of a public function, or None if it is not for these kernels.

    Parameters
    ----------
    form : {"full", "band", "tridiagonal"}
    arguments : dict
        The arguments of the call that were given.
    dimensions : dict of int
        Number of dimensions of each array argument for one matrix.
    has_vectors : bool
        Whether the function computes eigenvectors, unless `eigvals_only` says otherwise.
    """
    request = _parse(form, arguments, dimensions, has_vectors)
    if request is None:
        return None
    like = next((x for x in request.arrays.values() if device_of(x) is not None), None)
    with request.device.active():
        space = Workspace(request.device, like)
        with _flat_arrays(request, space) as sources:
            return _solve(request, space, sources)


def _parse(
    form: str, arguments: dict[str, Any], dimensions: dict[str, int], has_vectors: bool
) -> GpuBatch | None:
    """Return the request of a call, or None."""
    arrays = {name: arguments[name] for name in dimensions if arguments.get(name) is not None}
    is_complete = next(iter(dimensions)) in arrays and (form != "tridiagonal" or len(arrays) == 2)
    if not is_complete or any(map(is_sparse, arrays.values())):
        return None  # the caller refuses it
    method = arguments.get("method", "auto")
    if method not in ("auto", "sbth"):
        return None
    for name, x in arrays.items():
        if device_of(x) is None:
            arrays[name] = validate_numbers(name, x)
    shapes, dtypes = {}, []
    for name, x in arrays.items():
        shapes[name], dtype = shape_and_dtype(name, x, allow_complex=True)
        dtypes.append(dtype)
    if any(len(shape) < dimensions[name] for name, shape in shapes.items()):
        return None
    n = shapes[next(iter(arrays))][-1]
    try:
        lead = np.broadcast_shapes(*(shapes[x][: len(shapes[x]) - dimensions[x]] for x in arrays))
    except ValueError:
        return None
    elements = math.prod(lead) * n * n
    if not _has_form(form, shapes, n) or not elements or n > LARGEST_GPU_BATCH:
        return None
    if form == "tridiagonal" and any(x.kind == "c" for x in dtypes):
        return None
    device = arguments.get("device")
    chosen = resolve(device, *arrays.values(), work=elements, break_even=BATCH_BREAK_EVEN)
    if chosen.kind == "cpu":
        return None
    if arguments.get("subset_by_value") is not None:
        return None  # the caller refuses it, and other intervals
    selection = Selection.of_call(arguments, n)
    if selection.kind == "v":
        return None
    lower = validate_bool("lower", arguments.get("lower", form == "full"))
    values_only = validate_bool("eigvals_only", arguments.get("eigvals_only", False))
    for name in ("overwrite_a", "overwrite_a_band", "check_finite"):
        validate_bool(name, arguments.get(name, False))
    vectors, dtype = has_vectors and not values_only, np.result_type(*dtypes)
    return GpuBatch(form, arrays, lead, n, dtype, lower, vectors, selection, chosen)


def _has_form(form: str, shapes: dict[str, tuple[int, ...]], n: int) -> bool:
    """Return whether arrays of these shapes hold matrices of order n in the storage of `form`."""
    if form == "tridiagonal":
        return shapes["d"][-1] == n and shapes["e"][-1] == n - 1
    if form == "band":
        return all(shape[-2] > 0 and shape[-1] == n for shape in shapes.values())
    return all(shape[-2:] == (n, n) for shape in shapes.values())


@contextlib.contextmanager
def _flat_arrays(request: GpuBatch, space: Workspace) -> Iterator[list[Any]]:
    """Yield the arrays on the device with one leading dimension, flat."""
    dtype, real, count = request.dtype, real_dtype(request.dtype), request.size
    core = 2 if request.form != "tridiagonal" else 1

    def flatten(xp: Any, x: Any) -> Any:
        """Return an array of `xp` with all leading dimensions, flat; subdiagonals get a 0."""
        shape = x.shape[x.ndim - core :]
        flat = xp.broadcast_to(x, request.lead + shape).reshape(count, *shape)
        if core == 1 and shape[0] == request.order - 1:
            flat = xp.concatenate([flat, xp.zeros((count, 1), flat.dtype)], axis=1)
        return xp.ascontiguousarray(flat, dtype=dtype).reshape(-1)

    if all(device_of(x) is None for x in request.arrays.values()):
        yield [
            space.input(name, flatten(np, x).view(real), real).view(dtype)
            for name, x in request.arrays.items()
        ]
        return
    with array_module(request.device, space.stream, "a batch of matrices on a GPU") as xp:
        yield [flatten(xp, as_module_array(xp, x)) for x in request.arrays.values()]


def _solve(request: GpuBatch, space: Workspace, sources: list[Any]) -> Any:
    """Return the results as arrays of the library of the caller."""
    from hetero.cuda.ready_arrays import ready
    from sbth._batch import solver  # imports CUDA

    sources = [ready(x) for x in sources]
    lead, n, count, real = request.lead, request.order, request.size, real_dtype(request.dtype)
    values = space.output((count, n), real)
    vectors = space.output((count, n, n), request.dtype) if request.has_vectors else None
    results = solver.Results(
        ready(values).reshape((count, n)),
        None if vectors is None else ready(vectors).reshape((count, n * n)),
    )
    if request.form == "tridiagonal":
        d, e = (x.reshape((count, n)) for x in sources)
        status = solver.solve_tridiagonals(d, e, results, space.stream)
    else:
        matrices = []
        for array in sources:
            width = array.size // (count * n) - 1
            layout = solver.Layout.of_band(n, width, request.lower)
            if request.form == "full":
                layout = solver.Layout.of_full(n, request.lower)
            matrices.append(solver.Source(array, layout))
        solve: Any = solver.solve_matrices if len(matrices) == 1 else solver.solve_pencils
        status = solve(*matrices, results, space.stream)
    _raise_if_failed(request, status, real)
    chosen = slice(*request.selection.bounds(np.empty(n)))
    every = (slice(None),) * len(lead)  # arrays of Numba take no ellipsis
    selected = space.result(values, (*lead, n))[(*every, chosen)]
    if vectors is None:
        return selected
    return selected, space.result(vectors, (*lead, n, n))[(*every, slice(None), chosen)]


def _raise_if_failed(request: GpuBatch, status: np.ndarray, dtype: np.dtype) -> None:
    """Raise an error for the first matrix that was not solved."""
    from sbth._batch import status as states

    if np.all(status == states.FINE):
        return
    index = int(np.argmax(status != states.FINE))
    state, names = status[index], list(request.arrays)
    where = matrix_of_batch(names, index, request.lead)
    if state in (states.NOT_FINITE, states.SECOND_NOT_FINITE):
        name = ", ".join(names)
        if request.form != "tridiagonal":
            name = names[0 if state == states.NOT_FINITE else 1]
        if request.form == "full":
            require_finite_triangle(math.inf, request.lower, f"{where}: {name}")
        raise ValueError(f"{where}: {name} must be finite, and one element is NaN or infinity")
    if state == states.NOT_DEFINITE:
        raise np.linalg.LinAlgError(
            f"{where}: {names[1]} must be positive definite: its Cholesky factorization fails"
        )
    if state == states.NOT_CONVERGED:
        raise np.linalg.LinAlgError(f"{where}: the QL iteration did not converge")
    raise ValueError(
        f"{where}: an eigenvalue exceeds the largest {dtype}, {np.finfo(dtype).max:.4g}. Divide "
        "the matrices by a power of two"
    )

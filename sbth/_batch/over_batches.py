"""Batches of matrices: arrays with leading dimensions.

On a GPU, kernels solve small matrices at the same time (`sbth._batch`). On a CPU all threads
do: NumPy's solvers and the loops of this package release the interpreter's lock, so that each
Python thread solves matrices of its own. (SciPy's functions for LAPACK's band and tridiagonal
routines keep the lock: there one matrix follows the other.) Large matrices are solved one after the
other, each by all threads.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from hetero.devices import Device, device_of, resolve
from hetero.display.progress_bar import loop_progress, report_loop
from sbth._batch.named_routines import NAMES, solve_by_scipy
from sbth._batch.pieces import run_pieces
from sbth._batch.requests import solve_on_gpu
from sbth._batch.stacks import solve_pencils, solve_stack
from sbth._problem.arrays import copy_like, is_sparse
from sbth._problem.limits import LARGEST_THREADED_BATCH
from sbth._problem.problem import Call, require_real
from sbth._problem.storage import matrix_of_batch
from sbth._problem.validation import validate_bool, validate_numbers
from sbth._vendor.array_modules import as_library_array, as_module_array, module_on

MATRIX_DIMENSIONS: dict[Callable[..., Any], dict[str, int]] = {}
"""Functions that take batches: the number of dimensions of each array argument for one matrix."""

_OVER_BATCHES: dict[Callable[..., Any], Callable[..., Any]] = {}
"""The functions that take batches, by those of one matrix."""

P = ParamSpec("P")
R = TypeVar("R")


def over_batches(
    form: str, *, has_vectors: bool = False, **dimensions: int
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator with which a function takes batches of the arguments that are named.

    Calls that name a routine of LAPACK as in SciPy (`named_routines`) go to SciPy.

    Parameters
    ----------
    form : {"full", "band", "tridiagonal"}
        Storage of the matrices, for the kernels that solve a batch on a GPU.
    has_vectors : bool
        Whether the function computes eigenvectors, unless its argument `eigvals_only` is true.
    **dimensions : int
        Number of dimensions of each array argument for one matrix, the same for all.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        names = list(signature.parameters)
        leading = sum(1 for _ in itertools.takewhile(dimensions.__contains__, names))
        special, (count,) = NAMES.union(dimensions), set(dimensions.values())

        @functools.wraps(function)
        def solve(*arguments: P.args, **options: P.kwargs) -> R:
            arrays = arguments[:leading]
            if not special.isdisjoint(options):
                named = solve_by_scipy(function.__name__, arguments, options)
                if named is not None:
                    return named
                arrays = *arrays, *(options[name] for name in dimensions if name in options)
            is_shown = "progress" in options and validate_bool("progress", options["progress"])
            for value in arrays:
                if (value.ndim if type(value) is np.ndarray else _dimensions(value)) > count:
                    bound = signature.bind(*arguments, **options).arguments
                    bound.pop("progress", None)
                    with loop_progress("batch of matrices", enabled=is_shown):
                        results = solve_on_gpu(form, bound, dimensions, has_vectors)
                        if results is not None:
                            return results
                        return _solve_batch(function, bound, dimensions, has_vectors)
            return function(*arguments, **options)

        MATRIX_DIMENSIONS[solve], _OVER_BATCHES[function] = dimensions, solve
        return solve

    return decorate


def _dimensions(value: Any) -> int:
    """Return the number of dimensions of an array_like; 0 if it has none or is ragged."""
    if is_sparse(value):
        return 0
    shape = getattr(value, "shape", None)
    if shape is None and isinstance(value, list | tuple):
        try:
            shape = np.shape(value)
        except ValueError:
            return 0
    return len(shape) if isinstance(shape, tuple) else 0


class _Matrices(NamedTuple):
    """Matrices of a batch, which a function solves one by one.

    Attributes
    ----------
    function : function of one matrix
    arguments : dict
        The arguments of the call that were given.
    arrays : dict of arrays (count, ...)
        Those of its arguments that are arrays, with one leading dimension.
    lead : tuple of int
        Leading dimensions of the batch.
    """

    function: Callable[..., Any]
    arguments: dict[str, Any]
    arrays: dict[str, Any]
    lead: tuple[int, ...]

    def solve(self, index: int) -> Any:
        """Solve a matrix; errors name it."""
        one = {name: x[index] for name, x in self.arrays.items()}
        try:
            return self.function(**(self.arguments | one))
        except (TypeError, ValueError) as error:
            where = matrix_of_batch(self.arrays, index, self.lead)
            raise type(error)(f"{where}: {error}") from error

    def solve_none(self) -> Any:
        """Return the results of an empty batch, of the shapes and types for a matrix of zeros.

        A CPU solves it.
        """
        arguments, lead = self.arguments, self.lead
        if arguments.get("method") != "lapack":
            arguments = arguments | {"device": "cpu", "method": "auto"}
        one = {name: np.zeros(x.shape[1:], x.dtype) for name, x in self.arrays.items()}
        if "b" in one:
            np.fill_diagonal(one["b"], 1)
        if "b_band" in one and len(one["b_band"]):
            one["b_band"][0 if arguments.get("lower", False) else -1] = 1
        result = self.function(**(arguments | one))
        if isinstance(result, tuple):
            return tuple(np.empty(lead + x.shape, x.dtype) for x in result)
        return np.empty(lead + result.shape, result.dtype)


def _solve_batch(
    function: Callable[..., Any],
    arguments: dict[str, Any],
    dimensions: dict[str, int],
    has_vectors: bool,
) -> Any:
    """Solve all matrices of a batch; return arrays with its leading dimensions."""
    if any(device_of(arguments.get(name)) is not None for name in dimensions):
        return _solve_gpu_arrays(function, arguments, dimensions)
    arrays, lead = validate_batch(arguments, dimensions)
    device = _choose_device(arguments, arrays)
    if list(arrays) == ["a"] and device.kind == "cpu":
        return solve_stack(arguments, arrays["a"], has_vectors)
    flat, count = flatten(arrays, lead, dimensions), math.prod(lead)
    matrices = _Matrices(function, arguments, flat, lead)
    if count == 0:
        return matrices.solve_none()
    cores = [array.shape[1:] for array in flat.values()]
    order = cores[0][-1]
    are_small = 0 < order <= LARGEST_THREADED_BATCH and cores == [(order, order)] * 2
    if list(flat) == ["a", "b"] and are_small and device.kind == "cpu":
        return solve_pencils(_OVER_BATCHES[function], arguments, (flat["a"], flat["b"]), lead)
    first = matrices.solve(0)
    is_pair = isinstance(first, tuple)
    outputs = [np.empty((count, *x.shape), x.dtype) for x in (first if is_pair else (first,))]

    def solve_piece(piece: range) -> None:
        """Solve some matrices and store the results."""
        for index in piece:
            result = matrices.solve(index) if index > 0 else first
            for out, x in zip(outputs, result if is_pair else (result,), strict=True):
                out[index] = x

    run_pieces(solve_piece, count, max(cores[0]))
    shaped = tuple(out.reshape(lead + out.shape[1:]) for out in outputs)
    return shaped if is_pair else shaped[0]


def _choose_device(arguments: dict[str, Any], arrays: dict[str, Any]) -> Device:
    """Return the device of a batch in host memory that no kernel for batches solves.

    Raises
    ------
    ValueError
        The method does not suit the device, or complex matrices.
    """
    method, form = arguments.get("method", "auto"), "full" if "a" in arrays else "band"
    call = Call("a batch", False, method, device=arguments.get("device"))
    device = call.choose_device(form, 0, ())
    for name, array in arrays.items():
        if array.dtype.kind == "c":
            require_real(name, method, device)
    return device


def _solve_gpu_arrays(
    function: Callable[..., Any], arguments: dict[str, Any], dimensions: dict[str, int]
) -> Any:
    """Solve the matrices of a batch in GPU arrays, one after the other, on their device."""
    _refuse_interval(arguments)
    passed = {name: arguments[name] for name in dimensions if arguments.get(name) is not None}
    device = resolve(arguments.get("device"), *passed.values())
    like = next(x for x in passed.values() if device_of(x) is not None)
    with module_on(device, like, "a batch of matrices on a GPU") as xp:
        arrays = {name: as_module_array(xp, x) for name, x in passed.items()}
        lead = _shared_lead(arrays, dimensions)
        flat = flatten(arrays, lead, dimensions, xp)
        matrices = _Matrices(function, arguments, flat, lead)
        if math.prod(lead) == 0:
            empty = matrices._replace(arguments=arguments | {"device": device}).solve_none()
            if isinstance(empty, tuple):
                return tuple(copy_like(x, like) for x in empty)
            return copy_like(empty, like)
        results = []
        with report_loop(math.prod(lead)) as advance:
            for index in range(math.prod(lead)):
                results.append(matrices.solve(index))
                advance(1)
        if not isinstance(results[0], tuple):
            return _join_gpu_arrays(xp, results, lead, like)
        outputs = zip(*results, strict=True)
        return tuple(_join_gpu_arrays(xp, output, lead, like) for output in outputs)


def _join_gpu_arrays(xp: ModuleType, results: Any, lead: tuple[int, ...], like: Any) -> Any:
    """Return the results of all matrices as an array of the library of `like`."""
    whole = xp.stack([as_module_array(xp, x) for x in results])
    return as_library_array(xp, whole.reshape(lead + whole.shape[1:]), like)


def _shared_lead(arrays: dict[str, Any], dimensions: dict[str, int]) -> tuple[int, ...]:
    """Return the leading dimensions that the arrays of a batch share.

    Raises
    ------
    ValueError
        They do not match.
    """
    try:
        leads = (array.shape[: array.ndim - dimensions[name]] for name, array in arrays.items())
        return np.broadcast_shapes(*leads)
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"the shapes of the batches do not match: {shapes}") from None


def validate_batch(
    arguments: dict[str, Any], dimensions: dict[str, int]
) -> tuple[dict[str, np.ndarray], tuple[int, ...]]:
    """Return the arrays of a batch as NumPy arrays, and the leading dimensions that they share.

    Raises
    ------
    TypeError, ValueError
        They are on a GPU, are sparse, or hold no numbers; their leading dimensions do not match; or
        the arguments select an interval of values.
    """
    names = [name for name in dimensions if arguments.get(name) is not None]
    for name in names:
        if device_of(arguments[name]) is not None:
            raise TypeError(
                f"{name} is a batch of matrices on a GPU, which one device solves: call the solver "
                "itself, or copy the batch to a NumPy array"
            )
        if is_sparse(arguments[name]):
            raise TypeError(f"{name} must be an array, because it belongs to a batch of matrices")
    _refuse_interval(arguments)
    arrays = {name: validate_numbers(name, arguments[name]) for name in names}
    return arrays, _shared_lead(arrays, dimensions)


def _refuse_interval(arguments: dict[str, Any]) -> None:
    """Raise ValueError if the arguments of a call select an interval of values."""
    if arguments.get("subset_by_value") is not None or _is_interval(arguments.get("select")):
        if arguments.get("subset_by_index") is not None:
            raise ValueError("subset_by_index and subset_by_value must not be given both")
        raise ValueError(
            "an interval of values holds another number of eigenvalues for each matrix of a batch: "
            "select by index, or loop over the matrices"
        )


def flatten(
    arrays: dict[str, Any], lead: tuple[int, ...], dimensions: dict[str, int], xp: Any = np
) -> dict[str, Any]:
    """Return the arrays of a batch with one leading dimension, in C order."""
    flat = {}
    for name, array in arrays.items():
        core = array.shape[array.ndim - dimensions[name] :]
        flat[name] = xp.broadcast_to(array, lead + core).reshape(math.prod(lead), *core)
    return flat


def _is_interval(select: Any) -> bool:
    """Return whether `select` asks for an interval of values."""
    return select == 1 or (isinstance(select, str) and select.lower() in ("v", "value"))

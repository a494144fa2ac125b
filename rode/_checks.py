"""Checks of a user's problem: parameters, and one call of each function."""

from __future__ import annotations

import math

import numpy as np

from hetero import errors
from hetero.arrays import as_real


def table_of(parameters) -> np.ndarray:
    """Parameters as a (number, sets) array with at least one row."""
    if not np.iterable(parameters):
        raise TypeError(f"parameters must be a sequence of numbers or arrays, got {parameters!r}")
    columns = [np.atleast_1d(as_real("parameters", v)) for v in parameters]
    if any(c.ndim != 1 for c in columns):
        raise ValueError("parameters must hold numbers or one-dimensional arrays")
    sets = {c.size for c in columns if c.size != 1}
    if len(sets) > 1 or 0 in sets:
        raise ValueError(f"arrays in parameters must have one length, got {sorted(sets)}")
    if not all(np.isfinite(c).all() for c in columns):
        raise ValueError("parameters must be finite, got NaN or infinity")
    size = sets.pop() if sets else 1
    rows = [np.broadcast_to(c, size) for c in columns] or [np.zeros(size)]
    return np.ascontiguousarray(np.vstack(rows))


def start_of(start, dimension: int, table: np.ndarray):
    """(function of (O, p), parameters): numbers to start from become parameters."""
    if callable(start):
        return start, table
    from rode._problems_math import start_from

    if start is not None and not np.iterable(start):
        raise TypeError(f"start must hold {dimension} numbers or be a function, got {start!r}")
    values = (0.0,) * dimension if start is None else tuple(start)
    if len(values) != dimension:
        raise ValueError(f"start must have {dimension} numbers, got {len(values)}")
    rows = [np.full(table.shape[1], errors.real("start", v)) for v in values]
    return start_from(table.shape[0], dimension), np.vstack([table, *rows])


def outputs_of(problem, outputs) -> tuple[str, ...]:
    """Names of a problem's outputs, after one call of each function."""
    p = tuple(map(float, problem.parameters[:, 0]))
    x = (0.25,) * problem.dimension
    if problem.start.__qualname__.partition(".")[0] != "start_from":
        _expect("start", called(problem.start, 0.5, p), problem.dimension)
    _expect("H", called(problem.H, x, p), problem.dimension)
    if problem.B is not None:
        _expect("B", called(problem.B, p), problem.dimension)
    if problem.G is not None:
        _expect("G", called(problem.G, 0.0, 0.5, p), problem.dimension)
        if not isinstance(called(problem.g, 0.0, 0.5, p), float | int):
            raise TypeError("g must return a number")
    seen = called(problem.observe, 0.0, x, 0.5, p)
    if not isinstance(seen, tuple) or not seen:
        raise TypeError(f"observe must return a tuple of outputs, got {seen!r}")
    names = tuple(outputs) if outputs else tuple(f"y{i}" for i in range(len(seen)))
    if len(names) != len(seen):
        raise ValueError(f"outputs names {len(names)} outputs, observe returns {len(seen)}")
    if problem.linear:
        _require_linear(problem, p)
    return names


def called(function, *arguments):
    """What a function gives, without compiling it."""
    return getattr(function, "py_func", function)(*arguments)


def _expect(label: str, value, dimension: int) -> None:
    if not isinstance(value, tuple) or len(value) != dimension:
        raise TypeError(f"{label} must return a tuple of {dimension} numbers, got {value!r}")


def _require_linear(problem, p) -> None:
    rng = np.random.default_rng(1)
    matrix = problem.matrix()
    for _ in range(4):
        x = rng.standard_normal(problem.dimension)
        found, wanted = np.array(called(problem.H, tuple(map(float, x)), p)), matrix @ x
        size = np.abs(matrix) @ np.abs(x) + np.abs(found)
        if not np.all(np.abs(found - wanted) <= 1e-9 * size + math.ulp(0.0)):
            raise ValueError(
                f"H is not a matrix times x (H({x}) = {found}, the matrix gives {wanted}); "
                "set linear=False and use an averaged scheme"
            )

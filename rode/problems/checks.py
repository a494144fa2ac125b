"""Checks of a user's problem: its parameters, and one trial call of each function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import validation
from hetero.arrays import as_real
from rode.problems.calls import RESULTS, call_uncompiled
from rode.problems.problem import Problem

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

DERIVATIVE_STEP = 1e-4
"""Step of the differences with which derivatives are compared, in units of the size of x up to 1.
At large x it is small enough for waves, and the noise of the differences of polynomials is below
the error that is allowed."""

DERIVATIVE_ERROR = 1e-3
"""Largest relative error of derivatives. Differences are good to 1e-7, and a wrong formula is
mostly wrong by more than 0.1 %."""

SIZES = 1.0, 1.0, 1.0, 1.0, 1e-3, 1e3, 1e-6, 1e6
"""Sizes of x at which functions are checked, one random point at each: a term that is wrong is the
largest at some size. Most problems have an x of the order of 1."""

CHECKED_SETS = 16
"""Largest number of sets of parameters with which H and its derivatives are checked; not tuned."""

TIMES = (0.0, 1.0, -1.0, 1e6, -1e6)
"""Times at which functions are called in turn, as long as the start time is unknown."""


def table_of(parameters: Sequence[ArrayLike]) -> np.ndarray:
    """Return the parameters as a (numbers, sets) array."""
    _require_sequence("parameters", parameters, "numbers or arrays")
    columns = [parameter_of("parameters", v) for v in parameters]
    sets = {c.size for c in columns if c.size != 1}
    if len(sets) > 1:
        raise ValueError(f"arrays in parameters must have one length, got {sorted(sets)}")
    size = sets.pop() if sets else 1
    return np.array([np.broadcast_to(c, size) for c in columns]).reshape(len(columns), size)


def parameter_of(name: str, value: ArrayLike) -> np.ndarray:
    """Return a parameter, a number or one number a path, as an array of one dimension.

    Raises
    ------
    TypeError, ValueError : the values are no finite real numbers, or have more dimensions
    """
    column = np.atleast_1d(as_real(name, value))
    if column.ndim != 1 or column.size == 0:
        raise ValueError(
            f"{name} must hold numbers or one-dimensional arrays that are not empty, got an array "
            f"of shape {column.shape}"
        )
    if not np.isfinite(column).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    return column


def _require_sequence(name: str, value: Any, of: str) -> None:
    """Raise TypeError unless `value`, which should hold `of`, has an order and is no text."""
    if isinstance(value, set | frozenset | dict):
        raise TypeError(f"{name} must be a list of {of}, got {validation.describe(value)}")
    validation.require_iterable(name, value, of)


def start_of(
    start: Any, dimension: int, offset: int
) -> tuple[Callable[..., Any], tuple[float, ...]]:
    """Return (function of (O, p), initial values) for the argument `start` of a problem.

    The function reads the initial values behind `offset` parameters. They are empty if `start` is
    a function.
    """
    if callable(start):
        return start, ()
    from rode.problems.functions import start_from

    if start is not None:
        _require_sequence("start", start, f"{dimension} numbers, or a function")
    values = (0.0,) * dimension if start is None else tuple(start)
    if len(values) != dimension:
        raise ValueError(
            f"start must have {dimension} numbers, the dimension of the problem, got {len(values)}"
        )
    return start_from(offset, dimension), tuple(validation.check_finite("start", v) for v in values)


def names_of(outputs: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of outputs; a text is the name of the only one."""
    if isinstance(outputs, str):
        return (outputs,)
    _require_sequence("outputs", outputs, "names")
    names = tuple(outputs)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"outputs must hold names, got {validation.describe(name)}")
    if len(set(names)) < len(names):
        raise ValueError(f"outputs must have different names, got {', '.join(names)}")
    return tuple(map(str, names))  # not texts of NumPy


def outputs_of(problem: Problem, outputs: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of a problem's outputs, after one call of each function."""
    count = len(try_functions(problem, TIMES))
    names = tuple(f"y{i}" for i in range(count)) if outputs is None else names_of(outputs)
    if len(names) != count:
        raise ValueError(f"outputs names {len(names)} outputs, observe returns {count}")
    for column in _columns_to_check(problem.parameters):
        if problem.linear:
            _require_linear(problem, column)
        _require_derivatives(problem, column)
    return names


def _columns_to_check(parameters: np.ndarray) -> list[int]:
    """Return the first set of parameters, and those in which a number is smallest or largest.

    A term whose factor is 0 for the first path has another one there.
    """
    ends = zip(parameters.argmin(axis=1), parameters.argmax(axis=1), strict=True)
    return list(dict.fromkeys([0, *(int(k) for pair in ends for k in pair)]))[:CHECKED_SETS]


def try_functions(problem: Problem, times: Iterable[float]) -> tuple[float, ...]:
    """Call every function once at the start of the first path and return its outputs.

    A start that is drawn has no fixed value: functions must be defined at one of the quartiles of
    its distribution, and at one of `times`.

    Raises
    ------
    TypeError, ValueError
        If a function fails or returns the wrong type; the message names function and arguments.
    """
    values: list[Any] = [problem.start_process]
    if problem.start_process is None:
        quartiles = [float(f"{0.6745 * one:.3g}") for one in problem.deviations]
        pairs = [tuple(quartiles), tuple(-one for one in quartiles)]
        values = [one[0] for one in pairs] if problem.components == 1 else pairs
    failures = []
    for t in times:
        for o in values:
            try:
                return _try_at(problem, t, o)
            except ValueError as error:  # the function is not defined there
                failures.append(error)
    raise failures[0]


def _try_at(problem: Problem, t: float, o: Any) -> tuple[float, ...]:
    """Call every function for the first path at time t and O = o; return its outputs."""
    p, count = parameters_of(problem), problem.dimension
    x = problem.start_numbers or _numbers(problem, "start", count, O=o, p=p)
    x = tuple(map(float, x))
    if problem.f is not None:
        _numbers(problem, "f", count, t=t, x=x, O=o, p=p)
    else:
        _numbers(problem, "H", count, x=x, p=p)
    if problem.B is not None:
        _try_columns(problem, p)
    if problem.G is not None:
        _numbers(problem, "G", count, t=t, O=o, p=p)
        value = call_uncompiled(problem, "g", t=t, O=o, p=p)
        if not isinstance(value, Real):
            raise TypeError(f"g must return a number, got {value!r}")
    return _numbers(problem, "observe", None, t=t, x=x, O=o, p=p)


def _try_columns(problem: Problem, p: tuple[float, ...]) -> None:
    """Call B, which returns a column, or one column for each of several components."""
    components = problem.components
    if components == 1:
        _numbers(problem, "B", problem.dimension, p=p)
        return
    value = call_uncompiled(problem, "B", p=p)
    columns = value if isinstance(value, tuple) else ()
    right = len(columns) == components and all(
        isinstance(c, tuple) and len(c) == problem.dimension and all(isinstance(v, Real) for v in c)
        for c in columns
    )
    if not right:
        raise TypeError(
            f"B must return a tuple of {components} columns, one for each component of the "
            f"excitation, which are tuples of {problem.dimension} numbers, got {value!r}"
        )


def parameters_of(problem: Problem, column: int = 0) -> tuple[float, ...]:
    """Return the parameters of a set, by default the first path's, as functions receive them."""
    return tuple(map(float, problem.parameters[:, column]))


def _numbers(problem: Problem, name: str, count: int | None, **arguments: Any) -> tuple[float, ...]:
    """Call a function that must return a tuple of `count` numbers, or of at least one."""
    value = call_uncompiled(problem, name, **arguments)
    right = isinstance(value, tuple) and all(isinstance(v, Real) for v in value)
    if not right or len(value) != (count or len(value) or 1):
        raise TypeError(f"{name} must return {RESULTS[name].format(count)}, got {value!r}")
    return value


def _require_linear(problem: Problem, column: int) -> None:
    """Raise ValueError unless H agrees with its matrix at random points of several sizes."""
    p = parameters_of(problem, column)
    rng = np.random.default_rng(1)
    matrix = problem.matrix(column)
    for size in SIZES:
        x = size * rng.standard_normal(problem.dimension)
        result = np.array(call_uncompiled(problem, "H", x=tuple(map(float, x)), p=p))
        product = matrix @ x
        terms = np.abs(matrix) @ np.abs(x) + np.abs(result)
        if not np.all(np.abs(result - product) <= 1e-9 * terms + math.ulp(0.0)):
            raise ValueError(
                f"H is not a matrix times x (H({x}, {p}) = {result}, the matrix gives {product}); "
                "set linear=False and use an averaged scheme"
            )


def _require_derivatives(problem: Problem, column: int) -> None:
    """Raise ValueError unless derivatives of H agree with differences, at points near the start
    and at distances of several sizes."""
    if problem.second_derivative is not None and problem.first_derivative is None:
        raise ValueError("second_derivative needs first_derivative, got None")
    if problem.first_derivative is None:
        return
    count = problem.dimension
    centre, rng = np.array(problem.start_numbers or (0.0,) * count), np.random.default_rng(1)
    for size in SIZES:
        x, u, v = centre + 0.5 * size * rng.random(count), *rng.standard_normal((2, count))
        step = DERIVATIVE_STEP * min(size, 1.0)
        try:
            comparisons = list(_derivatives_at(problem, column, x, u, v, step))
        except ValueError:  # H is not defined there
            continue
        for name, value, ends in comparisons:
            _require_close(name, x, value, ends, step)


def _derivatives_at(
    problem: Problem, column: int, x: np.ndarray, u: np.ndarray, v: np.ndarray, step: float
) -> Iterator[tuple[str, tuple[float, ...], list[tuple[float, ...]]]]:
    """Yield the name and the value of each derivative, and the two values of its difference.

    Raises ValueError if a function is not defined at one of the points.
    """
    p, count = parameters_of(problem, column), problem.dimension
    points = [_floats(x + k * step * v) for k in (1.0, -1.0)]
    arguments: dict[str, Any] = {"x": _floats(x), "u": _floats(u), "v": _floats(v)}
    ends = [_numbers(problem, "H", count, x=y, p=p) for y in points]
    value = _numbers(problem, "first_derivative", count, x=arguments["x"], v=arguments["v"], p=p)
    yield "first_derivative", value, ends
    if problem.second_derivative is None:
        return
    ends = [
        _numbers(problem, "first_derivative", count, x=y, v=arguments["u"], p=p) for y in points
    ]
    yield "second_derivative", _numbers(problem, "second_derivative", count, **arguments, p=p), ends


def _floats(values: np.ndarray) -> tuple[float, ...]:
    """Return the numbers of an array as functions receive them."""
    return tuple(map(float, values))


def _require_close(
    name: str, x: np.ndarray, value: tuple[float, ...], ends: list[tuple[float, ...]], step: float
) -> None:
    """Raise ValueError unless a derivative is the central difference of two values."""
    above, below = np.array(ends)
    with np.errstate(all="ignore"):
        difference = (above - below) / (2.0 * step)
        error = np.abs(np.array(value) - difference)
        size = np.abs(difference) + np.abs(np.array(value))
        noise = 1e-15 * (np.abs(above) + np.abs(below)) / step
        is_wrong = error > DERIVATIVE_ERROR * size.max() + noise  # not for NaN: H is not defined
    if is_wrong.any():
        of = "H" if name == "first_derivative" else "first_derivative"
        raise ValueError(
            f"{name} is not the derivative of {of}: at x={x} it gives {np.array(value)}, and "
            f"differences of {of} give {difference}"
        )

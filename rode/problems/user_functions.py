"""Compilation of the functions of a user's problem, with the plain functions that they call.

Numba compiles calls of compiled functions only. A plain function of Python that a right-hand side
refers to, by a global name or from an enclosing function, is therefore compiled as the right-hand
side is. The user's module is not changed: what is compiled is a copy of the function, in whose
globals and closure the compiled helpers stand for the plain ones. A copy with its own globals also
has a fingerprint by value, so that its code is kept on disk.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from hetero.compile_cache.code_objects import describe
from hetero.jit import scalar
from hetero.numba_internals.dispatchers import is_for_cpu
from hetero.numba_internals.registries import is_known

_ORIGINAL = "rode_original_function"
"""Attribute of a copy that holds the function of which it is a copy."""


def compiled(function: Callable[..., Any]) -> Any:
    """Return a user's function as one that compiled loops of both targets can call."""
    return _compiled(function, {})


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the user's function behind a compiled one; its helpers are not compiled either."""
    plain = getattr(function, "py_func", function)
    return getattr(plain, _ORIGINAL, plain)


def _compiled(function: Any, dispatchers: dict[FunctionType, Any]) -> Any:
    """Return the dispatcher of a function; `dispatchers` has those of functions met before.

    It is entered before its helpers are compiled, so that functions may call themselves and each
    other.
    """
    if is_for_cpu(function):
        return function
    if not isinstance(function, FunctionType) or not (helpers := helpers_of(function)):
        return scalar(function, forceinline=True)
    space = dict(function.__globals__)
    cells = tuple(CellType() for _ in function.__closure__ or ())
    copy = FunctionType(
        function.__code__, space, function.__name__, function.__defaults__, cells or None
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__, copy.__module__ = function.__qualname__, function.__module__
    setattr(copy, _ORIGINAL, function)
    dispatcher = dispatchers[function] = scalar(copy, forceinline=True)
    for helper in helpers.values():
        if helper not in dispatchers:
            dispatchers[helper] = _compiled(helper, dispatchers)
    space |= {
        name: dispatchers[helper] for name, helper in helpers.items() if space.get(name) is helper
    }
    for cell, old in zip(cells, function.__closure__ or (), strict=True):
        value = _contents(old)
        if value is not _EMPTY:
            cell.cell_contents = dispatchers[value] if is_helper(value) else value
    return dispatcher


def helpers_of(function: FunctionType) -> dict[str, FunctionType]:
    """Return the plain functions that a function refers to, by their names in its code."""
    code, space = describe(function.__code__), function.__globals__
    values = {name: space[name] for name in code.names if name in space and code.reads_global(name)}
    free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    values |= {name: _contents(cell) for name, cell in free}
    return {name: value for name, value in values.items() if is_helper(value)}


def is_helper(value: object) -> bool:
    """Return whether a value is a plain function that Numba has no implementation for."""
    return isinstance(value, FunctionType) and not is_known(value)


_EMPTY = object()
"""Stands for the contents of a cell that holds nothing yet."""


def _contents(cell: CellType) -> Any:
    """Return what a cell of a closure holds, or `_EMPTY`."""
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY

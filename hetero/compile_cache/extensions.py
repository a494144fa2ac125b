"""Extensions of Numba: functions of Python that run while Numba compiles.

An overload gives a meaning to a call, to a method or to an attribute without a trace in the code
that uses it. Those of Numba belong to its version, and those of registered packages to the
digest of their files; nothing is known about the others.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numba

from hetero.compile_cache import sources
from hetero.numba_internals.registries import registrations

_SITE = Path(numba.__file__).parents[1]
_STUBS = {"numpy", *sys.stdlib_module_names}
"""Packages with functions that Numba's extensions mention because they stand in for them."""

_NUMBA = tuple(f"{_SITE / name}{os.sep}" for name in ("numba", "llvmlite", "numba_cuda"))


def is_from_numba(function: FunctionType) -> bool:
    """Return whether a function belongs to Numba, llvmlite or numba-cuda."""
    file = function.__code__.co_filename
    is_generated = file.startswith("<")  # by Numba, from a text
    return file.startswith(_NUMBA) or (is_generated and is_in(function, ("numba", "llvmlite")))


def is_in(function: FunctionType, packages: Collection[str]) -> bool:
    """Return whether the globals of a function are those of a module of one of the packages."""
    return str(function.__globals__.get("__name__")).partition(".")[0] in packages


def foreign_extension() -> str | None:
    """Return the name of an extension of Numba that is neither Numba's nor ours, if there is one.

    Functions of users are not kept while there is one, because they may use it.
    """
    for function in _extensions():
        if not (
            is_from_numba(function)
            or sources.is_ours(function.__code__.co_filename)
            or is_in(function, _STUBS)
        ):
            return f"{function.__module__}.{function.__qualname__}"
    return None


def _extensions() -> Iterator[FunctionType]:
    """Yield all functions that are registered as extensions of Numba."""
    for kind, registered in registrations():
        functions = _functions_of if kind == "template" else _with_closure
        yield from functions(registered)


def _functions_of(template: Any) -> Iterator[FunctionType]:
    """Yield the functions that a template of Numba's type inference was made of."""
    for value in vars(template).values():
        yield from _with_closure(getattr(value, "__func__", value))


def _with_closure(function: Any) -> Iterator[FunctionType]:
    """Yield a function and the functions in its closure, where decorators keep what they wrap."""
    if isinstance(function, FunctionType):
        yield function
        for cell in function.__closure__ or ():
            with contextlib.suppress(ValueError):  # it is empty
                if isinstance(cell.cell_contents, FunctionType):
                    yield cell.cell_contents

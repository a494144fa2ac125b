"""The functions that can be searched: one small file each, with the facts that proofs rely on.

A file gives the function's values and Taylor coefficients as Arb balls, its domain, the rational
points at which domains are cut, the arguments with exact values, and its behaviour near 0 and at
infinity. To add a function, add a file with a `FUNCTION`, and its name to `NAMES`.
"""

from __future__ import annotations

import importlib
import re
from fractions import Fraction
from typing import Any

from hetero import validation
from tmd.functions.function import Function, hash_values

NAMES = (
    *("exp", "exp2", "exp10", "expm1", "exp2m1", "exp10m1"),
    *("log", "log2", "log10", "log1p", "log2p1", "log10p1"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinpi", "cospi", "tanpi", "asinpi", "acospi", "atanpi"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("cbrt", "rsqrt", "erf", "erfc", "tgamma", "lgamma"),
)

_registered: dict[str, Function] = {}
"""Functions of users, by name."""

PROBES = tuple(
    sign * m * Fraction(2) ** e
    for sign in (1, -1)
    for e in range(-12, 13)
    for m in (1, Fraction(21, 16))
)
"""Points at which functions of users are compared that have one name."""

_MODULE_AND_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def load_function(name: str | Function) -> Function:
    """Return a function: one of `NAMES`, one of a user, or one that "module:NAME" names.

    Raises
    ------
    TypeError, ValueError
        There is no such function, or another one has its name.
    """
    if isinstance(name, Function):
        return register(name)
    if isinstance(name, str) and name in _registered:
        return _registered[name]
    if isinstance(name, str) and _MODULE_AND_NAME.fullmatch(name):
        loaded = load_object("function", name)
        if not isinstance(loaded, Function):
            raise TypeError(
                f"function: {name} must be a tmd.Function, got {validation.describe(loaded)}"
            )
        return register(loaded.renamed(name))
    validation.check_choice("function", name, NAMES)
    function: Function = importlib.import_module(f"tmd.functions.{name}").FUNCTION
    return function


def is_known(name: Any) -> bool:
    """Return whether a name is that of a function, without loading a module."""
    return isinstance(name, str) and (name in NAMES or name in _registered)


def register(function: Function) -> Function:
    """Let a function of a user be found by its name, in this process; return it.

    Workers of executors find it if it is named "module:NAME".

    Raises
    ------
    TypeError, ValueError
        It is no Function, or another one has its name.
    """
    if not isinstance(function, Function):
        raise TypeError(f"function must be a tmd.Function, got {validation.describe(function)}")
    if not isinstance(function.name, str) or not function.name:
        raise ValueError(f"function must have a name, got {validation.describe(function.name)}")
    for part in ("series", "exact"):
        if not callable(getattr(function, part)):
            raise TypeError(f"function {function.name}: {part} must be callable")
    if function.name in NAMES and load_function(function.name) is not function:
        raise ValueError(f"function: {function.name!r} is a name of tmd; choose another")
    known = _registered.get(function.name, function)
    if known != function and hash_values(known, PROBES) != hash_values(function, PROBES):
        raise ValueError(
            f"function: another one named {function.name!r} is in use, and results that have its "
            "name would become those of this one; choose another name"
        )
    if function.name not in NAMES:
        _registered[function.name] = function
    return function


def load_object(argument: str, name: str) -> Any:
    """Return what "module:NAME" names; messages call the text `argument`."""
    if not _MODULE_AND_NAME.fullmatch(name):
        raise ValueError(f"{argument} must be written module:NAME, got {name!r}")
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise ValueError(
            f"{argument}: module {module!r} cannot be imported ({error}); is its folder on "
            "PYTHONPATH?"
        ) from None
    except AttributeError:
        raise ValueError(f"{argument}: module {module!r} has no {attribute!r}") from None

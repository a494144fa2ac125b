"""The functions that can be searched: one small file each, with the facts that proofs rely on.

A file gives the function's values and Taylor coefficients as Arb balls, its domain, the rational
points at which domains are cut, the arguments with exact values, and its behaviour near 0 and at
infinity. To add a function, add a file with a `FUNCTION`, and its name to `NAMES`.
"""

from __future__ import annotations

import importlib

from hetero import validation
from tmd.functions.function import Function

NAMES = (
    *("exp", "exp2", "exp10", "expm1", "exp2m1", "exp10m1"),
    *("log", "log2", "log10", "log1p", "log2p1", "log10p1"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinpi", "cospi", "tanpi", "asinpi", "acospi", "atanpi"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("cbrt", "rsqrt", "erf", "erfc", "tgamma", "lgamma"),
)


def load_function(name: str) -> Function:
    """Return the function called `name`; raise ValueError if there is no such function."""
    validation.check_choice("function", name, NAMES)
    return importlib.import_module(f"tmd.functions.{name}").FUNCTION

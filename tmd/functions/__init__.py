"""The functions that can be searched: one small file each, with the facts that proofs rely on.

A file gives the function's values and Taylor coefficients as Arb balls, its zeros, poles and
domain, the arguments with exact values, and its behaviour near 0. To add a function, add a file
with a `FUNCTION`, and its name to `NAMES`.
"""

from __future__ import annotations

import importlib

from hetero import validation
from tmd.functions.function import Function

NAMES = ("exp", "exp2", "log", "log2", "sin", "cos", "tan")


def load_function(name: str) -> Function:
    """Return the function called `name`; raise ValueError if there is no such function."""
    validation.check_choice("function", name, NAMES)
    return importlib.import_module(f"tmd.functions.{name}").FUNCTION

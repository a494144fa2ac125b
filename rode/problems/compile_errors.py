"""One line for a user's function that Numba cannot compile: its name and line, why, a remedy."""

from __future__ import annotations

import linecache
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import from_dtype, typeof
from numba.core.errors import NumbaError

from hetero.cuda.driver import SIMULATOR
from hetero.numba_internals.dispatchers import is_for_cpu

if TYPE_CHECKING:
    from rode.problems.problem import Problem

REMEDIES = {
    "clip": "min(max(value, low), high) is numpy.clip for numbers",
    "erf": "math.erf can be compiled",
    "erfc": "math.erfc can be compiled",
    "gamma": "math.gamma can be compiled",
    "gammaln": "math.lgamma can be compiled",
    "loggamma": "math.lgamma can be compiled",
    "dict": "a tuple or numbers under names of their own can be compiled, or give the numbers as "
    "parameters=",
    "list": "a tuple can be compiled",
    "unify": "give a variable, and what the function returns, one type and one length",
    "interp": "numpy.interp needs NumPy arrays, which must be globals of the file",
}
"""Remedy for a name, or for an object of a type, that cannot be compiled."""

GENERAL_REMEDY = (
    "compiled functions may use numbers, tuples, NumPy arrays, plain functions of your own, "
    "functions of math, and those functions of NumPy that take single numbers"
)


def explain(error: Exception, problem: Problem, dtype: str) -> None:
    """Raise a TypeError that names the user's function if Numba cannot compile it.

    Each function of the problem is then compiled by itself, to find the one that fails. If none
    does, or if the error is not Numba's, nothing is raised.
    """
    message = None
    if isinstance(error, NumbaError) and not SIMULATOR:
        message = _first_failure(problem, dtype)
    if message is not None:
        raise TypeError(message) from error


def _first_failure(problem: Problem, dtype: str) -> str | None:
    """Return what is wrong with the first function of a problem that does not compile."""
    number: Any = from_dtype(np.dtype(dtype))
    zero = np.dtype(dtype).type(0)
    x, p = (typeof((zero,) * n) for n in (problem.dimension, problem.parameters.shape[0]))
    components = problem.components
    driver = number if components == 1 else typeof((zero,) * components)
    arguments: dict[str, tuple[Any, ...]] = {
        "f": (number, x, driver, p),
        "H": (x, p),
        "B": (p,),
        "G": (number, number, p),
        "g": (number, number, p),
        "start": (driver, p),
        "observe": (number, x, driver, p),
        "first_derivative": (x, x, p),
        "second_derivative": (x, x, x, p),
    }
    for name, signature in arguments.items():
        function = getattr(problem, name)
        is_ours = name == "start" and problem.start_numbers
        if not is_for_cpu(function) or is_ours:
            continue
        try:
            function.compile(signature)
        except NumbaError as error:
            return f"{name} cannot be compiled: {_describe(error)}"
    return None


def _describe(error: NumbaError) -> str:
    """Return the place, the reason and the remedy of an error of Numba, on one line."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    reason = _reason(text)
    words = re.findall(r"\w+", reason)
    remedy = next((REMEDIES[word] for word in words if word in REMEDIES), GENERAL_REMEDY)
    source = _find_line(text)
    return f"{source}{': ' if source else ''}{reason}. Remedy: {remedy}"


def _reason(text: str) -> str:
    """Return the first sentence of Numba's message that says something of the user's code."""
    lines = (line.strip() for line in text.splitlines())
    first = next((k for k in lines if k and not k.startswith("Failed in")), "unknown reason")
    unknown = re.match(r"Untyped global name '(\w+)'.*<class '([\w.]+)'>", first)
    unknown = unknown or re.match(
        r"(?:Untyped|Cannot determine).* '(\w+)'.*<class '([\w.]+)'>", first
    )
    if unknown:
        return f"compiled code cannot use {unknown[1]}, a {unknown[2]}"
    missing = re.match(r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", first)
    if missing:
        return f"compiled code cannot use {missing[2]}.{missing[1]}"
    call = re.search(r">>> (\w+\(.*\))", text)
    if first.startswith("No implementation of function") and call:
        return f"Numba has no {call[1]}"
    return re.sub(r" for '\$.*", "", first).removesuffix(".")  # the name of a variable of Numba's


def _find_line(text: str) -> str:
    """Return the innermost line of the user's code that Numba names, with its source."""
    match = re.search(r'^File "([^"]+)", line (\d+):', text, re.MULTILINE)
    if match is None:
        return ""
    file, line = Path(match[1]), int(match[2])
    source = linecache.getline(str(file.resolve()), line).strip()
    return f"{file.name}, line {line}" + (f", `{source}`" if source else "")

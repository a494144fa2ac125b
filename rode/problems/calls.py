"""Calls of a user's functions as they were written, without compiling them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

RESULTS = {
    "start": "a tuple of {} numbers",
    "f": "a tuple of {} numbers",
    "H": "a tuple of {} numbers",
    "B": "a tuple of {} numbers",
    "G": "a tuple of {} numbers",
    "g": "a number",
    "observe": "a tuple of outputs, which are numbers",
    "first_derivative": "a tuple of {} numbers",
    "second_derivative": "a tuple of {} numbers",
}
"""Value that each function of a problem must return; {} stands for the dimension."""


def call_uncompiled(problem: Any, name: str, **arguments: Any) -> Any:
    """Call a function of a `Problem` without compiling it.

    Raises
    ------
    TypeError, ValueError
        If the function fails; the message shows the call and the signature that the function must
        have. ValueError if it is not defined for these arguments.
    """
    try:
        with np.errstate(all="ignore"):
            return call_python(getattr(problem, name), *arguments.values())
    except Exception as error:
        undefined = isinstance(error, ArithmeticError | ValueError)
        call = ", ".join(f"{k}={v!r}" for k, v in arguments.items())
        expected = RESULTS[name].format(problem.dimension)
        sizes = {"x": problem.dimension, "p": problem.parameters.shape[0]}
        lengths = " and ".join(
            f"{k} has {n} number{'s' * (n != 1)}" + " (those of parameters=)" * (k == "p")
            for k, n in sizes.items()
            if k in arguments
        )
        lengths += "".join(f", {k} as x" for k in ("u", "v") if k in arguments)
        remedy = (
            "It must be defined where the solution starts; functions of NumPy, such as numpy.log, "
            "return NaN or infinity instead of raising an error. "
            if undefined
            else ""
        )
        raise (ValueError if undefined else TypeError)(
            f"{name}({call}) raised {type(error).__name__}: {error}. {remedy}{name} must be a "
            f"function ({', '.join(arguments)}) -> {expected}, where {lengths}"
        ) from error


def call_python(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the Python function behind a compiled one, with helpers as the user wrote them."""
    from rode.problems.user_functions import uncompiled

    return uncompiled(function)(*arguments)

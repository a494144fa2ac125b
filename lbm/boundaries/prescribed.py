"""Velocities, densities and forces that the user prescribes as functions of position and time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Function = Callable[..., Any]

InitialField = ArrayLike | Callable[..., ArrayLike]
"""An initial density or velocity: numbers, an array, or a function of position."""


class Dependence(NamedTuple):
    """Dependence of a prescribed value on position and time."""

    position: bool = False
    time: bool = False

    def __bool__(self) -> bool:
        return self.position or self.time


CONSTANT = Dependence()

_FORMS = {
    1: Dependence(time=True),
    3: Dependence(position=True),
    4: Dependence(position=True, time=True),
}
"""Dependences by the number of a function's arguments: (t), (x, y, z) and (x, y, z, t)."""


def find_dependence(name: str, value: object) -> Dependence:
    """Return what `value` depends on: nothing, unless it is a function.

    Raises TypeError if the function has another number of arguments than 1, 3 or 4.
    """
    if not callable(value):
        return CONSTANT
    forms = f"{name} must be a function {name}(t), {name}(x, y, z) or {name}(x, y, z, t)"
    try:
        parameters = inspect.signature(value).parameters.values()
    except ValueError:
        raise TypeError(f"{forms}; the arguments of {value!r} are unknown: wrap it in a lambda"
                        ) from None  # fmt: skip
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    required = [p for p in parameters if p.kind in positional and p.default is p.empty]
    if len(required) not in _FORMS:
        raise TypeError(f"{forms}, got one with {len(required)} arguments")
    return _FORMS[len(required)]


def evaluate(
    name: str,
    function: Function,
    depends: Dependence,
    points: np.ndarray,
    t: float,
    components: int,
) -> np.ndarray:
    """Return the values [point, component] of a function at points [k, (x, y, z)] and time t.

    Raises ValueError if it returns another number of components, another shape, or NaN.
    """
    arguments = [*points.T] if depends.position else []
    values = function(*arguments, *([t] if depends.time else []))
    if components == 1:
        values = [values]
    if isinstance(values, np.ndarray):
        values = list(values)
    if not isinstance(values, list | tuple) or len(values) != components:
        raise ValueError(f"{name} must return {components} components, got {values!r}")
    result = np.empty((len(points), components))
    for k, value in enumerate(values):
        try:
            result[:, k] = value
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} must return numbers, or arrays as long as its arguments "
                f"({len(points)}), got {value!r} as component {k}"
            ) from None
    if not np.isfinite(result).all():
        raise ValueError(f"{name} returned a number that is not finite at t = {t:g} steps")
    return result

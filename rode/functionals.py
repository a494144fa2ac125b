"""Functionals of outputs that engineers ask for, as reductions of `rode.solve`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from hetero import validation
from rode._solver.reductions.functional import Functional

__all__ = ["Functional", "dwell_time", "energy", "first_passage", "up_crossings"]


def _of_level(make: Callable[[float], Functional]) -> Callable[[float], Functional]:
    """Check the level of a function that makes a reduction; equal ones share compiled code."""
    cached = functools.lru_cache(maxsize=64)(make)

    @functools.wraps(make)
    def of_level(level: float) -> Functional:
        return cached(validation.check_finite("level", level))

    return of_level


@_of_level
def first_passage(level: float) -> Functional:
    """Return the reduction to the first time at which |y| reaches a level; infinity for never.

    The array is `Result.values["first_passage"]`, with a row for each output. Times are those of
    coarse steps: a rough output has passed earlier, as `rode.peak_correction` explains. A level
    lowered by that correction makes up for it to leading order in sqrt(h).
    """

    def init(t, y):  # type: ignore[no-untyped-def]
        return ((t if abs(y) >= level else math.inf),)

    def update(state, t, y, h):  # type: ignore[no-untyped-def]
        return (min(state[0], t if abs(y) >= level else math.inf),)

    return Functional("first_passage", init, update)


@_of_level
def up_crossings(level: float) -> Functional:
    """Return the reduction to the number of coarse steps in which y rises through a level.

    The array is `Result.values["up_crossings"]`. The output needs a derivative in time for the
    number to have a limit as h shrinks, as displacements have.
    """

    def init(t, y):  # type: ignore[no-untyped-def]
        return y - y, y

    def update(state, t, y, h):  # type: ignore[no-untyped-def]
        crosses = state[1] < level and y >= level
        return (state[0] + 1 if crosses else state[0]), y

    return Functional("up_crossings", init, update)


@_of_level
def dwell_time(level: float) -> Functional:
    """Return the reduction to the time that y spends at or above a level, in s.

    The array is `Result.values["dwell_time"]`. A coarse step counts if y is there at its end.
    """

    def init(t, y):  # type: ignore[no-untyped-def]
        return (y - y,)

    def update(state, t, y, h):  # type: ignore[no-untyped-def]
        return ((state[0] + h if y >= level else state[0]),)

    return Functional("dwell_time", init, update)


@functools.cache
def energy() -> Functional:
    """Return the reduction to the integral of y^2 over time, by the trapezoidal rule.

    The array is `Result.values["energy"]`; pi/(2 g) times that of an acceleration is the Arias
    intensity.
    """

    def init(t, y):  # type: ignore[no-untyped-def]
        return y - y, y * y

    def update(state, t, y, h):  # type: ignore[no-untyped-def]
        return state[0] + h / 2 * (state[1] + y * y), y * y

    def final(state):  # type: ignore[no-untyped-def]
        return np.asarray(state[0])

    return Functional("energy", init, update, final)

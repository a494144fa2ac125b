"""Functions of the problems in this package, and those that stand for functions not given."""

from __future__ import annotations

import functools
from typing import Any, TypeAlias

from numba import int64

from hetero.jit import scalar
from rode._intrinsics.tuple_algebra import cast, replace_component

Numbers: TypeAlias = tuple[Any, ...]
"""Tuple of floats of one type, as the functions of problems take and return them."""


@scalar(forceinline=True)
def identity(t: float, x: Numbers, o: float, p: Numbers) -> Numbers:
    """Return x: the outputs of a problem without `observe`."""
    return x


@functools.cache
def start_from(offset: int, dimension: int) -> Any:
    """Make the function that reads the first x from the parameters number `offset` and on."""
    nothing = (0.0,) * dimension

    @scalar(forceinline=True)
    def start(o: float, p: Numbers) -> Numbers:
        x = cast(nothing, p[offset])
        for i in range(dimension):
            x = replace_component(x, int64(i), p[offset + i])
        return x

    return start


@functools.cache
def fields_of(G: Any, g: Any) -> Any:
    """Make the function (t, O, p) -> (G_1, .., G_n, g)."""

    @scalar(forceinline=True)
    def fields(t: float, o: float, p: Numbers) -> Numbers:
        return cast(G(t, o, p), o) + cast((g(t, o, p),), o)

    return fields


# ---- Kanai and Tajimi: p = (zeta, omega, tau) --------------------------------------------------


@scalar(forceinline=True)
def ground_drift(x: Numbers, p: Numbers) -> Numbers:
    """Return H(x)."""
    return -x[1], p[1] * (p[1] * x[0] - (p[0] + p[0]) * x[1])


@scalar(forceinline=True)
def ground_noise(p: Numbers) -> Numbers:
    """Return B."""
    T = type(p[0])
    return T(-1.0), T(1.0) / p[2] - (p[0] + p[0]) * p[1]


@scalar(forceinline=True)
def ground_start(o: float, p: Numbers) -> Numbers:
    """Return the state in which the ground is at rest."""
    return o - o, -o


@functools.cache
def ground_observer(names: tuple[str, ...]) -> Any:
    """Make the function that returns (displacement, velocity, acceleration), or one of them."""

    @scalar(forceinline=True)
    def everything(t: float, x: Numbers, o: float, p: Numbers) -> Numbers:
        velocity = -(x[1] + o)
        return x[0], velocity, -p[1] * ((p[0] + p[0]) * velocity + p[1] * x[0])

    if len(names) == 3:
        return everything
    index = ("displacement", "velocity", "acceleration").index(names[0])

    @scalar(forceinline=True)
    def one(t: float, x: Numbers, o: float, p: Numbers) -> Numbers:
        return (everything(t, x, o, p)[index],)

    return one


# ---- scalar problems ---------------------------------------------------------------------------


@scalar(forceinline=True)
def relax(x: Numbers, p: Numbers) -> Numbers:
    """Return -x."""
    return (-x[0],)


@scalar(forceinline=True)
def unit(p: Numbers) -> Numbers:
    """Return 1."""
    return (1.0,)


@scalar(forceinline=True)
def itself(x: Numbers, p: Numbers) -> Numbers:
    """Return x."""
    return (x[0],)


@scalar(forceinline=True)
def nothing(t: float, o: float, p: Numbers) -> Numbers:
    """Return 0."""
    return (o - o,)


@scalar(forceinline=True)
def process(t: float, o: float, p: Numbers) -> float:
    """Return O."""
    return o

"""Functions of the shipped problems, and how a user's functions become ones that loops can call."""

import functools

from numba import int64
from numba.core.dispatcher import Dispatcher

from hetero.intrinsics.tuple_algebra import cast, replace_component
from hetero.jit import scalar


def compiled(function):
    """A user's function as one that both targets can call."""
    return function if isinstance(function, Dispatcher) else scalar(function)


@scalar
def identity(t, x, o, p):
    return x


@functools.cache
def start_from(offset, dimension):
    """x at the beginning from the parameters number `offset` and on."""
    nothing = (0.0,) * dimension

    @scalar
    def start(o, p):
        x = cast(nothing, o)
        for i in range(dimension):
            x = replace_component(x, int64(i), p[offset + i])
        return x

    return start


@functools.cache
def fields_of(G, g):
    """(G_1, .., G_n, g) of (t, O, p)."""

    @scalar
    def fields(t, o, p):
        return cast(G(t, o, p), o) + cast((g(t, o, p),), o)

    return fields


# ---- Kanai and Tajimi: p = (zeta, omega, tau) --------------------------------------------------


@scalar
def ground_drift(x, p):
    return -x[1], p[1] * (p[1] * x[0] - (p[0] + p[0]) * x[1])


@scalar
def ground_noise(p):
    T = type(p[0])
    return T(-1.0), T(1.0) / p[2] - (p[0] + p[0]) * p[1]


@scalar
def ground_start(o, p):
    return o - o, -o


@functools.cache
def ground_observer(names):
    """(displacement, velocity, acceleration), or one of them."""

    @scalar
    def everything(t, x, o, p):
        velocity = -(x[1] + o)
        return x[0], velocity, -p[1] * ((p[0] + p[0]) * velocity + p[1] * x[0])

    if len(names) == 3:
        return everything
    index = ("displacement", "velocity", "acceleration").index(names[0])

    @scalar
    def one(t, x, o, p):
        return (everything(t, x, o, p)[index],)

    return one


# ---- scalar problems ---------------------------------------------------------------------------


@scalar
def relax(x, p):
    return (-x[0],)


@scalar
def unit(p):
    return (1.0,)


@scalar
def itself(x, p):
    return (x[0],)


@scalar
def nothing(t, o, p):
    return (o - o,)


@scalar
def process(t, o, p):
    return o


@scalar
def one(t, o, p):
    return type(o)(1.0)

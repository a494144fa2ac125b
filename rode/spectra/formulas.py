"""One step of an oscillator x'' + 2 zeta w x' + w^2 x = -a(t) with a linear a."""

from hetero.intrinsics.floats import fma
from hetero.jit import scalar


@scalar(forceinline=True)
def advance(x, v, a, b, x_x, x_v, x_a, x_b, v_x, v_v, v_a, v_b):
    """Return x and v after a step, at whose ends the ground's acceleration is a and b.

    The coefficients are those of Nigam and Jennings (1969, equation 6), of x (x_x, ..) and of v,
    less 1 on the diagonal: 1 - x_x is as small as (w dt)^2/2, and float32 would lose it.
    """
    dx = fma(x_x, x, fma(x_v, v, fma(x_a, a, x_b * b)))
    dv = fma(v_x, x, fma(v_v, v, fma(v_a, a, v_b * b)))
    return x + dx, v + dv


@scalar(forceinline=True)
def total_acceleration(x, v, stiffness, damping):
    """Return the size of the absolute acceleration, w^2 x + 2 zeta w v."""
    return abs(fma(stiffness, x, damping * v))

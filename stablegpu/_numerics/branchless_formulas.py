"""Elementary functions without branches and library calls, for both targets.

So a CPU computes several values in one instruction. float32 and float64 have the same formulas.
"""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.intrinsics.bits import select
from hetero.intrinsics.chebyshev import economized_even_series, economized_series
from hetero.intrinsics.floats import (
    constant,
    fma,
    polynomial,
    scale_by_power_of_two,
    split_exponent,
)
from hetero.jit import scalar


def _constant(number: float):
    return constant(number, number)


# sin(pi x)/x - pi and log2((1 + s)/(1 - s))/s - 2/log(2), over the square; (2^r - 1)/r.
_SINE = [(-1.0) ** k * math.pi ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(1, 15)]
_LOG2 = [2.0 / math.log(2.0) / (2 * k + 1) for k in range(1, 20)]
_EXP2 = [math.log(2.0) ** k / math.factorial(k) for k in range(1, 20)]

_sine = polynomial(economized_even_series(_SINE, 0.5, 4), economized_even_series(_SINE, 0.5, 9))
_log2 = polynomial(economized_even_series(_LOG2, 0.18, 3), economized_even_series(_LOG2, 0.18, 8))
_exp2 = polynomial(economized_series(_EXP2, 0.51, 6), economized_series(_EXP2, 0.51, 12))
# Two numbers in two parts each.
_pi, _pi_rest = _constant(math.pi), _constant(1.2246467991473532e-16)
_log2_first, _log2_rest = _constant(2.0 / math.log(2.0)), _constant(4.0710547481862066e-17)
_minus_log_2 = _constant(-math.log(2.0))
_whole = constant(1.5 * 2.0**23, 1.5 * 2.0**52)  # adding it rounds to an integer
_most = constant(252.0, 2044.0)  # largest exponent that is the sum of two normal ones


@intrinsic
def quotient(typing, x, y):
    """Return x/y; float32 on a GPU to 2 ulp, and 0 for y > 2^126."""

    def emit(context, builder, signature, values):
        if x == types.float64 or "cuda" not in type(context).__module__:
            return builder.fdiv(*values)
        kind = ir.FunctionType(ir.FloatType(), [ir.FloatType()])
        inverse = ir.InlineAsm(kind, "rcp.approx.ftz.f32 $0, $1;", "=f,f")
        return builder.fmul(values[0], builder.call(inverse, values[1:]))

    return x(x, x), emit


@scalar(forceinline=True)
def lesser(x, y):
    """Return the smaller one of two numbers, without a branch."""
    return select(x < y, x, y)


@scalar(forceinline=True)
def sinpi(x):
    """Return sin(pi x) for |x| <= 1/2."""
    w = x * x
    return fma(x, fma(w, _sine(w), _pi_rest(x)), x * _pi(x))


@scalar(forceinline=True)
def log2_near_one(z):
    """Return log2(1 + z) for sqrt(1/2) <= 1 + z <= sqrt(2)."""
    real = type(z)
    s = quotient(z, z + real(2.0))
    w = s * s
    return fma(s, fma(w, _log2(w), _log2_rest(s)), s * _log2_first(s))


@scalar(forceinline=True)
def exponential(x):
    """Return -log(v) for v = x (x > 0) or v = 1 + x (x < 0), |x| <= 1/2."""
    real = type(x)
    m, k = split_exponent(select(x > real(0.0), x, x + real(1.0)))
    # 1 + x loses digits of x. They matter near v = 1, where v is its own mantissa.
    whole = (x > real(-0.29)) & (x < real(0.0))
    return (k + log2_near_one(select(whole, x, m - real(1.0)))) * _minus_log_2(x)


@scalar(forceinline=True)
def power(base, ratio):
    """Return (g, p, q) with base^ratio = (1 + g) p q; p and q are powers of 2.

    The exponent of the base is multiplied without rounding, so only the error of `ratio` grows
    with it.
    """
    real = type(base)
    whole, most = _whole(base), _most(base)
    m, k = split_exponent(base)
    f = log2_near_one(m - real(1.0)) * ratio
    t = fma(k, ratio, f)
    n = (select(t > most, most, select(t < -most, -most, t)) + whole) - whole
    r = fma(k, ratio, -n) + f
    r = select(abs(t) > most, real(0.0), r)
    half = fma(n, real(0.5), whole)
    other_half = (n + whole) - (half - whole)
    return (
        r * _exp2(r),
        scale_by_power_of_two(real(1.0), half),
        scale_by_power_of_two(real(1.0), other_half),
    )

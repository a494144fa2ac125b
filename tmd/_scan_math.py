"""From the polynomial of a super-block to lines and values, in exact fixed point; both targets.

A super-block has 2^size arguments and the polynomial C_0 + C_1 w + ... of w = x / 2^size, for its
argument number x, in integers of 64 bits before and 128 bits after the point. Lines and values are
kept modulo 2 with 127 bits after the point: the first bit is the parity, the rest the distance.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import scalar
from tmd._wide_math import horner, minus, plus, shifted, short_horner, times

LANES = 32
"""Sub-domains of a packet that are taken side by side: a warp."""


class Shape(NamedTuple):
    """Binary logarithms of the sizes, in arguments, and what the loops count.

    Attributes
    ----------
    size : of a super-block
    domain, piece : of the sub-domains of phase 1 and of phase 2
    packet : of the number of sub-domains that a thread takes, one after the other
    """

    size: int
    domain: int
    piece: int
    packet: int


@scalar
def taylor(table, block, x, size):
    """The first four Taylor coefficients at argument x of a super-block, in units of 2^size."""
    none = (np.uint64(0), np.uint64(0), np.uint64(0))
    t0, t1, t2, t3 = none, none, none, none
    for i in range(table.shape[1]):
        k = table.shape[1] - 1 - i
        c = (table[block, k, 0], table[block, k, 1], table[block, k, 2])
        t3 = horner(t3, x, size, t2)
        t2 = horner(t2, x, size, t1)
        t1 = horner(t1, x, size, t0)
        t0 = horner(t0, x, size, c)
    return t0, t1, t2, t3


@scalar
def short_taylor(table, block, i, size):
    """`taylor` at argument 2^k i of a super-block of 2^(k + size), for i < 2^32."""
    none = (np.uint64(0), np.uint64(0), np.uint64(0))
    t0, t1, t2, t3 = none, none, none, none
    for n in range(table.shape[1]):
        k = table.shape[1] - 1 - n
        c = (table[block, k, 0], table[block, k, 1], table[block, k, 2])
        t3 = short_horner(t3, i, size, t2)
        t2 = short_horner(t2, i, size, t1)
        t1 = short_horner(t1, i, size, t0)
        t0 = short_horner(t0, i, size, c)
    return t0, t1, t2, t3


@scalar
def _three_times(a):
    return plus(a, plus(a, a))


@scalar
def values(t, step):
    """Differences of the polynomial at steps of 2^-step of the super-block: value, 1st to 3rd."""
    t0, t1, t2, t3 = t
    one, e = np.uint64(1), np.uint64(step)
    b2, b3 = shifted(t2, e + e + one), shifted(t3, e + e + e + one)
    third = _three_times(plus(b3, b3))
    first = plus(shifted(t1, e + one), plus(b2, b3))
    return shifted(t0, one), first, plus(plus(b2, b2), third), third


@scalar
def lines(t, step, size, domain):
    """Differences of lines b - a x through sub-domains of 2^domain arguments, at such steps.

    Returns b with three differences and a with two. The line is parallel to the chord, half a
    sagitta from it.
    """
    _, t1, t2, t3 = t
    one, e, s = np.uint64(1), np.uint64(step), np.uint64(size)
    inner = s - np.uint64(domain)
    b, first, second, third = values(t, step)
    sagitta = inner + inner + np.uint64(4)  # c2 N^2 / 8, and the parity's bit
    b = minus(b, shifted(t2, sagitta))
    first = minus(first, _three_times(shifted(t3, sagitta + e)))
    a = plus(shifted(t1, s + one), shifted(t2, s + inner + one))
    a1 = shifted(t2, s + e + one)
    a1 = plus(plus(a1, a1), _three_times(shifted(t3, s + inner + e + one)))
    a2 = _three_times(shifted(t3, s + e + e + one))
    none = (np.uint64(0), np.uint64(0))
    return (
        b,
        first,
        second,
        third,
        minus(none, a),
        minus(none, plus(a1, a2)),
        minus(none, plus(a2, a2)),
    )


@scalar
def after(j, b, b1, b2, b3):
    """The value after j <= 32 steps of its differences."""
    two = j * (j - np.uint64(1)) // np.uint64(2) if j > np.uint64(1) else np.uint64(0)
    three = two * (j - np.uint64(2)) // np.uint64(3) if j > np.uint64(2) else np.uint64(0)
    return plus(plus(b, times(b1, j)), plus(times(b2, two), times(b3, three)))


@intrinsic
def as_float(typing, word):
    """The 52 bits after the parity's, as a float64 integer."""

    def emit(context, builder, signature, values):
        bits = builder.lshr(builder.shl(values[0], ir.IntType(64)(1)), ir.IntType(64)(12))
        bits = builder.or_(bits, ir.IntType(64)(0x433 << 52))  # 2^52 + the integer
        return builder.fsub(builder.bitcast(bits, ir.DoubleType()), ir.DoubleType()(2.0**52))

    return types.float64(types.uint64), emit


@scalar
def as_word(word):
    """The 63 bits after the parity's."""
    return word & np.uint64(0x7FFFFFFFFFFFFFFF)


@scalar
def near(word, limit):
    """Whether a value lies within `limit`, in units of 2^-63, of an integer."""
    mask = np.uint64(0x7FFFFFFFFFFFFFFF)
    return ((word + limit) & mask) <= limit + limit

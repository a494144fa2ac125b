"""Lines and values of a super-block from its polynomial, in exact fixed point, for both targets.

A super-block has 2^size arguments and the polynomial C_0 + C_1 w + ... in w = x / 2^size, where x
is the number of an argument. The coefficients are integers with 64 bits before and 128 bits after
the point. Lines and values are kept modulo 2 with 127 bits after the point, in pairs of words: the
first bit is the parity of the integer part, the others are the fraction.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import scalar
from tmd._search.formulas.wide_integer_formulas import (
    add,
    horner,
    horner_u32,
    multiply,
    shift_right,
    subtract,
)

LANES = 32
"""Number of sub-domains of a packet that are processed side by side: a warp."""


class Shape(NamedTuple):
    """Sizes of a search, as binary logarithms.

    Attributes
    ----------
    super_block, subdomain, piece : int
        Arguments of a super-block, of a sub-domain of phase 1 and of a piece of phase 2.
    packet : int
        Sub-domains that a thread processes one after the other.
    """

    super_block: int
    subdomain: int
    piece: int
    packet: int


class SuperBlocks(NamedTuple):
    """Arrays of a batch that phase 1 reads: those of the same names in `planning.Batch`."""

    table: np.ndarray
    subdomain_counts: np.ndarray
    offsets: np.ndarray
    bounds: np.ndarray


@scalar
def taylor_coefficients(table, block, x, size):
    """Return the first four Taylor coefficients at argument x of super-block `block`.

    They are triples, for steps in units of 2^size arguments. `table` is that of `planning.Batch`;
    block, x and size are uint64.
    """
    zero = (np.uint64(0), np.uint64(0), np.uint64(0))
    t0, t1, t2, t3 = zero, zero, zero, zero
    for i in range(table.shape[1]):
        k = table.shape[1] - 1 - i
        c = (table[block, k, 0], table[block, k, 1], table[block, k, 2])
        t3 = horner(t3, x, size, t2)
        t2 = horner(t2, x, size, t1)
        t1 = horner(t1, x, size, t0)
        t0 = horner(t0, x, size, c)
    return t0, t1, t2, t3


@scalar
def taylor_coefficients_u32(table, block, i, size):
    """Return `taylor_coefficients` at argument 2^k i < 2^(k + size) of a super-block, i < 2^32.

    The super-block has 2^(k + size) arguments.
    """
    zero = (np.uint64(0), np.uint64(0), np.uint64(0))
    t0, t1, t2, t3 = zero, zero, zero, zero
    for n in range(table.shape[1]):
        k = table.shape[1] - 1 - n
        c = (table[block, k, 0], table[block, k, 1], table[block, k, 2])
        t3 = horner_u32(t3, i, size, t2)
        t2 = horner_u32(t2, i, size, t1)
        t1 = horner_u32(t1, i, size, t0)
        t0 = horner_u32(t0, i, size, c)
    return t0, t1, t2, t3


@scalar
def _triple(a):
    return add(a, add(a, a))


@scalar
def value_differences(t, step):
    """Return the value of the polynomial and its first three differences, as pairs.

    They are those for steps of 2^(size - step) arguments; t are Taylor coefficients.
    """
    t0, t1, t2, t3 = t
    one, e = np.uint64(1), np.uint64(step)
    b2, b3 = shift_right(t2, e + e + one), shift_right(t3, e + e + e + one)
    third = _triple(add(b3, b3))
    first = add(shift_right(t1, e + one), add(b2, b3))
    return shift_right(t0, one), first, add(add(b2, b2), third), third


@scalar
def line_differences(t, step, size, subdomain):
    """Return differences of the lines b - a x through successive sub-domains, as pairs.

    These are b with three differences and a with two, for steps of 2^(size - step) arguments; a
    sub-domain has 2^subdomain arguments and t are Taylor coefficients. Each line is parallel to
    the chord of the quadratic and half a sagitta away from it.
    """
    _, t1, t2, t3 = t
    one, e, s = np.uint64(1), np.uint64(step), np.uint64(size)
    inner = s - np.uint64(subdomain)
    b, first, second, third = value_differences(t, step)
    sagitta = inner + inner + np.uint64(4)  # c2 N^2 / 8, and one bit for the parity
    b = subtract(b, shift_right(t2, sagitta))
    first = subtract(first, _triple(shift_right(t3, sagitta + e)))
    a = add(shift_right(t1, s + one), shift_right(t2, s + inner + one))
    a1 = shift_right(t2, s + e + one)
    a1 = add(add(a1, a1), _triple(shift_right(t3, s + inner + e + one)))
    a2 = _triple(shift_right(t3, s + e + e + one))
    zero = (np.uint64(0), np.uint64(0))
    return (
        b,
        first,
        second,
        third,
        subtract(zero, a),
        subtract(zero, add(a1, a2)),
        subtract(zero, add(a2, a2)),
    )


@scalar
def value_after_steps(j, b, b1, b2, b3):
    """Return the value that j <= 32 steps of its differences lead to."""
    two = j * (j - np.uint64(1)) // np.uint64(2) if j > np.uint64(1) else np.uint64(0)
    three = two * (j - np.uint64(2)) // np.uint64(3) if j > np.uint64(2) else np.uint64(0)
    return add(add(b, multiply(b1, j)), add(multiply(b2, two), multiply(b3, three)))


@intrinsic
def fraction_as_float(typing, word):
    """Return the 52 bits after the parity bit as an integer in float64."""

    def emit(context, builder, signature, values):
        bits = builder.lshr(builder.shl(values[0], ir.IntType(64)(1)), ir.IntType(64)(12))
        bits = builder.or_(bits, ir.IntType(64)(0x433 << 52))  # 2^52 + the integer
        return builder.fsub(builder.bitcast(bits, ir.DoubleType()), ir.DoubleType()(2.0**52))

    return types.float64(types.uint64), emit


@scalar
def fraction_as_word(word):
    """Return the 63 bits after the parity bit."""
    return word & np.uint64(0x7FFFFFFFFFFFFFFF)


@scalar
def is_near_integer(word, limit):
    """Return whether a value lies within `limit`, in units of 2^-63, of an integer."""
    mask = np.uint64(0x7FFFFFFFFFFFFFFF)
    return ((word + limit) & mask) <= limit + limit

"""Draws by the Ziggurat method, for both targets.

Algorithm 5 of (Riesinger 2017) with its errors corrected: a rejected draw starts again with another
strip (the published one keeps the strip, which makes the tail too likely), the tail's test is
2 t2 > t1^2, numbers have a sign, and strip, sign and abscissa come from different bits.

Number i of a sequence takes its first attempt from the block of words that it shares with its
neighbours. Further attempts use blocks of its own, counted in the highest byte of the block's
number. A number therefore never depends on how often another was rejected.
"""

import math

import numpy as np
from numba import uint32, uint64

from hetero.intrinsics.bits import as_int32, float_in_1_2, to_float32
from hetero.jit import scalar
from hetero.philox.formulas import words10

_ATTEMPT = np.uint64(1 << 56)  # of block numbers, from one attempt to the next
_SCALE, _LEAST = np.float32((1.0 - 2.0**-24) * 2.0**-31), np.float32(2.0**-33)
_STRIPS = np.uint64(255 << 56)  # block of words that choose strips, if they are over 128 (float32)


@scalar
def uniform_float32(word, low):
    """Return an odd multiple of 2^-24 in (0, 1) from the upper 23 bits of a word."""
    return float_in_1_2(word, low, np.float32(0.0)) - np.float32(1.0 - 2.0**-24)


@scalar
def uniform_float64(high, low):
    """Return an odd multiple of 2^-53 in (0, 1) from the upper 50 bits of two words."""
    return float_in_1_2(high, uint32(low & uint32(0xFFFFC000)), 0.0) - (1.0 - 2.0**-53)


@scalar
def _exponential_float32(a, b):
    """Return an exponential number from a word; `b` is not used."""
    return -math.log(to_float32(as_int32(a >> uint32(1))) * _SCALE + _LEAST)


@scalar
def _exponential_float64(a, b):
    """Return an exponential number from two words."""
    return -math.log(uniform_float64(a, b))


@scalar
def _abscissa_float32(a, b):
    """Return a uniform number from a word; `b` gives bits that have no effect."""
    return uniform_float32(a, b)


def make_draw(uniform, exponential, sign):
    """Make `attempt(a, b, strip, table)` and `draw(i, a, b, strip, table, ..)`.

    They draw number i of a sequence, whose abscissa comes from the words (a, b); `attempt` tries
    once, `draw` until a number is accepted. `sign` says which bit of `strip` is the sign.
    """

    @scalar
    def tail(r, i, attempt, path, stream, k0, k1):
        """Draw a number beyond r (Marsaglia 1964)."""
        while True:
            attempt += uint64(1)
            a, b, c, d = words10(i | attempt * _ATTEMPT, path, stream, k0, k1)
            t1, t2 = exponential(a, b) / r, exponential(c, d)
            if t2 + t2 > t1 * t1:
                return r + t1

    @scalar
    def under(x, k, u, table):
        """Return whether x lies under the density, in strip k at the share u of its height."""
        T = type(x)
        low = math.exp(T(-0.5) * table[k + 1] * table[k + 1])
        high = math.exp(T(-0.5) * table[k] * table[k])
        return low + u * (high - low) < math.exp(T(-0.5) * x * x)

    @scalar
    def slow(i, k, x, table, path, stream, k0, k1):
        """Finish a draw whose first attempt left the fast part of strip k."""
        strips, attempt = table.size - 1, uint64(0)
        while True:
            if k == strips - 1:
                return tail(table[k], i, attempt, path, stream, k0, k1)
            attempt += uint64(1)
            a, b, c, d = words10(i | attempt * _ATTEMPT, path, stream, k0, k1)
            if under(x, k, type(x)(uniform_float32(c, c)), table):
                return x
            k = np.int64(d & uint32(strips - 1))
            x = uniform(a, b) * table[k + 1]
            if x < table[k]:
                return x

    @scalar
    def negated(x, strip, strips):
        """Return x or -x, as a bit of `strip` says."""
        bit = uint32(0x2000) if sign else (uint32(128) if strips <= 128 else uint32(1 << 31))
        return -x if strip & bit else x

    @scalar
    def attempt(a, b, strip, table):
        """Return a number of the first attempt, and whether it is accepted, as most are."""
        k = uint64(strip & uint32(table.size - 2))
        x = uniform(a, b) * table[k + uint64(1)]
        return negated(x, strip, table.size - 1), x < table[k]

    @scalar
    def draw(i, a, b, strip, table, path, stream, k0, k1):
        """Return number i, after as many attempts as it takes."""
        strips = table.size - 1
        k = np.int64(strip & uint32(strips - 1))
        x = uniform(a, b) * table[k + 1]
        if not x < table[k]:
            x = slow(i, k, x, table, path, stream, k0, k1)
        return negated(x, strip, strips)

    return attempt, draw


attempt_float32, draw_float32 = make_draw(_abscissa_float32, _exponential_float32, False)
attempt_float64, draw_float64 = make_draw(uniform_float64, _exponential_float64, True)


@scalar
def shared_words(b, path, stream, k0, k1, strips):
    """Return the words of a float32 block: four for abscissas, four for strips and signs."""
    four = words10(b, path, stream, k0, k1)
    if strips <= 128:
        return four, four
    return four, words10(b | _STRIPS, path, stream, k0, k1)

"""Loops over all arguments of binary32, on the CPU: calls of a C function, and correct results.

A chunk is a part of a segment. Its arguments have consecutive bits; `outcomes` has a row for each
chunk and `undecided` the offsets of the arguments that float64 could not decide.
"""

from __future__ import annotations

import numba
import numpy as np

from hetero.jit import parallel, scalar_internal, serial
from tmd._exhaust.c_calls import (
    bits_of_double,
    call_float,
    call_half,
    call_int,
    double_of_bits,
    float_of_bits,
)
from tmd._exhaust.segments import (
    BALLS,
    CONSTANT,
    DEGREE,
    NEXT_TO_X,
    NO_VALUE,
    NOT_JUDGED,
    PHASES,
    POLYNOMIAL,
)

CHUNK = 2048
"""Arguments of a chunk."""

EXAMPLES = 32
"""Wrong results of a chunk that are recorded."""

_U = np.uint64
_LARGEST = float(np.finfo(np.float32).max)
_LOW_BITS = _U((1 << 29) - 1)
_NORMAL = 2.0**-126
_STEP = 2.0**-149
_LOG2_PHASES = PHASES.bit_length() - 1


@scalar_internal
def _high_product(a, b):
    """Return the upper 64 bits of the product of two 64-bit words, of which a < 2^32."""
    low = a * (b & _U(0xFFFFFFFF))
    return (a * (b >> _U(32)) + (low >> _U(32))) >> _U(32)


@scalar_internal
def _round_all(y, bound):
    """Return (decided, nearest, up, down, zero, near a midpoint) of all values within a bound."""
    size = abs(y)
    low, high = size - bound, size + bound
    if not low > 0.0:
        return False, 0.0, 0.0, 0.0, 0.0, False
    if low >= _NORMAL:
        below = double_of_bits(bits_of_double(low) & ~_LOW_BITS)
        step = double_of_bits(bits_of_double(low) & _U(0x7FF0000000000000)) * 2.0**-23
    else:
        step = _STEP
        below = np.floor(low / _STEP) * _STEP
    above, middle = below + step, below + 0.5 * step
    if not (low > below and high < above and (high < middle or low > middle)):
        return False, 0.0, 0.0, 0.0, 0.0, False
    nearest = below if high < middle else above
    is_middle = abs(size - middle) < 0.25 * step
    if nearest > _LARGEST:
        nearest = np.inf
    if above > _LARGEST:
        above = np.inf
    if below > _LARGEST:
        below = _LARGEST
    if y > 0.0:
        return True, nearest, above, below, below, is_middle
    return True, -nearest, -below, -above, -below, is_middle


@scalar_internal
def _evaluate(coefficients, t):
    """Return a polynomial by Horner's scheme."""
    y = coefficients[DEGREE]
    for k in range(DEGREE - 1, -1, -1):
        y = y * t + coefficients[k]
    return y


@scalar_internal
def _periodic_results(bits, phases, frequencies, quarters):
    """Return the results for an argument of at least 1, by its phase in units of 2^-64 periods."""
    e = (bits >> np.uint32(23)) & np.uint32(0xFF)
    digits = _U((bits & np.uint32(0x7FFFFF)) | np.uint32(0x800000))
    phase = digits * frequencies[e, 0] + _high_product(digits, frequencies[e, 1])
    is_negative = bits >> np.uint32(31) != 0
    if is_negative:
        phase = _U(0) - phase
    if not np.isnan(quarters[0]) and (phase << _U(2)) == _U(0):
        y = quarters[np.int64(phase >> _U(62))]
        return not np.isnan(y), y, y, y, y, False
    j = np.int64(phase >> _U(64 - _LOG2_PHASES))
    rest = np.int64(phase & ((_U(1) << _U(64 - _LOG2_PHASES)) - _U(1)))
    half = 1 << (63 - _LOG2_PHASES)
    t = float(rest - half) / float(half)
    y, bound = _evaluate(phases[j], t), phases[j, DEGREE + 1]
    if phases[j, DEGREE + 2] != 0.0:
        if not abs(y) > 2.0 * bound:
            return False, 0.0, 0.0, 0.0, 0.0, False
        y = 1.0 / y
        bound = 2.0 * bound * y * y + 2.0**-52 * abs(y)
    return _round_all(y, bound)


@scalar_internal
def _results(segment, bits, phases, frequencies, quarters):
    """Return (decided, nearest, up, down, zero, near a midpoint) for an argument."""
    rule = segment.rule
    if rule == POLYNOMIAL:
        x = float(float_of_bits(bits))
        return _round_all(
            _evaluate(segment.coefficients, (x - segment.centre) * segment.scale), segment.bound
        )
    if rule == CONSTANT:
        r = segment.results
        return True, r[0], r[1], r[2], r[3], False
    if rule == NEXT_TO_X:
        x = float(float_of_bits(bits))
        outer = segment.bound > 0.0
        other = float(float_of_bits(bits + np.uint32(1) if outer else bits - np.uint32(1)))
        low, high = min(x, other), max(x, other)
        return True, x, high, low, low if x > 0.0 else high, False
    return _periodic_results(bits, phases, frequencies, quarters)


@parallel
def compare(
    segments, ids, starts, counts, table, address, set_mode, modes, outcomes, examples, undecided
):
    """Compare a C function with the correct results, chunk by chunk.

    Parameters
    ----------
    segments : array of SEGMENT
    ids, starts, counts : int64, uint32, int64 (chunks,)
        The segment of each chunk, the bits of its first argument, and how many it has.
    table : (phases, frequencies, quarters) of a `Table`
    address, set_mode : uint64
        Addresses of `float function(float)` and of fesetround.
    modes : int32 (modes, 2)
        Numbers of fenv.h, and columns of the results.
    outcomes : int64 (chunks, 2 + 2 modes)
        Undecided arguments, examples, and wrong results by mode: near numbers, near midpoints.
    examples : int64 (chunks, EXAMPLES, 2)
        Mode and bits of wrong results.
    undecided : uint32 (chunks, CHUNK)
        Bits of undecided arguments.
    """
    phases, frequencies, quarters = table
    for i in numba.prange(ids.size):
        segment = segments[ids[i]]
        n = counts[i]
        outcomes[i] = 0
        rule = segment.rule
        if rule == NOT_JUDGED:
            continue
        if rule == BALLS:
            for k in range(n):
                undecided[i, k] = starts[i] + np.uint32(k)
            outcomes[i, 0] = n
            continue
        returned = np.empty((modes.shape[0], CHUNK), np.float32)
        for m in range(modes.shape[0]):
            # The mode holds in this thread until it is set back.
            call_int(set_mode, modes[m, 0])
            for k in range(n):
                returned[m, k] = call_float(address, float_of_bits(starts[i] + np.uint32(k)))
        call_int(set_mode, np.int32(0))
        for k in range(n):
            bits = starts[i] + np.uint32(k)
            if rule == NO_VALUE:
                r = (True, np.nan, np.nan, np.nan, np.nan, False)
            else:
                r = _results(segment, bits, phases, frequencies, quarters)
            if not r[0]:
                undecided[i, outcomes[i, 0]] = bits
                outcomes[i, 0] += 1
                continue
            for m in range(modes.shape[0]):
                c = modes[m, 1]
                right = r[1] if c == 0 else r[2] if c == 1 else r[3] if c == 2 else r[4]
                y = float(returned[m, k])
                if y != right and not (np.isnan(y) and np.isnan(right)):
                    outcomes[i, 2 + 2 * m + (1 if r[5] else 0)] += 1
                    if outcomes[i, 1] < EXAMPLES:
                        examples[i, outcomes[i, 1], 0] = m
                        examples[i, outcomes[i, 1], 1] = bits
                        outcomes[i, 1] += 1


@serial
def call_all_halves(address, set_mode, mode, returned):
    """Store the bits of a function of binary16 for all 2^16 arguments, under a rounding mode."""
    call_int(set_mode, mode)
    for bits in range(returned.size):
        returned[bits] = call_half(address, np.uint16(bits))
    call_int(set_mode, np.int32(0))


@parallel
def find_results(segments, ids, arguments, table, results):
    """Store the results of arguments in all modes; NaN where float64 cannot decide.

    `ids` are the segments of the `arguments` (uint32 bits); `results` is float64 (arguments, 4).
    """
    phases, frequencies, quarters = table
    for i in numba.prange(arguments.size):
        segment = segments[ids[i]]
        results[i] = np.nan
        rule = segment.rule
        if rule != BALLS and rule != NO_VALUE and rule != NOT_JUDGED:
            r = _results(segment, arguments[i], phases, frequencies, quarters)
            if r[0]:
                results[i, 0], results[i, 1], results[i, 2], results[i, 3] = r[1], r[2], r[3], r[4]

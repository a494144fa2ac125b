"""Digits of float64 numbers on the CPU, by which order statistics are found in few passes.

The bits of a number become an unsigned integer of the same order. A pass counts the next sixteen
bits of the numbers whose higher bits are those of a prefix; a last one collects the numbers that
are left. (On a GPU `large_samples/cuda.py` counts bytes of an array that it holds.)
"""

import numpy as np
from numba import get_num_threads, prange

from hetero.jit import parallel, scalar

DIGIT_BITS = 16
_DIGITS = 1 << DIGIT_BITS
_SIGN = np.uint64(1 << 63)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_DIGIT_SHIFT = np.uint64(DIGIT_BITS)
_FIRST_SHIFT = np.uint64(64 - DIGIT_BITS)
_DIGIT_MASK = np.uint64(_DIGITS - 1)


@scalar
def _key_of(bits):
    """Return the bits of a float64 as an unsigned integer of the same order."""
    return bits ^ (_ONES if bits >= _SIGN else _SIGN)


@parallel
def _count(bits, leads, prefixes, shift, tables):
    parts = tables.shape[0]
    size = (bits.size + parts - 1) // parts
    for part in prange(parts):
        table = tables[part]
        for i in range(part * size, min((part + 1) * size, bits.size)):
            key = _key_of(bits[i])
            if leads[key >> _FIRST_SHIFT]:
                digits = key >> shift
                for k in range(prefixes.size):
                    if digits >> _DIGIT_SHIFT == prefixes[k]:
                        table[k, np.int64(digits & _DIGIT_MASK)] += 1


@parallel
def _survey(data, bits, tables, ends):
    """Count the leading digits of numbers, and find the least and the largest, in one pass.

    Row k of `tables` and of `ends` belongs to a range of the data. NaN if one of the numbers is.
    """
    parts = tables.shape[0]
    size = (data.size + parts - 1) // parts
    for part in prange(parts):
        table, low, high, is_nan = tables[part], np.inf, -np.inf, False
        for i in range(part * size, min((part + 1) * size, data.size)):
            x = data[i]
            low = x if x < low else low
            high = x if x > high else high
            is_nan |= x != x
            table[np.int64(_key_of(bits[i]) >> _FIRST_SHIFT)] += 1
        ends[part, 0] = np.nan if is_nan else low
        ends[part, 1] = np.nan if is_nan else high


@parallel
def _collect(data, bits, leads, prefixes, shift, matches, counts):
    """Copy the numbers with one of the prefixes to the begin of each range of `matches`."""
    parts = counts.size
    size = (bits.size + parts - 1) // parts
    for part in prange(parts):
        end = part * size
        for i in range(part * size, min((part + 1) * size, bits.size)):
            key = _key_of(bits[i])
            if leads[key >> _FIRST_SHIFT]:
                for k in range(prefixes.size):
                    if key >> shift == prefixes[k]:
                        matches[end] = data[i]
                        end += 1
        counts[part] = end - part * size


def _leading_digits(prefixes: np.ndarray, bits: int) -> np.ndarray:
    """Return a table of whether a prefix begins with a digit; prefixes have that many bits.

    Most numbers begin with another digit, and need not be compared with each prefix.
    """
    table = np.zeros(_DIGITS, np.bool_)
    table[prefixes >> np.uint64(bits - DIGIT_BITS)] = True
    return table


def new_tables(prefixes: int = 1) -> np.ndarray:
    """Return zeros (threads, prefixes, 2**DIGIT_BITS), the counts of a pass by each CPU thread.

    They last for all pieces of the pass: to get and add up new ones takes as long as to count.
    """
    return np.zeros((get_num_threads(), prefixes, _DIGITS), np.int64)


def count_digits(data: np.ndarray, prefixes: np.ndarray, shift: int, tables: np.ndarray) -> None:
    """Add to `new_tables` how many numbers have each next digit.

    Parameters
    ----------
    data : contiguous float64 array
    prefixes : uint64 array, the bits above the digit: a digit or more
    shift : number of bits below the digit
    """
    leads = _leading_digits(prefixes, 64 - DIGIT_BITS - shift)
    _count(data.view(np.uint64), leads, prefixes, np.uint64(shift), tables)


def find_extremes_and_count(data: np.ndarray, tables: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest of some numbers, NaN if one is NaN.

    How many have each leading digit is added to `new_tables`. There is a number at least.
    """
    ends = np.empty((len(tables), 2))
    _survey(data, data.view(np.uint64), tables[:, 0], ends)
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def collect(data: np.ndarray, prefixes: np.ndarray, shift: int) -> np.ndarray:
    """Return the numbers whose bits above `shift` are one of the prefixes."""
    matches, counts = np.empty(data.size), np.empty(get_num_threads(), np.int64)
    leads = _leading_digits(prefixes, 64 - shift)
    _collect(data, data.view(np.uint64), leads, prefixes, np.uint64(shift), matches, counts)
    size = -(-data.size // counts.size)
    return np.concatenate([matches[k * size :][:count] for k, count in enumerate(counts)])


def keys_of(values: np.ndarray) -> np.ndarray:
    """Return the integers by which float64 numbers are ordered."""
    bits = values.view(np.uint64)
    return bits ^ np.where(bits >= _SIGN, _ONES, _SIGN)


def values_of(keys: np.ndarray) -> np.ndarray:
    """Return the float64 numbers of keys; the inverse of `keys_of`."""
    return (keys ^ np.where(keys >= _SIGN, _SIGN, _ONES)).view(np.float64)

"""Digits of float64 numbers on the CPU, by which order statistics are found in few passes.

The bits of a number become an unsigned integer of the same order. A pass counts the next sixteen
bits of the numbers whose higher bits are those of a prefix; a last one collects the numbers that
are left. (On a GPU `_fit/order_statistics/cuda.py` counts bytes of an array that it holds.)
"""

import numpy as np
from numba import get_num_threads, prange

from hetero.jit import parallel, scalar

DIGIT_BITS = 16
_DIGITS = 1 << DIGIT_BITS
_SIGN = np.uint64(1 << 63)
_ONES = np.uint64(0xFFFFFFFFFFFFFFFF)
_DIGIT_SHIFT = np.uint64(DIGIT_BITS)
_DIGIT_MASK = np.uint64(_DIGITS - 1)


@scalar
def _key_of(bits):
    """Return the bits of a float64 as an unsigned integer of the same order."""
    return bits ^ (_ONES if bits >= _SIGN else _SIGN)


@parallel
def _count(bits, prefixes, shift, tables):
    parts = tables.shape[0]
    size = (bits.size + parts - 1) // parts
    for part in prange(parts):
        table = tables[part]
        for i in range(part * size, min((part + 1) * size, bits.size)):
            digits = _key_of(bits[i]) >> shift
            for k in range(prefixes.size):
                if digits >> _DIGIT_SHIFT == prefixes[k]:
                    table[k, np.int64(digits & _DIGIT_MASK)] += 1


@parallel
def _mark(bits, prefixes, shift, marks):
    parts = get_num_threads()
    size = (bits.size + parts - 1) // parts
    for part in prange(parts):
        for i in range(part * size, min((part + 1) * size, bits.size)):
            digits, found = _key_of(bits[i]) >> shift, False
            for k in range(prefixes.size):
                found |= digits == prefixes[k]
            marks[i] = found


def count_digits(data: np.ndarray, prefixes: np.ndarray, shift: int) -> np.ndarray:
    """Return how many numbers have each next digit, an int64 array (prefixes, 2**DIGIT_BITS).

    Parameters
    ----------
    data : contiguous float64 array
    prefixes : uint64 array, the bits above the digit
    shift : number of bits below the digit
    """
    tables = np.zeros((get_num_threads(), prefixes.size, _DIGITS), np.int64)
    _count(data.view(np.uint64), prefixes, np.uint64(shift), tables)
    return tables.sum(axis=0)


def collect(data: np.ndarray, prefixes: np.ndarray, shift: int) -> np.ndarray:
    """Return the numbers whose bits above `shift` are one of the prefixes."""
    marks = np.empty(data.size, np.bool_)
    _mark(data.view(np.uint64), prefixes, np.uint64(shift), marks)
    return data[marks]


def keys_of(values: np.ndarray) -> np.ndarray:
    """Return the integers by which float64 numbers are ordered."""
    bits = values.view(np.uint64)
    return bits ^ np.where(bits >= _SIGN, _ONES, _SIGN)


def values_of(keys: np.ndarray) -> np.ndarray:
    """Return the float64 numbers of keys; the inverse of `keys_of`."""
    return (keys ^ np.where(keys >= _SIGN, _SIGN, _ONES)).view(np.float64)

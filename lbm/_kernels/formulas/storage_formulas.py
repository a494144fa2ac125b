"""Storage formats of populations, for both targets: encoding, decoding and packing of words.

Half precision is IEEE's, scaled by 2^15 so that the shifted populations use its whole range
(Lehmann et al. 2022). Populations beyond +-2 become infinite, which the next check reports.
"""

from __future__ import annotations

import numpy as np

from hetero.jit import FUSED, scalar
from lbm._kernels.intrinsics.half_precision import from_half, join_halves, split_halves, to_half


def _compiled(function):
    """Compile a formula as `inlined` does, in the simulator, too: Python has no intrinsics."""
    return scalar(function, forceinline=True, fastmath=FUSED)


@_compiled
def _identity(x):
    return x


@_compiled
def decode_half(bits):
    """Return the float32 value of a stored half-precision population."""
    return from_half(bits) * np.float32(2.0**-15)


@_compiled
def encode_half(x):
    """Return the 16 bits that store a float32 population."""
    return to_half(x * np.float32(2.0**15))


@_compiled
def split_word(word):
    """Return the populations of both lanes of a 32-bit word, the lower lane first."""
    low, high = split_halves(word)
    return decode_half(low), decode_half(high)


@_compiled
def join_word(a, b):
    """Return the 32-bit word with the population a in its lower and b in its upper lane."""
    return join_halves(encode_half(a), encode_half(b))


def codec(precision):
    """Return the functions (decode, encode) of one population."""
    return (decode_half, encode_half) if precision.storage is np.uint16 else (_identity, _identity)


def word_codec(precision):
    """Return the functions (unpack, pack) of a word: of two lanes, or of one population."""
    if precision.lanes == 1:
        return codec(precision)
    return split_word, join_word

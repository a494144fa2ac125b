"""Philox4x32 and the conversion of its words to floats, for both targets.

Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC11).
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import scalar

_M0, _M1 = np.uint32(0xD2511F53), np.uint32(0xCD9E8D57)
_W0, _W1 = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@intrinsic
def _product(typing, a, b):
    """The upper and the lower word of a b, for uint32.

    On a GPU one instruction gives both; from a 64-bit product the compiler makes two of it.
    """
    word, wide = ir.IntType(32), ir.IntType(64)

    def emit(context, builder, signature, values):
        if "cuda" in type(context).__module__:
            kind = ir.FunctionType(ir.LiteralStructType([word, word]), [word, word])
            text = "{ .reg .b64 p; mul.wide.u32 p, $2, $3; mov.b64 {$1, $0}, p; }"
            both = builder.call(ir.InlineAsm(kind, text, "=r,=r,r,r"), values)
            halves = [builder.extract_value(both, i) for i in (0, 1)]
        else:
            product = builder.mul(*(builder.zext(v, wide) for v in values))
            halves = [builder.trunc(p, word) for p in (builder.lshr(product, wide(32)), product)]
        return context.make_tuple(builder, signature.return_type, halves)

    return types.UniTuple(types.uint32, 2)(types.uint32, types.uint32), emit


@scalar
def philox(c0, c1, c2, c3, k0, k1, rounds):
    """Four random uint32 words of the counter (c0..c3) under the key (k0, k1), all uint32."""
    for _ in range(rounds):
        high0, low0 = _product(np.uint32(c0), _M0)
        high1, low1 = _product(np.uint32(c2), _M1)
        # Numba widens uint32 ^ uint32 and uint32 + uint32.
        c0, c1, c2, c3 = np.uint32(high1 ^ c1 ^ k0), low1, np.uint32(high0 ^ c3 ^ k1), low0
        k0 = np.uint32(k0 + _W0)
        k1 = np.uint32(k1 + _W1)
    return c0, c1, c2, c3


@scalar
def words(block, path, stream, k0, k1, rounds):
    """Four words of block number `block` (uint64) of a path (uint32) in a stream (uint32).

    The block number takes two words of the counter, so no sequence runs out.
    """
    return philox(np.uint32(block & _LOW), np.uint32(block >> _32), path, stream, k0, k1, rounds)


@scalar
def unit_float64(low, high):
    """Two words as a float64 in (0, 1): an odd multiple of 2^-53, symmetric about 1/2."""
    word = (np.uint64(high) << _32) | np.uint64(low)
    return np.float64((word >> np.uint64(11)) | np.uint64(1)) * 2.0**-53


@scalar
def unit_float32(word):
    """A word as a float32 in (0, 1): an odd multiple of 2^-24, symmetric about 1/2."""
    return np.float32((word >> np.uint32(8)) | np.uint32(1)) * np.float32(2.0**-24)

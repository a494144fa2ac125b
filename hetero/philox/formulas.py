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


_word, _wide = ir.IntType(32), ir.IntType(64)


def _halves(context, builder, values):
    """Return the upper and the lower word of a product of two uint32."""
    if "cuda" in type(context).__module__:
        kind = ir.FunctionType(ir.LiteralStructType([_word, _word]), [_word, _word])
        text = "{ .reg .b64 p; mul.wide.u32 p, $2, $3; mov.b64 {$1, $0}, p; }"
        both = builder.call(ir.InlineAsm(kind, text, "=r,=r,r,r"), values)
        return [builder.extract_value(both, i) for i in (0, 1)]
    product = builder.mul(*(builder.zext(v, _wide) for v in values))
    return [builder.trunc(p, _word) for p in (builder.lshr(product, _wide(32)), product)]


@intrinsic
def _product(typing, a, b):
    """Return the upper and the lower word of a b, for uint32.

    On a GPU one instruction gives both; for a 64-bit product the compiler would take two.
    """

    def emit(context, builder, signature, values):
        return context.make_tuple(builder, signature.return_type, _halves(context, builder, values))

    return types.UniTuple(types.uint32, 2)(types.uint32, types.uint32), emit


@intrinsic
def _ten_rounds(typing, c0, c1, c2, c3, k0, k1):
    """Compute `philox` with ten rounds and no loop, so that a CPU's loops over blocks vectorise."""

    def emit(context, builder, signature, values):
        on_gpu = "cuda" in type(context).__module__
        # A CPU's product of two vectors reads the lower words of 64-bit lanes: they stay there.
        counter = values[:4] if on_gpu else [builder.zext(v, _wide) for v in values[:4]]
        c0, c1, c2, c3 = counter
        for i in range(10):
            keys = [
                builder.add(k, _word(i * int(w) % 2**32))
                for k, w in zip(values[4:], (_W0, _W1), strict=True)
            ]
            if on_gpu:
                high0, low0 = _halves(context, builder, [c0, _word(int(_M0))])
                high1, low1 = _halves(context, builder, [c2, _word(int(_M1))])
            else:
                keys = [builder.zext(k, _wide) for k in keys]
                low0, low1 = (
                    builder.mul(builder.and_(c, _wide(int(_LOW))), _wide(int(m)))
                    for c, m in ((c0, _M0), (c2, _M1))
                )
                high0, high1 = (builder.lshr(p, _wide(32)) for p in (low0, low1))
            c0, c1 = builder.xor(builder.xor(high1, c1), keys[0]), low1
            c2, c3 = builder.xor(builder.xor(high0, c3), keys[1]), low0
        output = [c0, c1, c2, c3] if on_gpu else [builder.trunc(c, _word) for c in (c0, c1, c2, c3)]
        return context.make_tuple(builder, signature.return_type, output)

    u = types.uint32
    return types.UniTuple(u, 4)(u, u, u, u, u, u), emit


@scalar(forceinline=True)
def philox(c0, c1, c2, c3, k0, k1, rounds):
    """Return four random words of the counter (c0..c3) under the key (k0, k1), all uint32."""
    for _ in range(rounds):
        high0, low0 = _product(np.uint32(c0), _M0)
        high1, low1 = _product(np.uint32(c2), _M1)
        # Numba widens uint32 ^ uint32 and uint32 + uint32.
        c0, c1, c2, c3 = np.uint32(high1 ^ c1 ^ k0), low1, np.uint32(high0 ^ c3 ^ k1), low0
        k0 = np.uint32(k0 + _W0)
        k1 = np.uint32(k1 + _W1)
    return c0, c1, c2, c3


@scalar(forceinline=True)
def words(block, path, stream, k0, k1, rounds):
    """Return the four words of block number `block` (uint64) of a path and a stream (uint32).

    The block number takes two words of the counter, so no sequence runs out.
    """
    return philox(np.uint32(block & _LOW), np.uint32(block >> _32), path, stream, k0, k1, rounds)


@scalar(forceinline=True)
def philox10(c0, c1, c2, c3, k0, k1):
    """Compute `philox` with ten rounds, for loops that the compiler should vectorise."""
    return _ten_rounds(c0, c1, c2, c3, k0, k1)


@scalar(forceinline=True)
def words10(block, path, stream, k0, k1):
    """Compute `words` with ten rounds, for loops that the compiler should vectorise."""
    low, high = np.uint32(block & _LOW), np.uint32(block >> _32)
    return _ten_rounds(low, high, np.uint32(path), np.uint32(stream), np.uint32(k0), np.uint32(k1))


@scalar(forceinline=True)
def unit_float64(low, high):
    """Return two words as a float64 in (0, 1): an odd multiple of 2^-53, symmetric about 1/2."""
    word = (np.uint64(high) << _32) | np.uint64(low)
    return np.float64((word >> np.uint64(11)) | np.uint64(1)) * 2.0**-53


@scalar(forceinline=True)
def unit_float32(word):
    """Return a word as a float32 in (0, 1): an odd multiple of 2^-24, symmetric about 1/2."""
    return np.float32((word >> np.uint32(8)) | np.uint32(1)) * np.float32(2.0**-24)

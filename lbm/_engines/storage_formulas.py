"""Storage formats of populations, for both targets: encoding, decoding and packing of words.

Half precision is IEEE's, scaled by 2^15 so that the shifted populations use its whole range
(Lehmann et al. 2022). It is written in LLVM because Numba has no float16 on the CPU; both targets
have instructions for it. Populations beyond +-2 become infinite, which the next check reports.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lbm._engines.unroll import inlined

_HALF, _FLOAT, _I16, _I32 = ir.HalfType(), ir.FloatType(), ir.IntType(16), ir.IntType(32)


@intrinsic
def _from_half(typing, bits):
    """Convert the bits of a half-precision number to float32."""

    def emit(context, builder, signature, values):
        return builder.fpext(builder.bitcast(values[0], _HALF), _FLOAT)

    return types.float32(types.uint16), emit


@intrinsic
def _to_half(typing, x):
    """Convert a float32 number to the bits of the nearest half-precision one."""

    def emit(context, builder, signature, values):
        return builder.bitcast(builder.fptrunc(values[0], _HALF), _I16)

    return types.uint16(types.float32), emit


@intrinsic
def _split_halves(typing, word):
    """Return the two 16-bit halves of a word, the lower first."""

    def emit(context, builder, signature, values):
        low = builder.trunc(values[0], _I16)
        high = builder.trunc(builder.lshr(values[0], _I32(16)), _I16)
        return context.make_tuple(builder, signature.return_type, (low, high))

    return types.UniTuple(types.uint16, 2)(types.uint32), emit


@intrinsic
def _join_halves(typing, low, high):
    """Return the word of two 16-bit halves."""

    def emit(context, builder, signature, values):
        low, high = (builder.zext(v, _I32) for v in values)
        return builder.or_(low, builder.shl(high, _I32(16)))

    return types.uint32(types.uint16, types.uint16), emit


@inlined
def _identity(x):
    return x


@inlined
def decode_half(bits):
    """Return the float32 value of a stored half-precision population."""
    return _from_half(bits) * np.float32(2.0**-15)


@inlined
def encode_half(x):
    """Return the 16 bits that store a float32 population."""
    return _to_half(x * np.float32(2.0**15))


@inlined
def split_word(word):
    """Return the populations of both lanes of a 32-bit word, the lower lane first."""
    low, high = _split_halves(word)
    return decode_half(low), decode_half(high)


@inlined
def join_word(a, b):
    """Return the 32-bit word with the population a in its lower and b in its upper lane."""
    return _join_halves(encode_half(a), encode_half(b))


def make_move(width: int):
    """Make move(source, i, target, j), which copies `width` numbers between flat arrays.

    Numbers are encoded or decoded if one array is stored in half precision and the other is not.
    """

    @intrinsic
    def move(typing, source, i, target, j):
        def emit(context, builder, signature, values):
            def pointer(array_type, array, index):
                array = context.make_array(array_type)(context, builder, array)
                start = builder.gep(array.data, [index])
                element = context.get_value_type(array_type.dtype)
                return builder.bitcast(start, ir.VectorType(element, width).as_pointer())

            numbers = builder.load(pointer(source, *values[:2]), align=source.dtype.bitwidth // 8)
            halves, floats = ir.VectorType(_HALF, width), ir.VectorType(_FLOAT, width)
            scale = ir.Constant(
                floats, [2.0**-15 if source.dtype == types.uint16 else 2.0**15] * width
            )
            if source.dtype != target.dtype and source.dtype == types.uint16:
                numbers = builder.fpext(builder.bitcast(numbers, halves), floats)
                numbers = builder.fmul(numbers, scale)
            elif source.dtype != target.dtype:
                numbers = builder.fptrunc(builder.fmul(numbers, scale), halves)
                numbers = builder.bitcast(numbers, ir.VectorType(_I16, width))
            builder.store(numbers, pointer(target, *values[2:]), align=target.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(source, types.int64, target, types.int64), emit

    return move


def codec(precision):
    """Return the functions (decode, encode) of one population."""
    return (decode_half, encode_half) if precision.storage is np.uint16 else (_identity, _identity)


def word_codec(precision):
    """Return the functions (unpack, pack) of a word: of two lanes, or of one population."""
    if precision.lanes == 1:
        return codec(precision)
    return split_word, join_word

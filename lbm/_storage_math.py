"""Populations in memory: words taken apart and put together, for both targets.

Half precision is IEEE's, scaled by 2^15 so that the shifted populations use its whole range
(Lehmann et al. 2022). It is written in LLVM because Numba has no float16 on the CPU; both targets
have instructions for it. What exceeds +-2 becomes infinite, which the next check finds.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lbm._unroll import inlined

_HALF, _FLOAT, _I16, _I32 = ir.HalfType(), ir.FloatType(), ir.IntType(16), ir.IntType(32)


@intrinsic
def _from_half(typing, bits):
    def emit(context, builder, signature, values):
        return builder.fpext(builder.bitcast(values[0], _HALF), _FLOAT)

    return types.float32(types.uint16), emit


@intrinsic
def _to_half(typing, x):
    def emit(context, builder, signature, values):
        return builder.bitcast(builder.fptrunc(values[0], _HALF), _I16)

    return types.uint16(types.float32), emit


@intrinsic
def _split_halves(typing, word):
    """The two 16-bit halves of a word, the lower first."""

    def emit(context, builder, signature, values):
        low = builder.trunc(values[0], _I16)
        high = builder.trunc(builder.lshr(values[0], _I32(16)), _I16)
        return context.make_tuple(builder, signature.return_type, (low, high))

    return types.UniTuple(types.uint16, 2)(types.uint32), emit


@intrinsic
def _join_halves(typing, low, high):
    def emit(context, builder, signature, values):
        low, high = (builder.zext(v, _I32) for v in values)
        return builder.or_(low, builder.shl(high, _I32(16)))

    return types.uint32(types.uint16, types.uint16), emit


@inlined
def _same(x):
    return x


@inlined
def half_decode(bits):
    return _from_half(bits) * np.float32(2.0**-15)


@inlined
def half_encode(x):
    return _to_half(x * np.float32(2.0**15))


@inlined
def half_split(word):
    low, high = _split_halves(word)
    return half_decode(low), half_decode(high)


@inlined
def half_join(a, b):
    return _join_halves(half_encode(a), half_encode(b))


def mover(width: int):
    """move(source, i, target, j): `width` numbers of a flat array to another, coded as needed."""

    @intrinsic
    def move(typing, source, i, target, j):
        def emit(context, builder, signature, values):
            def pointer(kind, array, index):
                array = context.make_array(kind)(context, builder, array)
                start = builder.gep(array.data, [index])
                element = context.get_value_type(kind.dtype)
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
    """(decode, encode) of one population."""
    return (half_decode, half_encode) if precision.storage is np.uint16 else (_same, _same)


def word_codec(precision):
    """(take apart, put together) of a word of two lanes."""
    if precision.lanes == 1:
        return codec(precision)
    return half_split, half_join

"""Conversion of numbers and vectors to and from half precision, and words of two halves.

It is written in LLVM because Numba has no float16 on the CPU; both targets have instructions.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from lbm._kernels.intrinsics.vectors import Vector

_HALF, _FLOAT, _I16, _I32 = ir.HalfType(), ir.FloatType(), ir.IntType(16), ir.IntType(32)


def _with_lanes(kind, like):
    """Return the LLVM type `kind`, or that of vectors with as many lanes as `like`."""
    return ir.VectorType(kind, like.count) if isinstance(like, ir.VectorType) else kind


def _with_dtype(dtype, like):
    """Return the Numba type `dtype`, or that of vectors with as many lanes as `like`."""
    return Vector(dtype, like.lanes) if isinstance(like, Vector) else dtype


@intrinsic
def from_half(typing, bits):
    """Convert the bits of a half-precision number, or of a vector of these, to float32."""

    def emit(context, builder, signature, values):
        half, single = (_with_lanes(kind, values[0].type) for kind in (_HALF, _FLOAT))
        return builder.fpext(builder.bitcast(values[0], half), single)

    return _with_dtype(types.float32, bits)(bits), emit


@intrinsic
def to_half(typing, x):
    """Convert a float32 number, or a vector of these, to the bits of the nearest halves."""

    def emit(context, builder, signature, values):
        half, bits = (_with_lanes(kind, values[0].type) for kind in (_HALF, _I16))
        return builder.bitcast(builder.fptrunc(values[0], half), bits)

    return _with_dtype(types.uint16, x)(x), emit


def _shift(like):
    """Return the constant 16 for a word, or for each of a vector of words."""
    count = like.count if isinstance(like, ir.VectorType) else 0
    return ir.Constant(like, [16] * count) if count else _I32(16)


@intrinsic
def split_halves(typing, word):
    """Return the two 16-bit halves of a word, or of each of a vector of these, the lower first."""

    def emit(context, builder, signature, values):
        half = _with_lanes(_I16, values[0].type)
        low = builder.trunc(values[0], half)
        high = builder.trunc(builder.lshr(values[0], _shift(values[0].type)), half)
        return context.make_tuple(builder, signature.return_type, (low, high))

    return types.UniTuple(_with_dtype(types.uint16, word), 2)(word), emit


@intrinsic
def join_halves(typing, low, high):
    """Return the word of two 16-bit halves, or the vector of those of two vectors."""

    def emit(context, builder, signature, values):
        low, high = (builder.zext(v, _with_lanes(_I32, v.type)) for v in values)
        return builder.or_(low, builder.shl(high, _shift(high.type)))

    return _with_dtype(types.uint32, low)(low, high), emit

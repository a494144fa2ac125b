"""Operations on the bits of words and floats, and fast approximate functions, for both targets.

They have no branches, so that loops vectorise on the CPU.
"""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.intrinsics.chebyshev import economized_even_series, economized_series
from hetero.intrinsics.floats import float_and_word_types, is_for_gpu

_DIGITS = {types.float32: 23, types.float64: 52}
# log2(1 + f)/f
_LOG2 = economized_series([(-1.0) ** k / (k + 1) / math.log(2.0) for k in range(40)], 1.0 / 3.0, 9)
_ONE = {types.float32: 0x3F800000, types.float64: 0x3FF << 52}


def _call_assembly(builder, text, kind, letters, values):
    signature = ir.FunctionType(kind, [v.type for v in values])
    return builder.call(ir.InlineAsm(signature, text, letters), values)


def _negate(builder, x):
    """Return -x without `fneg`, which NVVM does not know."""
    return builder.fsub(x.type(-0.0), x)


@intrinsic
def float_in_1_2(typing, high, low, like):
    """Return a float in [1, 2) of the type of `like` from the upper bits of (high, low).

    float32 takes 23 bits of `high`; float64 takes 52 bits of both.
    """

    def emit(context, builder, signature, values):
        real, word = float_and_word_types(context, like)
        bits = values[0]
        if like == types.float64:
            wide = [builder.zext(v, word) for v in values[:2]]
            bits = builder.or_(builder.shl(wide[0], word(32)), wide[1])
        bits = builder.lshr(bits, word(like.bitwidth - _DIGITS[like]))
        return builder.bitcast(builder.or_(bits, word(_ONE[like])), real)

    return like(types.uint32, types.uint32, like), emit


@intrinsic
def flip_sign(typing, x, word):
    """Return -x if the lowest bit of `word` is set, else x."""

    def emit(context, builder, signature, values):
        real, integer = float_and_word_types(context, x)
        w = values[1] if x == types.float32 else builder.zext(values[1], integer)
        sign = builder.shl(w, integer(x.bitwidth - 1))
        return builder.bitcast(builder.xor(builder.bitcast(values[0], integer), sign), real)

    return x(x, types.uint32), emit


@intrinsic
def select_by_bit(typing, word, x, y):
    """Return x if bit 1 of `word` is set, else y, by an instruction and never by a branch."""

    def emit(context, builder, signature, values):
        bit = builder.and_(values[0], ir.IntType(32)(2))
        return builder.select(builder.icmp_signed("!=", bit, ir.IntType(32)(0)), *values[1:])

    return x(types.uint32, x, x), emit


@intrinsic
def select(typing, condition, x, y):
    """Return x if the condition holds, else y, by an instruction and never by a branch."""

    def emit(context, builder, signature, values):
        return builder.select(*values)

    return x(condition, x, x), emit


@intrinsic
def to_float32(typing, word):
    """Return a uint32 or int32 rounded to float32."""

    def emit(context, builder, signature, values):
        convert = builder.sitofp if word.signed else builder.uitofp
        return convert(values[0], ir.FloatType())

    return types.float32(word), emit


@intrinsic
def as_int32(typing, word):
    """Return the int32 with the bits of a uint32."""
    return types.int32(types.uint32), lambda context, builder, signature, values: values[0]


@intrinsic
def split_for_log(typing, x):
    """Return (f, e) with x = 2^k (1 + f) for normal x > 0.

    float32: f in [-1/3, 1/3], and e is k 2^23; float64: 1 + f in [sqrt(1/2), sqrt(2)], and e is k.
    """
    start = 0x3F2AAAAB if x == types.float32 else 0x3FE6A09E667F3BCD

    def emit(context, builder, signature, values):
        real, word = float_and_word_types(context, x)
        bits = builder.bitcast(values[0], word)
        mask = word(-1 << _DIGITS[x])
        power = builder.and_(builder.sub(bits, word(start)), mask)
        f = builder.fsub(builder.bitcast(builder.sub(bits, power), real), real(1.0))
        if x == types.float32:
            return context.make_tuple(
                builder, signature.return_type, [f, builder.sitofp(power, real)]
            )
        k = builder.trunc(builder.ashr(power, word(52)), ir.IntType(32))
        k = builder.sitofp(k, real)  # of 32 bits: GPUs do not use their float64 units for that
        return context.make_tuple(builder, signature.return_type, [f, k])

    return types.UniTuple(x, 2)(x), emit


@intrinsic
def approx_sqrt(typing, x):
    """Return the square root of x > 0 to an ulp; NaN or 0 for x = 0."""

    def emit(context, builder, signature, values):
        real, _ = float_and_word_types(context, x)
        if not is_for_gpu(context):
            name = f"llvm.sqrt.f{x.bitwidth}"
            function = builder.module.declare_intrinsic(name, fnty=ir.FunctionType(real, [real]))
            return builder.call(function, values)
        if x == types.float32:
            return _call_assembly(builder, "sqrt.approx.ftz.f32 $0, $1;", real, "=f,f", values)
        # A series to the third order improves 20 bits of 1/sqrt(x).
        (v,) = values
        y = _call_assembly(builder, "rsqrt.approx.ftz.f64 $0, $1;", real, "=d,d", values)
        g = builder.fmul(v, y)
        e = builder.fma(_negate(builder, g), y, real(1.0))
        factor = builder.fma(e, real(0.375), real(0.5))
        return builder.fma(builder.fmul(g, e), factor, g)

    return x(x), emit


@intrinsic
def approx_log2(typing, x):
    """Return the logarithm to base 2 of a float32 x > 0, with an absolute error near 2^-22."""

    def emit(context, builder, signature, values):
        real, word = ir.FloatType(), ir.IntType(32)
        if is_for_gpu(context):
            return _call_assembly(builder, "lg2.approx.ftz.f32 $0, $1;", real, "=f,f", values)
        bits = builder.bitcast(values[0], word)
        power = builder.and_(builder.sub(bits, word(0x3F2AAAAB)), word(-1 << 23))
        f = builder.fsub(builder.bitcast(builder.sub(bits, power), real), real(1.0))
        first, *lower = map(real, _LOG2)
        for c in lower:
            first = builder.fma(first, f, c)
        k = builder.fmul(builder.sitofp(power, real), real(2.0**-23))
        return builder.fma(first, f, k)

    return types.float32(types.float32), emit


@intrinsic
def bits_of(typing, x):
    """Return the bits of a float as an unsigned integer of its width."""
    integer = types.uint32 if x == types.float32 else types.uint64

    def emit(context, builder, signature, values):
        return builder.bitcast(values[0], float_and_word_types(context, x)[1])

    return integer(x), emit


@intrinsic
def float_of(typing, bits):
    """Return the float with these bits, of the width of `bits`."""
    real = types.float32 if bits == types.uint32 else types.float64

    def emit(context, builder, signature, values):
        return builder.bitcast(values[0], context.get_value_type(real))

    return real(bits), emit


def _make_approximation(instruction, coefficients, odd):
    """Make a float32 function: a GPU's instruction, or on a CPU a polynomial in x^2 (times x)."""

    @intrinsic
    def function(typing, x):
        def emit(context, builder, signature, values):
            (v,), real = values, ir.FloatType()
            if is_for_gpu(context):
                return _call_assembly(
                    builder, f"{instruction}.approx.ftz.f32 $0, $1;", real, "=f,f", values
                )
            square = builder.fmul(v, v)
            first, *lower = map(real, coefficients)
            for c in lower:
                first = builder.fma(first, square, c)
            return builder.fmul(v, first) if odd else first

        return types.float32(types.float32), emit

    return function


_SIN = [(-1.0) ** k / math.factorial(2 * k + 1) for k in range(25)]
_COS = [(-1.0) ** k / math.factorial(2 * k) for k in range(25)]
approx_sine = _make_approximation("sin", economized_even_series(_SIN, math.pi, 7), True)
approx_cosine = _make_approximation("cos", economized_even_series(_COS, math.pi, 8), False)
"""Sine and cosine of |x| <= pi in float32, with an absolute error of 5e-7."""

"""Operations on float32 and float64 that Numba's arithmetic lacks, for both targets.

Everything here has the type of its argument x and no branch, so that loops vectorise on the CPU.
`constant` and `polynomial` are given their numbers when a formula is written: Numba's own literals
are float64 and would make float64 of float32.
"""

import struct
import zlib

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_DIGITS = {types.float32: 23, types.float64: 52}  # of the significand that are stored


def float_and_word_types(context, x) -> tuple[ir.Type, ir.IntType]:
    """Return LLVM's types of a float and of the integer of its width."""
    return context.get_value_type(x), ir.IntType(x.bitwidth)


def is_for_gpu(context) -> bool:
    """Return whether code is made for a GPU."""
    return "cuda" in type(context).__module__


def constant(single: float, double: float | None = None):
    """Make a function of x that returns a number, or one of two, of the type of x."""
    double = single if double is None else double

    @intrinsic
    def number(typing, x):
        def emit(context, builder, signature, values):
            real, _ = float_and_word_types(context, x)
            return real(single if x == types.float32 else double)

        return x(x), emit

    return number


def polynomial(single: tuple, double: tuple):
    """Make Horner's scheme in x, unrolled, by multiply-adds; the highest power comes first."""

    @intrinsic
    def value(typing, x):
        coefficients = single if x == types.float32 else double

        def emit(context, builder, signature, values):
            real, _ = float_and_word_types(context, x)
            if x == types.float64 and is_for_gpu(context):
                first, *lower = _constant_memory(builder, coefficients)
            else:
                first, *lower = map(real, coefficients)
            for c in lower:
                first = builder.fma(first, values[0], c)
            return first

        return x(x), emit

    return value


def _constant_memory(builder, numbers: tuple) -> list:
    """Return float64 coefficients for the GPU, as literals or as loads from constant memory.

    A literal is part of an instruction if the lower half of its bits is 0. Any other literal takes
    two instructions, while a load from constant memory takes one.
    """
    kind, i32 = ir.ArrayType(ir.DoubleType(), len(numbers)), ir.IntType(32)
    name = f"coefficients_{zlib.crc32(struct.pack(f'{len(numbers)}d', *numbers)):08x}"
    table = builder.module.globals.get(name)
    if table is None:
        table = ir.GlobalVariable(builder.module, kind, name, addrspace=4)
        table.initializer = kind([float(c) for c in numbers])
        table.global_constant = True
        table.linkage = "weak"  # the compiler would turn private numbers into literals again
        table.align = 8
    return [
        ir.DoubleType()(c)
        if struct.pack("<d", c)[:4] == bytes(4)
        else builder.load(builder.gep(table, [i32(0), i32(i)], inbounds=True))
        for i, c in enumerate(numbers)
    ]


@intrinsic
def fma(typing, x, y, z):
    """Return x y + z, rounded once."""

    def emit(context, builder, signature, values):
        return builder.fma(*values)

    return x(x, x, x), emit


@intrinsic
def approx_reciprocal(typing, x):
    """Return 1/x to 1 ulp (float32), or to 19 bits with at most 24 set (float64); 0 for huge x."""

    def emit(context, builder, signature, values):
        real, _ = float_and_word_types(context, x)
        if is_for_gpu(context):
            letter = "f" if x == types.float32 else "d"
            text = f"rcp.approx.ftz.f{x.bitwidth} $0, $1;"
            kind = ir.FunctionType(real, [real])
            return builder.call(ir.InlineAsm(kind, text, f"={letter},{letter}"), values)
        single = ir.FloatType()
        if x == types.float32:
            return builder.fdiv(single(1.0), values[0])
        return builder.fpext(builder.fdiv(single(1.0), builder.fptrunc(values[0], single)), real)

    return x(x), emit


@intrinsic
def scale_by_power_of_two(typing, x, n):
    """Return x 2^k by addition to the exponent; the last bits of n = 1.5 2^52 + k (2^23) are k."""

    def emit(context, builder, signature, values):
        real, word = float_and_word_types(context, x)
        bits, number = (builder.bitcast(v, word) for v in values)
        step = builder.shl(number, word(_DIGITS[x]))
        return builder.bitcast(builder.add(bits, step), real)

    return x(x, x), emit


@intrinsic
def split_exponent(typing, x):
    """Return (m, k), x = 2^k m with m in [sqrt(1/2), sqrt(2)], for normal x > 0; else anything."""
    single = x == types.float32
    root, one = (0x3F3504F3, 0x3F800000) if single else (0x3FE6A09E << 32, 0x3FF << 52)

    def emit(context, builder, signature, values):
        real, word = float_and_word_types(context, x)
        digits = _DIGITS[x]
        bits = builder.bitcast(values[0], word)
        power = builder.and_(builder.add(bits, word(one - root)), word(-1 << digits))
        m = builder.bitcast(builder.add(builder.sub(bits, power), word(one)), real)
        # An integer added to the bits of 1.5 * 2^52 (2^23) is added to the number.
        magic = real(1.5 * 2.0**digits)
        number = builder.add(builder.lshr(power, word(digits)), builder.bitcast(magic, word))
        k = builder.fsub(builder.bitcast(number, real), real(1.5 * 2.0**digits + (one >> digits)))
        return context.make_tuple(builder, signature.return_type, [m, k])

    return types.UniTuple(x, 2)(x), emit


@intrinsic
def signed_bits_of(typing, x):
    """Return the bits of a float64 as an int64, for arithmetic with its exponent."""

    def emit(context, builder, signature, values):
        return builder.bitcast(values[0], ir.IntType(64))

    return types.int64(types.float64), emit


@intrinsic
def float_of_signed(typing, i):
    """Return the float64 whose bits are the int64 `i`."""

    def emit(context, builder, signature, values):
        return builder.bitcast(values[0], ir.DoubleType())

    return types.float64(types.int64), emit

"""Quotient and remainder of float64 integers by one reciprocal, in a dozen instructions."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.intrinsics.floats import approx_reciprocal, fma
from hetero.jit import scalar

_double = ir.DoubleType()

_UP = 1.0 + 2.0**-28
"""Factor that makes a reciprocal too large, by more than its error after Newton's step."""

# Adding 2^52 + 2^51 rounded down leaves floor(x r) in the low bits. The remainder may then be
# negative, which means that the quotient was one too large.
_PTX = """{
.reg .pred p;
.reg .f64 k, n;
fma.rm.f64 k, $2, $4, 0d4338000000000000;
sub.f64 k, k, 0d4338000000000000;
neg.f64 n, k;
fma.rn.f64 $1, n, $3, $2;
setp.lt.f64 p, $1, 0d0000000000000000;
@p add.f64 k, k, 0dBFF0000000000000;
@p add.f64 $1, $1, $3;
mov.f64 $0, k;
}"""


@intrinsic
def floor(typing, x):
    """Return floor(x) as float64.

    `math.floor` returns an integer instead, and AVX2 cannot convert vectors of float64 to int64.
    """

    def emit(context, builder, signature, values):
        function = builder.module.declare_intrinsic("llvm.floor", [_double])
        return builder.call(function, values)

    return x(x), emit


@intrinsic
def _floor_and_remainder(typing, x, y, r):
    """Return (floor(x / y), remainder), if floor(x r) is this quotient or one more."""

    def emit(context, builder, signature, values):
        x, y, r = values
        if "cuda" in type(context).__module__:
            kind = ir.FunctionType(ir.LiteralStructType([_double] * 2), [_double] * 3)
            both = builder.call(ir.InlineAsm(kind, _PTX, "=&d,=&d,d,d,d"), values)
            parts = [builder.extract_value(both, i) for i in (0, 1)]
        else:
            function = builder.module.declare_intrinsic("llvm.floor", [_double])
            k = builder.call(function, [builder.fmul(x, r)])
            remainder = builder.fsub(x, builder.fmul(k, y))  # both operations are exact
            too_large = builder.fcmp_ordered("<", remainder, _double(0.0))
            parts = [
                builder.select(too_large, builder.fsub(k, _double(1.0)), k),
                builder.select(too_large, builder.fadd(remainder, y), remainder),
            ]
        return context.make_tuple(builder, signature.return_type, parts)

    return types.UniTuple(x, 2)(x, x, x), emit


@scalar
def divide_by_reciprocal(x, y):
    """Return floor(x / y) and the remainder if the quotient is below 2^23.

    Otherwise the quotient returned is at least 2^23, and the remainder has no meaning. x >= 0 and
    y > 0 are integers of at most 52 bits, in float64.
    """
    r = approx_reciprocal(y)
    r = fma(r, fma(-y, r, _UP), r)  # above 1/y by a relative 2^-27 at most
    return _floor_and_remainder(x, y, r)

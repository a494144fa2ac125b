"""Division on the GPU where the last bit does not matter and no operand is out of the ordinary."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero._driver import SIMULATOR
from hetero.jit import kernel


@intrinsic
def _reciprocal(typing, x):
    """1/x to some 20 bits; numbers below the normal ones count as 0."""

    def emit(context, builder, signature, values):
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        text = ir.InlineAsm(kind, "rcp.approx.ftz.f64 $0, $1;", "=d,d")
        return builder.call(text, values)

    return types.float64(types.float64), emit


@kernel(device=True)
def _newton(a, b):
    """a / b within 2 ulp, for normal b: less than half the instructions of a division."""
    r = _reciprocal(b)
    r += r * (1.0 - b * r)
    r += r * (1.0 - b * r)
    return a * r


def _divided(a, b):
    return a / b


quotient = _divided if SIMULATOR else _newton

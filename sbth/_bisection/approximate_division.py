"""Fast GPU division for normal operands, within 2 ulp."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.cuda.driver import SIMULATOR
from hetero.jit import kernel


@intrinsic
def _reciprocal(typing, x):
    """Return 1/x to about 20 bits; subnormal numbers are treated as 0."""

    def emit(context, builder, signature, values):
        kind = ir.FunctionType(ir.DoubleType(), [ir.DoubleType()])
        text = ir.InlineAsm(kind, "rcp.approx.ftz.f64 $0, $1;", "=d,d")
        return builder.call(text, values)

    return types.float64(types.float64), emit


@kernel(device=True)
def _divide_by_newton(a, b):
    """Return a / b within 2 ulp for normal b, in less than half the instructions of a division."""
    r = _reciprocal(b)
    r += r * (1.0 - b * r)
    r += r * (1.0 - b * r)
    return a * r


def _divide_exactly(a, b):
    """Return a / b: the simulator knows no approximate reciprocal."""
    return a / b


divide_approximately = _divide_exactly if SIMULATOR else _divide_by_newton

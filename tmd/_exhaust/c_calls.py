"""Calls of C functions by their addresses, in compiled code on the CPU."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


def _call(builder, address, result, argument):
    pointer = ir.FunctionType(result, [argument.type]).as_pointer()
    return builder.call(builder.inttoptr(address, pointer), [argument])


@intrinsic
def call_float(typing, address, x):
    """Return function(x) for `float function(float)` at an address."""

    def emit(context, builder, signature, values):
        return _call(builder, values[0], ir.FloatType(), values[1])

    return types.float32(types.uint64, types.float32), emit


@intrinsic
def call_half(typing, address, bits):
    """Return the bits of function(x) for `_Float16 function(_Float16)`, and the bits of x."""

    def emit(context, builder, signature, values):
        x = builder.bitcast(values[1], ir.HalfType())
        return builder.bitcast(_call(builder, values[0], ir.HalfType(), x), ir.IntType(16))

    return types.uint16(types.uint64, types.uint16), emit


@intrinsic
def call_int(typing, address, n):
    """Return function(n) for `int function(int)` at an address."""

    def emit(context, builder, signature, values):
        return _call(builder, values[0], ir.IntType(32), values[1])

    return types.int32(types.uint64, types.int32), emit

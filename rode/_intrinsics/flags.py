"""Flags by which a thread of the host stops loops that run in others."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def is_set(typing, flag):
    """Return whether flag[0] is not 0, read from memory each time: another thread may set it."""

    def emit(context, builder, signature, arguments):
        data = context.make_array(flag)(context, builder, arguments[0]).data
        value = builder.load_atomic(data, "monotonic", 1)
        return builder.icmp_unsigned("!=", value, ir.Constant(value.type, 0))

    return types.boolean(flag), emit

"""Subnormal numbers, which are so small that they have fewer digits, taken as zeros.

Processors of the x86 family need a hundred cycles more for an operation with one of them. They
occur where a quantity decays: at the front of a disturbance in a fluid at rest, for example.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lbm._kernels.intrinsics.vector_width import processor_features

_I32 = ir.IntType(32)
_FLUSH_RESULTS, _FLUSH_OPERANDS = 1 << 15, 1 << 6  # bits of the register MXCSR


def _call_with_settings(builder, name: str, memory) -> None:
    """Call an instruction that moves the settings of arithmetic to or from memory."""
    memory = builder.bitcast(memory, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [memory.type])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, name), [memory])


@intrinsic
def flush_subnormals(typing):
    """Take subnormal numbers as zeros in this thread; return the settings before.

    It does nothing on processors of other families.
    """

    def emit(context, builder, signature, values):
        memory = cgutils.alloca_once(builder, _I32)
        if "sse2" not in processor_features():
            return _I32(0)
        _call_with_settings(builder, "llvm.x86.sse.stmxcsr", memory)
        before = builder.load(memory)
        builder.store(builder.or_(before, _I32(_FLUSH_RESULTS | _FLUSH_OPERANDS)), memory)
        _call_with_settings(builder, "llvm.x86.sse.ldmxcsr", memory)
        return before

    return types.uint32(), emit


@intrinsic
def restore_subnormals(typing, settings):
    """Return to the settings that `flush_subnormals` has returned."""

    def emit(context, builder, signature, values):
        if "sse2" in processor_features():
            memory = cgutils.alloca_once_value(builder, values[0])
            _call_with_settings(builder, "llvm.x86.sse.ldmxcsr", memory)
        return context.get_dummy_value()

    return types.void(types.uint32), emit

"""Arrays of a GPU's thread for its populations, indexed by a variable.

Numba fills its own local arrays with zeros at the start of every thread, which is suspected of a
third of the speed in float64.
"""

from __future__ import annotations

import functools

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.cuda.driver import SIMULATOR


@intrinsic
def opaque(typing, x):
    """Return x in a way that the compiler cannot see through: it computes anew what follows."""

    def emit(context, builder, signature, values):
        i32 = ir.IntType(32)
        return builder.asm(ir.FunctionType(i32, [i32]), "mov.u32 $0, $1;", "=r,r", values, True)

    return types.uint32(types.uint32), emit


@functools.cache
def make_local_array(size: int):
    """Make local_array(like): allocate an uninitialized array of `size` numbers of a type."""
    if SIMULATOR:
        return lambda like: [like] * size

    @intrinsic
    def local_array(typing, like):
        def emit(context, builder, signature, values):
            array_type = ir.ArrayType(context.get_value_type(like), size)
            with builder.goto_entry_block():
                memory = builder.alloca(array_type)
            return builder.bitcast(memory, array_type.element.as_pointer())

        return types.CPointer(like)(like), emit

    return local_array


@intrinsic
def peek(typing, array, q):
    """Return array[q] of a local array."""

    def emit(context, builder, signature, values):
        return builder.load(builder.gep(values[0], [values[1]]))

    return array.dtype(array, types.int64), emit


@intrinsic
def poke(typing, array, q, value):
    """Set array[q] of a local array."""

    def emit(context, builder, signature, values):
        builder.store(values[2], builder.gep(values[0], [values[1]]))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), emit


if SIMULATOR:  # it knows no intrinsics
    opaque = lambda x: x  # noqa: E731
    peek, poke = list.__getitem__, list.__setitem__

"""Loads and stores of vectors, raw pointers, and arrays on the stack, for compiled CPU code.

A pointer is Numba's `CPointer`: `pointer[i]` reads and writes one number. Passing one to a function
costs nothing, while passing an array costs two atomic operations; it does not keep its array alive.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hetero.simd.vectors import Vector, llvm_suffix

_I32, _BYTE = ir.IntType(32), ir.IntType(8)
_ALIGNMENT = 64  # bytes: a cache line


@intrinsic
def pointer_to(typing, array):
    """Return a pointer to the first element of a contiguous array."""

    def emit(context, builder, signature, values):
        return context.make_array(array)(context, builder, values[0]).data

    return types.CPointer(array.dtype)(array), emit


def make_stack_array(dtype, size: int):
    """Make stack_array(), a pointer to `size` numbers on the stack of the calling function.

    They are 0 at the start of this function, and they live until it returns.
    """

    @intrinsic
    def stack_array(typing):
        def emit(context, builder, signature, values):
            kind = ir.ArrayType(context.get_data_type(dtype), size)
            block = cgutils.alloca_once(builder, kind)  # filled with zeros
            block.align = _ALIGNMENT
            return builder.gep(block, [_I32(0), _I32(0)])

        return types.CPointer(dtype)(), emit

    return stack_array


@intrinsic
def keep_out_of_line(typing):
    """Keep the function that calls this from being inlined: all calls run the same instructions.

    Its stack is aligned to cache lines, so that vectors are spilled to whole lines.
    """

    def emit(context, builder, signature, values):
        attributes = builder.function.attributes
        attributes.add("noinline")
        attributes.alignstack = _ALIGNMENT
        return context.get_dummy_value()

    return types.void(), emit


def _address(builder, pointer, index, vector):
    return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())


def _mask(builder, count, lanes: int):
    """Return a mask of the first `count` (int64) lanes."""
    kind = ir.VectorType(_I32, lanes)
    undefined, zeros = ir.Constant(kind, ir.Undefined), ir.Constant(kind, [0] * lanes)
    most = ir.IntType(64)(lanes)
    is_less = builder.icmp_signed("<", count, most)
    number = builder.trunc(builder.select(is_less, count, most), _I32)
    counts = builder.insert_element(undefined, number, _I32(0))
    counts = builder.shuffle_vector(counts, undefined, zeros)
    return builder.icmp_signed("<", ir.Constant(kind, list(range(lanes))), counts)


def _masked_function(builder, name: str, vector, result, arguments):
    """Declare LLVM's `llvm.masked.<name>` for a type of vectors."""
    full_name = f"llvm.masked.{name}.{llvm_suffix(vector)}.p0"
    kind = ir.FunctionType(result, arguments)
    return cgutils.get_or_insert_function(builder.module, kind, full_name)


def make_load(lanes: int):
    """Make load(pointer, i): the vector of the numbers from pointer[i] on."""

    @intrinsic
    def load(typing, pointer, index):
        kind = Vector(pointer.dtype, lanes)

        def emit(context, builder, signature, values):
            address = _address(builder, *values, context.get_value_type(kind))
            return builder.load(address, align=pointer.dtype.bitwidth // 8)

        return kind(pointer, types.int64), emit

    return load


def make_store(lanes: int):
    """Make store(pointer, i, vector): write a vector to pointer[i] and what follows."""

    @intrinsic
    def store(typing, pointer, index, vector):
        def emit(context, builder, signature, values):
            address = _address(builder, *values[:2], values[2].type)
            builder.store(values[2], address, align=pointer.dtype.bitwidth // 8)
            return context.get_dummy_value()

        return types.void(pointer, types.int64, Vector(pointer.dtype, lanes)), emit

    return store


def make_load_first(lanes: int):
    """Make load(pointer, i, count): a vector of `count` numbers, and zeros in the other lanes.

    Nothing is read behind these numbers; `count` may be larger than `lanes`.
    """

    @intrinsic
    def load_first(typing, pointer, index, count):
        kind = Vector(pointer.dtype, lanes)

        def emit(context, builder, signature, values):
            vector, mask = context.get_value_type(kind), ir.VectorType(ir.IntType(1), lanes)
            arguments = [vector.as_pointer(), _I32, mask, vector]
            function = _masked_function(builder, "load", vector, vector, arguments)
            address = _address(builder, *values[:2], vector)
            alignment, zeros = _I32(pointer.dtype.bitwidth // 8), ir.Constant(vector, None)
            chosen = _mask(builder, values[2], lanes)
            return builder.call(function, [address, alignment, chosen, zeros])

        return kind(pointer, types.int64, types.int64), emit

    return load_first


def make_store_first(lanes: int):
    """Make store(pointer, i, vector, count): write the first `count` lanes of a vector."""

    @intrinsic
    def store_first(typing, pointer, index, vector, count):
        def emit(context, builder, signature, values):
            kind, mask = values[2].type, ir.VectorType(ir.IntType(1), lanes)
            arguments = [kind, kind.as_pointer(), _I32, mask]
            function = _masked_function(builder, "store", kind, ir.VoidType(), arguments)
            address = _address(builder, *values[:2], kind)
            alignment = _I32(pointer.dtype.bitwidth // 8)
            chosen = _mask(builder, values[3], lanes)
            builder.call(function, [values[2], address, alignment, chosen])
            return context.get_dummy_value()

        kind = Vector(pointer.dtype, lanes)
        return types.void(pointer, types.int64, kind, types.int64), emit

    return store_first


@intrinsic
def prefetch(typing, pointer, index):
    """Ask for the cache line of pointer[index]; any index is allowed."""

    def emit(context, builder, signature, values):
        address = builder.bitcast(builder.gep(values[0], [values[1]]), _BYTE.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [address.type, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        is_write, nearest_cache, is_data = _I32(0), _I32(3), _I32(1)
        builder.call(function, [address, is_write, nearest_cache, is_data])
        return context.get_dummy_value()

    return types.void(pointer, types.int64), emit

"""Loads and stores of vectors, raw pointers, and arrays on the stack, for compiled CPU code.

A pointer is Numba's `CPointer`: `pointer[i]` reads and writes one number. Passing one to a function
costs nothing, while passing an array costs two atomic operations; it does not keep its array alive.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from lbm._kernels.intrinsics.vectors import Vector, llvm_suffix

_I32, _I64, _BYTE = ir.IntType(32), ir.IntType(64), ir.IntType(8)
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
            with builder.goto_entry_block():
                block = builder.alloca(kind)
                block.align = _ALIGNMENT
                # Storing zeros one by one, as `alloca_once` does, takes long to compile.
                cgutils.memset(builder, block, _I64(context.get_abi_sizeof(kind)), 0)
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


def _mask(builder, i, n, lanes: int):
    """Return a mask of the lanes k with 0 <= i + k < n (int64, of less than 31 bits)."""
    kind = ir.VectorType(_I32, lanes)
    undefined, zeros = ir.Constant(kind, ir.Undefined), ir.Constant(kind, [0] * lanes)

    def splat(value):
        first = builder.insert_element(undefined, builder.trunc(value, _I32), _I32(0))
        return builder.shuffle_vector(first, undefined, zeros)

    positions = builder.add(ir.Constant(kind, list(range(lanes))), splat(i))
    return builder.icmp_unsigned("<", positions, splat(n))


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


def make_stream_store(lanes: int):
    """Make store(pointer, i, vector) past the caches, for lines that are written whole.

    The address must be a multiple of the size of a vector. What other threads read of it later is
    ordered by the barrier at the end of a parallel loop.
    """

    @intrinsic
    def stream_store(typing, pointer, index, vector):
        def emit(context, builder, signature, values):
            address = _address(builder, *values[:2], values[2].type)
            size = pointer.dtype.bitwidth // 8 * lanes
            stored = builder.store(values[2], address, align=size)
            stored.set_metadata("nontemporal", builder.module.add_metadata([_I32(1)]))
            return context.get_dummy_value()

        return types.void(pointer, types.int64, Vector(pointer.dtype, lanes)), emit

    return stream_store


def make_load_part(lanes: int):
    """Make load(pointer, j, i, n): lane k is pointer[j + k] if 0 <= i + k < n, and otherwise 0.

    Nothing else is read. In a loop over i, these are the numbers number i to i + lanes - 1 of n.
    """

    @intrinsic
    def load_part(typing, pointer, index, i, n):
        kind = Vector(pointer.dtype, lanes)

        def emit(context, builder, signature, values):
            vector, mask = context.get_value_type(kind), ir.VectorType(ir.IntType(1), lanes)
            arguments = [vector.as_pointer(), _I32, mask, vector]
            function = _masked_function(builder, "load", vector, vector, arguments)
            address = _address(builder, *values[:2], vector)
            alignment, zeros = _I32(pointer.dtype.bitwidth // 8), ir.Constant(vector, None)
            chosen = _mask(builder, *values[2:], lanes)
            return builder.call(function, [address, alignment, chosen, zeros])

        return kind(pointer, types.int64, types.int64, types.int64), emit

    return load_part


def make_store_part(lanes: int):
    """Make store(pointer, j, vector, i, n): pointer[j + k] becomes lane k if 0 <= i + k < n."""

    @intrinsic
    def store_part(typing, pointer, index, vector, i, n):
        def emit(context, builder, signature, values):
            kind, mask = values[2].type, ir.VectorType(ir.IntType(1), lanes)
            arguments = [kind, kind.as_pointer(), _I32, mask]
            function = _masked_function(builder, "store", kind, ir.VoidType(), arguments)
            address = _address(builder, *values[:2], kind)
            alignment = _I32(pointer.dtype.bitwidth // 8)
            chosen = _mask(builder, *values[3:], lanes)
            builder.call(function, [values[2], address, alignment, chosen])
            return context.get_dummy_value()

        kind = Vector(pointer.dtype, lanes)
        return types.void(pointer, types.int64, kind, types.int64, types.int64), emit

    return store_part


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

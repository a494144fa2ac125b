"""Loads and stores of GPU memory that Numba lacks: vectors of 16 bytes, and relaxed accesses."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.cuda.driver import SIMULATOR


def _pointer(context, builder, kind, array, index, count):
    """Return the address of element `index`, cast to a pointer to a vector."""
    data = context.make_array(kind)(context, builder, array).data
    address = builder.gep(data, [index], inbounds=True)
    vector = ir.VectorType(context.get_value_type(kind.dtype), count)
    return builder.bitcast(address, ir.PointerType(vector, addrspace=data.type.addrspace))


@intrinsic
def _store(typing, array, index, values):
    """Store array[index : index + n] = values, at a multiple of the vector's size."""

    def emit(context, builder, signature, arguments):
        target = _pointer(context, builder, array, *arguments[:2], values.count)
        vector = ir.Constant(target.type.pointee, ir.Undefined)
        for i in range(values.count):
            part = builder.extract_value(arguments[2], i)
            vector = builder.insert_element(vector, part, ir.IntType(32)(i))
        builder.store(vector, target, align=values.count * values.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.uint64, values), emit


@intrinsic
def _load(typing, array, index, like):
    """Load array[index : index + n] as a tuple with the length of `like`."""

    def emit(context, builder, signature, arguments):
        source = _pointer(context, builder, array, *arguments[:2], like.count)
        vector = builder.load(source, align=like.count * like.dtype.bitwidth // 8)
        parts = [builder.extract_element(vector, ir.IntType(32)(i)) for i in range(like.count)]
        return context.make_tuple(builder, like, parts)

    return like(array, types.uint64, like), emit


def _address(context, builder, kind, array, index):
    data = context.make_array(kind)(context, builder, array).data
    return builder.ptrtoint(builder.gep(data, [index], inbounds=True), ir.IntType(64))


@intrinsic
def load_relaxed(typing, array, index):
    """Load array[index] as other thread blocks last wrote it; never reuse a register."""
    width = array.dtype.bitwidth

    def emit(context, builder, signature, arguments):
        word, letter = ir.IntType(width), "r" if width == 32 else "l"
        text = f"ld.relaxed.gpu.global.u{width} $0, [$1];"
        kind = ir.FunctionType(word, [ir.IntType(64)])
        load = ir.InlineAsm(kind, text, f"={letter},l,~{{memory}}", side_effect=True)
        return builder.call(load, [_address(context, builder, array, *arguments)])

    return array.dtype(array, types.int64), emit


@intrinsic
def store_relaxed(typing, array, index, value):
    """Store array[index] = value in one access, for `load_relaxed` in other thread blocks."""
    width = array.dtype.bitwidth

    def emit(context, builder, signature, arguments):
        word, letter = ir.IntType(width), "r" if width == 32 else "l"
        text = f"st.relaxed.gpu.global.u{width} [$0], $1;"
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64), word])
        store = ir.InlineAsm(kind, text, f"l,{letter},~{{memory}}", side_effect=True)
        builder.call(store, [_address(context, builder, array, *arguments[:2]), arguments[2]])
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), emit


def _store_simulated(array, index, values):
    for i, value in enumerate(values):
        array[int(index) + i] = value


def _load_simulated(array, index, like):
    return tuple(array[int(index) + i] for i in range(len(like)))


store_vector = _store_simulated if SIMULATOR else _store
load_vector = _load_simulated if SIMULATOR else _load

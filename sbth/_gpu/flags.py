"""Flags in global memory, by which the blocks of a running kernel synchronize."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import int32, types
from numba.extending import intrinsic

from hetero.cuda.driver import SIMULATOR
from hetero.jit import kernel

SPINS = 1 << 24
"""Polls of a flag, for some seconds, after which a wait fails."""

_SPINS_BETWEEN_CHECKS = 1 << 12
"""Polls between checks whether another block has failed (not tuned)."""

_WORD = ir.IntType(32)


def _address(context, builder, kind, array, index):
    """Return the address of an element as an integer."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.ptrtoint(builder.gep(data, [index]), ir.IntType(64))


@intrinsic
def _acquire(typing, flags, index):
    """Load flags[index] (int32); writes before its `release` are visible afterwards."""

    def emit(context, builder, signature, values):
        address = _address(context, builder, flags, *values)
        kind = ir.FunctionType(_WORD, [ir.IntType(64)])
        text = "ld.acquire.gpu.global.s32 $0, [$1];"
        return builder.call(ir.InlineAsm(kind, text, "=r,l,~{memory}", side_effect=True), [address])

    return types.int32(flags, types.int64), emit


def _emit_write(instruction):
    """Return the code generator of an instruction that writes an int32 to flags[index]."""

    def emit(context, builder, signature, values):
        address = _address(context, builder, signature.args[0], *values[:2])
        kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64), _WORD])
        asm = ir.InlineAsm(kind, f"{instruction} [$0], $1;", "l,r,~{memory}", side_effect=True)
        builder.call(asm, [address, values[2]])
        return context.get_dummy_value()

    return emit


@intrinsic
def _release(typing, flags, index, value):
    """Store flags[index] = value (int32) after all earlier writes of this thread."""
    emit = _emit_write("st.release.gpu.global.s32")
    return types.void(flags, types.int64, types.int32), emit


@intrinsic
def _add(typing, flags, index, value):
    """Add a value to flags[index] (int32) after all earlier writes of this thread."""
    emit = _emit_write("red.release.gpu.global.add.s32")
    return types.void(flags, types.int64, types.int32), emit


def _acquire_simulated(flags, index):
    return flags[index]


def _release_simulated(flags, index, value):
    flags[index] = value


def _add_simulated(flags, index, value):
    flags[index] += value


load_acquire = _acquire_simulated if SIMULATOR else _acquire
store_release = _release_simulated if SIMULATOR else _release
add_release = _add_simulated if SIMULATOR else _add


@kernel(device=True)
def wait_for_progress(progress, sweep, count, control, spins):
    """Spin until a sweep has finished `count` tasks; return 0, or 1 after a timeout.

    `progress` (int32) holds the number of finished tasks of each sweep. After a timeout in any
    block, control[1] (int32) is the number of the sweep whose block was waiting.
    """
    for spin in range(spins):
        if load_acquire(progress, sweep) >= count:
            return 0
        if (
            spin % _SPINS_BETWEEN_CHECKS == _SPINS_BETWEEN_CHECKS - 1
            and load_acquire(control, 1) != 0
        ):
            return 1
    store_release(control, 1, int32(sweep + 1))
    return 1


def require_meeting(control: Any) -> None:
    """Raise RuntimeError if a block of a kernel waited in vain; `control` is that of the wait."""
    if int(control[1]):
        raise RuntimeError(
            "the GPU blocks timed out: one waited in vain for the others. This is a bug in sbth: "
            "please report it with the matrix, which is unchanged"
        )

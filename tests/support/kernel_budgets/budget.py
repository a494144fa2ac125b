"""The budget of a kernel, and the types that signatures are made of."""

from dataclasses import dataclass

from numba import types

f4, f8 = types.float32, types.float64
i1, i4, i8 = types.int8, types.int32, types.int64
u1, u2, u4, u8 = types.uint8, types.uint16, types.uint32, types.uint64
boolean = types.boolean


def array(dtype, ndim=1):
    return types.Array(dtype, ndim, "C")


@dataclass(frozen=True)
class Budget:
    """Limits of a compiled kernel. Spills are not allowed (compile_cuda.allowed_spills)."""

    signature: tuple
    registers: int
    float64: bool = True  # whether .f64 instructions are allowed
    slow: bool = False  # whether only slow tests compile it

"""Blocks of cells on a GPU: kernels made from their text, and their launches."""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero._driver import SIMULATOR, cuda
from hetero.jit import kernel
from lbm import _kernel_text
from lbm._cell_math import cell_functions, reflect, start
from lbm._storage_math import codec, word_codec
from lbm._unroll import define
from lbm.patterns import PATTERNS
from lbm.precision import PRECISIONS

THREADS = 256
"""Threads of a block, along x as far as the row goes."""


@intrinsic
def _opaque(typing, x):
    """x, but the compiler does not know that: what depends on it is computed anew."""

    def emit(context, builder, signature, values):
        i32 = ir.IntType(32)
        return builder.asm(ir.FunctionType(i32, [i32]), "mov.u32 $0, $1;", "=r,r", values, True)

    return types.uint32(types.uint32), emit


def _plain(x):
    return x


@functools.cache
def _cell(operator: type, forced: bool):
    return cell_functions(operator.relax(), forced)


@functools.cache
def made(what: str, pattern: str, odd: int, precision: str, walls: bool, operator: type, forced: bool):  # noqa: E501
    """The kernel `what` ("step", "fields", "fill") of one combination, compiled at first launch."""
    form = PRECISIONS[precision]
    velocity, collide = _cell(operator, forced)
    decode, encode = codec(form)
    take, put = word_codec(form)
    names = {
        "U": np.uint32,
        "T": form.compute,
        "cuda": cuda,
        "opaque": _plain if SIMULATOR else _opaque,
        "decode": decode,
        "encode": encode,
        "take": take,
        "put": put,
        "velocity": velocity,
        "collide": collide,
        "start": start,
        "reflect": reflect,
    }
    text = getattr(_kernel_text, what)(PATTERNS[pattern].steps[odd], form.lanes, walls)
    return kernel(define(what, text, names), cache=False)

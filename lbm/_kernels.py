"""GPU kernels: what each does, as text and compiled, one for each combination."""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero._driver import SIMULATOR, cuda
from hetero.jit import define, kernel
from lbm._cell_math import cell_functions, reflect, start
from lbm._kernel_text import Text, populations
from lbm._storage_math import codec, word_codec
from lbm.lattice import C, Q, W
from lbm.links import SOLID_CLASS
from lbm.patterns import PATTERNS, Access
from lbm.precision import PRECISIONS


def step(access: Access, lanes: int, walls: str) -> str:
    """Load, collide, store."""
    text = Text(access, lanes, walls)
    text.read_classes()
    text.load()
    for i in text.lanes:
        text.add(f"g, ux_{i}, uy_{i}, uz_{i} = collide({populations('f', i)}, rates, force)")
        text.add(f"{populations('g', i)} = g")
    text.reflect()
    if any(any(place.shift) for place in access.store):
        text.forget_addresses()
    text.store()
    return text.define("step", "rates, force")


def fields(access: Access, lanes: int, walls: str) -> str:
    """Load, and write rho - 1 and the velocity; a cell that is not fluid gets zeros."""
    text = Text(access, lanes, walls)
    text.read_classes(leave=False)
    text.load()
    for i in text.lanes:
        text.add(f"rise, ux, uy, uz = velocity({populations('f', i)}, force)")
        text.natural(i)
        if text.solids:
            text.add(f"if c_{i} == {SOLID_CLASS}:", "    rise, ux, uy, uz = T(0), T(0), T(0), T(0)")
        for k, name in enumerate(("rise", "ux", "uy", "uz")):
            text.add(f"data[{k}, n_] = {name}")
    return text.define("fields", "force, data")


def fill(access: Access, lanes: int, walls: str) -> str:
    """Put equilibria of rho - 1 and u, less half the force's impulse, where `access` will load."""
    text = Text(access, lanes, walls)
    text.read_classes()
    for i in text.lanes:
        text.natural(i)
        rows = ", ".join(f"data[{k}, n_]" for k in range(4))
        text.add(f"{populations('g', i)} = start({rows}, force)")
        text.put_back(i)
    return text.define("fill", "force, data")


def gather(access: Access, lanes: int, walls: str) -> str:
    """Copy the populations that `access` would load to data[q, cell]; zeros where no fluid is."""
    text = Text(access, lanes, walls)
    text.read_classes(leave=False)
    text.load()
    for i in text.lanes:
        text.natural(i)
        fluid = f"c_{i} != {SOLID_CLASS}" if text.solids else "True"
        text.add(*(f"data[{q}, n_] = f{q}_{i} if {fluid} else T(0)" for q in range(Q)))
    return text.define("gather", "force, data")


def scatter(access: Access, lanes: int, walls: str) -> str:
    """Put data[q, cell] where `access` will load."""
    text = Text(access, lanes, walls)
    text.read_classes()
    for i in text.lanes:
        text.natural(i)
        text.add(*(f"g{q}_{i} = data[{q}, n_]" for q in range(Q)))
        text.put_back(i)
    return text.define("scatter", "force, data")


def tables(access: Access) -> dict[str, list]:
    """What the loops at walls look up, by the names that they use."""

    def rows(places):
        return [(p.slot, *p.shift) for p in places]

    return {
        "free": rows(access.load),
        "wall": rows(access.wall),
        "velocity_of": list(C),
    }


TEXTS = {"step": step, "fields": fields, "fill": fill, "gather": gather, "scatter": scatter}


# ---- compiled --------------------------------------------------------------------------------


@intrinsic
def _opaque(typing, x):
    """x, but the compiler does not know that: what depends on it is computed anew."""

    def emit(context, builder, signature, values):
        i32 = ir.IntType(32)
        return builder.asm(ir.FunctionType(i32, [i32]), "mov.u32 $0, $1;", "=r,r", values, True)

    return types.uint32(types.uint32), emit


# Memory of a thread for its populations, found by a running number. Numba's own local arrays are
# filled with zeros at the start of every thread: suspected of a third of the speed in float64.


@intrinsic
def _room(typing, like):
    def emit(context, builder, signature, values):
        kind = ir.ArrayType(context.get_value_type(like), Q)
        with builder.goto_entry_block():
            memory = builder.alloca(kind)
        return builder.bitcast(memory, kind.element.as_pointer())

    return types.CPointer(like)(like), emit


@intrinsic
def _peek(typing, room, q):
    def emit(context, builder, signature, values):
        return builder.load(builder.gep(values[0], [values[1]]))

    return room.dtype(room, types.int64), emit


@intrinsic
def _poke(typing, room, q, value):
    def emit(context, builder, signature, values):
        builder.store(values[2], builder.gep(values[0], [values[1]]))
        return context.get_dummy_value()

    return types.void(room, types.int64, room.dtype), emit


if SIMULATOR:  # knows no intrinsics
    _opaque = lambda x: x  # noqa: E731
    _room, _peek, _poke = (lambda x: [x] * Q), list.__getitem__, list.__setitem__


@functools.cache
def _cell(operator: type, forced: bool):
    return cell_functions(operator.relax(), forced)


@functools.cache
def made(
    what: str, pattern: str, odd: int, precision: str, walls: str, operator: type, forced: bool
):
    """The kernel `what` of `_kernel_text` for one combination, compiled at its first launch."""
    form = PRECISIONS[precision]
    velocity, collide = _cell(operator, forced)
    decode, encode = codec(form)
    take, put = word_codec(form)
    access = PATTERNS[pattern].steps[odd]
    names = {
        "U": np.uint32,
        "T": form.compute,
        "cuda": cuda,
        "opaque": _opaque,
        "room": _room,
        "peek": _peek,
        "poke": _poke,
        "decode": decode,
        "encode": encode,
        "take": take,
        "put": put,
        "velocity": velocity,
        "collide": collide,
        "start": start,
        "reflect": reflect,
    }
    rows = {k: np.array(v, np.int8) for k, v in tables(access).items()}
    rows["velocity_of"] = rows["velocity_of"].astype(form.compute)
    rows["weight_of"] = np.array(W, form.compute)
    text = TEXTS[what](access, form.lanes, walls)
    used = [name for name in rows if f"{name}[" in text]
    head, _, body = text.partition("\n")
    constants = "".join(f"    {n} = cuda.const.array_like({n}_)\n" for n in used)
    names |= {f"{n}_": rows[n] for n in used}
    return kernel(define(what, f"{head}\n{constants}{body}", names), cache=False)

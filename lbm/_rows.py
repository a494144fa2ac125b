"""Pieces of rows on the CPU: what a step, an output and a start do with them.

A piece is a number of neighbouring cells of one class in a row: all have their populations at the
same distances (`_ways`). Whole vectors of cells are stepped by one loop over 19 + 19 streams.
Compilers do not turn such a loop into vector instructions, as they cannot know that the streams
differ: `_get` and `_put` tell them. Other cells are gathered in a scratch with a row for each
population, treated there, and scattered.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import FUSED, define, serial
from lbm._cell_math import cell_functions, reflect, start
from lbm._storage_math import codec, mover
from lbm.lattice import C, Q, W
from lbm.precision import PRECISIONS

VECTOR = 8
"""Numbers that are gathered at a time."""

CHUNK = 128
"""Cells of a scratch: its 22 rows stay in the first cache."""

ROOM = CHUNK + VECTOR
"""Numbers of a row of a scratch."""

SCRATCH = (Q + 3) * ROOM
"""Numbers of a scratch: populations and velocity."""


# ---- access ----------------------------------------------------------------------------------


def _scope(module, name: str):
    domain = module.add_metadata([ir.MetaDataString(module, "lbm")])
    return module.add_metadata([ir.MetaDataString(module, name), domain])


def _pointer(context, builder, kind, values):
    array = context.make_array(kind)(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


@intrinsic
def _get(typing, memory, index):
    """memory[index] of a flat array; no `_put` of the loop writes there before."""

    def emit(context, builder, signature, values):
        loaded = builder.load(_pointer(context, builder, memory, values))
        module = builder.module
        loaded.set_metadata("alias.scope", module.add_metadata([_scope(module, "get")]))
        return loaded

    return memory.dtype(memory, types.int64), emit


def _put(number: int):
    """memory[index] = value, for one stream of a loop: no other stream writes there, and what the
    loop reads there was read before."""

    @intrinsic
    def put(typing, memory, index, value):
        def emit(context, builder, signature, values):
            module = builder.module
            others = [_scope(module, f"put {q}") for q in range(Q) if q != number]
            stored = builder.store(values[2], _pointer(context, builder, memory, values))
            own = module.add_metadata([_scope(module, f"put {number}")])
            stored.set_metadata("alias.scope", own)
            stored.set_metadata("noalias", module.add_metadata([_scope(module, "get"), *others]))
            return context.get_dummy_value()

        return types.void(memory, types.int64, memory.dtype), emit

    return put


# ---- a piece ---------------------------------------------------------------------------------


@functools.cache
def fused(precision: str, operator: type, forced: bool):
    """The step of n cells side by side, whole vectors: 19 streams in, collision, 19 streams out."""
    form = PRECISIONS[precision]
    decode, encode = codec(form)
    _, collide = cell_functions(operator.relax(), forced)
    lines = ["def fused(source, target, ways, j, at, n, rates, force):"]
    for q in range(Q):
        lines += [f"    a{q}, b{q} = at + get(ways, j + {q}), at + get(ways, j + {Q + q})"]
    loads = ", ".join(f"decode(get(source, a{q} + i))" for q in range(Q))
    lines += ["    for i in range(n):", f"        f = ({loads})"]
    lines += ["        g, _, _, _ = collide(f, rates, force)"]
    lines += [f"        put{q}(target, b{q} + i, encode(g[{q}]))" for q in range(Q)]
    names = {"get": _get, "decode": decode, "encode": encode, "collide": collide}
    names |= {f"put{q}": _put(q) for q in range(Q)}
    text = "\n".join(lines) + "\n"
    return serial(define("fused", text, names), cache=False, fastmath=FUSED, forceinline=True)


_move8, _move4, _move2, _move1 = map(mover, (VECTOR, 4, 2, 1))


@serial(cache=False, forceinline=True)
def gather(memory, ways, j, at, scratch, lane, n):
    """Populations of the n cells from `at` on into a scratch, from its cell `lane` on.

    In whole vectors: what comes behind the cells is overwritten by those that are gathered next,
    and slots and scratch end with room for it.
    """
    for i in range(0, n, VECTOR):
        for q in range(Q):
            _move8(memory, at + _get(ways, j + q) + i, scratch, q * ROOM + lane + i)


@serial(cache=False, forceinline=True)
def scatter(memory, ways, j, at, scratch, lane, n):
    """The inverse of `gather`, without what is behind the cells: vectors may overlap instead."""
    whole = n & -VECTOR
    for i in range(0, whole, VECTOR):
        for q in range(Q):
            _move8(scratch, q * ROOM + lane + i, memory, at + _get(ways, j + q) + i)
    if n & 4:
        for q in range(Q):
            a, b = q * ROOM + lane, at + _get(ways, j + q)
            _move4(scratch, a + whole, memory, b + whole)
            _move4(scratch, a + n - 4, memory, b + n - 4)
    elif n & 2:
        for q in range(Q):
            a, b = q * ROOM + lane, at + _get(ways, j + q)
            _move2(scratch, a + whole, memory, b + whole)
            _move2(scratch, a + n - 2, memory, b + n - 2)
    elif n & 1:
        for q in range(Q):
            _move1(scratch, q * ROOM + lane + whole, memory, at + _get(ways, j + q) + whole)


@functools.cache
def bounces(compute: type):
    """Give the populations that run into a wall the values that it sends back."""
    weights, velocities = np.array(W, compute), np.array(C, compute)

    @serial(cache=False, forceinline=True)
    def bounce(scratch, lane, n, bits, c, materials, kinds):
        u = Q * ROOM
        for q in range(1, Q):
            image = materials[c, q, 1]
            if bits >> q & 1 and image > q:  # of a pair of mirror images, once
                for i in range(lane, lane + n):
                    f = scratch[q * ROOM + i]
                    scratch[q * ROOM + i] = scratch[image * ROOM + i]
                    scratch[image * ROOM + i] = f
            elif bits >> q & 1 and image == q:
                k = materials[c, q, 0]
                wall = (kinds[k, 0], kinds[k, 1], kinds[k, 2], kinds[k, 3], kinds[k, 4])
                w, cx, cy, cz = weights[q], velocities[q, 0], velocities[q, 1], velocities[q, 2]
                for i in range(lane, lane + n):
                    f = scratch[q * ROOM + i]
                    ux, uy, uz = scratch[u + i], scratch[u + ROOM + i], scratch[u + 2 * ROOM + i]
                    scratch[q * ROOM + i] = reflect(f, w, cx, cy, cz, wall, ux, uy, uz)

    return bounce


@functools.cache
def chunks(compute: type, operator: type, forced: bool):
    """(collide, measure, begin): what is done to n cells of a scratch.

    collide(scratch, n, rates, force): populations become those after the collision, then the
    velocity. measure(scratch, n, force): the first four rows become rho - 1 and the velocity.
    begin(scratch, n, force): the first four rows, rho - 1 and the velocity, become equilibria.
    """
    velocity, collision = cell_functions(operator.relax(), forced)
    after = [*(f"g[{q}]" for q in range(Q)), "ux", "uy", "uz"]
    moments = ["rise", "ux", "uy", "uz"]
    started = [f"e[{q}]" for q in range(Q)]
    return (
        _chunk("g, ux, uy, uz = cell(f, rates, force)", after, collision, "rates, force"),
        _chunk("rise, ux, uy, uz = cell(f, force)", moments, velocity, "force"),
        _chunk("e = cell(f[0], f[1], f[2], f[3], force)", started, start, "force"),
    )


def _chunk(statement: str, results: list[str], cell, arguments: str):
    """A loop over a scratch, which vectorises as the distances of its rows are constants."""
    populations = ", ".join(f"scratch[{q * ROOM} + i]" for q in range(Q))
    lines = [
        f"def chunk(scratch, n, {arguments}):",
        f"    for i in range(min(n, {ROOM})):",
        f"        f = ({populations})",
        f"        {statement}",
        *(f"        scratch[{k * ROOM} + i] = {r}" for k, r in enumerate(results)),
    ]
    text = "\n".join(lines) + "\n"
    return serial(
        define("chunk", text, {"cell": cell}), cache=False, fastmath=FUSED, forceinline=True
    )

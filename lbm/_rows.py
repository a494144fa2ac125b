"""Pieces of rows on the CPU: what a step, an output and a start do with them.

A piece is a number of neighbouring cells of one class in a row. All of them have their populations
in the same rows of memory, so that a step of a piece is one loop over 19 + 19 streams. Compilers do
not turn such a loop into vector instructions, as they cannot know that the streams differ: `_get`
and `_put` tell them. Where a wall gives back more than a bounce, and for output, a piece is copied
into a scratch with CHUNK cells a population, treated there, and copied out again.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.jit import FUSED, define, serial
from lbm._cell_math import cell_functions, reflect, start
from lbm._storage_math import codec
from lbm.lattice import C, Q, W
from lbm.precision import PRECISIONS

CHUNK = 128
"""Cells of a scratch: its 22 rows stay in the first cache."""

SCRATCH = (Q + 3) * CHUNK
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


@serial(cache=False)
def offsets(places, y, z, nx, ny, nz, pitch, lanes, wrap, out):
    """Distances in memory from a row's start: out[what, k, q] of places[what, k, q].

    `what` is 0 for loads and 1 for stores, `k` 1 where the link is a wall's. Without `wrap` those
    of the rows that are on no face of the block.
    """
    for what in range(2):
        for k in range(2):
            for q in range(Q):
                dy, dz = places[what, k, q, 2], places[what, k, q, 3]
                if wrap:
                    dy, dz = (y + dy + ny) % ny - y, (z + dz + nz) % nz - z
                row = dz * ny + dy
                slot = places[what, k, q, 0] * pitch
                out[what, k, q] = slot + row * nx + places[what, k, q, 1] * lanes


@serial(cache=False)
def beyond(s, nx, lanes):
    """What to add to the neighbours at -1 and +1 of the position s where the row ends.

    Lanes change there: with two, the cell before x = 0 stands in the last word's upper lane.
    """
    back = forth = 0
    turn = 1 - 2 * (s % 2) if lanes == 2 else 0
    if s < lanes:
        back = nx + turn
    if s >= nx - lanes:
        forth = turn - nx
    return back, forth


# ---- a piece ---------------------------------------------------------------------------------


@functools.cache
def fused(precision: str, operator: type, forced: bool):
    """The step of a piece: 19 streams in, the collision, 19 streams out."""
    form = PRECISIONS[precision]
    decode, encode = codec(form)
    _, collide = cell_functions(operator.relax(), forced)
    lines = [
        "def fused(source, target, at, places, sent, comes, back, forth, at0, n, rates, force):"
    ]
    for q in range(Q):
        lines += [
            f"    k = comes >> {q} & 1",
            f"    a{q} = at0 + at[0, k, {q}] + turn(places[0, k, {q}, 1], back, forth)",
            f"    k = sent >> {q} & 1",
            f"    b{q} = at0 + at[1, k, {q}] + turn(places[1, k, {q}, 1], back, forth)",
        ]
    loads = ", ".join(f"decode(get(source, a{q} + i))" for q in range(Q))
    lines += ["    for i in range(n):", f"        f = ({loads})"]
    lines += ["        g, _, _, _ = collide(f, rates, force)"]
    lines += [f"        put{q}(target, b{q} + i, encode(g[{q}]))" for q in range(Q)]
    names = {"get": _get, "decode": decode, "encode": encode, "collide": collide, "turn": _turn}
    names |= {f"put{q}": _put(q) for q in range(Q)}
    text = "\n".join(lines) + "\n"
    return serial(define("fused", text, names), cache=False, fastmath=FUSED)


@serial(cache=False)
def _turn(dx, back, forth):
    return back if dx < 0 else (forth if dx > 0 else 0)


@functools.cache
def copies(precision: str):
    """(load, store): n cells from at0 on into a scratch, and back."""
    decode, encode = codec(PRECISIONS[precision])

    @serial(cache=False)
    def load(memory, scratch, at, places, bits, back, forth, at0, n):
        for q in range(Q):
            k = bits >> q & 1
            a = at0 + at[0, k, q] + _turn(places[0, k, q, 1], back, forth)
            for i in range(n):
                scratch[np.uint64(q * CHUNK + i)] = decode(memory[np.uint64(a + i)])

    @serial(cache=False)
    def store(memory, scratch, at, places, what, bits, back, forth, at0, n):
        for q in range(Q):
            k = bits >> q & 1
            a = at0 + at[what, k, q] + _turn(places[what, k, q, 1], back, forth)
            for i in range(n):
                memory[np.uint64(a + i)] = encode(scratch[np.uint64(q * CHUNK + i)])

    return load, store


@functools.cache
def bounces(compute: type):
    """Give the populations that run into a wall the values that it sends back."""
    weights, velocities = np.array(W, compute), np.array(C, compute)

    @serial(cache=False)
    def bounce(scratch, n, bits, c, materials, kinds):
        u = Q * CHUNK
        for q in range(1, Q):
            image = materials[c, q, 1]
            if bits >> q & 1 and image > q:  # of a pair of mirror images, once
                for i in range(n):
                    f = scratch[q * CHUNK + i]
                    scratch[q * CHUNK + i] = scratch[image * CHUNK + i]
                    scratch[image * CHUNK + i] = f
            elif bits >> q & 1 and image == q:
                k = materials[c, q, 0]
                wall = (kinds[k, 0], kinds[k, 1], kinds[k, 2], kinds[k, 3], kinds[k, 4])
                w, cx, cy, cz = weights[q], velocities[q, 0], velocities[q, 1], velocities[q, 2]
                for i in range(n):
                    f = scratch[q * CHUNK + i]
                    ux, uy, uz = scratch[u + i], scratch[u + CHUNK + i], scratch[u + 2 * CHUNK + i]
                    scratch[q * CHUNK + i] = reflect(f, w, cx, cy, cz, wall, ux, uy, uz)

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
    populations = ", ".join(f"scratch[{q * CHUNK} + i]" for q in range(Q))
    lines = [
        f"def chunk(scratch, n, {arguments}):",
        f"    for i in range(min(n, {CHUNK})):",
        f"        f = ({populations})",
        f"        {statement}",
        *(f"        scratch[{k * CHUNK} + i] = {r}" for k, r in enumerate(results)),
    ]
    text = "\n".join(lines) + "\n"
    return serial(define("chunk", text, {"cell": cell}), cache=False, fastmath=FUSED)


def runs(classes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs of cells of one class: (first run of each row, end of each run, its class)."""
    nz, ny, nx = classes.shape
    flat = classes.reshape(nz * ny, nx)
    change = np.ones(flat.shape, bool)
    np.not_equal(flat[:, 1:], flat[:, :-1], out=change[:, :-1])
    row, last = np.nonzero(change)
    first = np.searchsorted(row, np.arange(nz * ny + 1))
    return first, last + 1, flat[row, last].astype(np.int64)

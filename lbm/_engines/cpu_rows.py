"""Segments of rows on the CPU: how steps, outputs and starts treat them.

A segment is a number of neighbouring cells of one class in a row: all have their populations at the
same offsets (`_engines.cpu_offsets`). Whole vectors of cells are stepped by one loop over 19 + 19
streams.
Compilers do not turn such a loop into vector instructions, because they cannot know that the
streams do not overlap: `_load` and `_make_store` tell them. Other cells are gathered into a scratch
array with a row for each population, treated there, and scattered back.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from hetero.codegen import compile_source
from hetero.jit import FUSED, serial
from lbm._engines.cell_formulas import equilibrium_populations, make_cell_functions, wall_return
from lbm._engines.storage_formulas import codec, make_move
from lbm._model.lattice import C, Q, W
from lbm._model.precision import PRECISIONS

VECTOR = 8
"""Numbers that are gathered at a time: a vector of float32 in AVX, two of float64."""

SCRATCH_CELLS = 128
"""Cells that fit in a scratch array: its 22 rows of float32 stay in the first-level cache."""

SCRATCH_ROW = SCRATCH_CELLS + VECTOR
"""Numbers in a row of a scratch array; the last vector may be only partly filled."""

SCRATCH_SIZE = (Q + 3) * SCRATCH_ROW
"""Numbers in a scratch array: rows for 19 populations and three components of the velocity."""


# ---- access ----------------------------------------------------------------------------------


def _alias_scope(module, name: str):
    """Return LLVM metadata that names a set of memory accesses."""
    domain = module.add_metadata([ir.MetaDataString(module, "lbm")])
    return module.add_metadata([ir.MetaDataString(module, name), domain])


def _element_pointer(context, builder, array_type, values):
    array = context.make_array(array_type)(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


@intrinsic
def _load(typing, memory, index):
    """Load memory[index] of a flat array, where no store of the loop has written before."""

    def emit(context, builder, signature, values):
        loaded = builder.load(_element_pointer(context, builder, memory, values))
        module = builder.module
        loaded.set_metadata("alias.scope", module.add_metadata([_alias_scope(module, "load")]))
        return loaded

    return memory.dtype(memory, types.int64), emit


def _make_store(stream: int):
    """Make store(memory, index, value) for one stream of a loop.

    It promises that no other stream writes to these addresses, and that the loop has read before
    whatever it reads there.
    """

    @intrinsic
    def store(typing, memory, index, value):
        def emit(context, builder, signature, values):
            module = builder.module
            others = [_alias_scope(module, f"store {q}") for q in range(Q) if q != stream]
            stored = builder.store(values[2], _element_pointer(context, builder, memory, values))
            scope = module.add_metadata([_alias_scope(module, f"store {stream}")])
            stored.set_metadata("alias.scope", scope)
            loads = _alias_scope(module, "load")
            stored.set_metadata("noalias", module.add_metadata([loads, *others]))
            return context.get_dummy_value()

        return types.void(memory, types.int64, memory.dtype), emit

    return store


# ---- segments -------------------------------------------------------------------------------


@functools.cache
def make_stream_and_collide(precision: str, operator: type, forced: bool):
    """Make the step of n neighbouring cells: 19 streams in, collision, 19 streams out.

    The cells begin at `start` and fill whole vectors; their offsets begin at offsets[j].
    """
    form = PRECISIONS[precision]
    decode, encode = codec(form)
    _, collide = make_cell_functions(operator.relax(), forced)
    lines = ["def stream_and_collide(source, target, offsets, j, start, n, rates, force):"]
    for q in range(Q):
        loaded, stored = f"load(offsets, j + {q})", f"load(offsets, j + {Q + q})"
        lines += [f"    a{q}, b{q} = start + {loaded}, start + {stored}"]
    loads = ", ".join(f"decode(load(source, a{q} + i))" for q in range(Q))
    lines += ["    for i in range(n):", f"        f = ({loads})"]
    lines += ["        g, _, _, _ = collide(f, rates, force)"]
    lines += [f"        store{q}(target, b{q} + i, encode(g[{q}]))" for q in range(Q)]
    names = {"load": _load, "decode": decode, "encode": encode, "collide": collide}
    names |= {f"store{q}": _make_store(q) for q in range(Q)}
    function = compile_source("stream_and_collide", "\n".join(lines) + "\n", names)
    return serial(function, fastmath=FUSED, forceinline=True)


_move8, _move4, _move2, _move1 = map(make_move, (VECTOR, 4, 2, 1))


@serial(forceinline=True)
def gather(memory, offsets, j, start, scratch, lane, n):
    """Copy the populations of the n cells from `start` on into a scratch, from its cell `lane` on.

    This copies whole vectors: whatever follows the cells is overwritten by those that are gathered
    next, and slots and scratch end with room for it.
    """
    for i in range(0, n, VECTOR):
        for q in range(Q):
            _move8(memory, start + _load(offsets, j + q) + i, scratch, q * SCRATCH_ROW + lane + i)


@serial(forceinline=True)
def scatter(memory, offsets, j, start, scratch, lane, n):
    """Copy populations back, the inverse of `gather`, without touching the cells that follow.

    The last vectors therefore overlap instead of reaching beyond the last cell.
    """
    vectors = n & -VECTOR
    for i in range(0, vectors, VECTOR):
        for q in range(Q):
            _move8(scratch, q * SCRATCH_ROW + lane + i, memory, start + _load(offsets, j + q) + i)
    if n & 4:
        for q in range(Q):
            a, b = q * SCRATCH_ROW + lane, start + _load(offsets, j + q)
            _move4(scratch, a + vectors, memory, b + vectors)
            _move4(scratch, a + n - 4, memory, b + n - 4)
    elif n & 2:
        for q in range(Q):
            a, b = q * SCRATCH_ROW + lane, start + _load(offsets, j + q)
            _move2(scratch, a + vectors, memory, b + vectors)
            _move2(scratch, a + n - 2, memory, b + n - 2)
    elif n & 1:
        for q in range(Q):
            a, b = q * SCRATCH_ROW + lane, start + _load(offsets, j + q)
            _move1(scratch, a + vectors, memory, b + vectors)


@functools.cache
def make_bounce(compute: type):
    """Make bounce(scratch, lane, n, bits, c, rows, types) for an arithmetic dtype.

    It replaces the populations that run into a wall (`bits`) by the values that the wall sends
    back, for n cells of class c in a scratch array that holds their velocities, too.
    """
    weights, velocities = np.array(W, compute), np.array(C, compute)

    @serial(forceinline=True)
    def bounce(scratch, lane, n, bits, c, rows, types):
        u = Q * SCRATCH_ROW
        for q in range(1, Q):
            image = rows[c, q, 1]
            if bits >> q & 1 and image > q:  # swap a pair of mirror images once
                for i in range(lane, lane + n):
                    f = scratch[q * SCRATCH_ROW + i]
                    scratch[q * SCRATCH_ROW + i] = scratch[image * SCRATCH_ROW + i]
                    scratch[image * SCRATCH_ROW + i] = f
            elif bits >> q & 1 and image == q:
                k = rows[c, q, 0]
                wall = (types[k, 0], types[k, 1], types[k, 2], types[k, 3], types[k, 4])
                w, c_q = weights[q], (velocities[q, 0], velocities[q, 1], velocities[q, 2])
                for i in range(lane, lane + n):
                    f, j = scratch[q * SCRATCH_ROW + i], u + i
                    velocity = scratch[j], scratch[j + SCRATCH_ROW], scratch[j + 2 * SCRATCH_ROW]
                    scratch[q * SCRATCH_ROW + i] = wall_return(f, w, c_q, wall, velocity)

    return bounce


@functools.cache
def make_scratch_loops(compute: type, operator: type, forced: bool):
    """Make (collide, measure, equilibrate): loops over the first n cells of a scratch array.

    collide(scratch, n, rates, force): populations become those after the collision, followed by
    the velocity. measure(scratch, n, force): the first four rows become rho - 1 and the velocity.
    equilibrate(scratch, n, force): rho - 1 and the velocity in the first four rows become the
    populations of the equilibrium.
    """
    velocity, collide = make_cell_functions(operator.relax(), forced)
    after = [*(f"g[{q}]" for q in range(Q)), "ux", "uy", "uz"]
    moments = ["drho", "ux", "uy", "uz"]
    populations = [f"e[{q}]" for q in range(Q)]
    return (
        _make_scratch_loop(
            "g, ux, uy, uz = function(f, rates, force)", after, collide, "rates, force"
        ),
        _make_scratch_loop("drho, ux, uy, uz = function(f, force)", moments, velocity, "force"),
        _make_scratch_loop(
            "e = function(f[0], f[1], f[2], f[3], force)",
            populations,
            equilibrium_populations,
            "force",
        ),
    )


def _make_scratch_loop(statement: str, results: list[str], function, arguments: str):
    """Make a loop over a scratch array; it vectorises, because the row stride is a constant."""
    populations = ", ".join(f"scratch[{q * SCRATCH_ROW} + i]" for q in range(Q))
    lines = [
        f"def scratch_loop(scratch, n, {arguments}):",
        f"    for i in range(min(n, {SCRATCH_ROW})):",
        f"        f = ({populations})",
        f"        {statement}",
        *(f"        scratch[{k * SCRATCH_ROW} + i] = {r}" for k, r in enumerate(results)),
    ]
    loop = compile_source("scratch_loop", "\n".join(lines) + "\n", {"function": function})
    return serial(loop, fastmath=FUSED, forceinline=True)

"""Segments of rows on the CPU: how steps, outputs and starts treat them.

A segment is a number of neighbouring cells of one class in a row: all have their populations at the
same offsets (`_kernels.cpu_offsets`). They are stepped in vectors of cells, by a
function of which there is one instance only: a cell gets the same bits wherever it lies, in the
middle of a row or at its end. Cells that fill no vector are gathered in a scratch array, which has
a row for each population; the same function steps them there, and they are scattered back.
"""

from __future__ import annotations

import functools

import numpy as np

from hetero.codegen import compile_source
from hetero.jit import FUSED, serial
from lbm._kernels.formulas.cell_formulas import cell_formulas
from lbm._kernels.formulas.storage_formulas import codec
from lbm._kernels.formulas.wall_formulas import wall_return
from lbm._kernels.intrinsics.vector_memory import (
    keep_out_of_line,
    make_load,
    make_load_part,
    make_store,
    make_store_part,
    prefetch,
)
from lbm._kernels.intrinsics.vector_width import has_masks, vector_lanes
from lbm._kernels.moments.formulas import GROUP, make_conversions, make_packing
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

PREFETCH_BYTES = 640
"""Distance at which a step asks for populations in advance.

Without, a core waits for its first-level cache. 512 to 768 bytes take four fifths of that time on
a Xeon of 2023, 256 and 1024 bytes nine tenths.
"""

SCRATCH_CELLS = 64
"""Cells that fit in a scratch array, several vectors: with float64 its rows take 15 KiB."""

SCRATCH_ROW = SCRATCH_CELLS + 16
"""Numbers in a row of a scratch array; there is room for a last vector that is partly filled."""


def moments_row(lattice: Lattice) -> int:
    """Return the first number of the rows of rho - 1 and the velocity in a scratch array.

    They are behind those of the populations.
    """
    return lattice.size * SCRATCH_ROW


def scratch_size(lattice: Lattice) -> int:
    """Return how many numbers a scratch array has."""
    return (lattice.size + 4) * SCRATCH_ROW


def inner_loop(function=None, **options):
    """Compile a loop that only compiled code calls."""
    if function is None:
        return functools.partial(inner_loop, **options)
    return serial(function, no_cpython_wrapper=True, no_cfunc_wrapper=True, **options)


def generate_loop(name: str, lanes: int, lines: list[str], **names):
    """Compile generated source, which may load and store vectors of `lanes` cells."""
    names |= {"load": make_load(lanes), "store": make_store(lanes), "prefetch": prefetch,
              "keep_out_of_line": keep_out_of_line}  # fmt: skip
    return inner_loop(compile_source(name, "\n".join(lines) + "\n", names), fastmath=FUSED)


# ---- steps -----------------------------------------------------------------------------------


@functools.cache
def make_update(lattice: Lattice, precision: str, collide, reads_viscosity: bool):
    """Make update(source, target, offsets, j, start, n, shift, rates, force): n neighbours step.

    The cells begin at `start`, and the first vector `shift` cells before. offsets[j + q] leads from
    a cell to where population q is loaded, and offsets[j + Q + q], where Q is the number of
    populations, to where it is stored. Without masks (`vector_width.has_masks`) all vectors
    are loaded and stored as a whole. If the collision reads the eddy viscosity, the last of the
    rates is a pointer to it, in the form of `source`, and it is that of a cell at the cell's index.
    """
    form, size = PRECISIONS[precision], lattice.size
    lanes = vector_lanes(form.compute)
    decode, encode = codec(form)
    ahead = PREFETCH_BYTES // form.itemsize
    load, store, part = (
        ("load_part", "store_part", ", i, n") if has_masks() else ("load", "store", "")
    )
    rates = "rates"
    if reads_viscosity:
        rates = f"rates[:-1] + (decode({load}(rates[-1], start + i{part})),)"
    lines = [
        "def update(source, target, offsets, j, start, n, shift, rates, force):",
        "    keep_out_of_line()",
        *(f"    a{q} = start + offsets[j + {q}]" for q in range(size)),
        *(f"    b{q} = start + offsets[j + {size + q}]" for q in range(size)),
        f"    for i in range(-shift, n, {lanes}):",
        *(f"        f{q} = decode({load}(source, a{q} + i{part}))" for q in range(size)),
        *(f"        prefetch(source, a{q} + i + {ahead})" for q in range(size)),
        f"        f = ({', '.join(f'f{q}' for q in range(size))})",
        f"        g, _, _, _ = collide(f, {rates}, force)",
        *(f"        {store}(target, b{q} + i, encode(g[{q}]){part})" for q in range(size)),
    ]
    names = {"decode": decode, "encode": encode, "collide": collide}
    if has_masks():
        names |= {"load_part": make_load_part(lanes), "store_part": make_store_part(lanes)}
    return generate_loop("update", lanes, lines, **names)


@functools.cache
def make_moments_loops(lattice: Lattice, compute: type, velocity):
    """Make (measure, equilibrate): loops over the first n cells of a scratch array.

    measure(scratch, n, force) computes the moments of the populations, and
    equilibrate(scratch, n, force) the populations of the equilibrium with these moments.
    """
    lanes = vector_lanes(compute)

    def rows(first: int, count: int) -> list[str]:
        return [f"load(scratch, {first + k * SCRATCH_ROW} + i)" for k in range(count)]

    def loop(name: str, results: str, first: int, count: int, **names):
        lines = [
            f"def {name}(scratch, n, force):",
            "    keep_out_of_line()",
            f"    for i in range(0, n, {lanes}):",
            f"        e = {results}",
            *(
                f"        store(scratch, {first + k * SCRATCH_ROW} + i, e[{k}])"
                for k in range(count)
            ),
        ]
        return generate_loop(name, lanes, lines, **names)

    first, size = moments_row(lattice), lattice.size
    populations, moments = ", ".join(rows(0, size)), ", ".join(rows(first, 4))
    equilibrium = cell_formulas(lattice).equilibrium_populations
    return (
        loop("measure", f"velocity(({populations}), force)", first, 4, velocity=velocity),
        loop("equilibrate", f"equilibrium({moments}, force)", 0, size, equilibrium=equilibrium),
    )


@functools.cache
def make_moments_reader(lattice: Lattice, precision: str, velocity):
    """Make read_moments(memory, offsets, j, scratch, start, n, force).

    It computes the moments of the n cells from `start` on, without a copy of their populations:
    offsets[j + q] leads from a cell to where population q is loaded. It reads whole vectors, like
    `gather` of `make_copies`.
    """
    form, size, first = PRECISIONS[precision], lattice.size, moments_row(lattice)
    lanes, ahead = vector_lanes(form.compute), PREFETCH_BYTES // form.itemsize
    if form.moments:
        lines = ["def read_moments(memory, offsets, j, scratch, start, n, force):"]
        lines += ["    for i in range(n):", *_words_of_cell(form.moments)]
        lines += ["        m = velocity(populations(unpack(words)), force)"]
        lines += [f"        scratch[{first + k * SCRATCH_ROW} + i] = m[{k}]" for k in range(4)]
        names = _names_of_moments(lattice, form.moments)
        return generate_loop("read_moments", lanes, lines, velocity=velocity, **names)
    decode, _ = codec(form)
    lines = [
        "def read_moments(memory, offsets, j, scratch, start, n, force):",
        "    keep_out_of_line()",
        *(f"    a{q} = start + offsets[j + {q}]" for q in range(size)),
        f"    for i in range(0, n, {lanes}):",
        *(f"        f{q} = decode(load(memory, a{q} + i))" for q in range(size)),
        *(f"        prefetch(memory, a{q} + i + {ahead})" for q in range(size)),
        f"        m = velocity(({', '.join(f'f{q}' for q in range(size))}), force)",
        *(f"        store(scratch, {first + k * SCRATCH_ROW} + i, m[{k}])" for k in range(4)),
    ]
    return generate_loop("read_moments", lanes, lines, decode=decode, velocity=velocity)


@functools.cache
def make_bounce(lattice: Lattice, compute: type):
    """Make bounce(scratch, lane, n, bits, c, rows, types) for a lattice and an arithmetic dtype.

    It replaces the populations that run into a wall (`bits`) by the values that the wall sends
    back, for n cells of class c in a scratch array that holds their moments, too.
    """
    weights = np.array(lattice.weights, compute)
    velocities = np.array(lattice.velocities, compute)
    size, moments = lattice.size, moments_row(lattice)

    @inner_loop
    def bounce(scratch, lane, n, bits, c, rows, types):
        keep_out_of_line()
        for q in range(1, size):
            image = np.int64(rows[c, q, 1])
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
                    f, j = scratch[q * SCRATCH_ROW + i], moments + SCRATCH_ROW + i
                    velocity = scratch[j], scratch[j + SCRATCH_ROW], scratch[j + 2 * SCRATCH_ROW]
                    scratch[q * SCRATCH_ROW + i] = wall_return(f, w, c_q, wall, velocity)

    return bounce


# ---- copies ----------------------------------------------------------------------------------


@functools.cache
def make_copies(lattice: Lattice, precision: str, dtype: type):
    """Make (gather, scatter): copies of cells between memory and a scratch array of this dtype.

    gather(memory, offsets, j, start, scratch, lane, n, ahead) copies the populations of the n cells
    from `start` on into a scratch array, from its cell `lane` on. It copies whole vectors: whatever
    follows the cells is overwritten by those that are gathered next, and slots and scratch end with
    room for it. After a single cell, one at the same place some rows further is expected, and it
    asks for the lines that are `ahead` of this one's: those of walls are in no stream that the
    processor could foresee. scatter(memory, offsets, j, start, scratch, lane, n) is the inverse,
    which does not touch the cells that follow.
    """
    form, size = PRECISIONS[precision], lattice.size
    lanes = vector_lanes(form.compute)
    if form.moments:
        return _make_copies_of_moments(lattice, lanes, form.moments)
    decode, encode = codec(form if dtype is not form.storage else PRECISIONS["float32"])
    column, cell = f"q * {SCRATCH_ROW} + lane", "start + offsets[j + q]"
    lines = [
        "def gather(memory, offsets, j, start, scratch, lane, n, ahead):",
        "    if n == 1:",
        f"        for q in range({size}):",
        f"            prefetch(memory, {cell} + ahead)",
        f"            scratch[{column}] = decode(memory[{cell}])",
        "        return",
        f"    for i in range(0, n, {lanes}):",
        f"        for q in range({size}):",
        f"            store(scratch, {column} + i, decode(load(memory, {cell} + i)))",
    ]
    gather = generate_loop("gather", lanes, lines, decode=decode)
    cell = f"start + offsets[j + {size} + q]"
    lines = [
        "def scatter(memory, offsets, j, start, scratch, lane, n):",
        "    if n == 1:",
        f"        for q in range({size}):",
        f"            memory[{cell}] = encode(scratch[{column}])",
        "        return",
        f"    for i in range(0, n & {-lanes}, {lanes}):",
        f"        for q in range({size}):",
        f"            store(memory, {cell} + i, encode(load(scratch, {column} + i)))",
        f"    i, left = n & {-lanes}, n & {lanes - 1}",
    ]
    names = {"encode": encode}
    if has_masks():
        names["store_part"] = make_store_part(lanes)
        lines += [
            "    if left:",
            f"        for q in range({size}):",
            f"            part = encode(load(scratch, {column} + i))",
            f"            store_part(memory, {cell} + i, part, 0, left)",
        ]
    width = 0 if has_masks() else lanes // 2
    while width:  # two parts that overlap, instead of one that reaches beyond the last cell
        names |= {f"load{width}": make_load(width), f"store{width}": make_store(width)}
        lines += [f"    if {width} <= left < {2 * width}:", f"        for q in range({size}):"]
        for part in ("i", f"n - {width}"):
            value = f"encode(load{width}(scratch, {column} + {part}))"
            lines += [f"            store{width}(memory, {cell} + {part}, {value})"]
        width //= 2
    return gather, generate_loop("scatter", lanes, lines, **names)


def _words_of_cell(count: int) -> list[str]:
    """Write the statements that set `words` to those of the cell start + i, of ten moments."""
    return [
        f"        at = (start + i) // {GROUP} * {GROUP * count} + (start + i) % {GROUP}",
        f"        words = ({', '.join(f'memory[at + {GROUP * k}]' for k in range(count))},)",
    ]


def _names_of_moments(lattice: Lattice, words: int) -> dict:
    moments, populations = make_conversions(lattice)
    unpack, pack = make_packing(words)
    return {"moments": moments, "populations": populations, "unpack": unpack, "pack": pack}


def _make_copies_of_moments(lattice: Lattice, lanes: int, words: int):
    """Make (gather, scatter) of `make_copies` for cells whose state is ten moments."""
    arguments = "memory, offsets, j, start, scratch, lane, n"
    cells = [f"scratch[{q * SCRATCH_ROW} + lane + i]" for q in range(lattice.size)]
    gather = [f"def gather({arguments}, ahead):", "    for i in range(n):", *_words_of_cell(words)]
    gather += ["        f = populations(unpack(words))"]
    gather += [f"        {cell} = f[{q}]" for q, cell in enumerate(cells)]
    scatter = [f"def scatter({arguments}):", "    for i in range(n):", *_words_of_cell(words)]
    scatter += [f"        words = pack(moments(({', '.join(cells)})))"]
    scatter += [f"        memory[at + {GROUP * k}] = words[{k}]" for k in range(words)]
    names = _names_of_moments(lattice, words)
    return (
        generate_loop("gather", lanes, gather, **names),
        generate_loop("scatter", lanes, scatter, **names),
    )

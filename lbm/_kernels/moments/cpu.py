"""Blocks of cells on the CPU whose state is ten moments.

A task marches along z through whole rows of some neighbouring y. It reconstructs the populations
after the collision of each row once for each task, into a ring of three layers that stays in the
cache, and finishes the rows of a layer when the next one is there. A row is finished in segments of
cells with the same walls: a population that comes out of a wall is read where the cell itself has
written its opposite.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numba
import numpy as np
from numba import prange, types

from hetero import threads
from hetero.codegen import compile_source
from hetero.devices import Device
from hetero.jit import FUSED, parallel
from lbm._kernels.cpu import CPUEngine
from lbm._kernels.cpu_offsets import find_runs, find_segment
from lbm._kernels.cpu_operators import make_viscosity_loops
from lbm._kernels.cpu_rows import inner_loop
from lbm._kernels.formulas.cell_formulas import make_cell_functions
from lbm._kernels.formulas.wall_formulas import wall_return
from lbm._kernels.intrinsics.subnormals import flush_subnormals, restore_subnormals
from lbm._kernels.intrinsics.vector_memory import (
    keep_out_of_line,
    make_load,
    make_stack_array,
    make_store,
    make_stream_store,
    pointer_to,
    prefetch,
)
from lbm._kernels.intrinsics.vector_width import vector_lanes
from lbm._kernels.moments.formulas import (
    GROUP,
    make_conversions,
    make_packing,
    make_reconstruction,
)
from lbm._kernels.moments.wall_tables import STREAM, tabulate_added, tabulate_masks
from lbm._kernels.problem import Problem
from lbm.geometry.wall_links import INTO, MOVING, RETURN, SOLID_CLASS, SPECIAL
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

RING_BYTES = 1 << 20
"""Size of the ring of a task: half of the second-level cache of a server's core since 2019."""

ROWS = 4, 32
"""Least and most rows of a task; two more are reconstructed."""

AHEAD = 3
"""Groups of cells by which moments are asked for in advance."""

PAD = 16
"""Numbers at both ends of a row of populations: a vector that begins before the row, or ends
behind it."""


@functools.cache
def make_row_loops(lattice: Lattice, precision: str, operator: type, forced: bool):
    """Make (reconstruct, finish, finish_at_walls): loops over neighbours in a row.

    reconstruct(source, ring, row, start, n, into, rates, force) writes the populations of the n
    cells from `start` on, each to a row of the ring, of `row` numbers, the first to `into`. Behind
    the rates of an operator that reads the eddy viscosity is a pointer to it.
    finish(ring, bases, added, target, start, n) sums what arrives in the n cells: population q of
    the first is at bases[q]; `finish_at_walls` adds added[q] to it.
    """
    form, size = PRECISIONS[precision], lattice.size
    lanes, words = vector_lanes(form.compute), range(form.moments)
    names = {
        "load": make_load(lanes),
        "store": make_store(lanes),
        "stream": make_stream_store(lanes),
        "prefetch": prefetch,
        "reconstruct_cell": make_reconstruction(lattice, operator, forced, form.moments),
        "moments": make_conversions(lattice)[0],
        "pack": make_packing(form.moments)[1],
        "keep_out_of_line": keep_out_of_line,
        "scratch": make_stack_array(numba.from_dtype(form.storage), form.moments * lanes),
    }
    address = f"at = cell // {GROUP} * {GROUP * form.moments} + cell % {GROUP}"
    loop = [f"    for k in range(-(start % {lanes}), n, {lanes}):", "        cell = start + k"]
    loaded = ", ".join(f"load(source, at + {GROUP * k})" for k in words)
    rates = "(*rates[:-1], load(rates[-1], cell))" if operator.reads_viscosity else "rates"
    reconstruct = [
        "def reconstruct(source, ring, row, start, n, into, rates, force):",
        "    keep_out_of_line()",
        *loop,
        f"        {address}",
        *(f"        prefetch(source, at + {GROUP * (k + AHEAD * form.moments)})" for k in words),
        f"        g = reconstruct_cell(({loaded}), {rates}, force)",
        *(f"        store(ring, into + {q} * row + k, g[{q}])" for q in range(size)),
    ]

    def finish(added: bool) -> list[str]:
        terms = [f"load(ring, b{q} + k)" + f" + added[{q}]" * added for q in range(size)]
        return [
            "def finish(ring, bases, added, target, start, n):",
            "    keep_out_of_line()",
            "    part = scratch()",
            *(f"    b{q} = bases[{q}]" for q in range(size)),
            *loop,
            f"        w = pack(moments(({', '.join(terms)})))",
            f"        if k >= 0 and k + {lanes} <= n:",
            f"            {address}",
            *(f"            stream(target, at + {GROUP * k}, w[{k}])" for k in words),
            "        else:",
            *(f"            store(part, {k * lanes}, w[{k}])" for k in words),
            f"            for i in range(max(0, -k), min({lanes}, n - k)):",
            f"                {address} + i",
            *(f"                target[at + {GROUP * k}] = part[{k * lanes} + i]" for k in words),
        ]

    return tuple(
        inner_loop(compile_source(name, "\n".join(lines) + "\n", names), fastmath=FUSED)
        for name, lines in (
            ("reconstruct", reconstruct), ("finish", finish(False)), ("finish", finish(True))
        )
    )  # fmt: skip


@functools.cache
def make_step(lattice: Lattice, precision: str, operator: type, forced: bool):
    """Make the step of a block."""
    form, size = PRECISIONS[precision], lattice.size
    reconstruct, finish, finish_at_walls = make_row_loops(lattice, precision, operator, forced)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    compute, pack = numba.from_dtype(form.compute), make_packing(form.moments)[1]
    attach = make_viscosity_loops(form, operator.reads_viscosity).attach
    moments = make_conversions(lattice)[0]
    new_numbers, new_bases = (make_stack_array(kind, size) for kind in (compute, types.int64))
    c = np.array(lattice.velocities)
    weights, opposite = np.array(lattice.weights, form.compute), np.array(lattice.opposite)
    zero = form.compute(0)
    elements = ", ".join(f"f[{q}]" for q in range(size))
    of_list = inner_loop(
        compile_source("of_list", f"def of_list(f):\n    return ({elements})\n", {})
    )
    words = form.moments

    @inner_loop
    def fill_row(source, ring, row, into, cells, classes, rates, force, wraps):
        """Reconstruct the row of `cells` (first, count), and what enters it along x."""
        start, nx = cells
        reconstruct(source, ring, row, start, nx, into, rates, force)
        if forced:
            for x in range(nx):
                if classes[start + x] == SOLID_CLASS:
                    for q in range(size):
                        ring[into + q * row + x] = zero
        for q in range(size):
            first = into + q * row
            if c[q, 0] > 0:
                ring[first - 1] = ring[first + nx - 1] if wraps else zero
            elif c[q, 0] < 0:
                ring[first + nx] = ring[first] if wraps else zero

    @inner_loop
    def finish_cell(ring, bases, into, row, cell, kind, tables, target, force, arrays):
        """Finish a cell beside walls that do more than to bounce or to move."""
        f, g = arrays
        masks, rows, types_, added = tables
        for q in range(size):
            f[q], g[q] = ring[bases[q]], ring[into + q * row]
        _, ux, uy, uz = velocity(of_list(g), (-force[0], -force[1], -force[2]))
        for q in range(1, size):
            if masks[kind, STREAM] >> q & 1:
                f[opposite[q]] = added[kind, q]
            if masks[kind, INTO] >> q & 1:
                t = rows[kind, q, 0]
                wall = types_[t, 0], types_[t, 1], types_[t, 2], types_[t, 3], types_[t, 4]
                c_q = form_of(c[q, 0]), form_of(c[q, 1]), form_of(c[q, 2])
                sent = g[rows[kind, q, 1]]
                f[opposite[q]] = wall_return(sent, weights[q], c_q, wall, (ux, uy, uz))
        w = pack(moments(of_list(f)))
        at = cell // GROUP * (GROUP * words) + cell % GROUP
        store_words(target, at, w)

    form_of = form.compute
    store_words = inner_loop(compile_source(
        "store_words", "def store_words(target, at, w):\n"
        + "".join(f"    target[at + {GROUP * k}] = w[{k}]\n" for k in range(words)), {},
    ))  # fmt: skip

    @inner_loop
    def march(source, target, ring, classes, runs, tables, rates, force, shape, wraps, bounds):
        """Step the cells y0 <= y < y1 and z0 <= z < z1 of `bounds`.

        Behind the layers the ring has a row of zeros, to which streams add what they return.
        """
        nx, ny, nz = shape
        y0, y1, z0, z1 = bounds
        masks, _, _, added = tables
        first, ends, kinds = runs
        row, height = nx + 2 * PAD, y1 - y0 + 2
        bases, shifted, adds = new_bases(), new_bases(), new_numbers()
        arrays = new_numbers(), new_numbers()
        zeros = 3 * height * size * row + PAD
        for k in range(zeros - PAD, zeros - PAD + row):
            ring[k] = zero
        for p in range(z0 - 1, z1 + 1):
            for y in range(y0 - 1, y1 + 1):
                into = ((p + 3) % 3 * height + y - y0 + 1) * size * row + PAD
                outside_y, outside_z = y < 0 or y >= ny, p < 0 or p >= nz
                if (outside_y and not wraps[1]) or (outside_z and not wraps[2]):
                    for k in range(into - PAD, into - PAD + size * row):
                        ring[k] = zero
                    continue
                start = ((p + nz) % nz * ny + (y + ny) % ny) * nx
                fill_row(source, ring, row, into, (start, nx), classes, rates, force, wraps[0])
            z = p - 1
            if z < z0:
                continue
            for y in range(y0, y1):
                into = ((z + 3) % 3 * height + y - y0 + 1) * size * row + PAD
                for q in range(size):
                    there = (z - c[q, 2] + 3) % 3 * height + y - c[q, 1] - y0 + 1
                    bases[q] = (there * size + q) * row + PAD - c[q, 0]
                x, k = 0, first[z * ny + y]
                start = (z * ny + y) * nx
                while x < nx:
                    k, kind, n = find_segment(x, nx, k, ends, kinds)
                    for q in range(size):
                        shifted[q], adds[q] = bases[q] + x, zero
                    if kind == 0:
                        finish(ring, shifted, adds, target, start + x, n)
                    elif kind != SOLID_CLASS:
                        if masks[kind, SPECIAL] and masks[kind, RETURN] != MOVING:
                            for i in range(n):
                                finish_cell(
                                    ring,
                                    shifted,
                                    into + x + i,
                                    row,
                                    start + x + i,
                                    kind,
                                    tables,
                                    target,
                                    force,
                                    arrays,
                                )
                                for q in range(size):
                                    shifted[q] += 1
                        else:
                            for q in range(1, size):
                                streams = masks[kind, STREAM] >> q & 1
                                if streams or masks[kind, INTO] >> q & 1:
                                    sent = zeros if streams else into + q * row
                                    shifted[opposite[q]] = sent + x
                                    adds[opposite[q]] = added[kind, q]
                            finish_at_walls(ring, shifted, adds, target, start + x, n)
                    x += n

    @parallel
    def step(
        source, target, classes, runs, tables, rates, viscosity, force, shape, wraps, first, last,
        rows, layers,
    ):  # fmt: skip
        """Step the layers first <= z < last; a task has `rows` rows of `layers` of them."""
        nx, ny, _ = shape
        across = (ny + rows - 1) // rows
        for task in prange(across * ((last - first + layers - 1) // layers)):
            y0, z0 = np.int64(task) % across * rows, first + np.int64(task) // across * layers
            bounds = y0, min(y0 + rows, ny), z0, min(z0 + layers, last)
            ring = np.empty((3 * (rows + 2) * size + 1) * (nx + 2 * PAD), form_of)
            settings = flush_subnormals()
            march(
                pointer_to(source), pointer_to(target), pointer_to(ring), classes, runs, tables,
                attach(rates, viscosity), force, shape, wraps, bounds,
            )  # fmt: skip
            restore_subnormals(settings)

    return step


def create_engine(problem: Problem, device: Device, allocate=None) -> CPUMoments:
    """Create the block `problem` on the CPU."""
    return CPUMoments(problem, device, allocate)


class CPUMoments(CPUEngine):
    """A block in host memory whose state is ten moments."""

    def __init__(self, problem: Problem, device: Device, allocate):
        super().__init__(problem, device, allocate)
        self._of_rows = find_runs(problem.links.classes, 0, 0)
        self._returns = tabulate_masks(problem.links).astype(np.int64)
        self.update_walls()

    def _make_step(self):
        p = self.problem
        return make_step(p.lattice, p.precision.name, type(p.collision), p.forced)

    def update_walls(self):
        links = replace(self.problem.links, wall_types=self.wall_types)
        self._added = tabulate_added(links).astype(self.problem.precision.compute)

    def step(self, t, box):
        (nx, ny, _), size, nz = self.problem.shape, self.problem.lattice.size, box.z1 - box.z0
        row = 3 * size * (nx + 2 * PAD) * np.dtype(self.problem.precision.compute).itemsize
        rows = min(max(RING_BYTES // row - 2, ROWS[0]), ROWS[1], -(-ny // threads()))
        across = -(-ny // rows)
        layers = -(-nz // max(1, min(nz // 16, -(-4 * threads() // across))))
        self._step(
            self.source(t).reshape(-1), self.target(t).reshape(-1),
            self.problem.links.classes.reshape(-1), self._of_rows,
            (self._returns, self._walls.rows, self._walls.types, self._added),
            self.rates, self.viscosity, self.force, self.problem.shape, self.problem.periodic,
            box.z0, box.z1, rows, layers,
        )  # fmt: skip

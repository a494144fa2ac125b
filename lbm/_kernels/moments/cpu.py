"""Blocks of cells on the CPU whose state is ten moments.

A task marches along z through whole rows of some neighbouring y. It reconstructs the populations
after the collision of each row once for each task, into a ring of three layers that stays in the
cache, and finishes the rows of a layer when the next one is there. What walls return is first
written behind them, where the populations of another cell would stand.
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
from lbm._kernels.cpu import LINE, CPUEngine
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
    make_store_part,
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
    """Make (reconstruct, finish): loops over neighbours in a row.

    reconstruct(source, ring, row, start, n, into, rates, force) writes the populations of the n
    cells from `start` on, each to a row of the ring, of `row` numbers, the first to `into`. Behind
    the rates of an operator that reads the eddy viscosity is a pointer to it.
    finish(ring, bases, x, target, start, n) sums what arrives in the n cells from x on, of which
    the first is number `start`: population q of the row's first cell is at bases[q].
    """
    form, size = PRECISIONS[precision], lattice.size
    lanes, words = vector_lanes(form.compute), range(form.moments)
    names = {
        "load": make_load(lanes),
        "store": make_store(lanes),
        "stream": make_stream_store(lanes),
        "store_part": make_store_part(lanes),
        "prefetch": prefetch,
        "reconstruct_cell": make_reconstruction(lattice, operator, forced, form.moments),
        "moments": make_conversions(lattice)[0],
        "pack": make_packing(form.moments)[1],
        "keep_out_of_line": keep_out_of_line,
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

    arriving = ", ".join(f"load(ring, b{q} + k)" for q in range(size))
    finish = [
        "def finish(ring, bases, x, target, start, n):",
        "    keep_out_of_line()",
        *(f"    b{q} = bases[{q}] + x" for q in range(size)),
        *loop,
        f"        w = pack(moments(({arriving})))",
        f"        {address}",
        f"        if k >= 0 and k + {lanes} <= n:",
        *(f"            stream(target, at + {GROUP * k}, w[{k}])" for k in words),
        "        else:",
        *(f"            store_part(target, at + {GROUP * k}, w[{k}], k, n)" for k in words),
    ]
    return tuple(
        inner_loop(compile_source(name, "\n".join(lines) + "\n", names), fastmath=FUSED)
        for name, lines in (("reconstruct", reconstruct), ("finish", finish))
    )


@functools.cache
def make_step(lattice: Lattice, precision: str, operator: type, forced: bool):
    """Make the step of a block."""
    form, size = PRECISIONS[precision], lattice.size
    reconstruct, finish = make_row_loops(lattice, precision, operator, forced)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    compute = numba.from_dtype(form.compute)
    attach = make_viscosity_loops(form, operator.reads_viscosity).attach
    new_numbers, new_bases = (make_stack_array(kind, size) for kind in (compute, types.int64))
    c = np.array(lattice.velocities)
    weights, opposite = np.array(lattice.weights, form.compute), np.array(lattice.opposite)
    zero, itemsize = form.compute(0), np.dtype(form.compute).itemsize
    elements = ", ".join(f"f[{q}]" for q in range(size))
    of_list = inner_loop(
        compile_source("of_list", f"def of_list(f):\n    return ({elements})\n", {})
    )

    @inner_loop
    def fill_row(source, ring, row, into, cells, rates, force, wraps):
        """Reconstruct the row of `cells` (first, count), and what enters it along x."""
        start, nx = cells
        reconstruct(source, ring, row, start, nx, into, rates, force)
        for q in range(size):
            first = into + q * row
            if c[q, 0] > 0:
                ring[first - 1] = ring[first + nx - 1] if wraps else zero
            elif c[q, 0] < 0:
                ring[first + nx] = ring[first] if wraps else zero

    @inner_loop
    def return_populations(ring, bases, into, row, x, n, kind, tables, force, sent):
        """Write what walls return to the n cells from x on, of a class, where `finish` reads it."""
        masks, rows, types_, added = tables
        if masks[kind, SPECIAL] and masks[kind, RETURN] != MOVING:
            for i in range(x, x + n):
                for q in range(size):
                    sent[q] = ring[into + q * row + i]
                _, ux, uy, uz = velocity(of_list(sent), (-force[0], -force[1], -force[2]))
                for q in range(1, size):
                    if masks[kind, INTO] >> q & 1:
                        t = rows[kind, q, 0]
                        wall = types_[t, 0], types_[t, 1], types_[t, 2], types_[t, 3], types_[t, 4]
                        c_q = form_of(c[q, 0]), form_of(c[q, 1]), form_of(c[q, 2])
                        f = sent[rows[kind, q, 1]]
                        back = wall_return(f, weights[q], c_q, wall, (ux, uy, uz))
                        ring[bases[opposite[q]] + i] = back
                    elif masks[kind, STREAM] >> q & 1:
                        ring[bases[opposite[q]] + i] = added[kind, q]
            return
        for q in range(1, size):
            there, here = bases[opposite[q]], into + q * row
            if masks[kind, STREAM] >> q & 1:
                for i in range(x, x + n):
                    ring[there + i] = added[kind, q]
            elif masks[kind, INTO] >> q & 1:
                for i in range(x, x + n):
                    ring[there + i] = ring[here + i] + added[kind, q]

    form_of = form.compute

    @inner_loop
    def march(
        source, target, ring, row, runs, tables, rates, force, shape, wraps, bounds
    ):  # fmt: skip
        """Step the cells y0 <= y < y1 and z0 <= z < z1 of `bounds`."""
        nx, ny, nz = shape
        y0, y1, z0, z1 = bounds
        first, ends, kinds = runs
        height = y1 - y0 + 2
        bases, sent = new_bases(), new_numbers()
        for p in range(z0 - 1, z1 + 1):
            for y in range(y0 - 1, y1 + 1):
                into = ((p + 3) % 3 * height + y - y0 + 1) * size * row + PAD
                outside_y, outside_z = y < 0 or y >= ny, p < 0 or p >= nz
                if (outside_y and not wraps[1]) or (outside_z and not wraps[2]):
                    for k in range(into - PAD, into - PAD + size * row):
                        ring[k] = zero
                    continue
                start = ((p + nz) % nz * ny + (y + ny) % ny) * nx
                fill_row(source, ring, row, into, (start, nx), rates, force, wraps[0])
            z = p - 1
            if z < z0:
                continue
            for y in range(y0, y1):
                into = ((z + 3) % 3 * height + y - y0 + 1) * size * row + PAD
                for q in range(size):
                    there = (z - c[q, 2] + 3) % 3 * height + y - c[q, 1] - y0 + 1
                    bases[q] = (there * size + q) * row + PAD - c[q, 0]
                x, begin, k = 0, 0, first[z * ny + y]
                start = (z * ny + y) * nx
                while x < nx:  # whole rows are finished at once, up to solids
                    k, kind, n = find_segment(x, nx, k, ends, kinds)
                    if kind == SOLID_CLASS:
                        finish(ring, bases, begin, target, start + begin, x - begin)
                        begin = x + n
                    elif kind != 0:
                        return_populations(ring, bases, into, row, x, n, kind, tables, force, sent)
                    x += n
                finish(ring, bases, begin, target, start + begin, nx - begin)

    @parallel
    def step(
        source, target, runs, tables, rates, viscosity, force, shape, wraps, first, last,
        rows, layers, row,
    ):  # fmt: skip
        """Step the layers first <= z < last; a task has `rows` rows of `layers` of them.

        Populations of a row are `row` numbers apart in its ring.
        """
        _, ny, _ = shape
        across = (ny + rows - 1) // rows
        for task in prange(across * ((last - first + layers - 1) // layers)):
            y0, z0 = np.int64(task) % across * rows, first + np.int64(task) // across * layers
            bounds = y0, min(y0 + rows, ny), z0, min(z0 + layers, last)
            ring = np.empty(3 * (rows + 2) * size * row + LINE // itemsize, form_of)
            # Vectors that cross lines of memory would take half as long again.
            ring = ring[-np.int64(ring.ctypes.data) % LINE // itemsize :]
            settings = flush_subnormals()
            march(
                pointer_to(source), pointer_to(target), pointer_to(ring), row, runs, tables,
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
        row = (-(-nx // PAD) + 2) * PAD  # whole lines of memory
        ring_bytes = 3 * size * row * np.dtype(self.problem.precision.compute).itemsize
        rows = min(max(RING_BYTES // ring_bytes - 2, ROWS[0]), ROWS[1], -(-ny // threads()))
        across = -(-ny // rows)
        layers = -(-nz // max(1, min(nz // 16, -(-4 * threads() // across))))
        self._step(
            self.source(t).reshape(-1), self.target(t).reshape(-1),
            self._of_rows,
            (self._returns, self._walls.rows, self._walls.types, self._added),
            self.rates, self.viscosity, self.force, self.problem.shape, self.problem.periodic,
            box.z0, box.z1, rows, layers, row,
        )  # fmt: skip

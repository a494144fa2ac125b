"""Sponges on the CPU: cells of a layer relax towards their targets, where their populations lie."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np
from numba import prange, types

from hetero.codegen import compile_source
from hetero.jit import FUSED, parallel
from hetero.simd.memory import (
    keep_out_of_line,
    make_load,
    make_stack_array,
    make_store,
    pointer_to,
)
from hetero.simd.subnormals import flush_subnormals, restore_subnormals
from hetero.simd.width import vector_lanes
from lbm._engines.cell_formulas import make_cell_functions, relax_towards
from lbm._engines.cpu_offsets import (
    OFFSET_TABLE_SIZE,
    edge_kind,
    fill_offset_table,
    find_segment,
    gather_offsets,
)
from lbm._engines.cpu_rows import (
    MOMENTS,
    SCRATCH_CELLS,
    SCRATCH_ROW,
    SCRATCH_SIZE,
    inner_loop,
    make_copies,
)
from lbm._model.lattice import Q
from lbm._model.precision import PRECISIONS
from lbm._model.wall_links import FROM, SOLID_CLASS

STRENGTH = MOMENTS + 3 * SCRATCH_ROW
"""First number of the row of strengths in a scratch array, behind the target velocity."""


class Damping(NamedTuple):
    """A layer of a block, for the sweep.

    Attributes
    ----------
    axis : 0, 1 or 2, the axis across the layer
    strength : [coordinate along the axis], 0 outside of the layer
    target : [3, row, x], the velocity towards which cells relax
    first : x of the first cell in `target`
    drho, rate : target density less 1, and share by which the target follows the flow in a step
    """

    axis: int
    strength: np.ndarray
    target: np.ndarray
    first: int
    drho: float
    rate: float


def _make_damp(compute: type, forced: bool) -> Callable:
    """Make damp(scratch, n, drho, rate, force) of the first n cells of a scratch array."""
    lanes = vector_lanes(compute)
    velocity, _ = make_cell_functions(lambda f, e, rates: f, True, forced)
    row = [f"load(scratch, {q * SCRATCH_ROW} + i)" for q in range(Q)]
    target = [f"load(scratch, {MOMENTS + k * SCRATCH_ROW} + i)" for k in range(3)]
    lines = [
        "def damp(scratch, n, drho, rate, force):",
        "    keep_out_of_line()",
        f"    for i in range(0, n, {lanes}):",
        f"        f, u = ({', '.join(row)}), ({', '.join(target)})",
        f"        strength = load(scratch, {STRENGTH} + i)",
        "        g = relax_towards(f, strength, drho, u[0], u[1], u[2], force)",
        "        _, vx, vy, vz = velocity(f, force)",
        *(f"        store(scratch, {q * SCRATCH_ROW} + i, g[{q}])" for q in range(Q)),
        *(
            f"        store(scratch, {MOMENTS + k * SCRATCH_ROW} + i, "
            f"u[{k}] + rate * (v{x} - u[{k}]))"
            for k, x in enumerate("xyz")
        ),
    ]
    names = {
        "load": make_load(lanes),
        "store": make_store(lanes),
        "velocity": velocity,
        "relax_towards": relax_towards,
        "keep_out_of_line": keep_out_of_line,
    }
    return inner_loop(compile_source("damp", "\n".join(lines) + "\n", names), fastmath=FUSED)


@functools.cache
def make_damping(precision: str, forced: bool) -> Callable:
    """Make damp_layer(memory, addresses, masks, force, layer, runs, region, tasks)."""
    form = PRECISIONS[precision]
    lanes = form.lanes
    gather, scatter = make_copies(precision, form.compute)
    damp = _make_damp(form.compute, forced)
    new_scratch = make_stack_array(numba.from_dtype(form.compute), SCRATCH_SIZE)
    new_table = make_stack_array(types.int64, OFFSET_TABLE_SIZE)
    new_offsets = make_stack_array(types.int64, 2 * Q)

    @inner_loop(forceinline=True)
    def cell_x(s, nx):
        """Coordinate x of the cell at position s of a row."""
        return s if lanes == 1 else (s & 1) * (nx // 2) + s // 2

    @inner_loop
    def exchange_targets(scratch, layer, place, n, loads):
        """Copy the targets and strengths of n cells to the scratch array, or the targets back.

        `place` is (position in the row, y, z, number of the row in the layer, cells of a row).
        """
        s, y, z, r, nx = place
        for i in range(n):
            x = cell_x(s + i, nx)
            strength = layer.strength[x if layer.axis == 0 else (y if layer.axis == 1 else z)]
            column = x - layer.first
            for k in range(3):
                j = MOMENTS + k * SCRATCH_ROW + i
                if loads:
                    scratch[j] = layer.target[k, r, column] if strength > 0 else strength
                elif strength > 0:
                    layer.target[k, r, column] = scratch[j]
            if loads:
                scratch[STRENGTH + i] = strength

    @inner_loop
    def damp_rows(memory, addresses, masks, force, layer, runs, region, rows):
        """Relax the cells of the rows (first, end) of the region."""
        memory = pointer_to(memory)
        height, nx = region.y1 - region.y0, region.nx
        scratch, offsets, table = new_scratch(), new_offsets(), new_table()
        zero = np.int64(0)
        for r in range(rows[0], rows[1]):
            y, z = region.y0 + r % height, region.z0 + r // height
            fill_offset_table(addresses, region, y, z, lanes, table)
            row = z * region.ny + y
            k, s = runs.first[row], region.x0
            while s < region.x1:
                k, c, n = find_segment(s, region.x1, k, runs.ends, runs.classes)
                if c == SOLID_CLASS:
                    s += n
                    continue
                n, start = min(n, SCRATCH_CELLS), row * nx + s
                gather_offsets(table, edge_kind(s, nx, lanes), masks[c, FROM], zero, offsets, zero)
                gather(memory, offsets, zero, start, scratch, zero, n, nx)
                place = s, y, z, r, nx
                exchange_targets(scratch, layer, place, n, True)
                damp(scratch, n, layer.drho, layer.rate, force)
                exchange_targets(scratch, layer, place, n, False)
                # Populations go back to where they were loaded, not to where a step stores them.
                scatter(memory, offsets, zero - Q, start, scratch, zero, n)
                s += n

    @parallel
    def damp_layer(memory, addresses, masks, force, layer, runs, region, tasks):
        """Relax all cells of the region; `tasks` pieces of it are shared out to the threads."""
        rows = (region.y1 - region.y0) * (region.z1 - region.z0)
        for task in prange(tasks):
            begin, end = np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks
            settings = flush_subnormals()
            damp_rows(memory, addresses, masks, force, layer, runs, region, (begin, end))
            restore_subnormals(settings)

    return damp_layer

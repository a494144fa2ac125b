"""Changes of populations between two steps on the CPU, where they lie: sponges and buoyancy.

`make_sweep` goes over the cells of a region; `cpu_readings` has what only reads them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numba
import numpy as np
from numba import prange, types

from hetero.jit import parallel
from lbm._kernels.cpu_offsets import (
    CACHED_OFFSETS,
    EDGE_KINDS,
    edge_kind,
    find_segment,
    make_gather,
    row_kind,
)
from lbm._kernels.cpu_rows import (
    SCRATCH_CELLS,
    SCRATCH_ROW,
    generate_loop,
    inner_loop,
    make_copies,
    moments_row,
    scratch_size,
)
from lbm._kernels.formulas.cell_formulas import cell_formulas, make_cell_functions, make_drive
from lbm._kernels.formulas.scalar_formulas import total
from lbm._kernels.intrinsics.subnormals import flush_subnormals, restore_subnormals
from lbm._kernels.intrinsics.vector_memory import make_stack_array, pointer_to
from lbm._kernels.intrinsics.vector_width import vector_lanes
from lbm.geometry.wall_links import FROM, SOLID_CLASS
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


def _velocity_row(lattice: Lattice) -> int:
    """Return the first number of the rows of a velocity in a scratch array.

    They are behind that of one more number: the strength of a sponge, or the scalar of a cell.
    """
    return moments_row(lattice) + SCRATCH_ROW


class Damping(NamedTuple):
    """A sponge in a block.

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


class Buoyancy(NamedTuple):
    """A scalar that drives the flow of a block; the arguments of `Engine.accelerate`.

    Its numbers are fields, because Numba's parallel loops take no tuples of tuples.
    """

    g: np.ndarray
    velocity: np.ndarray
    bx: float
    by: float
    bz: float
    reference: float


def _make_loop(
    lattice: Lattice, compute: type, name: str, statements: list[str], results: list[str], **names
):
    """Make a loop(scratch, n, layer, force) over the first n cells of a scratch array.

    The statements may use f (populations), m (the number in front of the velocity) and u; the
    results are the new populations g and three velocities.
    """
    lanes, velocity = vector_lanes(compute), _velocity_row(lattice)
    row = [f"load(scratch, {q * SCRATCH_ROW} + i)" for q in range(lattice.size)]
    u = [f"load(scratch, {velocity + k * SCRATCH_ROW} + i)" for k in range(3)]
    lines = [
        f"def {name}(scratch, n, layer, force):",
        "    keep_out_of_line()",
        f"    for i in range(0, n, {lanes}):",
        f"        f, u = ({', '.join(row)}), ({', '.join(u)})",
        f"        m = load(scratch, {moments_row(lattice)} + i)",
        *(f"        {statement}" for statement in statements),
        *(f"        store(scratch, {q * SCRATCH_ROW} + i, g[{q}])" for q in range(lattice.size)),
        *(
            f"        store(scratch, {velocity + k * SCRATCH_ROW} + i, {result})"
            for k, result in enumerate(results)
        ),
    ]
    return generate_loop(name, lanes, lines, **names)


@functools.cache
def make_damping(lattice: Lattice, precision: str, forced: bool) -> Callable:
    """Make the sweep of sponges, whose layer is `Damping`; see `make_sweep`."""
    form, strengths, follow = PRECISIONS[precision], moments_row(lattice), _velocity_row(lattice)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    damp = _make_loop(
        lattice, form.compute, "damp",
        ["g = relax_towards(f, m, layer.drho, u[0], u[1], u[2], force)",
         "_, vx, vy, vz = velocity(f, force)"],
        [f"u[{k}] + layer.rate * (v{x} - u[{k}])" for k, x in enumerate("xyz")],
        relax_towards=cell_formulas(lattice).relax_towards, velocity=velocity,
    )  # fmt: skip

    @inner_loop
    def copy_cell(scratch, layer, cell, loads):
        """Copy strength and target of a cell to the scratch array, or the target back."""
        i, x, y, z, r = cell
        strength = layer.strength[x if layer.axis == 0 else (y if layer.axis == 1 else z)]
        if loads:
            scratch[strengths + i] = strength
        for k in range(3):
            j = follow + k * SCRATCH_ROW + i
            if loads:
                inside = strength > 0
                scratch[j] = layer.target[k, r, x - layer.first] if inside else strength
            elif strength > 0:
                layer.target[k, r, x - layer.first] = scratch[j]

    return make_sweep(lattice, precision, _make_change(lattice, precision, copy_cell, damp))


@functools.cache
def make_acceleration(lattice: Lattice, precision: str) -> Callable:
    """Make the sweep of a buoyant scalar, whose layer is `Buoyancy`; see `make_sweep`."""
    form, scalars, velocity = PRECISIONS[precision], moments_row(lattice), _velocity_row(lattice)
    accelerate = _make_loop(
        lattice, form.compute, "accelerate",
        ["numbers = layer.bx, layer.by, layer.bz, layer.reference",
         "g, vx, vy, vz = drive(f, m, force, numbers)"],
        ["vx", "vy", "vz"], drive=make_drive(lattice),
    )  # fmt: skip

    @inner_loop
    def copy_cell(scratch, layer, cell, loads):
        """Copy the scalar of a cell to the scratch array, or its velocity back."""
        i, x, y, z, _ = cell
        if loads:
            g = layer.g
            scratch[scalars + i] = total(
                (g[0, z, y, x], g[1, z, y, x], g[2, z, y, x], g[3, z, y, x], g[4, z, y, x],
                 g[5, z, y, x], g[6, z, y, x])
            )  # fmt: skip
        for k in range(3):
            j = velocity + k * SCRATCH_ROW + i
            if loads:
                scratch[j] = 0
            else:
                layer.velocity[k, z, y, x] = scratch[j]

    change = _make_change(lattice, precision, copy_cell, accelerate)
    return make_sweep(lattice, precision, change)


def make_cell_x(lanes: int) -> Callable:
    """Make cell_x(s, nx), the coordinate x of the cell at position s of a row."""

    @inner_loop(forceinline=True)
    def cell_x(s, nx):
        return s if lanes == 1 else (s & 1) * (nx // 2) + s // 2

    return cell_x


def _make_change(lattice: Lattice, precision: str, copy_cell: Callable, work: Callable) -> Callable:
    """Make visit(...) of `make_sweep` that changes populations where they lie.

    copy_cell(scratch, layer, cell, loads) copies what belongs to one cell, (its number in the
    scratch array, x, y, z, number of the row in the region), to the scratch array or back;
    work(scratch, n, layer, force) computes.
    """
    form, size = PRECISIONS[precision], lattice.size
    gather, scatter = make_copies(lattice, precision, form.compute)
    cell_x = make_cell_x(form.lanes)

    @inner_loop
    def change(memory, offsets, j, scratch, segment, layer, force):
        """Change cells in a scratch array."""
        start, n, s, y, z, r, nx = segment
        zero = np.int64(0)
        gather(memory, offsets, j, start, scratch, zero, n, nx)
        for i in range(n):
            copy_cell(scratch, layer, (i, cell_x(s + i, nx), y, z, r), True)
        work(scratch, n, layer, force)
        for i in range(n):
            copy_cell(scratch, layer, (i, cell_x(s + i, nx), y, z, r), False)
        # Populations go back to where they were loaded, not to where a step stores them.
        scatter(memory, offsets, j - size, start, scratch, zero, n)

    return change


def make_sweep(lattice: Lattice, precision: str, visit: Callable) -> Callable:
    """Make sweep(memory, masks, force, layer, table, runs, region, tasks).

    It calls visit(memory, offsets, j, scratch, segment, layer, force) for pieces of the rows of the
    region whose cells have their populations at the same offsets, from number j on. `segment` is
    (index of the first cell, number of cells, position of the first one in its row, y, z, number of
    the row in the region, cells of a row).
    """
    form = PRECISIONS[precision]
    lanes, size = form.lanes, lattice.size
    gather_offsets = make_gather(size, lanes)
    new_scratch = make_stack_array(numba.from_dtype(form.compute), scratch_size(lattice))
    new_offsets = make_stack_array(types.int64, CACHED_OFFSETS * 2 * size)
    new_kinds = make_stack_array(types.int64, CACHED_OFFSETS)

    @inner_loop
    def sweep_rows(memory, table, masks, force, layer, runs, region, rows):
        """Visit the cells of the rows (first, end) of the region."""
        memory, table = pointer_to(memory), pointer_to(table)
        height, nx = region.y1 - region.y0, region.nx
        scratch, offsets, cached = new_scratch(), new_offsets(), new_kinds()
        zero, last_kind = np.int64(0), np.int64(-1)
        for r in range(rows[0], rows[1]):
            y, z = region.y0 + r % height, region.z0 + r // height
            kind_of_row = row_kind(y, z, region.ny, region.nz)
            if kind_of_row != last_kind:  # rows of a kind all have the same offsets
                last_kind = kind_of_row
                for slot in range(CACHED_OFFSETS):  # the kind of cells in each, plus 1
                    cached[slot] = 0
            row = z * region.ny + y
            k, s = runs.first[row], region.x0
            while s < region.x1:
                k, c, n = find_segment(s, region.x1, k, runs.ends, runs.classes)
                if c == SOLID_CLASS:
                    s += n
                    continue
                n, start = min(n, SCRATCH_CELLS), row * nx + s
                position = edge_kind(s, nx, lanes)
                kind = c * EDGE_KINDS + position
                slot = kind % CACHED_OFFSETS
                j = slot * 2 * size
                if cached[slot] != kind + 1:
                    gather_offsets(table, kind_of_row, position, masks[c, FROM], zero, offsets, j)
                    cached[slot] = kind + 1
                visit(memory, offsets, j, scratch, (start, n, s, y, z, r, nx), layer, force)
                s += n

    @parallel
    def sweep(memory, masks, force, layer, table, runs, region, tasks):
        """Visit all cells of the region; `tasks` pieces of it are shared out to the threads."""
        rows = (region.y1 - region.y0) * (region.z1 - region.z0)
        for task in prange(tasks):
            begin, end = np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks
            settings = flush_subnormals()
            sweep_rows(memory, table, masks, force, layer, runs, region, (begin, end))
            restore_subnormals(settings)

    return sweep

"""Steps of rows on the CPU.

A step of a row updates vectors of cells of one class where they lie (`_kernels.cpu_rows`). Other
cells are deferred: a few at the ends of runs, cells at the ends of the row, and cells beside
special walls, whose return is more than a bounce. They are gathered in a scratch array until they
fill a vector, because ten cells done one by one would cost as much as a hundred others. Steps may
take cells in any order: no cell reads what another one writes in the same step.
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
from lbm._kernels.cpu_operators import make_viscosity_loops, vector_functions
from lbm._kernels.cpu_rows import (
    SCRATCH_CELLS,
    SCRATCH_ROW,
    inner_loop,
    make_bounce,
    make_copies,
    make_moments_loops,
    make_update,
    scratch_size,
)
from lbm._kernels.intrinsics.subnormals import flush_subnormals, restore_subnormals
from lbm._kernels.intrinsics.vector_memory import keep_out_of_line, make_stack_array, pointer_to
from lbm._kernels.intrinsics.vector_width import has_masks, vector_lanes
from lbm.geometry.wall_links import FROM, INTO, SOLID_CLASS, SPECIAL
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS

ROWS_AHEAD = 1
"""Rows by which lines of single cells at the ends of rows are asked for in advance. A step of a
cavity takes 0.8 of the time without, with 2 or 3 rows 0.9."""

RECORD = 6
"""Integers stored per deferred segment: lane, cells, offset slot, position, class, special-wall
bits. Before the first of these records are the number of segments and the number of their cells."""


class Populations(NamedTuple):
    """Flat arrays of populations: those that the step reads and those that it writes."""

    source: np.ndarray
    target: np.ndarray


class Walls(NamedTuple):
    """Tables of `wall_links.Links`: int64 [class, 3], unsigned [class, q, 2], float [type, 5]."""

    masks: np.ndarray
    rows: np.ndarray
    types: np.ndarray


class Coefficients(NamedTuple):
    """Relaxation rates of the collision, the body force, and the eddy viscosity [cell], which has
    no elements where the operator does not read it."""

    rates: tuple
    force: tuple
    viscosity: np.ndarray


@functools.cache
def make_step(
    lattice: Lattice, precision: str, operator: type, rates: int, forced: bool
) -> Callable:
    """Make the step of a problem; `rates` is the number of the operator's rates."""
    form = PRECISIONS[precision]
    lanes, vector = form.lanes, vector_lanes(form.compute)
    has_parts, itemsize = has_masks(), form.itemsize
    least = vector // 4 if has_parts else vector  # cells for which a part of a vector pays
    # Index, in the array of remembered offsets, of those of the cells of a scratch array.
    size, in_scratch = lattice.size, CACHED_OFFSETS * 2 * lattice.size
    gather_offsets = make_gather(size, lanes)
    velocity, collide = vector_functions(lattice, operator, form.compute, vector, rates, forced)
    reads_viscosity = operator.reads_viscosity
    update = make_update(lattice, precision, collide, reads_viscosity)
    update_special = make_update(lattice, form.dtype_name, collide, reads_viscosity)
    attach, replace, copy_row, copy_special_row = make_viscosity_loops(form, reads_viscosity)
    gather, scatter = make_copies(lattice, precision, form.storage)
    gather_special, scatter_special = make_copies(lattice, precision, form.compute)
    measure, _ = make_moments_loops(lattice, form.compute, velocity)
    bounce = make_bounce(lattice, form.compute)
    new_scratch = make_stack_array(numba.from_dtype(form.storage), scratch_size(lattice))
    new_special_scratch = make_stack_array(numba.from_dtype(form.compute), scratch_size(lattice))
    row_size = SCRATCH_ROW * reads_viscosity
    new_row = make_stack_array(numba.from_dtype(form.storage), row_size)
    new_special_row = make_stack_array(numba.from_dtype(form.compute), row_size)
    new_records = make_stack_array(types.int64, RECORD * (SCRATCH_CELLS + 2))
    new_offsets = make_stack_array(types.int64, in_scratch + 2 * size)
    new_kinds = make_stack_array(types.int64, CACHED_OFFSETS)

    @inner_loop
    def finish(target, rates, force, scratch, offsets, deferred):
        """Do the step of the deferred segments beside ordinary walls."""
        keep_out_of_line()
        cells = -(-deferred[1] // vector) * vector
        # Numba compiles a function anew for arguments that are constants.
        first, zero = np.int64(in_scratch), np.int64(0)
        update(scratch, scratch, offsets, first, zero, cells, zero, rates, force)
        for j in range(RECORD, RECORD * (deferred[0] + 1), RECORD):
            lane, n, first, start = deferred[j], deferred[j + 1], deferred[j + 2], deferred[j + 3]
            scatter(target, offsets, first, start, scratch, lane, n)
        deferred[0] = deferred[1] = 0

    @inner_loop
    def finish_special(target, walls, rates, force, scratch, offsets, deferred):
        """Do the step of the deferred segments beside special walls."""
        keep_out_of_line()
        cells = -(-deferred[1] // vector) * vector
        measure(scratch, cells, force)
        first, zero = np.int64(in_scratch), np.int64(0)
        update_special(scratch, scratch, offsets, first, zero, cells, zero, rates, force)
        for j in range(RECORD, RECORD * (deferred[0] + 1), RECORD):
            lane, n, first, start = deferred[j], deferred[j + 1], deferred[j + 2], deferred[j + 3]
            bounce(scratch, lane, n, deferred[j + 5], deferred[j + 4], walls.rows, walls.types)
            scatter_special(target, offsets, first, start, scratch, lane, n)
        deferred[0] = deferred[1] = 0

    @inner_loop(forceinline=True)
    def defer(deferred, n, first, start, c, special):
        """Note what to do with the n gathered cells of class c from `start` on."""
        j = RECORD * (deferred[0] + 1)
        deferred[j], deferred[j + 1], deferred[j + 2] = deferred[1], n, first
        deferred[j + 3], deferred[j + 4], deferred[j + 5] = start, c, special
        deferred[0] += 1
        deferred[1] += n

    @inner_loop
    def step_rows(populations, table, walls, coefficients, runs, region, begin, end):
        """Step the rows number begin to end - 1 of the region.

        Tuples are unpacked once, because taking an array out of one costs two atomic operations.
        """
        source, target = pointer_to(populations.source), pointer_to(populations.target)
        table = pointer_to(table)
        misalignment = np.int64(populations.source.ctypes.data) // itemsize
        masks = walls.masks
        rates, force = attach(coefficients.rates, coefficients.viscosity), coefficients.force
        first_runs, ends, classes = runs
        x0, x1, y0, y1, z0, _, nx, ny, nz = region
        scratch, deferred = new_scratch(), new_records()
        special_scratch, special_deferred = new_special_scratch(), new_records()
        row_of_scratch, special_row = new_row(), new_special_row()
        scratch_rates, wall_rates = replace(rates, row_of_scratch), replace(rates, special_row)
        offsets, cached = new_offsets(), new_kinds()
        deferred[0] = deferred[1] = special_deferred[0] = special_deferred[1] = 0
        for q in range(size):
            offsets[in_scratch + q] = offsets[in_scratch + size + q] = q * SCRATCH_ROW
        ahead, last_kind = ROWS_AHEAD * nx, np.int64(-1)
        for r in range(begin, end):
            y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
            kind_of_row = row_kind(y, z, ny, nz)
            if kind_of_row != last_kind:  # rows of a kind all have the same offsets
                if deferred[0]:
                    finish(target, scratch_rates, force, scratch, offsets, deferred)
                if special_deferred[0]:
                    finish_special(
                        target, walls, wall_rates, force, special_scratch, offsets, special_deferred
                    )
                last_kind = kind_of_row
                for slot in range(CACHED_OFFSETS):  # the kind of cells in each, plus 1
                    cached[slot] = 0
            row = (z * ny + y) * nx
            k, s = first_runs[z * ny + y], x0
            while s < x1:
                k, c, n = find_segment(s, x1, k, ends, classes)
                if c == SOLID_CLASS:
                    s += n
                    continue
                special = masks[c, SPECIAL]
                n = min(n, SCRATCH_CELLS) if special else n
                # Vectors that begin at multiples of their size; a run of one vector is not divided.
                shift = (row + s + misalignment) % vector if has_parts and n > vector else 0
                left = (n + shift) % vector
                left = n if special else (left if left < least else 0)
                position = edge_kind(s, nx, lanes)
                kind = c * EDGE_KINDS + position
                slot = kind % CACHED_OFFSETS
                first = slot * 2 * size
                renew = cached[slot] != kind + 1
                if deferred[0] and (renew or deferred[1] + left > SCRATCH_CELLS):
                    finish(target, scratch_rates, force, scratch, offsets, deferred)
                if special_deferred[0] and (renew or special_deferred[1] + left > SCRATCH_CELLS):
                    finish_special(
                        target, walls, wall_rates, force, special_scratch, offsets, special_deferred
                    )
                if renew:
                    from_wall, into_wall = masks[c, FROM], masks[c, INTO]
                    gather_offsets(
                        table, kind_of_row, position, from_wall, into_wall, offsets, first
                    )
                    cached[slot] = kind + 1
                start = row + s
                s += n
                if special:
                    lane = special_deferred[1]
                    gather_special(source, offsets, first, start, special_scratch, lane, n, ahead)
                    copy_special_row(rates, start, special_row, lane, n)
                    defer(special_deferred, n, first, start, c, special)
                    continue
                if n > left:
                    update(source, target, offsets, first, start, n - left, shift, rates, force)
                if left:
                    start += n - left
                    gather(source, offsets, first, start, scratch, deferred[1], left, ahead)
                    copy_row(rates, start, row_of_scratch, deferred[1], left)
                    defer(deferred, left, first, start, c, special)
            if deferred[1] >= vector:  # while the gathered cells are in the first-level cache
                finish(target, scratch_rates, force, scratch, offsets, deferred)
            if special_deferred[1] >= vector:
                finish_special(
                    target, walls, wall_rates, force, special_scratch, offsets, special_deferred
                )
        if deferred[0]:
            finish(target, scratch_rates, force, scratch, offsets, deferred)
        if special_deferred[0]:
            finish_special(
                target, walls, wall_rates, force, special_scratch, offsets, special_deferred
            )

    @parallel
    def step(populations, walls, rates, force, viscosity, table, runs, region, tasks):
        """Step all cells of the region; `tasks` pieces of it are shared out to the threads."""
        rows = (region.y1 - region.y0) * (region.z1 - region.z0)
        for task in prange(tasks):
            begin, end = np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks
            # Numba's parallel loops take no tuples of tuples: this one is made inside.
            coefficients = Coefficients(rates, force, viscosity)
            settings = flush_subnormals()
            step_rows(populations, table, walls, coefficients, runs, region, begin, end)
            restore_subnormals(settings)

    return step

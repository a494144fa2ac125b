"""Sweeps over rows on the CPU: steps, and copies between memory and moments or populations.

A step of a row updates whole vectors of identical cells at once
(`_engines.cpu_rows.make_stream_and_collide`).
Other cells are deferred: the ends of runs, cells at the ends of the row, and cells beside special
walls, whose return is more than a bounce. They are gathered in a scratch array until they fill a
vector, because ten cells done one by one would cost as much as a hundred others. Steps may take
cells in any order: no cell reads what another one writes in the same step.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from lbm._engines.cpu_offsets import (
    EDGE_KINDS,
    OFFSET_TABLE_SIZE,
    edge_kind,
    fill_offset_table,
    find_segment,
    gather_offsets,
)
from lbm._engines.cpu_rows import (
    SCRATCH_CELLS,
    SCRATCH_ROW,
    SCRATCH_SIZE,
    gather,
    make_bounce,
    make_scratch_loops,
    make_stream_and_collide,
    scatter,
)
from lbm._model.lattice import Q
from lbm._model.precision import PRECISIONS
from lbm._model.wall_links import FROM, INTO, SOLID_CLASS, SPECIAL

CACHED_OFFSETS = 32
"""Kinds of cells whose offsets a thread remembers while it works on inner rows; not tuned."""

RECORD = 6
"""Integers stored per deferred segment: lane, cells, offset slot, position, class, special-wall
bits. Before the first of these records are the number of segments and the number of their cells."""


class Populations(NamedTuple):
    """Flat arrays of populations: those that the step reads and those that it writes."""

    source: np.ndarray
    target: np.ndarray


class Walls(NamedTuple):
    """Tables of `wall_links.Links`: int64 [class, 3], uint8 [class, q, 2], float [type, 5]."""

    masks: np.ndarray
    rows: np.ndarray
    types: np.ndarray


class Coefficients(NamedTuple):
    """Relaxation rates of the collision, and the body force."""

    rates: tuple
    force: tuple


class Workspace(NamedTuple):
    """Arrays of one task that moves rows.

    Attributes
    ----------
    scratch : populations and velocities of cells, flat
    offsets : int64 [2 Q], the offsets of a kind of cells
    table : int64, the offsets of the current row (see `cpu_offsets.fill_offset_table`)
    """

    scratch: np.ndarray
    offsets: np.ndarray
    table: np.ndarray


class Transfer(NamedTuple):
    """A copy between memory and `data` [k, row, x].

    Attributes
    ----------
    data : rho - 1 and the velocity if `moments`, populations otherwise
    reads : whether to copy from memory to `data`, or else back
    """

    data: np.ndarray
    reads: bool
    moments: bool


@functools.cache
def make_sweeps(precision: str, operator: type, forced: bool) -> dict:
    """Make the sweeps over a region: "step", and "move" between memory and data."""
    form = PRECISIONS[precision]
    T, lanes = form.compute, form.lanes
    vector = 32 // np.dtype(T).itemsize  # of AVX: 32 bytes
    stream_and_collide = make_stream_and_collide(precision, operator, forced)
    bounce = make_bounce(T)
    collide, measure, equilibrate = make_scratch_loops(T, operator, forced)

    @serial(forceinline=True)
    def finish(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred):
        """Do the step of all deferred segments."""
        collide(scratch, -(-deferred[1] // vector) * vector, rates, force)
        for j in range(RECORD, RECORD * (deferred[0] + 1), RECORD):
            lane, n, first, start = deferred[j], deferred[j + 1], deferred[j + 2], deferred[j + 3]
            c, special = deferred[j + 4], deferred[j + 5]
            if special:
                bounce(scratch, lane, n, special, c, wall_rows, wall_types)
            scatter(target, offsets, first + Q, start, scratch, lane, n)
        deferred[0] = deferred[1] = 0

    @serial
    def flush(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred):
        """Call `finish` out of line where it is rare: inlining it would cost 30 ns per row."""
        if deferred[0]:
            finish(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred)

    @serial(forceinline=True)
    def defer(deferred, n, first, start, c, special):
        """Note what to do with the n gathered cells of class c from `start` on."""
        j = RECORD * (deferred[0] + 1)
        deferred[j], deferred[j + 1], deferred[j + 2] = deferred[1], n, first
        deferred[j + 3], deferred[j + 4], deferred[j + 5] = start, c, special
        deferred[0] += 1
        deferred[1] += n

    @serial(forceinline=True)
    def is_at_edge(y, z, ny, nz):
        """Return whether a row lies at an end of the block, where y or z wraps around."""
        return y == 0 or z == 0 or y == ny - 1 or z == nz - 1

    @serial
    def step_rows(populations, addresses, walls, coefficients, runs, region, begin, end):
        """Step the rows number begin to end - 1 of the region.

        Tuples are unpacked once, because taking an array out of one costs two atomic operations.
        """
        source, target = populations
        masks, wall_rows, wall_types = walls
        rates, force = coefficients
        first_runs, ends, classes = runs
        x0, x1, y0, y1, z0, _, nx, ny, nz, _ = region
        # Another order of these arrays, allocated in a function of its own, was 3 to 10 % slower in
        # float64; why is not known.
        scratch = np.zeros(SCRATCH_SIZE, T)
        deferred = np.zeros(RECORD * (SCRATCH_CELLS + 2), np.int64)
        table = np.empty(OFFSET_TABLE_SIZE, np.int64)
        offsets = np.empty(CACHED_OFFSETS * 2 * Q, np.int64)
        cached = np.zeros(CACHED_OFFSETS, np.int64)  # the kind of cells in each slot, plus 1
        edge = True
        for r in range(begin, end):
            y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
            if edge or is_at_edge(y, z, ny, nz):  # inner rows all have the same offsets
                flush(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred)
                edge = is_at_edge(y, z, ny, nz)
                cached[:] = 0
                fill_offset_table(addresses, region, y, z, lanes, table)
            row = (z * ny + y) * nx
            k, s = first_runs[z * ny + y], x0
            while s < x1:
                k, c, n = find_segment(s, x1, k, ends, classes)
                if c == SOLID_CLASS:
                    s += n
                    continue
                special = masks[c, SPECIAL]
                n = min(n, SCRATCH_CELLS) if special else n
                streamed = 0 if special else n & -vector
                left = n - streamed
                position = edge_kind(s, nx, lanes)
                kind = c * EDGE_KINDS + position
                slot = kind % CACHED_OFFSETS
                first = slot * 2 * Q
                if cached[slot] != kind + 1 or deferred[1] + left > SCRATCH_CELLS:
                    flush(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred)
                    gather_offsets(table, position, masks[c, FROM], masks[c, INTO], offsets, first)
                    cached[slot] = kind + 1
                if streamed:
                    stream_and_collide(
                        source, target, offsets, first, row + s, streamed, rates, force
                    )
                if left:
                    start = row + s + streamed
                    gather(source, offsets, first, start, scratch, deferred[1], left)
                    defer(deferred, left, first, start, c, special)
                s += n
            if deferred[1] >= vector:  # while the gathered cells are in the first-level cache
                finish(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred)
        flush(target, wall_rows, wall_types, rates, force, scratch, offsets, deferred)

    @serial(forceinline=True)
    def cell_x(s, nx):
        """Coordinate x of the cell at position s of a row."""
        return s if lanes == 1 else (s & 1) * (nx // 2) + s // 2

    @serial(forceinline=True)
    def move_row(memory, masks, force, transfer, workspace, runs, region, r):
        """Copy the moments or populations of row number r of the region to data, or back."""
        data, scratch, offsets = transfer.data, workspace.scratch, workspace.offsets
        height, nx, x1 = region.y1 - region.y0, region.nx, region.x1
        row = (region.z0 + r // height) * region.ny + region.y0 + r % height
        k, s = runs.first[row], region.x0
        while s < x1:
            k, c, n = find_segment(s, x1, k, runs.ends, runs.classes)
            if c == SOLID_CLASS:
                s += n
                continue
            n, start = min(n, SCRATCH_CELLS), row * nx + s
            gather_offsets(workspace.table, edge_kind(s, nx, lanes), masks[c, FROM], 0, offsets, 0)
            if transfer.reads:
                gather(memory, offsets, 0, start, scratch, 0, n)
                if transfer.moments:
                    measure(scratch, n, force)
            for q in range(data.shape[0]):
                for i in range(n):
                    if transfer.reads:
                        data[q, r, cell_x(s + i, nx)] = scratch[q * SCRATCH_ROW + i]
                    else:
                        scratch[q * SCRATCH_ROW + i] = data[q, r, cell_x(s + i, nx)]
            if not transfer.reads:
                if transfer.moments:
                    equilibrate(scratch, n, force)
                scatter(memory, offsets, 0, start, scratch, 0, n)
            s += n

    @parallel
    def step(populations, addresses, walls, rates, force, runs, region, tasks):
        """Step all cells of the region; `tasks` pieces of it are shared out to the threads."""
        rows = (region.y1 - region.y0) * (region.z1 - region.z0)
        for task in prange(tasks):
            begin, end = np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks
            # Numba's parallel loops take no tuples of tuples: this one is made inside.
            coefficients = Coefficients(rates, force)
            step_rows(populations, addresses, walls, coefficients, runs, region, begin, end)

    @parallel
    def move(memory, addresses, masks, force, transfer, runs, region, tasks):
        """Copy moments or populations of the region to the data of `transfer`, or back."""
        height = region.y1 - region.y0
        rows = height * (region.z1 - region.z0)
        for task in prange(tasks):
            scratch, offsets = np.zeros(SCRATCH_SIZE, T), np.empty(2 * Q, np.int64)
            workspace = Workspace(scratch, offsets, np.empty(OFFSET_TABLE_SIZE, np.int64))
            for r in range(np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks):
                y, z = region.y0 + r % height, region.z0 + r // height
                fill_offset_table(addresses, region, y, z, lanes, workspace.table)
                move_row(memory, masks, force, transfer, workspace, runs, region, r)

    return {"step": step, "move": move}

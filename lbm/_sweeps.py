"""Sweeps over rows on the CPU: steps, and what moves between memory and data.

A step of a row does whole vectors of like cells at once (`_rows.fused`). What is left, the ends of
runs, cells at the ends of the row and those whose walls give back more than a bounce, is held in a
scratch until it fills a vector: done one by one, ten cells would cost as much as a hundred others.
Steps may take cells in any order: no cell reads what another one writes in the same step.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel, serial
from lbm._rows import CHUNK, ROOM, SCRATCH, bounces, chunks, fused, gather, scatter
from lbm._ways import ENDS, TABLE, end_of, find_ways, offsets, piece_at
from lbm.lattice import Q
from lbm.links import SOLID_CLASS
from lbm.precision import PRECISIONS

WAYS = 32
"""Kinds of cells whose distances are remembered."""

NOTE = 6
"""Numbers about a piece that is held: lane, cells, ways, place, class, bits of special walls."""


@functools.cache
def sweeps(precision: str, operator: type, forced: bool) -> dict:
    """The sweeps over a box of one combination: step, and move between memory and data."""
    form = PRECISIONS[precision]
    T, lanes = form.compute, form.lanes
    vector = 32 // np.dtype(T).itemsize
    stream = fused(precision, operator, forced)
    bounce = bounces(T)
    collide, measure, begin = chunks(T, operator, forced)

    @serial(cache=False, forceinline=True)
    def finish(target, materials, kinds, rates, force, scratch, ways, held):
        """Do the step of the pieces that the scratch holds: held[0] of them, held[1] cells."""
        collide(scratch, -(-held[1] // vector) * vector, rates, force)
        for j in range(NOTE, NOTE * (held[0] + 1), NOTE):
            lane, n, way, at = held[j], held[j + 1], held[j + 2], held[j + 3]
            if held[j + 5]:
                bounce(scratch, lane, n, held[j + 5], held[j + 4], materials, kinds)
            scatter(target, ways, way + Q, at, scratch, lane, n)
        held[0] = held[1] = 0

    @serial(cache=False)
    def flush(target, materials, kinds, rates, force, scratch, ways, held):
        """The same as a call, where it is rare: inlined, it costs a row 30 ns less."""
        if held[0]:
            finish(target, materials, kinds, rates, force, scratch, ways, held)

    @serial(cache=False, forceinline=True)
    def hold(source, scratch, ways, held, n, way, at, c, more):
        """Keep a piece for later."""
        lane, j = held[1], NOTE * (held[0] + 1)
        gather(source, ways, way, at, scratch, lane, n)
        held[j], held[j + 1], held[j + 2], held[j + 3] = lane, n, way, at
        held[j + 4], held[j + 5] = c, more
        held[0] += 1
        held[1] += n

    @serial(cache=False, forceinline=True)
    def step_row(source, target, table, masks, materials, kinds, rates, force, scratch, ways, known,
                 held, first, ends, classes, x0, x1, y, z, nx, ny):  # fmt: skip
        row = (z * ny + y) * nx
        k, s = first[z * ny + y], x0
        while s < x1:
            k, c, n = piece_at(s, x1, k, ends, classes)
            if c == SOLID_CLASS:
                s += n
                continue
            more = masks[c, 1]
            n = min(n, CHUNK) if more else n
            whole = 0 if more else n & -vector
            end = end_of(s, nx, lanes)
            slot, kind = (c * ENDS + end) % WAYS, c * ENDS + end + 1
            way = slot * 2 * Q
            if known[slot] != kind or held[1] + n - whole > CHUNK:
                flush(target, materials, kinds, rates, force, scratch, ways, held)
                find_ways(table, end, masks[c, 2], masks[c, 0], ways, way)
                known[slot] = kind
            if whole:
                stream(source, target, ways, way, row + s, whole, rates, force)
            if whole < n:
                hold(source, scratch, ways, held, n - whole, way, row + s + whole, c, more)
            s += n
        if held[1] >= vector:  # while what was gathered is still in the first cache
            finish(target, materials, kinds, rates, force, scratch, ways, held)

    @serial(cache=False, forceinline=True)
    def column(s, nx):
        """The cell x at position s of a row."""
        return s if lanes == 1 else (s & 1) * (nx // 2) + s // 2

    @serial(cache=False, forceinline=True)
    def move_row(memory, table, masks, force, out, moments, data, scratch, ways,
                 first, ends, classes, x0, x1, y, z, nx, ny, j):  # fmt: skip
        """Moments or populations of a row: out of memory into data, or back."""
        row = (z * ny + y) * nx
        k, s = first[z * ny + y], x0
        while s < x1:
            k, c, n = piece_at(s, x1, k, ends, classes)
            if c == SOLID_CLASS:
                s += n
                continue
            n = min(n, CHUNK)
            find_ways(table, end_of(s, nx, lanes), masks[c, 2], 0, ways, 0)
            if out:
                gather(memory, ways, 0, row + s, scratch, 0, n)
                if moments:
                    measure(scratch, n, force)
            for q in range(data.shape[0]):
                for i in range(n):
                    if out:
                        data[q, j, column(s + i, nx)] = scratch[q * ROOM + i]
                    else:
                        scratch[q * ROOM + i] = data[q, j, column(s + i, nx)]
            if not out:
                if moments:
                    begin(scratch, n, force)
                scatter(memory, ways, 0, row + s, scratch, 0, n)
            s += n

    @serial(cache=False, forceinline=True)
    def on_edge(y, z, ny, nz):
        return y == 0 or z == 0 or y == ny - 1 or z == nz - 1

    @parallel(cache=False)
    def step(source, target, places, masks, materials, kinds, rates, force,
             first, ends, classes, x0, x1, y0, y1, z0, z1, nx, ny, nz, pitch, tasks):  # fmt: skip
        rows = (y1 - y0) * (z1 - z0)
        for task in prange(tasks):
            scratch, held = np.zeros(SCRATCH, T), np.zeros(NOTE * (CHUNK + 2), np.int64)
            table, ways = np.empty(TABLE, np.int64), np.empty(WAYS * 2 * Q, np.int64)
            known, edge = np.zeros(WAYS, np.int64), True
            for r in range(np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks):
                y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
                if edge or on_edge(y, z, ny, nz):
                    flush(target, materials, kinds, rates, force, scratch, ways, held)
                    edge = on_edge(y, z, ny, nz)
                    known[:] = 0
                    offsets(places, y, z, nx, ny, nz, pitch, lanes, table)
                step_row(source, target, table, masks, materials, kinds, rates, force, scratch,
                         ways, known, held, first, ends, classes, x0, x1, y, z, nx, ny)  # fmt: skip
            flush(target, materials, kinds, rates, force, scratch, ways, held)

    @parallel(cache=False)
    def move(memory, places, masks, force, out, moments, data,
             first, ends, classes, x0, x1, y0, y1, z0, z1, nx, ny, nz, pitch, tasks):  # fmt: skip
        rows = (y1 - y0) * (z1 - z0)
        for task in prange(tasks):
            scratch, ways = np.zeros(SCRATCH, T), np.empty(2 * Q, np.int64)
            table = np.empty(TABLE, np.int64)
            for r in range(np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks):
                y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
                offsets(places, y, z, nx, ny, nz, pitch, lanes, table)
                move_row(memory, table, masks, force, out, moments, data, scratch, ways,
                         first, ends, classes, x0, x1, y, z, nx, ny, r)  # fmt: skip

    return {"step": step, "move": move}

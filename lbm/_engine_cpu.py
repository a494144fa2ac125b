"""Blocks of cells on the CPU: sweeps over rows, spread over threads."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero import threads
from hetero.devices import Device
from hetero.jit import parallel, serial
from lbm import _halo_cpu as halo
from lbm._rows import CHUNK, SCRATCH, beyond, bounces, chunks, copies, fused, offsets, runs
from lbm.engine import Engine, Problem, folded
from lbm.lattice import OPPOSITE, Q
from lbm.links import SOLID_CLASS
from lbm.precision import PRECISIONS

TASKS_PER_THREAD = 8


def engine(problem: Problem, device: Device) -> CPUEngine:
    """The block `problem` on the CPU."""
    return CPUEngine(problem, device)


def _table(places) -> np.ndarray:
    return np.array([(p.slot, *p.shift) for p in places], np.int64)


class CPUEngine(Engine):
    """A block in host memory."""

    def __init__(self, problem: Problem, device: Device):
        super().__init__(problem, device)
        form, links = problem.precision, problem.links
        self._tasks, shape = TASKS_PER_THREAD, (Q, problem.pitch)
        self.populations = [np.zeros(shape, form.storage) for _ in range(problem.pattern.copies)]
        self._runs = runs(folded(links.classes, form.lanes))
        self._walls = (
            links.masks.astype(np.int64),
            links.materials,
            links.kinds.astype(form.compute),
        )
        self._places = [self._tables(access) for access in problem.pattern.steps]
        self._sweeps = _sweeps(form.name, type(problem.collision), problem.forced)

    @staticmethod
    def _tables(access):
        """Places to load from and to store to, as `_rows.offsets` wants them."""
        reflected = [access.wall[q] for q in OPPOSITE]
        rows = access.load, access.wall, access.store, reflected
        return np.array([_table(r) for r in rows]).reshape(2, 2, Q, 4)

    def _arguments(self, box):
        shape = *self.problem.shape, self.problem.pitch
        return *self._runs, *box.flat(), *shape, self._tasks * threads()

    def divide(self, pieces):
        self._tasks = pieces

    def step(self, t, box):
        self._sweeps["step"](
            self.source(t).reshape(-1), self.target(t).reshape(-1), self._places[t % 2],
            *self._walls, self.rates, self.force, *self._arguments(box),
        )  # fmt: skip

    def _move(self, out, moments, t, box, data):
        rows = data.reshape(len(data), -1, data.shape[-1])
        self._sweeps["move"](
            self.source(t).reshape(-1), self._places[t % 2], self._walls[0], self.force, out,
            moments, rows, *self._arguments(box),
        )  # fmt: skip

    def _read(self, moments, t, box, count):
        data = np.zeros((count, *box.shape), self.problem.precision.compute)
        self._move(True, moments, t, box, data)
        return data

    def _write(self, moments, t, box, values):
        # Writeable too: a read-only array would be another type, and compile everything again.
        data = np.require(values, self.problem.precision.compute, ["C", "W"])
        self._move(False, moments, t, box, data)

    def fields(self, t, box):
        return self._read(True, t, box, 4)

    def gather(self, t, box):
        return self._read(False, t, box, Q)

    def fill(self, t, box, values):
        self._write(True, t, box, values)

    def scatter(self, t, box, values):
        self._write(False, t, box, values)

    def to_host(self, array):
        return array

    def zeros(self, count, like):
        """Arrays of the shape of `like` made flat, [4, cell]."""
        return [np.zeros((4, like.size // 4), like.dtype) for _ in range(count)]

    def at(self, t, places):
        return self.source(t).reshape(-1)[places]

    def synchronize(self):
        pass

    def host_memory(self, shape, dtype):
        """Zeros in host memory that this device reads and writes fast."""
        return np.zeros(shape, dtype)

    def port(self, sends, receives, memory):
        return halo.port(sends, receives, self.problem.precision.storage, memory)

    def begin(self, t, edges, inner, port):
        for box in edges:
            self.step(t, box)
        message, (nx, ny, _) = port.sends[t % 2], self.problem.shape
        halo.pack(self.target(t), message.slots, message.rows, nx, ny, port.out[t % 2])

    def finish(self, t, inner, port, other):
        if inner is not None:
            self.step(t, inner)
        message, (nx, ny, _) = port.receives[t % 2], self.problem.shape
        halo.unpack(
            other.arrived(t), message.slots, message.into, message.free, nx, ny, self.target(t)
        )


@functools.cache
def _sweeps(precision: str, operator: type, forced: bool) -> dict:
    """The sweeps over a box of one combination: step, and move between memory and data."""
    form = PRECISIONS[precision]
    T, lanes = form.compute, form.lanes
    load, store = copies(precision)
    stream = fused(precision, operator, forced)
    bounce = bounces(T)
    collide, measure, begin = chunks(T, operator, forced)

    @serial(cache=False)
    def piece(s, b, nx):
        """Cells from s on, up to b, that have their neighbours at +-1: one by one at the ends."""
        if s < lanes or s >= nx - lanes:
            return 1
        return min(b - s, nx - lanes - s, CHUNK)

    @serial(cache=False)
    def step_row(source, target, places, at, masks, materials, kinds, rates, force, scratch,
                 first, ends, classes, x0, x1, y, z, nx, ny):  # fmt: skip
        row = (z * ny + y) * nx
        k, s = first[z * ny + y], x0
        while s < x1:
            while ends[k] <= s:
                k += 1
            c, n = classes[k], piece(s, min(ends[k], x1), nx)
            if c == SOLID_CLASS:
                s = ends[k]
                continue
            back, forth = beyond(s, nx, lanes)
            sent, more, comes = masks[c, 0], masks[c, 1], masks[c, 2]
            if not more:
                stream(source, target, at, places, sent, comes, back, forth, row + s, n, rates,
                       force)  # fmt: skip
                s += n
                continue
            load(source, scratch, at, places, comes, back, forth, row + s, n)
            collide(scratch, n, rates, force)
            bounce(scratch, n, more, c, materials, kinds)
            store(target, scratch, at, places, 1, sent, back, forth, row + s, n)
            s += n

    @serial(cache=False)
    def column(s, nx):
        """The cell x at position s of a row."""
        return s if lanes == 1 else (s & 1) * (nx // 2) + s // 2

    @serial(cache=False)
    def move_row(memory, places, at, masks, force, out, moments, data, scratch,
                 first, ends, classes, x0, x1, y, z, nx, ny, j):  # fmt: skip
        """Moments or populations of a row: out of memory into data, or back."""
        row = (z * ny + y) * nx
        k, s = first[z * ny + y], x0
        while s < x1:
            while ends[k] <= s:
                k += 1
            c, n = classes[k], piece(s, min(ends[k], x1), nx)
            if c == SOLID_CLASS:
                s = ends[k]
                continue
            back, forth = beyond(s, nx, lanes)
            if out:
                load(memory, scratch, at, places, masks[c, 2], back, forth, row + s, n)
                if moments:
                    measure(scratch, n, force)
            for q in range(data.shape[0]):
                for i in range(n):
                    if out:
                        data[q, j, column(s + i, nx)] = scratch[q * CHUNK + i]
                    else:
                        scratch[q * CHUNK + i] = data[q, j, column(s + i, nx)]
            if not out:
                if moments:
                    begin(scratch, n, force)
                store(memory, scratch, at, places, 0, masks[c, 2], back, forth, row + s, n)
            s += n

    @serial(cache=False)
    def on_edge(y, z, ny, nz):
        return y == 0 or z == 0 or y == ny - 1 or z == nz - 1

    @parallel(cache=False)
    def step(source, target, places, masks, materials, kinds, rates, force,
             first, ends, classes, x0, x1, y0, y1, z0, z1, nx, ny, nz, pitch, tasks):  # fmt: skip
        rows = (y1 - y0) * (z1 - z0)
        for task in prange(tasks):
            scratch, at = np.zeros(SCRATCH, T), np.empty((2, 2, 2, Q), np.int64)
            offsets(places, 0, 0, nx, ny, nz, pitch, lanes, False, at[0])
            for r in range(np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks):
                y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
                edge = np.int64(on_edge(y, z, ny, nz))
                if edge:
                    offsets(places, y, z, nx, ny, nz, pitch, lanes, True, at[1])
                step_row(source, target, places, at[edge], masks, materials, kinds, rates, force,
                         scratch, first, ends, classes, x0, x1, y, z, nx, ny)  # fmt: skip

    @parallel(cache=False)
    def move(memory, places, masks, force, out, moments, data,
             first, ends, classes, x0, x1, y0, y1, z0, z1, nx, ny, nz, pitch, tasks):  # fmt: skip
        rows = (y1 - y0) * (z1 - z0)
        for task in prange(tasks):
            scratch, at = np.zeros(SCRATCH, T), np.empty((2, 2, Q), np.int64)
            for r in range(np.int64(task) * rows // tasks, (np.int64(task) + 1) * rows // tasks):
                y, z = y0 + r % (y1 - y0), z0 + r // (y1 - y0)
                offsets(places, y, z, nx, ny, nz, pitch, lanes, True, at)
                move_row(memory, places, at, masks, force, out, moments, data, scratch,
                         first, ends, classes, x0, x1, y, z, nx, ny, r)  # fmt: skip

    return {"step": step, "move": move}

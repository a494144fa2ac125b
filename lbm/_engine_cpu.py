"""Blocks of cells on the CPU: sweeps over rows, spread over threads."""

from __future__ import annotations

import numpy as np

from hetero import threads
from hetero.devices import Device
from lbm._sweeps import sweeps
from lbm._ways import runs
from lbm.engine import Engine, Problem, folded
from lbm.lattice import Q
from lbm.links import SOLID_CLASS

TASKS_PER_THREAD = 8


def engine(problem: Problem, device: Device, memory=np.zeros) -> CPUEngine:
    """The block `problem` on the CPU; `memory(shape, dtype)` makes room for populations."""
    return CPUEngine(problem, device, memory)


def _table(places) -> np.ndarray:
    return np.array([(p.slot, *p.shift) for p in places], np.int64)


class CPUEngine(Engine):
    """A block in host memory."""

    def __init__(self, problem: Problem, device: Device, memory):
        super().__init__(problem, device)
        form, links = problem.precision, problem.links
        self._tasks, shape = TASKS_PER_THREAD, (Q, problem.pitch)
        self.populations = [memory(shape, form.storage) for _ in range(problem.pattern.copies)]
        self._walls = (
            links.masks.astype(np.int64),
            links.materials,
            links.kinds.astype(form.compute),
        )
        self._places = [self._tables(access) for access in problem.pattern.steps]
        self._runs = [self._runs_of(access) for access in problem.pattern.steps]
        self._sweeps = sweeps(form.name, type(problem.collision), problem.forced)

    @staticmethod
    def _tables(access):
        """Places to load from and to store to, as `_ways.offsets` wants them."""
        rows = access.load, access.wall, access.store, access.reflected
        tables = np.array([_table(r) for r in rows]).reshape(2, 2, Q, 4)
        return np.ascontiguousarray(np.moveaxis(tables, 3, 0))

    def _runs_of(self, access):
        """Runs of cells that have their populations at the same distances."""
        links, lanes = self.problem.links, self.problem.precision.lanes
        like = np.arange(len(links.masks), dtype=links.classes.dtype)
        if access.bounces:
            like[links.masks[:, 1] == 0] = 0
            like[SOLID_CLASS] = SOLID_CLASS
        classes = folded(like[links.classes], lanes)
        return runs(classes, lanes * access.reaches(-1), lanes * access.reaches(1))

    def _arguments(self, t, box):
        shape = *self.problem.shape, self.problem.pitch
        return *self._runs[t % 2], *box.flat(), *shape, self._tasks * threads()

    def divide(self, pieces):
        self._tasks = pieces

    def step(self, t, box):
        self._sweeps["step"](
            self.source(t).reshape(-1), self.target(t).reshape(-1), self._places[t % 2],
            *self._walls, self.rates, self.force, *self._arguments(t, box),
        )  # fmt: skip

    def _move(self, out, moments, t, box, data):
        rows = data.reshape(len(data), -1, data.shape[-1])
        self._sweeps["move"](
            self.source(t).reshape(-1), self._places[t % 2], self._walls[0], self.force, out,
            moments, rows, *self._arguments(t, box),
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

    def copy_state(self, t, into=None):
        """Return a copy of the populations that step t reads, in the memory of an earlier copy."""
        into = np.empty_like(self.source(t)) if into is None else into
        np.copyto(into, self.source(t))
        return into

    def return_to_state(self, t, state):
        """Take up the populations that `copy_state` has copied at the same t."""
        np.copyto(self.source(t), state)

    def synchronize(self):
        pass

    def begin(self, t, edges, inner, halo):
        halo.arrived()
        for box in edges:
            self.step(t, box)

    def finish(self, t, inner):
        if inner is not None:
            self.step(t, inner)

"""Blocks of cells on the CPU: sweeps over rows, spread over threads."""

from __future__ import annotations

import numpy as np

from hetero import threads
from hetero.devices import Device
from lbm._kernels import cpu_readings as readings
from lbm._kernels.cpu_changes import Buoyancy, Damping, make_acceleration, make_damping
from lbm._kernels.cpu_offsets import Region, find_runs, make_offset_table
from lbm._kernels.cpu_sweeps import Populations, Walls, make_step
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Problem, fold_rows
from lbm.geometry.wall_links import SOLID_CLASS, SPECIAL

LINE = 64
"""Size of a cache line in bytes."""

TASKS_PER_THREAD = 8
"""Pieces of a step for each thread: enough to even out the loads, few enough to start quickly."""


def _aligned_zeros(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    """Allocate an array of zeros that begins with a cache line, so that vectors cross fewer."""
    count, itemsize = int(np.prod(shape)), np.dtype(dtype).itemsize
    block = np.zeros(count + LINE // itemsize, dtype)
    first = -block.ctypes.data % LINE // itemsize
    return block[first : first + count].reshape(shape)


def create_engine(problem: Problem, device: Device, allocate=None) -> CPUEngine:
    """Create the block `problem` on the CPU."""
    return CPUEngine(problem, device, allocate)


class CPUEngine(Engine):
    """A block in host memory, by default in arrays that begin with a cache line."""

    def __init__(self, problem: Problem, device: Device, allocate=None):
        super().__init__(problem, device)
        allocate = allocate or _aligned_zeros
        form, links = problem.precision, problem.links
        self._settings = problem.lattice, form.name, problem.forced
        self._tasks, shape = TASKS_PER_THREAD, (problem.slots, problem.pitch)
        self.populations = [allocate(shape, form.storage) for _ in range(problem.pattern.copies)]
        reads_viscosity = type(problem.collision).reads_viscosity
        self.viscosity = _aligned_zeros((problem.pitch * reads_viscosity,), form.number)
        wall_types = links.wall_types.astype(form.compute)
        self._walls = Walls(links.masks.astype(np.int64), links.wall_rows, wall_types)
        self._offsets = [self._find_offsets(access) for access in problem.pattern.steps]
        self._runs = [self._find_runs(access) for access in problem.pattern.steps]
        self._step = self._make_step()

    def _make_step(self):
        p, rates = self.problem, len(self.rates)
        return make_step(p.lattice, p.precision.name, type(p.collision), rates, p.forced)

    def _find_offsets(self, access):
        """Return the table of `make_offset_table` for a step, flat."""
        problem = self.problem
        rows = access.load, access.wall, access.store, access.reflected
        table = [[(a.slot, *a.shift) for a in row] for row in rows]
        table = np.array(table, np.int64).reshape(2, 2, len(access.load), 4)
        shape, lanes = problem.shape, problem.precision.lanes
        return make_offset_table(np.moveaxis(table, 3, 0), shape, problem.pitch, lanes).reshape(-1)

    def _find_runs(self, access):
        """Find the runs of cells that have their populations at the same offsets."""
        links, lanes = self.problem.links, self.problem.precision.lanes
        # Classes that differ only in walls at which this step bounces by itself become one.
        merged = np.arange(len(links.masks), dtype=links.classes.dtype)
        if access.bounces:
            merged[links.masks[:, SPECIAL] == 0] = 0
            merged[SOLID_CLASS] = SOLID_CLASS
        classes = merged[links.classes]
        classes = classes if lanes == 1 else fold_rows(classes, lanes)
        before, behind = (lanes * (dx in access.shifts_along_x) for dx in (-1, 1))
        return find_runs(classes, before, behind)

    def _where(self, t, box):
        """Return where step t finds the cells of a box: offsets, runs, region, pieces of it."""
        region, tasks = Region(*box, *self.problem.shape), self._tasks * threads()
        return self._offsets[t % 2], self._runs[t % 2], region, tasks

    def set_division(self, count):
        self._tasks = count

    @property
    def wall_types(self):
        return self._walls.types

    def set_wall_types(self, rows):
        self._walls.types[...] = rows

    def step(self, t, box):
        populations = Populations(self.source(t).reshape(-1), self.target(t).reshape(-1))
        numbers = self.rates, self.force, self.viscosity
        self._step(populations, self._walls, *numbers, *self._where(t, box))

    def damp(self, t, box, layer, drho, rate):
        T = self.problem.precision.compute
        damping = Damping(layer.axis, layer.strength, layer.target, layer.first, T(drho), T(rate))
        self._change_cells(make_damping(*self._settings), t, box, damping)

    def accelerate(self, t, box, scalar, velocity):
        sweep = make_acceleration(*self._settings[:2])
        self._change_cells(sweep, t, box, Buoyancy(scalar.g, velocity, *scalar.numbers))

    def survey(self, t, box, scalar=None):
        flag = np.zeros(1, np.int32)
        if scalar is None:
            sweep, layer = readings.make_survey(*self._settings), readings.Survey(flag)
        else:
            sweep = readings.make_driven_survey(*self._settings)
            layer = readings.DrivenSurvey(flag, scalar.g, *scalar.numbers)
        self._change_cells(sweep, t, box, layer)
        return flag

    def copy_moments(self, t, box, out):
        layer = readings.Moments(out.reshape(4, -1, out.shape[3]))
        self._change_cells(readings.make_moments_copy(*self._settings), t, box, layer)

    def _change_cells(self, sweep, t, box, layer):
        """Call a sweep of `cpu_changes` or `cpu_readings` over a box."""
        memory = self.source(t).reshape(-1)
        sweep(memory, self._walls.masks, self.force, layer, *self._where(t, box))

    def read(self, t, box, populations=False):
        count = self.problem.lattice.size if populations else 4
        data = np.zeros((count, *box.shape), self.problem.precision.compute)
        self._transfer(t, box, data, True, not populations)
        return data

    def write(self, t, box, values, populations=False):
        # A read-only array would have another type and compile everything again.
        data = np.require(values, self.problem.precision.compute, ["C", "W"])
        self._transfer(t, box, data, False, not populations)

    def _transfer(self, t, box, data, reads, moments):
        layer = readings.Transfer(data.reshape(len(data), -1, data.shape[-1]), reads, moments)
        self._change_cells(readings.make_transfer(*self._settings), t, box, layer)

    def to_host(self, array):
        return array

    def read_elements(self, t, indices):
        return self.source(t).reshape(-1)[indices]

    def read_viscosity(self, cells):
        return self.viscosity[cells]

    def copy_state(self, t, into=None):
        into = np.empty_like(self.source(t)) if into is None else into
        np.copyto(into, self.source(t))
        return into

    def return_to_state(self, t, state):
        np.copyto(self.source(t), state)

    def synchronize(self):
        pass

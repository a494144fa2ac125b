"""Ends of channels on a GPU; the stores of `lbm._open_ends` have the methods."""

from __future__ import annotations

import functools
import itertools

import numpy as np

from hetero.cuda.driver import SIMULATOR, cuda
from hetero.cuda.launch import blocks_for
from hetero.cuda.launcher import prepare_launch
from hetero.jit import kernel
from hetero.measurement import profiling
from lbm._model.precision import PRECISIONS
from lbm._open_ends.formulas import RESPONSES, make_bend_cell, make_correct_cell
from lbm.lattices import Lattice

THREADS = 128
"""Threads of a block; not tuned."""


def create_store(engine, table, rate) -> EndStore:
    """Create the store of an end in a GPU's memory."""
    return EndStore(engine, table, rate)


def create_sheared_store(engine, table, times) -> ShearedStore:
    """Create the store of a sheared outlet in a GPU's memory."""
    return ShearedStore(engine, table, times)


@functools.cache
def make_bend_kernel(precision: str, lattice: Lattice, face: int):
    """Make the kernel of sheared outlets; its arguments are those of `make_bend_cell`."""
    bend_cell = make_bend_cell(precision, lattice, face)
    if SIMULATOR:
        bend_cell = bend_cell.py_func

    def bend(populations, loads, links, times):
        """Correct what a sheared outlet has returned, a thread for each cell."""
        i = cuda.grid(1)
        if i < links.size:
            bend_cell(i, populations, loads, links, times)

    return kernel(bend)


def _make_kernel(kind: str, precision: str):
    """Make the kernel of a kind of end; its arguments are those of `make_correct_cell`."""
    correct_cell = make_correct_cell(kind, precision)
    if SIMULATOR:  # its arrays are none that compiled code takes
        correct_cell = correct_cell.py_func

    def correct(populations, loads, links, numbers, directions, opposite, rate):
        """Correct what an end has returned, a thread for each cell."""
        i = cuda.grid(1)
        if i < links.size:
            correct_cell(i, populations, loads, links, numbers, directions, opposite, rate)

    return kernel(correct)


KERNELS = {
    f"correct_{kind}_{name}": _make_kernel(kind, name)
    for kind, name in itertools.product(RESPONSES, PRECISIONS)
}
"""Kernels by the kind of the end and the precision."""


class EndStore:
    """The cells before an end in a GPU's memory."""

    def __init__(self, engine, table, rate):
        form, lattice = engine.problem.precision, engine.problem.lattice
        T = form.compute
        self._device, self._engine, self._dtype = engine.device, engine, T
        correct = KERNELS[f"correct_{table.kind}_{form.name}"]
        with engine.device.active():
            loads = [cuda.to_device(np.ascontiguousarray(rows)) for rows in table.loads]
            links, opposite = map(cuda.to_device, (table.links, np.array(lattice.opposite)))
            directions = cuda.to_device(table.directions.astype(T))
            self._numbers = cuda.to_device(table.numbers.astype(T))
            self._launches = []
            for t in (0, 1):
                memory = engine.cells(engine.target(t)).reshape(lattice.size * engine.problem.pitch)
                addresses = memory, loads[(t + 1) % 2], links
                arguments = *addresses, self._numbers, directions, opposite, T(rate)
                grid = (blocks_for(len(table.cells), THREADS),)
                self._launches.append(
                    prepare_launch(correct, grid, (THREADS,), engine.stream, arguments)
                )

    def correct(self, t):
        self._launches[t % 2]()

    def read_means(self):
        with self._device.active():
            self._engine.synchronize()
            means = self._numbers[1]
            profiling.count_transfer(to_host=means.nbytes)
            return means.copy_to_host()

    def write_means(self, means):
        values = np.ascontiguousarray(means, self._dtype)
        profiling.count_transfer(to_device=values.nbytes)
        with self._device.active():
            self._numbers[1].copy_to_device(values)
            self._engine.synchronize()


class ShearedStore:
    """The cells before a sheared outlet in a GPU's memory."""

    def __init__(self, engine, table, times):
        form, lattice = engine.problem.precision, engine.problem.lattice
        bend = make_bend_kernel(form.name, lattice, table.face)
        with engine.device.active():
            loads = [cuda.to_device(np.ascontiguousarray(rows)) for rows in table.loads]
            constants = cuda.to_device(table.links), tuple(map(form.compute, times))
            self._launches = []
            for t in (0, 1):
                memory = engine.cells(engine.target(t)).reshape(lattice.size * engine.problem.pitch)
                grid = (blocks_for(len(table.links), THREADS),)
                arguments = memory, loads[(t + 1) % 2], *constants
                self._launches.append(
                    prepare_launch(bend, grid, (THREADS,), engine.stream, arguments)
                )

    def correct(self, t):
        self._launches[t % 2]()

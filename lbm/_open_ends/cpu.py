"""Ends of channels on the CPU; the stores of `lbm._open_ends` have the methods."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._open_ends.formulas import make_bend_cell, make_correct_cell
from lbm.lattices import Lattice


def create_store(engine, table, rate) -> EndStore:
    """Create the store of an end in host memory."""
    return EndStore(engine, table, rate)


def create_sheared_store(engine, table, times) -> ShearedStore:
    """Create the store of a sheared outlet in host memory."""
    return ShearedStore(engine, table, times)


@functools.cache
def _make_bend_loop(precision: str, lattice: Lattice, face: int):
    """Make the loop of sheared outlets; its arguments are those of `formulas.make_bend_cell`."""
    bend_cell = make_bend_cell(precision, lattice, face)

    @parallel
    def bend(populations, loads, links, times):
        for i in prange(links.size):
            bend_cell(i, populations, loads, links, times)

    return bend


@functools.cache
def _make_loop(kind: str, precision: str):
    """Make the loop of a kind of end; its arguments are those of `formulas.make_correct_cell`."""
    correct_cell = make_correct_cell(kind, precision)

    @parallel
    def correct(populations, loads, links, numbers, directions, opposite, rate):
        for i in prange(links.size):
            correct_cell(i, populations, loads, links, numbers, directions, opposite, rate)

    return correct


class EndStore:
    """The cells before an end in host memory."""

    def __init__(self, engine, table, rate):
        form, lattice = engine.problem.precision, engine.problem.lattice
        T = form.compute
        self._engine, self._loads = engine, table.loads
        self._numbers = table.numbers.astype(T)
        opposite = np.array(lattice.opposite)
        self._constants = table.directions.astype(T), opposite, T(rate)
        self._links, self._correct = table.links, _make_loop(table.kind, form.name)

    def correct(self, t):
        populations, loads = self._engine.target(t).reshape(-1), self._loads[(t + 1) % 2]
        self._correct(populations, loads, self._links, self._numbers, *self._constants)

    def read_means(self):
        return self._numbers[1].copy()

    def write_means(self, means):
        self._numbers[1] = means


class ShearedStore:
    """The cells before a sheared outlet in host memory."""

    def __init__(self, engine, table, times):
        form = engine.problem.precision
        self._engine, self._table = engine, table
        self._times = tuple(map(form.compute, times))
        self._bend = _make_bend_loop(form.name, engine.problem.lattice, table.face)

    def correct(self, t):
        table, populations = self._table, self._engine.target(t).reshape(-1)
        loads = table.loads[(t + 1) % 2]
        self._bend(populations, loads, table.links, self._times)

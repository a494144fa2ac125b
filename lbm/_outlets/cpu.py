"""Outlets that do not reflect on the CPU; `lbm._outlets.OutletStore` has the methods."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._engines.storage_formulas import codec
from lbm._model.precision import PRECISIONS
from lbm._outlets.formulas import excess_density, follow


def create_store(engine, table, rate) -> OutletStore:
    """Create the store of an outlet in host memory."""
    return OutletStore(engine, table, rate)


@functools.cache
def _make_loop(precision: str):
    """Make the loop of a precision; its arguments are those of `OutletTable`."""
    decode, encode = codec(PRECISIONS[precision])

    @parallel
    def correct(populations, loads, links, share, outwards, weight, opposite, means, rate):
        for i in prange(links.size):
            drho = momentum = means.dtype.type(0)
            for q in range(loads.shape[0]):
                f = decode(populations[loads[q, i]])
                drho += f
                momentum += outwards[q] * f
            rho = means.dtype.type(1) + drho
            excess = excess_density(rho, momentum, means[i], share[i])
            for q in range(loads.shape[0]):
                if (links[i] >> np.uint32(q)) & np.uint32(1):
                    k = loads[opposite[q], i]
                    f = decode(populations[k]) + weight[q] * excess
                    populations[k] = encode(f)
            means[i] = follow(means[i], rho, momentum - share[i] * excess, rate)

    return correct


class OutletStore:
    """The cells before an outlet in host memory."""

    def __init__(self, engine, table, rate):
        T, lattice = engine.problem.precision.compute, engine.problem.lattice
        self._engine, self._loads, self._links = engine, table.loads, table.links
        self._numbers = (
            table.share.astype(T),
            table.outwards.astype(T),
            (2 * np.array(lattice.weights)).astype(T),
        )
        self._opposite, self._rate = np.array(lattice.opposite), T(rate)
        self._means = np.zeros(len(table.cells), T)
        self._correct = _make_loop(engine.problem.precision.name)

    def correct(self, t):
        self._correct(
            self._engine.target(t).reshape(-1), self._loads[(t + 1) % 2], self._links,
            *self._numbers, self._opposite, self._means, self._rate,
        )  # fmt: skip

    def read_means(self):
        return self._means.copy()

    def write_means(self, means):
        self._means[...] = means

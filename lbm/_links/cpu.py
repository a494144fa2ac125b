"""Interpolated walls of a block on the CPU; `lbm._links.LinkStore` has the methods."""

from __future__ import annotations

import functools

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._engines.storage_formulas import codec
from lbm._links.formulas import interpolate_population, mass_in_units, remove_share
from lbm._model.precision import PRECISIONS

_PARTS = 64  # parts of the links that are shared out to the threads; not tuned


def create_store(engine, table, stream=None) -> LinkStore:
    """Create the store of the links of a block in host memory."""
    return LinkStore(engine, table)


@functools.cache
def _make_loops(precision: str):
    """Make the loops (interpolate, store) of a precision."""
    decode, encode = codec(PRECISIONS[precision])

    @parallel
    def interpolate(populations, wall, other, shares, terms, sent, returned, excess):
        for part in prange(excess.size):
            begin = np.int64(part) * wall.size // excess.size
            end = (np.int64(part) + 1) * wall.size // excess.size
            total = np.int64(0)
            for i in range(begin, end):
                f, g = decode(populations[wall[i]]), decode(populations[other[i]])
                back = interpolate_population(f, g, shares[0, i], shares[1, i], terms[i])
                sent[i], returned[i] = f, back
                total += mass_in_units(back - f)
            excess[part] = total

    @parallel
    def store(populations, wall, returned, weight, total, share):
        for i in prange(wall.size):
            returned[i] = remove_share(returned[i], weight[i], total, share)
            populations[wall[i]] = encode(returned[i])

    return interpolate, store


class LinkStore:
    """The links of a block in host memory."""

    def __init__(self, engine, table):
        T = engine.problem.precision.compute
        self._engine, self._wall, self._other = engine, table.wall, table.other
        self._shares = np.stack([table.sent_share, table.other_share]).astype(T)
        self._terms, self._weight = table.wall_terms.astype(T), table.weight.astype(T)
        self._share = T(table.mass_share)
        self._sent, self._returned = np.zeros(len(self._wall), T), np.zeros(len(self._wall), T)
        self._excess, self._total = np.zeros(_PARTS, np.int64), 0
        self._interpolate, self._store = _make_loops(engine.problem.precision.name)

    def set_wall_terms(self, terms):
        self._terms[...] = terms

    def interpolate(self, t):
        self._interpolate(
            self._engine.target(t).reshape(-1), self._wall, self._other[t % 2], self._shares,
            self._terms, self._sent, self._returned, self._excess,
        )  # fmt: skip
        self._total = int(self._excess.sum())

    def read_excess(self):
        return self._total

    def write_excess(self, total):
        self._total = total

    def store(self, t):
        self._store(
            self._engine.target(t).reshape(-1), self._wall, self._returned, self._weight,
            np.int64(self._total), self._share,
        )  # fmt: skip

    def read(self):
        return self._sent.astype(np.float64), self._returned.astype(np.float64)

"""What the loops over Ornstein-Uhlenbeck paths are given; the same for both targets."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rode.functionals import Process

PARTS = 8
"""Philox blocks that a lane walks."""

LANES = 32
"""Threads of a warp, or their likes on a CPU, that make a tile together."""


class Steps(NamedTuple):
    """The part of a `Path` that loops on a CPU need."""

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    em1: float
    sigma: float


class Path(NamedTuple):
    """Numbers of one path. Floats are of the path's type.

    Attributes
    ----------
    strides : mu^(E 2^k) for k = 0 .. 4
    em1_tile : mu^(32 E) - 1
    share0, share1 : how much of a lane's carry goes with `first` and `second` of the table
    """

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    em1: float
    sigma: float
    strides: tuple
    em1_tile: float
    share0: float
    share1: float


def elements(dtype) -> int:
    """Elements of a lane: eight Philox blocks."""
    return PARTS * (16 // np.dtype(dtype).itemsize)


def tile(dtype) -> int:
    """Elements of a tile."""
    return LANES * elements(dtype)


def path_of(process: Process, delta: float, dtype, key, path: int, stream: int):
    """(Path, table) of a process.

    Rows 3 and 4 of the (5, 32) table are `first` and `second`, two functions on the steps i = 1 ..
    E of a lane that exp(-i a) and sinh(i a) are sums of, a = delta/tau. Row 0 is mu^(E t) for the
    lanes t. Rows 1 and 2 are the shares of `first` and `second` that move the end of a tile by 1
    and its start not at all.
    """
    T, E, a = np.dtype(dtype).type, elements(dtype), delta / process.tau
    em1, sigma = process.step(delta)
    i, t = np.arange(1, E + 1), np.arange(LANES)
    whole = LANES * E * a
    table = np.zeros((5, LANES))
    table[0] = np.exp(-E * t * a)
    down = -math.expm1(-2.0 * whole)
    if E * a < 1.0:
        # Both functions of a lane are near 1 and near i a: no digits are lost for small a.
        table[3, :E], table[4, :E], share = np.cosh(i * a), np.sinh(i * a), (1.0, -1.0)
        table[1] = np.exp(E * t * a - whole) * -np.expm1(-2.0 * E * t * a) / down
        table[2] = np.exp(E * t * a - whole) * (1.0 + np.exp(-2.0 * E * t * a)) / down
    else:
        table[3, :E], table[4, :E], share = np.exp(-i * a), np.exp((i - E) * a), (1.0, 0.0)
        table[1] = -np.exp(-whole - E * t * a) / down
        table[2] = np.exp(E * (t + 1) * a - whole) / down
    strides = tuple(T(math.exp(-E * 2**k * a)) for k in range(5))
    numbers = (*key, np.uint32(path), np.uint32(stream), T(em1), T(sigma))
    found = Path(*numbers, strides, T(math.expm1(-whole)), *map(T, share))
    return found, table.astype(dtype)

"""What the loops over Ornstein-Uhlenbeck paths are given; the same for both targets."""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from rode.functionals import Process

LANES = 32
"""Threads of a warp."""

ROUNDS = 8
"""Rounds in which a warp walks a tile; in each every lane walks a Philox block of numbers."""


class Steps(NamedTuple):
    """The part of a `Path` that loops on a CPU need."""

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    em1: float
    sigma: float


class Path(NamedTuple):
    """Numbers of one path. Floats are of the path's type; E numbers are in a block.

    Attributes
    ----------
    em1_round : mu^(32 E) - 1
    em1_tile : mu^(32 E ROUNDS) - 1
    strides : mu^(E 2^k) for k = 0 .. 4
    powers : mu^j for j = 1 .. E
    bends : sinh(j a) exp(-E a) for j = 1 .. E, where a = delta/tau
    """

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    em1: float
    sigma: float
    mu: float
    em1_round: float
    em1_tile: float
    strides: tuple
    powers: tuple
    bends: tuple


def block(dtype) -> int:
    """Numbers in a Philox block."""
    return 16 // np.dtype(dtype).itemsize


def tile(dtype) -> int:
    """Elements of a tile."""
    return LANES * ROUNDS * block(dtype)


def path_of(process: Process, delta: float, dtype, key, path: int, stream: int):
    """(Path, table) of a process.

    Row 0 of the table is mu^(E t) for the blocks t of a tile. Rows 1 and 2 bend a tile of N
    elements: sinh(i a)/sinh(N a), which obeys the recursion without noise but at the end, is

        table[1, t] powers[j] + table[2, t] bends[j]   for i = E t + j + 1.
    """
    numbers, table = _numbers_of(process, delta, np.dtype(dtype))
    return Path(*key, np.uint32(path), np.uint32(stream), *numbers), table


@functools.lru_cache(maxsize=64)
def _numbers_of(process: Process, delta: float, dtype):
    T, E, a = dtype.type, block(dtype), delta / process.tau
    em1, sigma = process.step(delta)
    N, t, j = tile(dtype), np.arange(LANES * ROUNDS), np.arange(1, E + 1)
    table = np.empty((3, t.size))
    table[0] = np.exp(-E * t * a)
    down = -math.expm1(-2.0 * N * a)
    table[1] = np.exp((E * t - N) * a) * -np.expm1(-2.0 * E * t * a) / down
    table[2] = 2.0 * np.exp((E * (t + 1) - N) * a) / down
    bends = 0.5 * np.exp((j - E) * a) * -np.expm1(-2.0 * j * a)
    numbers = (
        *map(T, (em1, sigma, math.exp(-a), math.expm1(-LANES * E * a), math.expm1(-N * a))),
        tuple(T(math.exp(-E * 2**k * a)) for k in range(5)),
        tuple(map(T, np.exp(-j * a))),
        tuple(map(T, bends)),
    )
    return numbers, table.astype(dtype)

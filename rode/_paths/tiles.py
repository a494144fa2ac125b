"""Constants of Ornstein-Uhlenbeck paths that loops on both targets take as arguments."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rode._paths.process import Process

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

LANES = 32
"""Number of threads in a warp."""

ROUNDS = 8
"""Number of Philox blocks whose steps a lane computes in a tile."""


class Steps(NamedTuple):
    """Constants of a path that loops on a CPU need: the first fields of `PathConstants`."""

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    mu_minus_1: float
    sigma: float


class PathConstants(NamedTuple):
    """Constants of one path. Floats are of the path's data type.

    A block has E numbers; the stretch of a tile that a lane computes has S elements.

    Attributes
    ----------
    mu_minus_1_tile : mu^(32 S) - 1
    strides : mu^(S 2^k) for k = 0 .. 4
    powers : mu^j for j = 1 .. E
    bends : sinh(j a) exp(-E a) for j = 1 .. E, where a = delta/tau
    """

    k0: np.uint32
    k1: np.uint32
    path: np.uint32
    stream: np.uint32
    mu_minus_1: float
    sigma: float
    mu: float
    mu_minus_1_tile: float
    strides: tuple
    powers: tuple
    bends: tuple


def block(dtype: DTypeLike) -> int:
    """Return how many numbers a Philox block gives."""
    return 16 // np.dtype(dtype).itemsize


def tile(dtype: DTypeLike, rounds: int = ROUNDS) -> int:
    """Return the number of elements of a tile."""
    return LANES * rounds * block(dtype)


def path_of(
    process: Process,
    delta: float,
    dtype: DTypeLike,
    key: tuple[np.uint32, np.uint32],
    path: int,
    stream: int,
    rounds: int = ROUNDS,
) -> tuple[PathConstants, np.ndarray]:
    """Return the PathConstants and the table of a process.

    The table's row 0 is mu^(E t) for block t = `rounds` lane + r of a tile, at [0, r, lane]. Rows 1
    and 2 bend a tile of N elements: sinh(i a)/sinh(N a), which obeys the recursion without noise
    but at the end, is

        table[1, r, lane] powers[j] + table[2, r, lane] bends[j]   for i = E t + j + 1.
    """
    constants, table = _constants(process, delta, np.dtype(dtype), rounds)
    k0, k1 = key
    return constants._replace(k0=k0, k1=k1, path=np.uint32(path), stream=np.uint32(stream)), table


@functools.lru_cache(maxsize=64)
def _constants(
    process: Process, delta: float, dtype: np.dtype, rounds: int
) -> tuple[PathConstants, np.ndarray]:
    """Return the constants that do not depend on seed and path, and the table of `path_of`."""
    T, E, a = dtype.type, block(dtype), delta / process.tau
    mu_minus_1, sigma = process.step(delta)
    S, N, j = rounds * E, tile(dtype, rounds), np.arange(1, E + 1)
    t = np.arange(LANES * rounds).reshape((LANES, rounds)).T
    table = np.empty((3, rounds, LANES))
    table[0] = np.exp(-E * t * a)
    down = -math.expm1(-2.0 * N * a)
    table[1] = np.exp((E * t - N) * a) * -np.expm1(-2.0 * E * t * a) / down
    table[2] = 2.0 * np.exp((E * (t + 1) - N) * a) / down
    bends = 0.5 * np.exp((j - E) * a) * -np.expm1(-2.0 * j * a)
    unset = np.uint32(0)
    constants = PathConstants(
        k0=unset,
        k1=unset,
        path=unset,
        stream=unset,
        mu_minus_1=T(mu_minus_1),
        sigma=T(sigma),
        mu=T(math.exp(-a)),
        mu_minus_1_tile=T(math.expm1(-N * a)),
        strides=tuple(T(math.exp(-S * 2**k * a)) for k in range(5)),
        powers=tuple(map(T, np.exp(-j * a))),
        bends=tuple(map(T, bends)),
    )
    return constants, table.astype(dtype)

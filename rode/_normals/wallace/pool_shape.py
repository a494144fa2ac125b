"""Numbers of threads and passes of Wallace's pools."""

from __future__ import annotations

import math
from dataclasses import dataclass

TURNS = 2
"""Rotations of the pool between two outputs: one leaves a visible correlation of the squares."""

LEAST_THREADS, MOST_THREADS = 64, 1024


@dataclass(frozen=True)
class PoolShape:
    """Size of a pool and its life; other shapes give other numbers of the same quality or a lesser.

    Attributes
    ----------
    threads : int
        Number of threads in a block of a GPU, a power of two from 64 to 1024. Each has four numbers
        of the pool.
    passes : int
        Number of times that a pool yields its numbers before a new one is filled, at most
        threads/`TURNS`: a thread draws a rotation. With the size of an array it determines the
        number of blocks.
    """

    threads: int
    passes: int

    def __post_init__(self) -> None:
        is_power = self.threads & (self.threads - 1) == 0
        if not (is_power and LEAST_THREADS <= self.threads <= MOST_THREADS):
            raise ValueError(
                f"threads must be a power of two in [{LEAST_THREADS}, {MOST_THREADS}], "
                f"got {self.threads}"
            )
        if not 1 <= self.passes <= self.threads // TURNS:
            raise ValueError(
                f"passes must lie in [1, {self.threads // TURNS}] for {self.threads} threads, "
                f"got {self.passes}"
            )

    @property
    def pool(self) -> int:
        """Number of elements of a pool."""
        return 4 * self.threads

    @property
    def numbers(self) -> int:
        """Number of normal numbers that come from one pool."""
        return self.passes * self.pool

    @property
    def bits(self) -> int:
        """Number of bits of an index in a pool."""
        return self.pool.bit_length() - 1

    @property
    def spread_constants(self) -> tuple[float, float, float]:
        """Constants of `spread`: of the mean, of the deviation, and of the unit of the result."""
        b = 1.0 + 1.0 / (8.0 * self.pool)
        return math.sqrt(2.0 * self.pool - b * b), b, 1.0 / math.sqrt(2.0 * self.pool)


POOL_SHAPE = PoolShape(threads=256, passes=64)
"""Shape of the pools of `rode.normal`, which its numbers depend on."""

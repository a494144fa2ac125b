"""Paths of the Ornstein-Uhlenbeck process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import DTypeLike

from hetero.arrays import Array, Stream
from hetero.devices import Device

if TYPE_CHECKING:
    from rode._paths.tiles import PathConstants


class Loops(Protocol):
    """Paths by prefix sums and by bridges; arrays are float32 or float64.

    `run` and `table` are those of `_paths.tiles.path_of`. `noise` holds standard normal numbers;
    where it is None they are drawn as `normals` ("float32", "float64" or "fast") says.
    """

    def scan(
        self,
        run: PathConstants,
        table: np.ndarray,
        start: float | None,
        deviation: float,
        noise: Array | None,
        normals: str,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill the rows of `out` (paths, steps) with paths from `start`.

        If that is None, starts are drawn from N(0, deviation^2).
        """

    def long_scan(
        self,
        run: PathConstants,
        table: np.ndarray,
        rate: float,
        start: float,
        noise: Array | None,
        normals: str,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` (steps,) with one path from `start`; `rate` is delta/tau."""

    def bridge(
        self,
        run: PathConstants,
        table: np.ndarray,
        start: float,
        ends: Array,
        normals: str,
        out: Array,
        stream: Stream = 0,
    ) -> None:
        """Fill `out` (steps,) with one path from `start` through ends[i] at the end of tile i."""

    def allocate_ends(self, count: int, dtype: DTypeLike, stream: Stream = 0) -> Array:
        """Return memory for the ends of a bridge's tiles."""


def loops(device: Device) -> Loops:
    """Return the loops for the kind of `device`, whose compiler is imported at the first call."""
    if device.kind == "cpu":
        from rode._paths import cpu

        return cpu
    from rode._paths import cuda

    return cuda

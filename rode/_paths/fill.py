"""Fill arrays with Ornstein-Uhlenbeck paths: one long path or many, by each of the methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero import philox
from rode import _paths
from rode._paths import prefix_sum
from rode._paths.tiles import ROUNDS, path_of, tile

if TYPE_CHECKING:
    from hetero.devices import Device
    from rode._paths.process import Process

STREAM = philox.STREAMS["rode.ornstein_uhlenbeck"]
STREAM_OF_ENDS = philox.STREAMS["rode.ornstein_uhlenbeck, ends of tiles"]

MANY = 1024
"""Number of paths from which each is walked by one warp; not tuned."""


class PathFiller:
    """Settings of one call, common to all its paths, and the methods that fill them."""

    def __init__(
        self,
        process: Process,
        delta: float,
        dtype: np.dtype,
        normals: str,
        key: tuple[np.uint32, np.uint32],
        device: Device,
        stream: Any,
    ) -> None:
        self.process, self.delta, self.dtype, self.key = process, delta, dtype, key
        self.normals = normals
        self.device, self.stream = device, stream
        self.loops = _paths.loops(device)

    def fill(
        self, method: str, start: float | None, first_path: int, source: Any, rows: Any
    ) -> None:
        """Fill the rows of a (paths, steps) array by a method; `source` is noise, or None."""
        paths, steps = rows.shape
        if method == "scan" and (paths >= MANY or steps < 8 * tile(self.dtype)):
            rounds = ROUNDS if steps > tile(self.dtype) else 1
            counter = self.key, first_path, STREAM
            run, table = path_of(self.process, self.delta, self.dtype, *counter, rounds)
            deviation = self.process.deviation
            self.loops.scan(run, table, start, deviation, source, self.normals, rows, self.stream)
            return
        starts = self.starts(start, first_path, paths)
        for r in range(paths):
            one = None if source is None else source[r]
            self.path(method, starts[r], first_path + r, one, rows[r])

    def path(self, method: str, start: float, path: int, noise: Any, row: Any) -> None:
        """Fill `row` with one long path."""
        if method == "sweeps":
            levels = range(1 + max(0, math.ceil(math.log(row.size, 1024)) - 1) + 1)
            rate = self.delta / self.process.tau
            powers = [[math.exp(-rate * 1024.0**l * 2**d) for d in range(10)] for l in levels]
            steps = np.arange(1, 1025)
            weights = [np.exp(-rate * 1024.0**l * steps) for l in levels]
            mu_to_2d, mu_to_p = (np.array(a).astype(self.dtype) for a in (powers, weights))
            _, sigma = self.process.step(self.delta)
            loops = prefix_sum.loops(self.device)
            loops.fill(mu_to_2d, mu_to_p, sigma, start, noise, row, self.stream)
        elif method == "scan":
            self.scan(start, path, STREAM, self.delta, noise, row)
        else:
            self.bridge(start, path, row)

    def scan(
        self, start: float, path: int, stream: int, delta: float, noise: Any, row: Any
    ) -> None:
        """Fill `row` with one long path by a prefix sum."""
        run, table = path_of(self.process, delta, self.dtype, self.key, path, stream)
        rate = delta / self.process.tau
        self.loops.long_scan(run, table, rate, start, noise, self.normals, row, self.stream)

    def bridge(self, start: float, path: int, row: Any) -> None:
        """Fill `row` with one long path by bridges between the ends of tiles."""
        size = tile(self.dtype)
        ends = self.loops.allocate_ends(-(-row.size // size), self.dtype, self.stream)
        self.scan(start, path, STREAM_OF_ENDS, self.delta * size, None, ends)
        run, table = path_of(self.process, self.delta, self.dtype, self.key, path, STREAM)
        self.loops.bridge(run, table, start, ends, self.normals, row, self.stream)

    def starts(self, start: float | None, first_path: int, paths: int) -> np.ndarray:
        """Return O_0 of every path: `start`, or draws from the stationary distribution."""
        if start is not None:
            return np.full(paths, start, self.dtype)
        from rode._paths.stationary import draw_stationary

        deviation = self.dtype.type(self.process.deviation)
        return draw_stationary(self.key, STREAM, first_path, deviation, paths)

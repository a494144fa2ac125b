"""How many rows the CPU should take beside a GPU: the thesis's model, with this machine's times."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import hetero
from lbm.engine import Problem
from lbm.parts import Single, Split

GAIN = 1.02
"""A split must promise this much, or the GPU works alone."""


@dataclass(frozen=True)
class Model:
    """Times of a step in seconds: T = max(edges) + max(inner GPU, inner CPU, communication).

    Equation 15.1, for one cut. A device's time is a constant plus a time for each row.

    Attributes
    ----------
    gpu_row, cpu_row : for an own row
    gpu_start, cpu_start : for a step without rows: launches
    exchange : for the messages of a step, both ways
    """

    gpu_row: float
    cpu_row: float
    gpu_start: float
    cpu_start: float
    exchange: float

    def step(self, rows: int, of: int) -> float:
        """Predicted seconds of a step with `rows` of `of` rows on the CPU."""
        if rows == 0:
            return self.gpu_start + of * self.gpu_row
        if rows == of:
            return self.cpu_start + of * self.cpu_row
        edges = max(self.gpu_start + self.gpu_row, self.cpu_start + self.cpu_row)
        gpu = self.gpu_start + (of - rows - 1) * self.gpu_row
        cpu = self.cpu_start + (rows - 1) * self.cpu_row
        return edges + max(gpu, cpu, self.exchange)

    def best(self, of: int) -> int:
        """Rows for the CPU: 0 unless a split is faster by GAIN than the GPU alone."""
        times = [self.step(rows, of) for rows in range(of + 1)]
        best = int(np.argmin(times))
        return best if times[0] > GAIN * times[best] else 0


def measure(problem: Problem, device: hetero.Device, faces, rows: int = 32) -> Model:
    """Times of slabs of `rows` and of 2 `rows` rows on both devices, and of a split step."""
    ny = problem.shape[1]
    rows = max(2, min(rows, ny // 2))
    times = {}
    for place in (hetero.Device("cpu"), device):
        for count in (rows, 2 * rows):
            block = Single(problem.rows(np.arange(count)), place)
            times[place.kind, count] = _seconds(block)
            del block
    row = {k: max((times[k, 2 * rows] - times[k, rows]) / rows, 1e-9) for k in ("cpu", "cuda")}
    start = {k: max(times[k, rows] - rows * row[k], 0.0) for k in ("cpu", "cuda")}
    split = Split(problem.rows(np.arange(4)), 2, (hetero.Device("cpu"), device), faces)
    exchange = max(_seconds(split) - start["cpu"] - 2 * row["cpu"], 0.0)
    return Model(row["cuda"], row["cpu"], start["cuda"], start["cpu"], exchange)


def _seconds(domain, repeats: int = 5) -> float:
    """Of a step: the best of a few, compiled before."""
    for t in range(2):
        domain.step(t)
    domain.synchronize()
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        for t in range(4):
            domain.step(t)
        domain.synchronize()
        found.append((time.perf_counter() - start) / 4)
    return min(found)


def best_ratio(problem: Problem, device: hetero.Device, faces) -> float:
    """The CPU's share of the rows that the model promises most of."""
    ny = problem.shape[1]
    return measure(problem, device, faces).best(ny) / ny

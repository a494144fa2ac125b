"""Load balance between the CPU and a GPU: a model of a step's time, with measured coefficients."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import hetero
from lbm._domain.domain import Domain
from lbm._domain.domains import make_domain
from lbm._model.extent import Extent
from lbm._model.problem import Problem

MIN_SPEEDUP = 1.02
"""Predicted speed-up that a split must reach, or else the GPU works alone; about the spread of the
measured times."""


@dataclass(frozen=True)
class StepTimeModel:
    """Model of the time of a step: T = max(edges) + max(GPU interior, CPU interior, exchange).

    Riesinger (2017), equation 15.1, for one cut. The time of a device is a constant plus a time for
    each row. All attributes are in seconds.

    Attributes
    ----------
    gpu_row, cpu_row : time of a row
    gpu_start, cpu_start : time of a step without any rows: launches
    exchange : time of the messages of a step, both ways
    """

    gpu_row: float
    cpu_row: float
    gpu_start: float
    cpu_start: float
    exchange: float

    def predict_step(self, cpu_rows: int, rows: int) -> float:
        """Return the predicted seconds of a step with `cpu_rows` of all `rows` on the CPU."""
        if cpu_rows == 0:
            return self.gpu_start + rows * self.gpu_row
        if cpu_rows == rows:
            return self.cpu_start + rows * self.cpu_row
        edges = max(self.gpu_start + self.gpu_row, self.cpu_start + self.cpu_row)
        gpu = self.gpu_start + (rows - cpu_rows - 1) * self.gpu_row
        cpu = self.cpu_start + (cpu_rows - 1) * self.cpu_row
        return edges + max(gpu, cpu, self.exchange)

    def best_cpu_rows(self, rows: int) -> int:
        """Return the best number of rows for the CPU, 0 unless a split pays (MIN_SPEEDUP)."""
        times = [self.predict_step(cpu_rows, rows) for cpu_rows in range(rows + 1)]
        best = int(np.argmin(times))
        return best if times[0] > MIN_SPEEDUP * times[best] else 0


def measure_model(
    problem: Problem, device: hetero.Device, faces: tuple, rows: int = 32
) -> StepTimeModel:
    """Time blocks of `rows` and 2 `rows` rows on both devices and a split step."""
    ny = problem.shape[1]
    rows = max(2, min(rows, ny // 2))
    times = {}
    for each_device in (hetero.Device("cpu"), device):
        for count in (rows, 2 * rows):
            block = make_domain(_first_rows(problem, count), each_device)
            times[each_device.kind, count] = _time_step(block)
            del block  # before the next one needs the memory
    row = {k: max((times[k, 2 * rows] - times[k, rows]) / rows, 1e-9) for k in ("cpu", "cuda")}
    start = {k: max(times[k, rows] - rows * row[k], 0.0) for k in ("cpu", "cuda")}
    split = make_domain(_first_rows(problem, 4), device, faces, 0.5)
    exchange = max(_time_step(split) - start["cpu"] - 2 * row["cpu"], 0.0)
    return StepTimeModel(row["cuda"], row["cpu"], start["cuda"], start["cpu"], exchange)


def _first_rows(problem: Problem, count: int) -> Problem:
    nx, _, nz = problem.shape
    return problem.select_block(Extent((0, 0, 0), (nx, count, nz)))


def _time_step(domain: Domain, repeats: int = 5) -> float:
    """Return the best wall-clock time of one step, in seconds, after a warm-up."""
    for t in range(2):
        domain.step(t)
    domain.synchronize()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        for t in range(4):
            domain.step(t)
        domain.synchronize()
        seconds.append((time.perf_counter() - start) / 4)
    return min(seconds)


def best_ratio(problem: Problem, device: hetero.Device, faces: tuple) -> float:
    """Measure both devices and return the best share of the rows for the CPU."""
    ny = problem.shape[1]
    return measure_model(problem, device, faces).best_cpu_rows(ny) / ny

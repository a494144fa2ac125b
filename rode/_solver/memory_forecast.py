"""Memory of a run, forecast from its plan and compared with the free memory before it starts."""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Callable

import numpy as np

from hetero import memory
from hetero.cpu.threads import threads
from hetero.devices import Device
from hetero.errors import format_bytes
from rode._solver.plan import Plan
from rode.results import Quantiles, Reduction

BUFFER = 256 * 2**20
"""Largest number of bytes of outputs that wait to be reduced; not tuned."""

CPU = Device("cpu")


def rows_of_window(
    plan: Plan, reductions: tuple[Reduction, ...], times: int, device: Device
) -> int:
    """Return how many of the saved times are computed before they are reduced.

    On a CPU, paths that are only kept are written where they stay. A window has the start and
    another time at least.
    """
    if reductions == ("paths",) and device.kind == "cpu":
        return times
    return min(times, max(2, BUFFER // _row_bytes(plan)))


def result_bytes(plan: Plan, reductions: tuple[Reduction, ...], save_every: int) -> int:
    """Return the host memory that a run's result takes."""
    row, times = _row_bytes(plan), plan.steps // save_every + 1
    levels = sum(len(one.probabilities) for one in reductions if isinstance(one, Quantiles))
    statistics = 2 * ("moments" in reductions) + levels
    arrays = row * (times * ("paths" in reductions) + ("peaks" in reductions))
    return arrays + 8 * times * (1 + len(plan.problem.outputs) * statistics)


def required_bytes(
    plan: Plan, reductions: tuple[Reduction, ...], save_every: int, device: Device
) -> dict[Device, int]:
    """Return the memory that a run takes, {device: bytes}, its result included."""
    result, times = result_bytes(plan, reductions, save_every), plan.steps // save_every + 1
    item = np.dtype(plan.dtype).itemsize
    state = plan.paths * (item * (1 + plan.problem.dimension) + 1)
    window = 0
    if any(one != "peaks" for one in reductions):
        window = rows_of_window(plan, reductions, times, device) * _row_bytes(plan)
    if device.kind == "cuda":
        peaks = _row_bytes(plan) if "peaks" in reductions else 0
        return {CPU: result, device: state + peaks + window}
    if "paths" in reductions:
        window = 0  # the window is a part of the result
    if any(isinstance(one, Quantiles) for one in reductions):
        window += threads() * item * plan.paths  # sorted copies
    return {CPU: result + state + window}


def _row_bytes(plan: Plan) -> int:
    """Return the bytes of all outputs at one time."""
    return len(plan.problem.outputs) * plan.paths * np.dtype(plan.dtype).itemsize


def require_memory(
    plan: Plan, reductions: tuple[Reduction, ...], save_every: int, device: Device
) -> None:
    """Raise MemoryError if a run does not fit: what it needs, what is free, what to do."""
    for machine in required_bytes(plan, reductions, save_every, device):

        def need(
            plan: Plan, reductions: tuple[Reduction, ...], every: int, machine: Device = machine
        ) -> int:
            return required_bytes(plan, reductions, every, device)[machine]

        _require("a run", plan, reductions, save_every, machine, need)


def require_memory_of_result(
    plan: Plan, reductions: tuple[Reduction, ...], save_every: int
) -> None:
    """Raise MemoryError if the result of a run that others compute does not fit here."""
    _require("the result", plan, reductions, save_every, CPU, result_bytes)


def _require(
    subject: str,
    plan: Plan,
    reductions: tuple[Reduction, ...],
    save_every: int,
    device: Device,
    need_of: Callable[[Plan, tuple[Reduction, ...], int], int],
) -> None:
    """Raise MemoryError if `need_of(plan, reductions, save_every)` bytes are not free."""
    need = need_of(plan, reductions, save_every)
    if need < memory.SMALL or need <= (free := memory.free_bytes(device, need)):
        return
    remedies = []
    paths = bisect.bisect_right(
        range(1, plan.paths),
        free,
        key=lambda n: need_of(dataclasses.replace(plan, paths=n), reductions, save_every),
    )
    if paths:
        remedies.append(f"compute at most {paths} paths at a time (first_path=)")
    steps = range(1, plan.steps + 1)
    every = 1 + bisect.bisect_left(steps, -free, key=lambda n: -need_of(plan, reductions, n))
    if "paths" in reductions and every <= plan.steps:
        remedies.append(f"use save_every={every} or more")
    for setting, changed in {
        "reduction='moments'": (plan, ("moments",)),
        "reduction='peaks'": (plan, ("peaks",)),
        "dtype='float32'": (dataclasses.replace(plan, dtype="float32"), reductions),
    }.items():
        if (less := need_of(*changed, save_every)) < need:
            remedies.append(f"{setting} needs {format_bytes(less)}")
    names = ", ".join(r if isinstance(r, str) else "quantiles" for r in reductions)
    times, outputs = plan.steps // save_every + 1, ", ".join(plan.problem.outputs)
    size = f"{plan.paths} paths, with {times} saved times of {outputs}, reduced to {names},"
    raise memory.shortage(f"{subject} of {size}", device, need, free, remedies)

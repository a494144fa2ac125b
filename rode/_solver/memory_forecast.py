"""Memory of a run, forecast from its plan and compared with the free memory before it starts."""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from hetero import memory
from hetero.cpu.threads import threads
from hetero.devices import Device
from hetero.errors import format_bytes
from rode._solver.plan import Plan
from rode.results import Quantiles

BUFFER = 256 * 2**20
"""Largest number of bytes of outputs that wait to be reduced; not tuned."""

CPU = Device("cpu")


def times_of_window(plan: Plan) -> int:
    """Return how many of the saved times are computed before they are reduced.

    On a CPU, paths that are only kept are written where they stay. A window has the start and
    another time at least.
    """
    if plan.reductions == ("paths",) and plan.device.kind == "cpu":
        return plan.times
    return min(plan.times, max(2, BUFFER // _bytes_of_time(plan)))


def result_bytes(plan: Plan) -> int:
    """Return the host memory that a run's result takes."""
    levels = sum(len(one.probabilities) for one in plan.reductions if isinstance(one, Quantiles))
    statistics = 2 * ("moments" in plan.reductions) + levels
    kept = plan.times * ("paths" in plan.reductions) + ("peaks" in plan.reductions)
    numbers = 1 + len(plan.problem.outputs) * statistics
    return _bytes_of_time(plan) * kept + 8 * plan.times * numbers


def required_bytes(plan: Plan) -> dict[Device, int]:
    """Return the memory that a run takes, {device: bytes}, its result included."""
    result, item = result_bytes(plan), np.dtype(plan.dtype).itemsize
    state = plan.paths * (item * (1 + plan.problem.dimension) + 1)
    window = times_of_window(plan) * _bytes_of_time(plan) if plan.saves_times else 0
    if plan.device.kind == "cuda":
        peaks = _bytes_of_time(plan) if "peaks" in plan.reductions else 0
        return {CPU: result, plan.device: state + peaks + window}
    if "paths" in plan.reductions:
        window = 0  # the window is a part of the result
    if any(isinstance(one, Quantiles) for one in plan.reductions):
        window += threads() * item * plan.paths  # sorted copies
    return {CPU: result + state + window}


def _bytes_on(device: Device, plan: Plan) -> int:
    """Return the memory that a run takes on one of its devices."""
    return required_bytes(plan)[device]


def _bytes_of_time(plan: Plan) -> int:
    """Return the bytes of all outputs at one time."""
    return len(plan.problem.outputs) * plan.paths * np.dtype(plan.dtype).itemsize


def require_memory(plan: Plan) -> None:
    """Raise MemoryError if a run does not fit: what it needs, what is free, what to do."""
    for device in required_bytes(plan):
        _require("a run", plan, device, partial(_bytes_on, device))


def require_memory_of_result(plan: Plan) -> None:
    """Raise MemoryError if the result of a run that others compute does not fit here."""
    _require("the result", plan, CPU, result_bytes)


def _require(subject: str, plan: Plan, device: Device, need_of: Callable[[Plan], int]) -> None:
    """Raise MemoryError if `need_of(plan)` bytes are not free on `device`."""
    need = need_of(plan)
    if need < memory.SMALL or need <= (free := memory.free_bytes(device, need)):
        return
    remedies = []
    paths = bisect.bisect_right(
        range(1, plan.paths), free, key=lambda n: need_of(replace(plan, paths=n))
    )
    if paths:
        remedies.append(f"compute at most {paths} paths at a time (first_path=)")
    steps = range(1, plan.steps + 1)
    every = 1 + bisect.bisect_left(
        steps, -free, key=lambda n: -need_of(replace(plan, save_every=n))
    )
    if "paths" in plan.reductions and every <= plan.steps:
        remedies.append(f"use save_every={every} or more")
    for setting, changed in {
        "reduction='moments'": replace(plan, reductions=("moments",)),
        "reduction='peaks'": replace(plan, reductions=("peaks",)),
        "dtype='float32'": replace(plan, dtype="float32"),
    }.items():
        if (less := need_of(changed)) < need:
            remedies.append(f"{setting} needs {format_bytes(less)}")
    names = ", ".join(r if isinstance(r, str) else "quantiles" for r in plan.reductions)
    outputs = ", ".join(plan.problem.outputs)
    size = f"{plan.paths} paths, with {plan.times} saved times of {outputs}, reduced to {names},"
    raise memory.shortage(f"{subject} of {size}", device, need, free, remedies)

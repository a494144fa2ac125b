"""Memory of a run, forecast from its plan and compared with the free memory before it starts."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from hetero import memory
from hetero.cpu.threads import threads
from hetero.devices import CPU, Device
from hetero.errors import format_bytes
from rode._solver.plan import Plan
from rode._solver.reductions.moments import MOMENTS
from rode._solver.reductions.paths import PATHS
from rode._solver.reductions.peaks import PEAKS

BUFFER = 256 * 2**20
"""Largest number of bytes of outputs that wait to be reduced; not tuned."""


def times_of_window(plan: Plan) -> int:
    """Return how many of the saved times are computed before they are reduced.

    On a CPU, paths that are only kept are written where they stay. A window has the start and
    another time at least.
    """
    if plan.device.kind == "cpu" and all(one.keeps_rows for one in plan.reductions):
        return plan.times
    return min(plan.times, max(2, BUFFER // _bytes_of_time(plan)))


def result_bytes(plan: Plan) -> int:
    """Return the host memory that a run's result takes."""
    total = 8 * plan.times
    for one in plan.reductions:
        total += one.memory(plan.extent)
    return total


def required_bytes(plan: Plan) -> dict[Device, int]:
    """Return the memory that a run takes, {device: bytes}, its result included."""
    item = np.dtype(plan.dtype).itemsize
    state = plan.paths * (item * (1 + plan.problem.unknowns) + 1)
    drawn = 0
    if (excitation := plan.problem.excitation) is not None:
        # Float64, and once more while they are cast or joined.
        numbers = excitation.numbers_of_path(plan.steps, plan.scheme.form_count)
        drawn = 16 * numbers * plan.paths
    window = times_of_window(plan) * _bytes_of_time(plan) if plan.saves_times else 0
    result = result_bytes(plan)
    if plan.device.kind == "cuda":
        folds = sum(fold.numbers for one in plan.reductions if (fold := one.fold) is not None)
        folds *= len(plan.problem.outputs)
        on_gpu = state + drawn + item * folds * plan.paths + window
        return {CPU: result + drawn, plan.device: on_gpu}
    copies = 0
    for one in plan.reductions:
        if one.keeps_rows:
            window = 0  # the window is a part of the result
        copies = max(copies, one.row_copies())
    if copies:
        copies *= threads() * item * plan.paths
    return {CPU: result + state + drawn + window + copies}


def _bytes_of_time(plan: Plan) -> int:
    """Return the bytes of all outputs at one time."""
    return len(plan.problem.outputs) * plan.paths * np.dtype(plan.dtype).itemsize


def require_memory(plan: Plan) -> None:
    """Raise MemoryError if a run does not fit: what it needs, what is free, what to do."""
    _require("a run", plan, required_bytes)


def require_memory_of_result(plan: Plan) -> None:
    """Raise MemoryError if the result of a run that others compute does not fit here."""
    _require("the result", plan, lambda plan: {CPU: result_bytes(plan)})


def require_free(device: Device, need: int, subject: str, remedies: Sequence[str]) -> None:
    """Raise MemoryError, with remedies, if that many bytes are not free on a device."""
    if need >= memory.SMALL and need > (free := memory.free_bytes(device, need)):
        raise memory.shortage(subject, device, need, free, remedies)


def _require(subject: str, plan: Plan, needs_of: Callable[[Plan], dict[Device, int]]) -> None:
    """Raise MemoryError if the bytes that `needs_of(plan)` gives for devices are not free."""
    for device, need in needs_of(plan).items():
        if need >= memory.SMALL and need > (free := memory.free_bytes(device, need)):
            _refuse(subject, plan, device, free, needs_of)


def _refuse(
    subject: str,
    plan: Plan,
    device: Device,
    free: int,
    needs_of: Callable[[Plan], dict[Device, int]],
) -> None:
    """Raise MemoryError with remedies: more bytes are needed on `device` than are free."""

    def need_of(plan: Plan) -> int:
        return needs_of(plan)[device]

    need = need_of(plan)
    remedies = []
    paths = bisect.bisect_right(
        range(1, plan.paths), free, key=lambda n: need_of(replace(plan, paths=n, whole=range(n)))
    )
    if paths:
        remedies.append(f"compute at most {paths} paths at a time (first_path=)")
    steps = range(1, plan.steps + 1)
    every = 1 + bisect.bisect_left(
        steps, -free, key=lambda n: -need_of(replace(plan, save_every=n))
    )
    if PATHS in plan.reductions and every <= plan.steps:
        remedies.append(f"use save_every={every} or more")
    for setting, changed in {
        "reduction='moments'": replace(plan, reductions=(MOMENTS,)),
        "reduction='peaks'": replace(plan, reductions=(PEAKS,)),
        "dtype='float32'": replace(plan, dtype="float32"),
    }.items():
        if (less := need_of(changed)) < need:
            remedies.append(f"{setting} needs {format_bytes(less)}")
    names = ", ".join(one.name for one in plan.reductions)
    outputs = ", ".join(plan.problem.outputs)
    size = f"{plan.paths} paths, with {plan.times} saved times of {outputs}, reduced to {names},"
    raise memory.shortage(f"{subject} of {size}", device, need, free, remedies)

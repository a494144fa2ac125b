"""Monte Carlo over several GPUs, processes or ranks: each takes a range of paths."""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import hetero
from hetero import validation
from hetero.devices import Device, resolve
from hetero.display.progress_bar import progress as _progress
from rode._solver.memory_forecast import require_memory_of_result
from rode._solver.plan import Plan
from rode._solver.stopping import new_flag, results_of, use_flag
from rode.problems import Problem
from rode.results import Quantiles, Reduction, Result, Work
from rode.solving import run, solve

if TYPE_CHECKING:
    from rode.normals import Seed


MAX_PARTS = 1 << 20
"""Largest number of parts, each of which is a task of its own."""


def solve_in_parts(
    problem: Problem,
    method: str,
    *,
    paths: int,
    parts: int | None = None,
    executor: Executor | None = None,
    rng: Seed = None,
    reduction: Reduction | Sequence[Reduction] = "moments",
    progress: bool = False,
    devices: Device | str | Iterable[Device | str] | None = None,
    **settings: Any,
) -> Result:
    """Solve as `rode.solve` does, with the paths shared out in ranges of nearly equal size.

    A path has the same floats in any range, on any of the devices of one kind; `paths` and `peaks`
    of the result do not depend on the number of parts, `mean` and `variance` only in the last
    digits.

    Parameters
    ----------
    problem, method, settings : as for `rode.solve`
    paths : of all parts
    parts : how many; None: one for each device
    executor : concurrent.futures.Executor, optional
        Takes the parts: processes, or `mpi4py.futures.MPIPoolExecutor`; the problem's functions
        must then be importable, and the processes must not be forks of one that has computed:
        `ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn"))`. None: one thread of
        this process for each device.
    rng : as for `rode.solve`, which gives the same paths
    reduction : "paths", "moments", "peaks", or a tuple of them
        Quantiles of parts do not give quantiles of all.
    progress : whether to show on the terminal how many parts are done
    devices : sequence of devices, which take parts in turn; None: every GPU, or the CPU

    Returns
    -------
    Result

    Raises
    ------
    TypeError, ValueError, MemoryError
        Before anything runs, as `rode.solve`.
    """
    for name in settings:
        if name not in inspect.signature(solve).parameters or name == "device":
            hint = "devices=, a sequence" if name == "device" else "the arguments of rode.solve"
            raise TypeError(f"solve_in_parts has no argument {name}=; it takes {hint}")
    for name in ("t_span", "h"):
        if name not in settings:
            raise TypeError(f"solve_in_parts needs {name}=, as rode.solve does")
    machines = _devices(devices)
    plan = Plan.checked(
        problem,
        method,
        paths=paths,
        rng=rng,
        reduction=reduction,
        device=machines[0],
        **settings,
    )
    if any(isinstance(one, Quantiles) for one in plan.reductions):
        raise ValueError(
            "reduction=Quantiles(..) cannot be joined from parts; use 'paths', or rode.solve"
        )
    validation.check_executor("executor", executor)
    parts = len(machines) if parts is None else parts
    parts = validation.check_integer("parts", parts, 1, min(plan.paths, MAX_PARTS))
    require_memory_of_result(plan)
    plans = [
        _part_of(plan, k * plan.paths // parts, (k + 1) * plan.paths // parts) for k in range(parts)
    ]
    plans = [replace(part, device=machines[k % len(machines)]) for k, part in enumerate(plans)]
    if executor is not None:
        results = executor.map(_run, plans)
        return _join([next(results) for _ in _progress(plans, problem.name, enabled=progress)])
    flag = new_flag()
    with ThreadPoolExecutor(len(machines)) as threads:
        futures = [threads.submit(_run, part, flag) for part in plans]
        return _join(results_of(futures, flag, title=problem.name, show_progress=progress))


def joined(results: list[Result]) -> Result:
    """Return the result of all paths from those of disjoint ranges, in their order."""
    return _join(list(results))


def _join(results: list[Result]) -> Result:
    """Join results and drop their paths one by one, so that only a part is in memory twice."""
    if len(results) == 1:
        return results.pop()
    paths = None
    if results[0].paths is not None:
        shape = *results[0].paths.shape[:2], sum(r.work.paths for r in results)
        paths, end = np.empty(shape, results[0].paths.dtype), 0
        for number, result in enumerate(results):
            begin, end = end, end + result.work.paths
            paths[:, :, begin:end] = result.paths
            results[number] = replace(result, paths=None)
            del result
    first, works = results[0], [r.work for r in results]
    mean, variance = _moments(results)
    failures = [r.message for r in results if not r.success]
    return replace(
        first,
        work=Work(
            sum(w.paths for w in works),
            first.work.coarse_steps,
            sum(w.fine_steps for w in works),
            sum(w.normals for w in works),
        ),
        status="diverged" if failures else "success",
        message="; ".join(failures) if failures else first.message,
        paths=paths,
        peaks=None if first.peaks is None else _concatenate_peaks(results),
        mean=mean,
        variance=variance,
    )


def _concatenate_peaks(results: list[Result]) -> np.ndarray:
    """Return the peaks of all paths."""
    return np.concatenate([r.peaks for r in results if r.peaks is not None], axis=1)


def _moments(results: list[Result]) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Return mean and variance by the update of Chan, Golub and LeVeque (1983), part after part."""
    if results[0].mean is None:
        return None, None
    count, mean, squares = 0, np.zeros(()), np.zeros(())
    for r in results:
        added = r.work.paths
        distance, total = np.asarray(r.mean) - mean, count + added
        inner = 0.0 if added == 1 else np.asarray(r.variance) * (added - 1)
        squares = squares + inner + distance**2 * (count * added / total)
        mean = mean + distance * (added / total)
        count = total
    return mean, squares / (count - 1) if count > 1 else np.full_like(mean, math.nan)


def _devices(devices: Device | str | Iterable[Device | str] | None) -> list[Device]:
    """Return the devices, which must be of one kind."""
    if devices is None:
        gpus = [d for d in hetero.available() if d.kind == "cuda"]
        return gpus or [resolve("cpu")]
    if isinstance(devices, str | Device):
        devices = (devices,)
    validation.require_iterable("devices", devices, "devices")
    devices = tuple(devices)
    if any(d is None for d in devices):
        raise TypeError("devices must hold devices or their names, got None")
    resolved = [resolve(d) for d in devices]
    if len({d.kind for d in resolved}) != 1:
        raise ValueError(
            f"devices must be of one kind, got {', '.join(map(str, resolved)) or 'none'}"
        )
    return resolved


def _part_of(plan: Plan, low: int, high: int) -> Plan:
    """Return the plan for these paths.

    Each path has as many threads as in a run of all paths, so that sums are rounded alike.
    """
    problem = plan.problem
    if problem.sets > 1:
        problem = replace(problem, parameters=problem.parameters[:, low:high])
    return replace(plan, problem=problem, paths=high - low, first_path=plan.first_path + low)


def _run(plan: Plan, flag: np.ndarray | None = None) -> Result:
    """Solve one part; in a thread of this process it stops when `flag` is set."""
    with contextlib.nullcontext() if flag is None else use_flag(flag):
        return run(replace(plan, device=resolve(plan.device)))

"""Run time and speed-up over the pipeline length (Riesinger 2017, figures 6.2 to 6.5)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

import sbth
from hetero.cpu.threads import threads, use_threads
from sbth._bulge_chasing.schedule_formulas import last_task, step_count, sweep_count
from sbth.tridiagonalization import NARROW_BANDWIDTH
from studies.sbth.host_driven import ORDERS, HostDriven
from studies.sbth.operations import BANDWIDTHS
from studies.study import Study

LENGTHS = {1000: (1, 2, 4, 8, 12), 5000: (1, 4, 12)}
"""Pipeline lengths in Riesinger (2017), by order. The fused kernel also runs at full length."""

STYLES = {"fused": "o-", "threads": "o-", "breadth first": "s--", "depth first": "x:"}

WINDOW = 60
"""Smallest number of tasks of the host-driven pipeline that are timed."""

BEST = 3.70
"""Largest speed-up in Riesinger (2017): K20x, n = 1000, d = 32, length 12."""


def run(study: Study) -> dict:
    """Time all pipelines at all lengths."""
    runs = []
    for n in (200,) if study.quick else (1000, 5000):
        for d in (16,) if study.quick else BANDWIDTHS:
            ab = np.random.default_rng(n + d).standard_normal((d + 1, n))
            runs += _fused(study, ab) + _host_driven(study, ab)
    for record in runs:
        first, n, d = record["seconds"][0], record["n"], record["d"]
        record["speed-up"] = [first / s for s in record["seconds"]]
        record["tasks over steps"] = task_count(n, d) / step_count(n, d)
    _show(study, runs)
    return {"runs": runs, "Riesinger 2017, largest speed-up": BEST}


def task_count(n: int, d: int) -> int:
    """Return the number of tasks of a reduction in one stage.

    Divided by the number of steps it bounds the gain of a pipeline.
    """
    return sum(last_task(s, n, d) + 1 for s in range(sweep_count(n)))


def _record(ab: np.ndarray, variant: str, lengths: Iterable[int], seconds: list) -> dict:
    """Return the record of one pipeline for one matrix."""
    n, d = ab.shape[1], ab.shape[0] - 1
    return {"n": n, "d": d, "way": variant, "lengths": list(lengths), "seconds": seconds}


def _fused(study: Study, ab: np.ndarray) -> list[dict]:
    """Time the fused kernels, NumPy in and out; on a CPU the length is the number of threads."""
    n, d = ab.shape[1], ab.shape[0] - 1
    if study.device.kind == "cpu":
        available = threads()
        lengths = [length for length in (1, 2, 4, 8, 12, 16, 32, 64) if length <= available]
        seconds = []
        for length in lengths:
            with use_threads(length):
                seconds.append(_time(study, ab, method="wavefront"))
        return [_record(ab, "fused, threads", lengths, seconds)]
    full_length = n // (2 * min(d, NARROW_BANDWIDTH)) + 1
    lengths = [*(length for length in _lengths(n) if length < full_length), full_length]
    seconds = [_time(study, ab, in_flight=length) for length in lengths]
    return [_record(ab, "fused", lengths, seconds)]


def _lengths(n: int) -> tuple[int, ...]:
    """Return the pipeline lengths for an order."""
    return LENGTHS.get(n, (1, 2))


def _time(study: Study, ab: np.ndarray, **options: Any) -> float:
    """Return the better of two runs, or one if it takes long, without compilation."""
    sbth.tridiagonalize(ab[:, : 2 * len(ab)], lower=True, device=study.device, **options)
    seconds: list[float] = []
    while len(seconds) < 2 and sum(seconds) < 0.25:
        start = time.perf_counter()
        sbth.tridiagonalize(ab, lower=True, device=study.device, **options)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _host_driven(study: Study, ab: np.ndarray) -> list[dict]:
    """Time wavefronts in the middle of the reduction, and scale up to all tasks."""
    n, d = ab.shape[1], ab.shape[0] - 1
    total = task_count(n, d)
    begin, records = step_count(n, d) // 2, []
    window = min(-(-WINDOW // max(1, n // (4 * d))), begin - 1)  # wavefronts
    work = np.random.default_rng(n).standard_normal((n, 2 * d))
    lengths = [length for length in _lengths(n) if length <= n // (2 * d) + 1]
    for order in ORDERS if study.device.kind == "cuda" else ORDERS[1:]:
        seconds = []
        for length in lengths:
            driver = HostDriven(work, study.device, length, order)
            driver.run(begin, begin + 1)
            tasks_before = driver.tasks
            start = time.perf_counter()
            driver.run(begin + 1, begin + 1 + window)
            elapsed = time.perf_counter() - start
            seconds.append(elapsed / (driver.tasks - tasks_before) * total)
        records.append(_record(ab, f"host-driven, {order}", lengths, seconds))
    return records


def _show(study: Study, runs: list[dict]) -> None:
    """Write the table and the figures."""
    rows = [
        (
            *(r["n"], r["d"], r["way"], r["seconds"][0], r["seconds"][-1]),
            *(max(r["speed-up"]), r["tasks over steps"]),
        )
        for r in runs
    ]
    heads = ("n", "d", "pipeline", "s at length 1", "s at the longest", "speed-up", "tasks/steps")
    study.table(f"Pipeline (largest speed-up in Riesinger 2017: {BEST})", heads, rows)
    orders = sorted({r["n"] for r in runs})
    for key, name in (("seconds", "run time in s"), ("speed-up", "speed-up")):
        figure = study.figure((9.0, 4.5 * len(orders)))
        axes = figure.subplots(len(orders), 1, squeeze=False)[:, 0]
        for ax, n in zip(axes, orders, strict=True):
            for r in (r for r in runs if r["n"] == n):
                style = STYLES[r["way"].rpartition(", ")[2]]
                colour = f"C{BANDWIDTHS.index(r['d'])}"
                label = f"d = {r['d']}, {r['way']}"
                ax.loglog(r["lengths"], r[key], style, color=colour, label=label)
            ax.set(title=f"n = {n}", xlabel="pipeline length", ylabel=name)
        axes[0].legend(fontsize=6, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        study.save(figure, f"pipeline-{key}.png")

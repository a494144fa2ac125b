"""Run time and speed-up over the length of the pipeline: the thesis's figures 6.2 to 6.5."""

from __future__ import annotations

import time

import numpy as np

import sbth
from hetero._threads import threads, use_threads
from hetero.study import Study
from sbth._order_math import last_task, step_count, sweep_count
from sbth.reduction import NARROW_BANDWIDTH
from sbth.study.host_driven import ORDERS, HostDriven
from sbth.study.operations import BANDWIDTHS

LENGTHS = {1000: (1, 2, 4, 8, 12), 5000: (1, 4, 12)}
"""The thesis's, by order; the fused kernel goes on to all that the algorithm allows."""

STYLES = {"fused": "o-", "threads": "o-", "breadth first": "s--", "depth first": "x:"}

WINDOW = 60
"""Tasks of the host-driven pipeline that are timed, at least."""

BEST = 3.70
"""Largest speed-up in the thesis (K20x, n = 1000, d = 32, length 12)."""


def run(study: Study) -> dict:
    found = []
    for n in (200,) if study.quick else (1000, 5000):
        for d in (16,) if study.quick else BANDWIDTHS:
            ab = np.random.default_rng(n + d).standard_normal((d + 1, n))
            found += _fused(study, ab) + _host_driven(study, ab)
    for record in found:
        first, n, d = record["seconds"][0], record["n"], record["d"]
        record["speed-up"] = [first / s for s in record["seconds"]]
        record["tasks over steps"] = task_count(n, d) / step_count(n, d)
    _show(study, found)
    return {"runs": found, "thesis, largest speed-up": BEST}


def task_count(n: int, d: int) -> int:
    """Of a reduction in one step; over its steps they are the most that a pipeline can gain."""
    return sum(last_task(s, n, d) + 1 for s in range(sweep_count(n)))


def _record(ab, way: str, lengths, seconds) -> dict:
    n, d = ab.shape[1], ab.shape[0] - 1
    return {"n": n, "d": d, "way": way, "lengths": list(lengths), "seconds": seconds}


def _fused(study: Study, ab) -> list[dict]:
    """The fused kernels, NumPy in and out; on a CPU over threads, one for a pipeline's item."""
    n, d = ab.shape[1], ab.shape[0] - 1
    if study.device.kind == "cpu":
        most = threads()
        lengths = [length for length in (1, 2, 4, 8, 12, 16, 32, 64) if length <= most]
        seconds = []
        for length in lengths:
            with use_threads(length):
                seconds.append(_time(study, ab, method="wavefront"))
        return [_record(ab, "fused, threads", lengths, seconds)]
    everything = n // (2 * min(d, NARROW_BANDWIDTH)) + 1
    lengths = [*(length for length in _lengths(n) if length < everything), everything]
    seconds = [_time(study, ab, in_flight=length) for length in lengths]
    return [_record(ab, "fused", lengths, seconds)]


def _lengths(n: int) -> tuple[int, ...]:
    return LENGTHS.get(n, (1, 2))


def _time(study: Study, ab, **options) -> float:
    """The best of two runs, or the first one if it takes long; without compilation."""
    sbth.tridiagonalize(ab[:, : 2 * len(ab)], lower=True, device=study.device, **options)
    seconds = []
    while len(seconds) < 2 and sum(seconds) < 0.25:
        start = time.perf_counter()
        sbth.tridiagonalize(ab, lower=True, device=study.device, **options)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def _host_driven(study: Study, ab) -> list[dict]:
    """Wavefronts in the middle of the reduction, and what all tasks take at their pace."""
    n, d = ab.shape[1], ab.shape[0] - 1
    total = task_count(n, d)
    begin, found = step_count(n, d) // 2, []
    window = min(-(-WINDOW // max(1, n // (4 * d))), begin - 1)  # wavefronts
    work = np.random.default_rng(n).standard_normal((n, 2 * d))
    lengths = [length for length in _lengths(n) if length <= n // (2 * d) + 1]
    for order in ORDERS if study.device.kind == "cuda" else ORDERS[1:]:
        seconds = []
        for length in lengths:
            driver = HostDriven(work, study.device, length, order)
            driver.run(begin, begin + 1)
            done = driver.tasks
            start = time.perf_counter()
            driver.run(begin + 1, begin + 1 + window)
            elapsed = time.perf_counter() - start
            seconds.append(elapsed / (driver.tasks - done) * total)
        found.append(_record(ab, f"host-driven, {order}", lengths, seconds))
    return found


def _show(study: Study, found: list[dict]) -> None:
    rows = [
        (
            *(r["n"], r["d"], r["way"], r["seconds"][0], r["seconds"][-1]),
            *(max(r["speed-up"]), r["tasks over steps"]),
        )
        for r in found
    ]
    heads = ("n", "d", "way", "s at length 1", "s at the longest", "speed-up", "tasks over steps")
    study.table(f"Pipeline; the thesis's best speed-up is {BEST}", heads, rows)
    orders = sorted({r["n"] for r in found})
    for key, name in (("seconds", "run time in s"), ("speed-up", "speed-up")):
        figure = study.figure((9.0, 4.5 * len(orders)))
        axes = figure.subplots(len(orders), 1, squeeze=False)[:, 0]
        for at, n in zip(axes, orders, strict=True):
            for r in (r for r in found if r["n"] == n):
                style = STYLES[r["way"].rpartition(", ")[2]]
                colour = f"C{BANDWIDTHS.index(r['d'])}"
                label = f"d = {r['d']}, {r['way']}"
                at.loglog(r["lengths"], r[key], style, color=colour, label=label)
            at.set(title=f"n = {n}", xlabel="pipeline length", ylabel=name)
        axes[0].legend(fontsize=6, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        study.save(figure, f"pipeline-{key}.png")

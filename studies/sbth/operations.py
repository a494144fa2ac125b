"""Shares and calls of the BLAS operations (Riesinger 2017, figure 6.1 and table 6.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.devices import Device
from sbth._reduction.bulge_chasing.schedule_formulas import last_task, sweep_count
from studies.papers.printed import BANDWIDTHS, BLAS_CALLS
from studies.sbth.blas import Loops
from studies.sbth.host_driven import HostDriven
from studies.sbth.task_program import PROGRAMS
from studies.study import Study

if TYPE_CHECKING:
    from studies.sbth.prepared import PreparedPipeline
    from studies.sbth.prepared.cuda_machine import CudaMachine

NAMES = {
    "copy_column": "copy",
    "scal_first": "scal",
    "scal_length": "scal",
    "eliminate": "copy",
    "gemv_t": "gemv",
}
"""Names under which Riesinger (2017) counts operations, if they differ."""


def run(study: Study) -> dict:
    """Count and time the operations of whole reductions."""
    runs = []
    for d in _bandwidths(study):
        seconds = _seconds(d, study)
        runs += [_shares(n, d, count_calls(n, d), seconds) for n in _orders(study)]
    by_vendor = _measure_vendor(study)
    _show(study, runs, "")
    if by_vendor:
        _show(study, by_vendor, ", vendor's BLAS")
    return {"runs": runs, "vendor's BLAS": by_vendor, "Riesinger 2017, calls": BLAS_CALLS}


def _bandwidths(study: Study) -> tuple[int, ...]:
    """Return the bandwidths of the study."""
    return (16,) if study.quick else BANDWIDTHS


def _orders(study: Study) -> tuple[int, ...]:
    """Return the orders of the matrices of the study."""
    return (200,) if study.quick else (1000, 5000)


def _shares(n: int, d: int, calls: Counter[str], seconds: dict[str, float]) -> dict:
    """Return calls and shares of the time of each operation, from the seconds of a call."""
    named: Counter[str] = Counter()
    time: dict[str, float] = defaultdict(float)
    for name, count in calls.items():
        if not count:
            continue
        named[NAMES.get(name, name)] += count
        time[NAMES.get(name, name)] += count * seconds[name]
    total = sum(time.values())
    share = {name: value / total for name, value in time.items()}
    return {"n": n, "d": d, "calls": dict(named), "share": share, "seconds": total}


def count_calls(n: int, d: int) -> Counter:
    """Return how often a reduction calls each operation."""
    driver = HostDriven(np.zeros((4 * d, 2 * d)), Device("cpu"), 1, "depth first")
    begin, middle, end = (Counter(driver.task(0, k, None)) for k in (0, 1, 3))
    tasks = np.array([last_task(s, n, d) + 1 for s in range(sweep_count(n))])
    total: Counter[str] = Counter()
    for name in begin:
        extra = len(tasks) * (begin[name] - middle[name])
        total[name] = extra + (tasks.sum() - len(tasks)) * middle[name] + len(tasks) * end[name]
    return Counter({name: int(count) for name, count in total.items()})


def _measure_vendor(study: Study) -> list[dict]:
    """Count and time the routines of the vendor's BLAS; empty on a CPU and without that library."""
    if study.device.kind == "cpu":
        return []
    from studies.sbth.prepared import PreparedPipeline
    from studies.sbth.prepared.cuda_machine import CudaMachine, LibraryNotInstalledError
    from studies.sbth.prepared.encoding import LIBRARIES

    try:
        machine = CudaMachine(with_library=True)
    except LibraryNotInstalledError as error:
        study.table("Left out: vendor's BLAS", ("why",), [(str(error),)])
        return []
    runs = []
    for d in _bandwidths(study):
        work = np.random.default_rng(d).standard_normal((4 * d, 2 * d))
        pipeline = PreparedPipeline(work, machine, 1, "depth first", LIBRARIES[1])
        seconds = _seconds_of_instructions(machine, pipeline, 3 if study.quick else 100)
        runs += [sum_instructions(n, d, pipeline, seconds) for n in _orders(study)]
    return runs


def _seconds_of_instructions(
    machine: CudaMachine, pipeline: PreparedPipeline, repeats: int
) -> list[float]:
    """Return the seconds of each instruction on full blocks, in a graph that repeats it."""
    seconds = []
    for i in range(len(pipeline.names)):
        pipeline.repeat(i, 1)
        machine.wait()
        graph = machine.capture(pipeline.stream, partial(pipeline.repeat, i, repeats))
        graph.run()
        seconds.append(graph.run() / repeats)
        graph.close()
    return seconds


def sum_instructions(n: int, d: int, pipeline: PreparedPipeline, seconds: list[float]) -> dict:
    """Return calls and shares of the time of each routine, from the seconds of instructions."""
    calls: Counter[str] = Counter()
    time: dict[str, float] = defaultdict(float)
    bounds = pipeline.program.bounds
    for index, count in enumerate(count_programs(n, d)):
        for i in range(bounds[index], bounds[index + 1]):
            calls[pipeline.names[i]] += count
            time[pipeline.names[i]] += count * seconds[i]
    return _shares(n, d, calls, {name: time[name] / calls[name] for name in calls if calls[name]})


def count_programs(n: int, d: int) -> list[int]:
    """Return how many tasks of a reduction have each of `PROGRAMS`."""
    counts = Counter(
        (k == 0, k < last)
        for s in range(sweep_count(n))
        for last in (last_task(s, n, d),)
        for k in {0, last}
    )
    inner = sum(max(last_task(s, n, d) - 1, 0) for s in range(sweep_count(n)))
    return [counts[program] + (inner if program == (False, True) else 0) for program in PROGRAMS]


def _seconds(d: int, study: Study) -> dict[str, float]:
    """Return the seconds of a call of each operation on full blocks."""
    driver = HostDriven(np.ones((4 * d, 2 * d)), study.device, 1, "depth first")
    seconds: dict[str, float] = {}
    blas = driver.blas
    driver.blas = _Timed(blas, 3 if study.quick else 100, seconds)
    for _ in driver.task(0, 0, driver.streams[0]):
        pass
    return seconds


class _Timed:
    """Stand-in for the BLAS module that times each operation instead of calling it once."""

    def __init__(self, blas: Loops, repeats: int, seconds: dict[str, float]):
        self._blas, self._repeats, self._seconds = blas, repeats, seconds

    def call(self, name: str, operands: Sequence[Any], stream: Any) -> None:
        """Time an operation."""
        self._seconds[name] = self._blas.seconds(
            lambda: self._blas.call(name, operands, stream), self._repeats
        )


def _show(study: Study, runs: list[dict], library: str) -> None:
    """Write the tables and the figure of a library."""
    names = list(BLAS_CALLS[1000])
    for n in sorted({r["n"] for r in runs}):
        selected = [r for r in runs if r["n"] == n]
        rows = [(name, *(r["calls"][name] for r in selected)) for name in names]
        study.table(
            f"Calls, n = {n}{library}", ("operation", *(f"d = {r['d']}" for r in selected)), rows
        )
        rows = [(name, *(100.0 * r["share"][name] for r in selected)) for name in names]
        heads = ("operation", *(f"d = {r['d']}" for r in selected))
        study.table(
            f"Shares of the operations in their total time, %, n = {n}{library}", heads, rows
        )
    figure = study.figure()
    axes = figure.subplots(1, len({r["n"] for r in runs}), squeeze=False)[0]
    for ax, n in zip(axes, sorted({r["n"] for r in runs}), strict=True):
        selected = [r for r in runs if r["n"] == n]
        bottom = np.zeros(len(selected))
        for name in reversed(names):
            height = np.array([r["share"][name] for r in selected])
            ax.bar([str(r["d"]) for r in selected], height, bottom=bottom, label=name)
            bottom += height
        ax.set(title=f"n = {n}", xlabel="bandwidth d", ylabel="share of the total time")
    axes[-1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    study.save(figure, f"operations{'-vendor' if library else ''}.png")

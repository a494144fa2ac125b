"""Run time and speed-up over the pipeline length (Riesinger 2017, figures 6.2 to 6.5).

The fused kernel stands beside the pipeline of chapter 5, in which the host launches every BLAS
operation: of our kernels or of the vendor's BLAS, breadth first or depth first, and as CUDA graphs,
which are the time of the GPU alone. Our kernels also work on row-major storage (section 5.1), which
the thesis expects to be much slower. Of matrices with many tasks every k-th step is executed, from
the first to the last, and its time is multiplied by the share of tasks. For n = 1000 the longest
breadth-first pipeline reduces the whole matrix, whose eigenvalues are compared.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.linalg

import sbth
from hetero.cpu.threads import threads, use_threads
from sbth._problem.limits import NARROW_BANDWIDTH
from sbth._reduction.bulge_chasing.schedule_formulas import last_task, step_count, sweep_count
from studies.papers.printed import BANDWIDTHS
from studies.sbth.host_driven import ORDERS
from studies.sbth.task_formulas import LAYOUTS
from studies.study import Study

if TYPE_CHECKING:
    from studies.sbth.prepared import PreparedPipeline
    from studies.sbth.prepared.cuda_machine import CudaMachine

LENGTHS = {1000: (1, 2, 4, 8, 12), 5000: (1, 4, 12)}
"""Pipeline lengths in Riesinger (2017), by order. The fused kernel also runs at full length."""

WHOLE = 32_000
"""Tasks up to which a matrix is reduced as a whole at the longest length: those for n = 1000."""

SAMPLE = 4000
"""Tasks that are executed otherwise: some 120,000 operations, 0.2 to 0.5 s of a host."""

GRAPH_TASKS = 1000
"""Tasks that are executed as graphs, of any matrix: preparing a graph takes longer than its run."""

TASKS_OF_A_GRAPH = 100
"""Tasks in a graph, roughly: some 3000 operations."""

MARKERS = {"fused": "o-", "fused, threads": "o-", ORDERS[0]: "s--", ORDERS[1]: "x:", "graphs": "^-"}

BEST = 3.70
"""Largest speed-up in Riesinger (2017): K20x, n = 1000, d = 32, length 12."""


HEADS = ("n", "d", "way", "s at length 1", "s at the longest", "best speed-up", "tasks/steps")


def run(study: Study) -> dict:
    """Time all pipelines at all lengths."""
    runs: list[dict] = []
    study.table(
        f"Pipeline (largest speed-up in Riesinger 2017: {BEST})", HEADS, _measure(study, runs)
    )
    _draw(study, runs)
    return {"runs": runs, "Riesinger 2017, largest speed-up": BEST}


def _measure(study: Study, runs: list[dict]) -> Iterator[tuple]:
    """Add records of all matrices and pipelines to `runs`, and yield a row for each."""
    for n in (200,) if study.quick else (1000, 5000):
        for d in (16,) if study.quick else BANDWIDTHS:
            ab = np.random.default_rng(n + d).standard_normal((d + 1, n))
            for record in itertools.chain(_fused(study, ab), _launched(study, ab)):
                seconds = record["seconds"]
                record["speed-up"] = [seconds[0] / s for s in seconds]
                record["tasks over steps"] = task_count(n, d) / step_count(n, d)
                runs.append(record)
                yield (
                    *(n, d, record["way"], seconds[0], seconds[-1]),
                    *(max(record["speed-up"]), record["tasks over steps"]),
                )


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


def _launched(study: Study, ab: np.ndarray) -> Iterator[dict]:
    """Time the pipelines in which the host launches every operation; none on a CPU."""
    if study.device.kind == "cpu":
        return
    from studies.sbth.prepared.cuda_machine import CudaMachine, LibraryNotInstalledError
    from studies.sbth.prepared.encoding import LIBRARIES

    n, d = ab.shape[1], ab.shape[0] - 1
    lengths = [length for length in _lengths(n) if length <= n // (2 * d) + 1]
    for library, layout in itertools.product(LIBRARIES, LAYOUTS):
        if library == LIBRARIES[1] and layout == LAYOUTS[1]:
            continue  # routines need columns of elements beside each other
        way = library if layout == LAYOUTS[0] else f"{library}, {layout}"
        try:
            machine = CudaMachine(with_library=library == LIBRARIES[1])
        except LibraryNotInstalledError as error:
            study.table(f"Left out: {library}", ("why",), [(str(error),)])
            continue
        for order in ORDERS if layout == LAYOUTS[0] else ORDERS[:1]:
            wholes = [order == ORDERS[0] and length == lengths[-1] for length in lengths]
            times = [
                _time_launches(machine, ab, length, (order, library, layout), whole=whole)
                for length, whole in zip(lengths, wholes, strict=True)
            ]
            record = _record(ab, f"{way}, {order}", lengths, [t[0] for t in times])
            yield record | {"error of eigenvalues": times[-1][1]}
        kind = ORDERS[0], library, layout
        seconds = [_time_graphs(machine, ab, length, kind) for length in lengths]
        yield _record(ab, f"{way}, graphs", lengths, seconds)


Kind: TypeAlias = tuple[str, str, str]
"""Order, library and layout of a pipeline: arguments of `PreparedPipeline`."""


def _pipeline(machine: CudaMachine, ab: np.ndarray, length: int, kind: Kind) -> PreparedPipeline:
    """Return a pipeline whose kernels and routines have been loaded, at the first step."""
    from studies.sbth.prepared import PreparedPipeline

    warm = PreparedPipeline(working_matrix(ab[:, : 4 * len(ab)]), machine, length, *kind)
    warm.issue()
    machine.wait()
    return PreparedPipeline(working_matrix(ab), machine, length, *kind)


def _time_launches(
    machine: CudaMachine, ab: np.ndarray, length: int, kind: Kind, *, whole: bool
) -> tuple[float, float | None]:
    """Return seconds of a reduction, and the largest error of its eigenvalues if it was whole.

    With `whole` all tasks are executed unless they are too many, else a sample of them.
    """
    n, d = ab.shape[1], ab.shape[0] - 1
    total = task_count(n, d)
    pipeline = _pipeline(machine, ab, length, kind)
    start = time.perf_counter()
    pipeline.issue(stride=1 if whole and total <= WHOLE else -(-total // SAMPLE))
    machine.wait()
    elapsed = time.perf_counter() - start
    compares = whole and pipeline.tasks == total
    error = spectrum_error(ab, pipeline.result()) if compares else None
    return elapsed * total / pipeline.tasks, error


def _time_graphs(machine: CudaMachine, ab: np.ndarray, length: int, kind: Kind) -> float:
    """Return seconds of a reduction by graphs, each of some consecutive steps."""
    n, d = ab.shape[1], ab.shape[0] - 1
    total = task_count(n, d)
    pipeline = _pipeline(machine, ab, length, kind)
    steps = max(2, TASKS_OF_A_GRAPH * pipeline.steps // total)
    elapsed = 0.0
    for begin in range(0, pipeline.steps, steps * max(1, total // GRAPH_TASKS)):
        stop = min(begin + steps, pipeline.steps)
        graph = machine.capture(pipeline.stream, partial(pipeline.issue, begin, stop))
        elapsed += graph.run()
        graph.close()
    return elapsed * total / pipeline.tasks


def working_matrix(ab: np.ndarray) -> np.ndarray:
    """Return the working matrix, (n, 2 d), of a matrix in lower band storage."""
    d, n = ab.shape[0] - 1, ab.shape[1]
    work = np.zeros((n, 2 * d))
    for k, row in enumerate(ab):
        work[: n - k, k] = row[: n - k]
    return work


def spectrum_error(ab: np.ndarray, work: np.ndarray) -> float:
    """Return the largest error of a reduced matrix' eigenvalues, relative to the largest one."""
    values = scipy.linalg.eigvalsh_tridiagonal(work[:, 0], work[:-1, 1])
    true = scipy.linalg.eigvals_banded(ab, lower=True)
    return float(np.abs(values - true).max() / np.abs(true).max())


def _draw(study: Study, runs: list[dict]) -> None:
    """Draw the seconds and the speed-ups over the lengths."""
    orders = sorted({r["n"] for r in runs})
    for key, name in (("seconds", "run time in s"), ("speed-up", "speed-up")):
        figure = study.figure((9.0, 4.5 * len(orders)))
        axes = figure.subplots(len(orders), 1, squeeze=False)[:, 0]
        for ax, n in zip(axes, orders, strict=True):
            for r in (r for r in runs if r["n"] == n):
                way = r["way"]
                style = MARKERS[way if way in MARKERS else way.rpartition(", ")[2]]
                colour = f"C{BANDWIDTHS.index(r['d'])}"
                label = f"d = {r['d']}, {r['way']}"
                ax.loglog(r["lengths"], r[key], style, color=colour, label=label)
            ax.set(title=f"n = {n}", xlabel="pipeline length", ylabel=name)
        axes[0].legend(fontsize=6, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        study.save(figure, f"pipeline-{key}.png")

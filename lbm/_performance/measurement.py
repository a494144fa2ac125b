"""Times of the operations of a step, measured on this machine for the performance model."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hetero.devices import Device
from lbm._kernels.problem import Box, Problem
from lbm._parallel.domain.domain import Domain
from lbm._parallel.domain.domains import make_domain
from lbm._parallel.exchange.messages import message_shape
from lbm._parallel.partition import Decomposition
from lbm._parallel.parts import edge_thickness, make_engine
from lbm._performance.machine import Axes, Curve, DeviceTimes, Linear, Machine
from lbm._performance.model import CROSSING, best_ratio
from lbm.lattices.extent import Extent

LOGGER = logging.getLogger(__name__)

SAMPLES = 3
"""Samples of each time, of which the best counts."""

SLAB_THICKNESS = 8
"""Cells across a face in the blocks with which its halo is measured."""

COPIES, LAUNCHES = 50, 4
"""Copies in a sample, and at most so many launches of kernels for each of them."""

SAMPLE_SECONDS = 0.02
"""Least duration of a sample."""

FEWEST_CPU_CELLS, MOST_CPU_CELLS = 1 << 17, 1 << 24
"""Sizes of the boxes with which a CPU is measured: from within its caches to far beyond them."""

ROWS_RATIO = 0.8
"""Ratio of the numbers of rows of two boxes with which a CPU is measured."""


TRIED_SHARES = (0.5, 0.75, 1.0, 1.2)
"""Multiples of the predicted share that are tried: where it fails, it is mostly too large."""

SHARE_TAKEN = 0.75
"""Share of the best share that is taken. The rate rises slowly up to the best share and falls
steeply beyond it, to which a CPU that has become slower by a third shifts it."""

LEAST_GAIN = 1.1
"""Gain below which the GPU computes alone. A CPU that other programs use may take twice as long a
second after it was measured, and the whole step waits for it: a smaller gain is not worth it."""


def time_call(function: Callable[[int], object], wait: Callable[[], object]) -> float:
    """Return the seconds of function(t), called for t = 0, 1, 2, ... without waiting in between."""

    def sample(calls: int) -> float:
        start = time.perf_counter()
        for t in range(calls):
            function(t)
        wait()
        return time.perf_counter() - start

    sample(2)
    calls = 2
    while (seconds := sample(calls)) < SAMPLE_SECONDS and calls < 1 << 14:
        calls *= 2
    return min([seconds, *(sample(calls) for _ in range(SAMPLES - 1))]) / calls


def time_copies(workers: Sequence[Any], start: Callable[[int], object]) -> float:
    """Return the seconds of the copies that start(t) starts, on the slowest of their workers.

    On a GPU the time in which the host starts them is not included: it passes while cells are
    updated, and the model counts it by itself.
    """
    times = []
    for t in range(2):
        start(t)
    for _ in range(SAMPLES):
        for worker in workers:
            worker.start_timer(COPIES * LAUNCHES)
        for t in range(COPIES):
            start(t)
        times.append(max(worker.stop_timer() for worker in workers) / COPIES)
    return min(times)


def measure_device(
    problem: Problem, device: Device, *, beside: Device | None = None
) -> DeviceTimes:
    """Measure the operations of a device on a problem and on half of it.

    Parameters
    ----------
    problem : a flow of at least 8 cells along each axis, without a halo
    device : Device
    beside : the GPU beside which a CPU works, in memory that the GPU can access
    """
    with device.active():  # a launch from another GPU would switch there and back each time
        return _measure_operations(problem, device, beside)


def _measure_operations(problem: Problem, device: Device, beside: Device | None) -> DeviceTimes:
    domains = [make_domain(_select(problem, share), device) for share in (2, 1)]
    if device.kind == "cuda":
        cells: Linear | Curve = Linear.through(*((d.problem.cells, _time_step(d)) for d in domains))
    else:
        cells = _measure_rows(problem, beside)
    x, y, z = (_time_layers(domains, axis) for axis in range(3))
    del domains
    halo = {"direct": _time_copies(problem, device, None)}
    halo["host"] = _time_packing(problem, device, on_host=True)
    if device.kind == "cuda":
        halo["peer"] = halo["device"] = _time_packing(problem, device, on_host=False)
        halo["mapped"] = _time_copies(problem, device, Device("cpu"))
    return DeviceTimes(device.kind, cells, (x, y, z), halo, _time_overhead(problem, device))


def measure_machine(
    problem: Problem, devices: list[Device], *, links: bool = True, cpu_beside: bool = True
) -> Machine:
    """Measure the devices of this machine, and messages between two ranks on it.

    Parameters
    ----------
    problem : a flow of the size of a box
    devices : the CPU or GPUs; with two GPUs the direct copies are those between them
    links : whether to measure messages, which starts two ranks
    cpu_beside : whether to measure the CPU, too, if the devices are GPUs
    """
    gpus = [d for d in devices if d.kind == "cuda"]
    gpu = measure_device(problem, gpus[0]) if gpus else None
    if gpu is not None and len(gpus) > 1:
        direct = {"direct": _time_copies(problem, gpus[0], gpus[1])}
        gpu = replace(gpu, halo={**gpu.halo, **direct})
    cpu = None
    if not gpus or cpu_beside:
        beside = gpus[0] if gpus else None
        cpu = measure_device(_shrink(problem) if gpus else problem, Device("cpu"), beside=beside)
    messages: dict[str, Linear] = {}
    if links:
        from lbm._performance.ping import measure_messages

        host = measure_messages()
        # Between two GPUs MPI carries one byte of news.
        messages = {"host": host, "device": host, "peer": Linear(host.start, 0.0)}
    names = dict.fromkeys(d.name for d in [*gpus[:1], Device("cpu")])
    return Machine(" + ".join(names), problem.precision.itemsize, gpu, cpu, messages)


def measure_best_ratio(problem: Problem, device: Device, machine: Machine | None = None) -> float:
    """Measure steps with some shares of the rows on the CPU; return a good one, often 0.

    The model says about which share is best. The CPU shares its caches and its memory with other
    programs, which no model knows: a share is taken only if the slowest of its samples is faster by
    `LEAST_GAIN` than the fastest of the GPU alone, and then only `SHARE_TAKEN` of it, or all rows,
    if the CPU alone was best. Domains of fewer than 8 cells along an axis are too small to share.

    Parameters
    ----------
    machine : the machine's times, if they have been measured
    """
    rows = problem.shape[1]
    if min(problem.shape) < SLAB_THICKNESS:
        return 0.0
    predicted = best_ratio(
        machine or measure_machine(problem, [device], links=False), problem.shape
    )
    counts = {min(round(factor * predicted * rows), rows) for factor in TRIED_SHARES} - {0}
    best, limit = 0, 0.0
    if counts:
        limit = min(_time_samples(problem, device, 0.0)) / LEAST_GAIN
    for count in sorted(counts):
        slowest = max(_time_samples(problem, device, count / rows))
        if slowest < limit:
            best, limit = count, slowest
    chosen = rows if best == rows else int(SHARE_TAKEN * best)
    LOGGER.info(
        "ratio='auto' takes %d of %d rows: the model predicts %.4g, %d of %s had the best step, "
        "%.3g s",
        *(chosen, rows, predicted * rows, best, [0, *sorted(counts)], limit),
    )
    return chosen / rows


def _time_samples(problem: Problem, device: Device, ratio: float) -> list[float]:
    """Return the seconds of a step in several samples, with a share of the rows on the CPU."""
    domain = make_domain(problem, device, ratio=ratio)
    return [_time_step(domain) for _ in range(SAMPLES)]


def _shrink(problem: Problem) -> Problem:
    """Return a part of a problem that is quick to step on a CPU."""
    nx, ny, nz = problem.shape
    layers = max(SLAB_THICKNESS, min(nz, MOST_CPU_CELLS // nx // ny))
    return problem.select_block(Extent.of_layers(problem.shape, 2, 0, layers))


def _measure_rows(problem: Problem, beside: Device | None) -> Curve:
    """Return the times of a box on a CPU, and of fewer and fewer of its rows."""
    nx, ny, nz = problem.shape
    fewest = max(1, min(FEWEST_CPU_CELLS, problem.cells // 4) // (nx * nz))
    counts, rows = {ny}, float(min(ny, MOST_CPU_CELLS // (nx * nz)))
    while round(rows) >= fewest:
        counts.add(round(rows))
        rows *= ROWS_RATIO
    allocate = None
    if beside is not None:  # the hybrid's CPU part lies in memory that its GPU reads
        from lbm._parallel.exchange.cuda import MappedMemory

        allocate = MappedMemory(beside).allocate
    engine = make_engine(problem, Device("cpu"), allocate)
    points = []
    for count in sorted(counts, reverse=True):
        step = functools.partial(engine.step, box=Box(0, nx, 0, count, 0, nz))
        points.append((float(nx * count * nz), time_call(step, engine.synchronize)))
    return Curve(tuple(reversed(points)))


def _select(problem: Problem, share: int) -> Problem:
    """Return the first 1/share of a problem along z."""
    layers = problem.shape[2] // share
    return problem.select_block(Extent.of_layers(problem.shape, 2, 0, layers))


def _time_step(domain: Domain) -> float:
    return time_call(domain.step, domain.synchronize)


def _time_layers(domains: list[Domain], axis: int) -> Linear:
    """Time the update of the cells at a face, on both domains."""
    points = []
    for domain in domains:
        engine, (nx, ny, nz) = domain.engine, domain.problem.shape
        width = edge_thickness(axis, engine.device.kind, domain.problem.precision.lanes)
        ends = [nx, ny, nz]
        ends[axis] = min(width, ends[axis])
        box = Box(0, ends[0], 0, ends[1], 0, ends[2])
        seconds = time_call(functools.partial(engine.step, box=box), domain.synchronize)
        points.append((domain.problem.cells // (nx, ny, nz)[axis], seconds))
    return _line(points)


def _line(points: Sequence[tuple[float, float]]) -> Linear:
    """Return the line through two points, which may be the same: faces across z are."""
    first, second = points
    if first[0] == second[0]:
        return Linear(0.0, second[1] / second[0])
    return Linear.through(first, second)


def _grid(axis: int) -> Decomposition:
    x, y, z = (2 if a == axis else 1 for a in range(3))
    return Decomposition((x, y, z))


def _face_bytes(problem: Problem, axis: int) -> int:
    return CROSSING * problem.precision.itemsize * (problem.cells // problem.shape[axis])


def _over_axes(problem: Problem, measure: Callable[[Problem, int], float]) -> Axes:
    """Measure something for faces across each axis, for whole faces and for a quarter of them."""
    x, y, z = (_over_faces(problem, axis, measure) for axis in range(3))
    return x, y, z


def _over_faces(problem: Problem, axis: int, measure: Callable[[Problem, int], float]) -> Linear:
    slabs = _slab(problem, axis, 4), _slab(problem, axis, 1)
    return _line([(_face_bytes(slab, axis), measure(slab, axis)) for slab in slabs])


def _slab(problem: Problem, axis: int, share: int) -> Problem:
    """Return a few layers across an axis, with 1/share of their cells: faces need no more."""
    ends = list(problem.shape)
    ends[axis] = min(ends[axis], SLAB_THICKNESS)
    other = 1 if axis == 2 else 2
    ends[other] = max(1, ends[other] // share)
    return problem.select_block(Extent((0, 0, 0), (ends[0], ends[1], ends[2])))


def _time_copies(problem: Problem, device: Device, other: Device | None) -> Axes:
    """Time a copy of a face from one block of this process to another."""

    def measure(part: Problem, axis: int) -> float:
        if other is not None and other.kind == "cpu":
            domain = make_domain(part, device, ratio=0.5)
        else:
            devices = [device, device if other is None else other]
            domain = make_domain(part, devices, decomposition=_grid(axis))
        assert domain.exchange is not None
        return domain.exchange.time_copies(axis, time_copies)

    if other is not None and other.kind == "cpu":  # it shares only rows with a GPU
        line = _over_faces(problem, 1, measure)
        return line, line, line
    return _over_axes(problem, measure)


def _time_packing(problem: Problem, device: Device, on_host: bool) -> Axes:
    """Time the packing of a message plus its unpacking, in a buffer on the host or the device."""

    def measure(part: Problem, axis: int) -> float:
        domain = make_domain(part, [device, device], decomposition=_grid(axis))
        assert domain.exchange is not None
        end = domain.exchange.first_end(axis)
        worker: Any = end.worker
        shape, dtype = message_shape(end.face), end.face.dtype
        if on_host:
            _, buffer = worker.allocate(shape, dtype)
        else:
            buffer = worker.allocate_on_device(shape, dtype)
        pack, unpack = end.prepare_pack(0, buffer), end.prepare_unpack(0, buffer)

        def both(t: int) -> None:
            pack()
            unpack()

        return time_copies([worker], both)

    return _over_axes(problem, measure)


def _time_overhead(problem: Problem, device: Device) -> float:
    """Time the start of a step of one part, by a domain whose cells take no time."""
    nx, ny, nz = (min(n, 16) for n in problem.shape)
    tiny = problem.select_block(Extent((0, 0, 0), (nx, ny, nz)))
    domain = make_domain(tiny, [device, device], decomposition=_grid(2))
    return _time_step(domain) / 2

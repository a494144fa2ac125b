"""Efficiency of independent work on 1, 2, 4, ... devices of this host, for every package.

The work grows with the devices, as in rode-scaling: each gets as much as one does alone, and the
efficiency is the time of one device over that of all. Three ways share it out: a call with several
devices, a call with a worker process for each, and a thread of the caller for each with a call of
its own. The last shows what the machine can do: calls share the interpreter, memory and links.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

import rode
import sbth
import stablegpu
import tmd
from hetero.devices import Device, available
from studies.study import Study

REPEATS, SECONDS = 9, 1.0  # of a timing: at most so many calls, and no more after so much time
SCHEMES = {"averaged-euler": "averaged Euler", "averaged-heun": "averaged Heun"}
ONE_PROCESS, WORKERS, THREADS = "one process", "worker processes", "threads of the caller"


class Sizes(NamedTuple):
    """Work of a device."""

    paths: tuple[int, ...] = (4768, 23_842)
    seconds_of_path: float = 16.0
    fits: int = 25_000
    observations: int = 1000
    points: int = 20_000_000
    matrices: int = 2048
    order: int = 128
    tmd_width: float = 4.0


QUICK = Sizes((20,), 0.25, 6, 50, 2000, 4, 12, 2.0**-36)


class Job(NamedTuple):
    """A kind of work: `call(k, n, **engine)` does that of devices k, ..., k + n - 1."""

    name: str
    ways: tuple[str, ...]
    call: Callable[..., object]


def run(study: Study) -> dict:
    """Measure each job on one device and on several, each way."""
    devices = [device for device in available() if device.kind == study.device.kind]
    if study.device.kind == "cpu":
        devices *= 2  # which share its cores: that the calls work is all that this shows
    counts = sorted({1, *(2**k for k in range(1, 8) if 2**k <= len(devices)), len(devices)})
    every = _jobs(QUICK if study.quick else Sizes(), len(devices), devices)
    jobs = [job for job in every if re.search(study.rows, job.name)]
    seconds: dict[tuple[str, str], float] = {}

    def measure() -> Iterator[tuple]:
        for count in counts:
            with _pool(count, study.quick) as pool, ThreadPoolExecutor(count) as threads:
                pools = {WORKERS: pool, THREADS: threads}
                for job, way in ((j, w) for j in jobs for w in j.ways):
                    s = _median(_way(way, job, devices[:count], pools), study.quick)
                    alone = seconds.setdefault((job.name, way), s)
                    yield job.name, way, count, s, 100.0 * alone / s

    heads = ("work of a device", "way", "devices", "s", "efficiency, %")
    rows = study.table("Weak scaling of independent work", heads, measure())
    return {"columns": heads, "rows": rows}


def _way(
    way: str, job: Job, devices: list[Device], pools: dict[str, Executor]
) -> Callable[[], object]:
    """Return a function that does the work of all devices in one of the ways."""
    count = len(devices)
    if way == ONE_PROCESS:
        return lambda: job.call(0, count, device=devices if count > 1 else devices[0])
    if way == WORKERS:
        return lambda: job.call(0, count, device=devices[0].kind, executor=pools[WORKERS])

    def by_threads() -> None:
        for future in [
            pools[THREADS].submit(job.call, k, 1, device=device) for k, device in enumerate(devices)
        ]:
            future.result()

    return by_threads


@contextlib.contextmanager
def _pool(count: int, quick: bool) -> Iterator[Executor]:
    """Start the workers; quick runs take threads, which start at once."""
    if quick:
        with ThreadPoolExecutor(count) as threads:
            yield threads
        return
    with ProcessPoolExecutor(count, get_context("spawn")) as processes:
        yield processes


def _median(call: Callable[[], object], quick: bool) -> float:
    """Return the median time of a call, the first one, which compiles and locks pages, left out."""
    call()
    times: list[float] = []
    while len(times) < 2 or (len(times) < REPEATS and sum(times) < SECONDS and not quick):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _jobs(sizes: Sizes, most: int, devices: list[Device]) -> Iterator[Job]:
    """Yield the jobs, with the data for `most` devices."""
    every = ONE_PROCESS, WORKERS, THREADS
    for scheme, dtype, paths in itertools.product(SCHEMES, ("float32", "float64"), sizes.paths):
        ways = every if (scheme, dtype) == ("averaged-euler", "float32") else (ONE_PROCESS,)
        paths //= 1 if dtype == "float32" else 2  # which take as long as all do in float32
        for reduction in ("moments", "peaks"):
            name = f"rode.solve, {SCHEMES[scheme]}, {dtype}, {paths} paths, {reduction}"
            call = _solver(scheme, dtype, paths, sizes.seconds_of_path, reduction)
            yield Job(name, ways, call)
    law = stablegpu.stable(1.7, 0.3)
    rows, length = sizes.fits, sizes.observations
    data = np.asarray(law.rvs((most * rows, length), rng=1))

    def fit(k: int, n: int, **engine: Any) -> object:
        return stablegpu.fit(data[k * rows : (k + n) * rows], **engine)

    yield Job(f"fit of {rows} x {length} from host memory", every, fit)
    near = [_on(device, data[:rows]) for device in devices]

    def fit_near(k: int, n: int, **engine: Any) -> object:
        return stablegpu.fit(near[k], **engine)

    yield Job(f"fit of {rows} x {length} from the device's memory", (THREADS,), fit_near)
    x = np.resize(data.reshape(-1), most * sizes.points)

    def density(k: int, n: int, **engine: Any) -> object:
        return stablegpu.stable(1.5, 0.5, **engine).pdf(
            x[k * sizes.points : (k + n) * sizes.points]
        )

    yield Job(f"pdf of {sizes.points} points from host memory", (ONE_PROCESS, THREADS), density)

    def sample(k: int, n: int, **engine: Any) -> object:
        return stablegpu.stable(1.5, 0.5, **engine).rvs(n * sizes.points, rng=k)

    yield Job(f"{sizes.points} random numbers to host memory", (ONE_PROCESS, THREADS), sample)

    def fit_stream(k: int, n: int, **engine: Any) -> object:
        part = x[k * sizes.points : (k + n) * sizes.points]
        return stablegpu.fit_stream(part, piece=max(1000, sizes.points // 10), **engine)

    yield Job(f"fit_stream of {sizes.points} in host memory", (ONE_PROCESS, THREADS), fit_stream)
    generator = np.random.default_rng(1)
    matrices = generator.normal(size=(most * sizes.matrices, sizes.order, sizes.order))
    matrices += matrices.transpose(0, 2, 1).copy()

    for solver in (sbth.eigvalsh, sbth.eigh):

        def solve_batch(k: int, n: int, solver: Any = solver, **engine: Any) -> object:
            batch = matrices[k * sizes.matrices : (k + n) * sizes.matrices]
            return sbth.solve_batch(solver, batch, **engine)

        name = f"{solver.__name__} of {sizes.matrices} matrices of order {sizes.order}"
        yield Job(name, every if solver is sbth.eigvalsh else (ONE_PROCESS, THREADS), solve_batch)

    near_matrices = [_on(device, matrices[: sizes.matrices]) for device in devices]

    def solve_near(k: int, n: int, **engine: Any) -> object:
        return sbth.eigvalsh(near_matrices[k], **engine)

    name = f"eigvalsh of {sizes.matrices} matrices of order {sizes.order} in the device's memory"
    yield Job(name, (THREADS,), solve_near)

    def search(k: int, n: int, **engine: Any) -> object:
        width = sizes.tmd_width
        return tmd.search("exp", (128 + k * width, 128 + (k + n) * width), bits=32, **engine)

    yield Job(f"tmd.search of exp, {sizes.tmd_width:g} wide from 128 on, 32 bits", every, search)


def _solver(
    scheme: str, dtype: str, paths: int, span: float, reduction: str
) -> Callable[..., object]:
    """Return the call that solves the equation of an earthquake for a number of paths a device."""

    def solve(k: int, n: int, **engine: Any) -> object:
        return rode.solve(
            rode.kanai_tajimi(outputs=("acceleration",)),
            scheme,
            t_span=(0.0, span),
            h=2.0**-10,
            delta=2.0**-20 if span > 1.0 else 2.0**-12,
            paths=paths * n,
            dtype=dtype,
            rng=12 + k,
            reduction=reduction,
            **engine,
        )

    return solve


def _on(device: Device, array: np.ndarray) -> Any:
    """Return a copy of an array in the memory of a device."""
    if device.kind == "cpu":
        return array.copy()
    from hetero.cuda.driver import cuda

    with device.active():
        return cuda.to_device(np.ascontiguousarray(array))

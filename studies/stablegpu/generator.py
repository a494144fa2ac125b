"""From how many samples random numbers come faster than from one core (Julian-Moreno et al. 2016).

Their section 4 says that the generator of Weron and Weron (1995) wins against that of the GNU
Scientific Library, on one core, from 1000 samples on. Here it is compared with itself on one core
of the CPU, and with SciPy; numbers are in NumPy arrays, so a GPU's are copied to the host.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.stats import levy_stable

from hetero import Device
from hetero.cpu.threads import use_threads
from hetero.measurement.benchmarking import benchmark
from stablegpu.distributions.stable import stable
from studies.study import Study

ALPHA, BETA = 1.5, 0.5
MOST_OF_SCIPY = 100_000
HEADS = ("samples", "this device, us", "one core, us", "SciPy, us", "one core / this device")
PUBLISHED = 1000
"""Samples from which the published generator wins against one core."""


def run(study: Study) -> dict:
    """Time calls for 1 to 10^7 samples, and find from how many on this device is the faster."""
    sizes = (1, 100) if study.quick else tuple(10**k for k in range(8))
    title = f"{ALPHA:g}-stable numbers with skewness {BETA:g}, in NumPy arrays"
    rows = study.table(title, HEADS, _measure(study, sizes))
    figure = study.figure((6.0, 4.0))
    axis = figure.subplots()
    for column in (1, 2, 3):
        points = [(row[0], row[column]) for row in rows if row[column] is not None]
        name = HEADS[column].removesuffix(", us")
        axis.loglog(*zip(*points, strict=True), "o-", label=name)
    axis.set(xlabel="samples", ylabel="us")
    axis.legend()
    study.save(figure, "stablegpu-generator.png")
    return {"wins from": first_win(rows), "published": PUBLISHED}


def _measure(study: Study, sizes: tuple[int, ...]) -> Iterator[tuple]:
    """Yield a row of the table for each number of samples."""
    here, core = (stable(ALPHA, BETA, device=d) for d in (study.device, Device("cpu")))
    for size in sizes:
        ours = _microseconds(study, partial(here.rvs, size, 1))
        with use_threads(1):
            alone = _microseconds(study, partial(core.rvs, size, 1))
        scipy = None
        if size <= MOST_OF_SCIPY:
            rng = np.random.default_rng(1)
            call = partial(levy_stable.rvs, ALPHA, BETA, size=size, random_state=rng)
            scipy = _microseconds(study, call)
        yield size, ours, alone, scipy, alone / ours


def _microseconds(study: Study, call: Callable[[], object]) -> float:
    sample = 1e-3 if study.quick else 1e-2
    return benchmark(call, repeats=5, min_time=sample, device="cpu").median * 1e6


def first_win(rows: list[list]) -> int | None:
    """Return the samples from which on this device is always faster than one core, if it is."""
    first = None
    for size, ours, alone, *_ in reversed(rows):
        if ours >= alone:
            break
        first = size
    return first

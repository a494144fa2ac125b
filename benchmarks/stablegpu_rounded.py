"""stablegpu: times of fits of rounded data, one at a time and many at once."""

from __future__ import annotations

import time

import numpy as np

import hetero
import stablegpu
from benchmarks.measurements import Measurement

SIZE, STEP = 1000, 0.5
"""Observations in a sample, and what they are rounded to, in scales."""

REPEATS = 31


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    many = 20 if quick else 100_000 if device.kind == "cuda" else 200
    return [one(device, alpha) for alpha in (1.5, 0.8, 1.02, 1.9)[: 1 if quick else None]] + [
        at_once(device, many)
    ]


def samples(alpha: float, count: int, device: hetero.Device) -> np.ndarray:
    """Draw rounded samples, a row each."""
    distribution = stablegpu.stable(alpha, 0.3, parameterization="S0", device=device)
    return np.asarray(np.round(np.asarray(distribution.rvs((count, SIZE), rng=1)) / STEP) * STEP)


def one(device: hetero.Device, alpha: float) -> Measurement:
    """Time single fits of different samples, on one core of a CPU.

    The median is that of processor time there, which counts no other program on the core.
    """
    rows = samples(alpha, REPEATS + 1, device)
    clock = time.perf_counter if device.kind == "cuda" else time.process_time
    seconds = []
    with hetero.use_threads(1):
        for row in rows:
            begin = clock()
            stablegpu.fit(row, rounding=STEP, device=device)
            seconds.append(clock() - begin)
    del seconds[0]  # compiles
    return Measurement(
        f"fit of {SIZE:,} rounded observations, alpha {alpha}",
        float(np.median(seconds)) * 1e3,
        "ms",
        note=f"median of {REPEATS} samples, the slowest {max(seconds) * 1e3:.3g} ms; "
        + ("wall time" if device.kind == "cuda" else "processor time of one thread"),
    )


def at_once(device: hetero.Device, sets: int) -> Measurement:
    """Time fits of many samples."""
    rows = samples(1.5, sets, device)
    stablegpu.fit(rows[:5], rounding=STEP, device=device)  # compiles
    begin = time.perf_counter()
    stablegpu.fit(rows, rounding=STEP, device=device)
    return Measurement(
        f"{sets:,} fits of {SIZE:,} rounded observations",
        time.perf_counter() - begin,
        "s",
        note="alpha 1.5, rounded to half of the scale; data and results on the host; one call",
    )

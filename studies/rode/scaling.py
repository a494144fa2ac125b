"""Efficiency of Monte Carlo over the devices of this machine (Riesinger 2017, 12.3 and 12.4).

As there, the work grows with the devices: each computes as many paths as one does alone, and the
efficiency is the time of one device over the time of all. Every path is drawn, walked and solved on
its device, and the moments of all are joined; both schemes and both precisions of the thesis.
"""

from __future__ import annotations

import statistics
import time

import rode
from hetero.devices import Device, available
from studies.papers.printed import PATH_SECONDS
from studies.study import Study

SCENARIOS = {"averaged-euler": (10, 10), "3-rode-taylor": (5, 15)}
"""Scheme: -log2 of the coarse step and log2 of the fine steps in it, as in table 12.3."""

FINE_STEPS_PER_SECOND = {"cuda": 4e11, "cpu": 2e8}
"""Rates by which jobs get their sizes: not measured here, and of no influence on efficiencies."""

DURATIONS = (0.2, 1.0)
"""Seconds that a job takes on one device, nearly."""

SECONDS_OF_PATHS = 16.0
REPEATS = 3
SEED = 12


def run(study: Study) -> dict:
    """Measure the times of jobs on one device and on several."""
    kind = study.device.kind
    devices = [device for device in available() if device.kind == kind]
    rows = []
    for method, (power, fine) in SCENARIOS.items():
        for dtype in ("float32", "float64"):
            for duration in (0.01,) if study.quick else DURATIONS:
                steps = SECONDS_OF_PATHS * 2.0 ** (power + fine)
                paths = max(1, round(duration * FINE_STEPS_PER_SECOND[kind] / steps))
                alone = 0.0
                for count in sorted({1, *(2**k for k in range(1, 8)), len(devices)}):
                    if count > len(devices):
                        continue
                    seconds = _seconds(method, power, fine, dtype, paths, devices[:count], study)
                    alone = alone or seconds
                    rows.append((method, dtype, paths, count, seconds, 100.0 * alone / seconds))
    heads = ("scheme", "dtype", "paths of a device", "devices", "s", "efficiency, %")
    study.table("Weak scaling over devices, moments of all paths", heads, rows)
    return {"columns": heads, "rows": rows, "sizes": _tabulate_sizes(study)}


def _tabulate_sizes(study: Study) -> list[tuple]:
    """Print the sizes of a path here and on the published clusters (table 12.3)."""
    rows: list[tuple] = []
    for (method, cluster), seconds in PATH_SECONDS.items():
        power, fine = SCENARIOS[method]
        rows.append((method, cluster, seconds, 2**power, 2**fine, seconds << (power + fine)))
    for method, (power, fine) in SCENARIOS.items():
        steps = _span(study) * 2.0 ** (power + fine)
        rows.append((method, "here", _span(study), 2**power, 2**fine, int(steps)))
    heads = ("scheme", "machine", "s of a path", "coarse steps a second", "fine steps of a coarse")
    study.table("Sizes of the runs", (*heads, "fine steps of a path"), rows)
    return rows


def _span(study: Study) -> float:
    """Return the simulated seconds of a path."""
    return 0.25 if study.quick else SECONDS_OF_PATHS


def _seconds(
    method: str,
    power: int,
    fine: int,
    dtype: str,
    paths: int,
    devices: list[Device],
    study: Study,
) -> float:
    """Return the median time of a call of `rode.solve` from Python."""
    times = []
    for repeat in range(1 if study.quick else REPEATS + 1):  # the first call compiles
        start = time.perf_counter()
        rode.solve(
            rode.kanai_tajimi(outputs=("acceleration",)),
            method,
            t_span=(0.0, _span(study)),
            h=2.0**-power,
            delta=2.0 ** -(power + fine),
            paths=paths * len(devices),
            dtype=dtype,
            rng=SEED,
            reduction="moments",
            device=devices,
        )
        times.append(time.perf_counter() - start)
        if repeat == 0 and not study.quick:
            times.clear()
    return statistics.median(times)

"""Probability of a large drift: plain paths and all algorithms of `rode.rare_event`.

A linear storey under an earthquake of Kanai and Tajimi with an envelope. Plain paths are solved in
float32 by all GPUs of the host, in parts that fit the memory; --size sets how many (4e9 where the
time allows), and they end after `SECONDS`. The costs are compared at an equal coefficient of
variation: those of the algorithms are measured, pilot runs included, and that of N plain paths is
sqrt((1 - p)/(N p)).
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import hetero
import rode
from hetero.devices import Device
from studies.study import Study

T_SPAN, H = (0.0, 4.0), 2.0**-6
THRESHOLDS = (0.016, 0.0208)
"""Drifts in m whose probabilities are about 1e-3 and 1e-6."""

PATHS = {"cuda": 4_000_000_000, "cpu": 100_000}
"""Plain paths if the caller does not say."""

PART = {"cuda": 1 << 26, "cpu": 1 << 18}
"""Plain paths at a time, for each GPU: their states and peaks take a few GB."""

SECONDS = 60.0
"""Time after which no more plain paths are solved."""

RARE = {
    "cuda": {"importance": (1000, 0.01), "splitting": (2000, 0.1)},
    "cpu": {"importance": (1000, 0.01), "subset": (1200, 0.07), "splitting": (2000, 0.15)},
}
"""Paths of a run of each algorithm, and the coefficient of variation that is asked for. Subset
simulation draws its numbers on the host, with a GPU too."""

HEADS = (
    "drift, m", "way", "probability", "standard error", "paths", "path steps", "s",
    "path steps for 10 %", "s for 10 %",
)  # fmt: skip


def storey() -> rode.Problem:
    """Return the storey, whose period is 0.26 s."""
    soil = rode.Filtered.kanai_tajimi(c=0.05, envelope=([0, 1, 3, 4], [0, 1, 1, 0.5]))
    return rode.shear_frame([30.0], [18e3], 0.05, excitation=soil, outputs="drift")


def run(study: Study) -> dict:
    """Compare all ways for both thresholds."""
    rows = study.table(
        f"Probability that a drift is exceeded in {T_SPAN[1]:g} s", HEADS, estimates(study)
    )
    result: dict[str, list] = {}
    algorithms = RARE[study.device.kind]
    count = len(rows) // (1 + len(algorithms))
    for k, algorithm in enumerate(algorithms, 1):
        pairs = list(zip(rows[:count], rows[k * count : (k + 1) * count], strict=True))
        result |= {
            f"score of the difference, {algorithm}": [
                (b[2] - a[2]) / math.hypot(a[3], b[3]) if a[2] else None for a, b in pairs
            ],
            f"plain path steps over {algorithm}": [a[7] / b[7] for a, b in pairs],
            f"plain seconds over {algorithm}": [a[8] / b[8] for a, b in pairs],
        }
    return result


def estimates(study: Study) -> Iterator[tuple]:
    """Yield the rows of plain paths, then those of each algorithm.

    The cost of plain paths takes p of importance sampling, so that those that found none have one.
    """
    kind, steps = study.device.kind, round((T_SPAN[1] - T_SPAN[0]) / H)
    problem, rare = storey(), []
    for algorithm, (size, goal) in RARE[kind].items():
        size, goal = (100, 0.5) if study.quick else (size, goal)
        settings: dict[str, Any] = {
            "t_span": T_SPAN, "h": H, "paths": size, "device": study.device, "rng": 2,
            "algorithm": algorithm,
        }  # fmt: skip
        rode.rare_event(problem, "3-rode-taylor", 0.001, coefficient_of_variation=1.0, **settings)
        for threshold in THRESHOLDS[: 1 if study.quick else None]:
            start = time.perf_counter()
            found = rode.rare_event(
                problem, "3-rode-taylor", threshold, coefficient_of_variation=goal, **settings
            )
            rare.append((algorithm, threshold, found, time.perf_counter() - start))
    asked = study.size or (2000 if study.quick else PATHS[kind])
    counts, paths, seconds = plain(problem, asked, study)
    likely = {one[1]: one[2].probability for one in rare if one[0] == "importance"}
    for threshold, q in likely.items():
        p, needed = counts[threshold] / paths, 100.0 * (1.0 - q) / q
        yield (
            threshold, "plain", p, math.sqrt(p * (1.0 - p) / paths), paths, paths * steps, seconds,
            needed * steps, needed / paths * seconds,
        )  # fmt: skip
    for algorithm, threshold, found, elapsed in rare:
        share = (found.coefficient_of_variation / 0.1) ** 2
        yield (
            threshold, algorithm, found.probability,
            found.coefficient_of_variation * found.probability, found.paths * len(found.runs),
            found.path_steps, elapsed, found.path_steps * share, elapsed * share,
        )  # fmt: skip


def plain(problem: rode.Problem, paths: int, study: Study) -> tuple[dict[float, int], int, float]:
    """Return how many paths exceed each threshold, of how many, and their time in s."""
    devices = every(study.device)
    size = min(len(devices) * PART[study.device.kind], paths)
    counts, seconds, done = dict.fromkeys(THRESHOLDS, 0), 0.0, 0

    def solve(first: int, count: int) -> np.ndarray:
        result = rode.solve(
            problem, "3-rode-taylor", t_span=T_SPAN, h=H, paths=count, first_path=first,
            sampling="exact", reduction="peaks", rng=1, dtype="float32", normals="fast",
            device=devices if len(devices) > 1 else devices[0],
        )  # fmt: skip
        assert result.peaks is not None
        return result.peaks[0]

    solve(0, min(size, 1000))  # compiles
    while done < paths and seconds < SECONDS:
        start, count = time.perf_counter(), min(size, paths - done)
        peaks = solve(done, count)
        for one in counts:
            counts[one] += int(np.count_nonzero(peaks > one))
        done, seconds = done + count, seconds + time.perf_counter() - start
        print(f"{done} of {paths} plain paths, {seconds:.1f} s, beyond: {counts}", file=sys.stderr)
    return counts, done, seconds


def every(device: Device) -> list[Device]:
    """Return all GPUs of the host for the first of them, and another device alone."""
    if device != Device("cuda"):
        return [device]
    return [one for one in hetero.available() if one.kind == "cuda"]

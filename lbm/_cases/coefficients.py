"""Force coefficients and Strouhal numbers from the table of forces of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lbm._cases.force_scales import ForceScales

FEWEST_PERIODS = 3
"""Whole periods of a force that its second half must have for a frequency."""


def summarize_forces(
    path: Path, solids: Sequence[str], scales: ForceScales
) -> dict[str, dict[str, Any]]:
    """Return area, mean coefficients [x, y, z], drift and Strouhal number of each solid by name.

    Means are taken over the second half of the rows. For the drift see `measure_drift`. The
    Strouhal number belongs to that component
    of the force that varies most in it, and is None where there are less than three periods.
    """
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    steps, forces = rows[:, 0], rows[:, -3 * len(solids) :] / scales.pressure
    half = len(rows) // 2
    summary: dict[str, dict[str, Any]] = {}
    for k, (solid, area) in enumerate(zip(solids, scales.areas, strict=True)):
        coefficients = forces[half:, 3 * k : 3 * k + 3] / area
        signal = coefficients[:, int(coefficients.std(axis=0).argmax())]
        frequency = find_frequency(steps[half:], signal) if scales.time else None
        summary[solid] = {
            "area": area,
            "coefficients": [float(c) for c in coefficients.mean(axis=0)],
            "drift": measure_drift(coefficients),
            "strouhal": None if frequency is None else frequency * scales.time,
        }
    return summary


def measure_drift(series: np.ndarray) -> float | None:
    """Return by how much vectors [row, xyz] drift, relative to their mean.

    It is the distance of the means of the first and the second half, or 0 if the vectors scatter
    by more than that within the halves: of a straight line the distance is 3.5 times the standard
    deviation in a half, of two periods of a wave less than half of it. None for less than four
    rows, or if the mean is zero.
    """
    half = len(series) // 2
    size = float(np.linalg.norm(series.mean(axis=0)))
    if half < 2 or size == 0.0:
        return None
    first, second = series[:half], series[len(series) - half :]
    distance = float(np.linalg.norm(second.mean(axis=0) - first.mean(axis=0)))
    scatter = float(np.sqrt((first.var(axis=0) + second.var(axis=0)).sum() / 2.0))
    return distance / size if distance > scatter else 0.0


def find_frequency(times: np.ndarray, signal: np.ndarray) -> float | None:
    """Return the frequency of a signal from its upward crossings of the middle of its range.

    The crossings are interpolated linearly; None if there are too few of them.
    """
    level = signal - 0.5 * (signal.min() + signal.max())
    (up,) = np.nonzero((level[:-1] < 0.0) & (level[1:] >= 0.0))
    if len(up) <= FEWEST_PERIODS:
        return None
    share = level[up] / (level[up] - level[up + 1])
    crossings = times[up] + share * (times[up + 1] - times[up])
    return float((len(crossings) - 1) / (crossings[-1] - crossings[0]))

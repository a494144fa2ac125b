"""Force coefficients and Strouhal numbers from the table of forces of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lbm._commands.cases.force_scales import ForceScales

FEWEST_PERIODS = 3
"""Periods of a force that the second half of a run must have for a frequency."""

LEAST_EXPLAINED = 0.2
"""Share of the variance that an oscillation must explain: white noise of twelve numbers or more has
peaks that explain more only by chance; not tuned."""


def summarize_forces(
    path: Path, solids: Sequence[str], scales: ForceScales
) -> dict[str, dict[str, Any]]:
    """Return area, mean coefficients [x, y, z], drift and Strouhal number of each solid by name.

    Means are taken over the second half of the rows, an even number of them, as forces may
    alternate from row to row (`output_settings.FORCES_EVERY`). For the drift see `measure_drift`.
    The Strouhal number belongs to that component of the force that varies most in it; it and its
    resolution are None where `find_frequency` finds none. Without a row all but the area are None.
    """
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    if not lines:
        nothing = dict.fromkeys(("coefficients", "drift", "strouhal", "strouhal_resolution"))
        areas = zip(solids, scales.areas, strict=True)
        return {solid: {"area": area, **nothing} for solid, area in areas}
    rows = np.loadtxt(lines, delimiter=",", ndmin=2)
    steps, forces = rows[:, 0], rows[:, -3 * len(solids) :] / scales.pressure
    half = len(rows) - max(1, (len(rows) + 1) // 4 * 2)
    summary: dict[str, dict[str, Any]] = {}
    for k, (solid, area) in enumerate(zip(solids, scales.areas, strict=True)):
        coefficients = forces[half:, 3 * k : 3 * k + 3] / area
        signal = coefficients[:, int(coefficients.std(axis=0).argmax())]
        frequency = find_frequency(steps[half:], signal) if scales.time else None
        strouhal, resolution = (
            (None, None) if frequency is None else (f * scales.time for f in frequency)
        )
        summary[solid] = {
            "area": area,
            "coefficients": [float(c) for c in coefficients.mean(axis=0)],
            "drift": measure_drift(coefficients),
            "strouhal": strouhal,
            "strouhal_resolution": resolution,
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


def find_frequency(times: np.ndarray, signal: np.ndarray) -> tuple[float, float] | None:
    """Return the frequency of the strongest oscillation of a signal, and the resolution of it.

    It is the highest peak of the spectrum (Hann window, without the linear trend), refined by the
    best fit of a sine and a straight line, so that noise and weaker oscillations do not shift it.
    The resolution is 1/T for a signal over the time T: of oscillations that are nearer to each
    other, the spectrum shows one.

    None if the signal is constant, if the peak has less than three periods, or if an oscillation of
    that frequency, as sharp as the resolution, explains less than a fifth of the variance.
    """
    span, count = float(times[-1] - times[0]), times.size
    if count < 4 * FEWEST_PERIODS or not span > 0.0 or np.ptp(signal) == 0.0:
        return None
    even = np.linspace(times[0], times[-1], count)
    values = np.interp(even, times, signal)
    window, line = np.hanning(count), np.stack([np.ones(count), even - even.mean()])
    values = values - np.linalg.lstsq(line.T, values, rcond=None)[0] @ line
    spectrum = np.abs(np.fft.rfft(window * values, 4 * count)) ** 2
    interval = span / (count - 1)
    guess = int(spectrum.argmax()) / (4 * count * interval)
    if guess * span < FEWEST_PERIODS:
        return None

    from scipy import optimize

    def unexplained(frequency: float) -> float:
        phase = 2.0 * np.pi * frequency * (even - even.mean())
        columns = window * np.vstack([line, np.cos(phase), np.sin(phase)])
        best = np.linalg.lstsq(columns.T, window * values, rcond=None)[0] @ columns
        return float(((window * values - best) ** 2).sum())

    ends = guess - 0.5 / span, min(guess + 0.5 / span, 0.5 / interval)
    frequency = float(optimize.minimize_scalar(unexplained, bounds=ends, method="bounded").x)
    explained = 1.0 - unexplained(frequency) / ((window * values) ** 2).sum()
    return (frequency, 1.0 / span) if explained > LEAST_EXPLAINED else None

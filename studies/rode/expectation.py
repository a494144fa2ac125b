"""Expected value and variance of the ground's acceleration between 65 and 70 s.

They are those of (Riesinger 2017, figures 12.5 to 12.7): two schemes, 2^6 to 2^12 paths that start
with O = 0, and delta = 2^-20 s. Every run has the same processes, and more paths include fewer, so
that lines of one figure differ by their number of paths or by their scheme alone.
"""

from __future__ import annotations

import itertools

import numpy as np

import rode
from studies.study import Study

SEED = 65
WINDOW = (65.0, 70.0)
"""Times that the figures show, s."""

SCENARIOS = {
    "averaged Euler, h = 2^-10": ("averaged-euler", 10),
    "averaged Euler, h = 2^-5": ("averaged-euler", 5),
    "3-RODE-Taylor, h = 2^-5": ("3-rode-taylor", 5),
}
"""Method and -log2 of the coarse step."""

PICTURES = {"averaged Euler, h = 2^-10": "12.5", "3-RODE-Taylor, h = 2^-5": "12.6"}


def run(study: Study) -> dict:
    """Solve, draw the three figures, and compare sizes and shapes of the lines."""
    begin, end = (1.0, 2.0) if study.quick else WINDOW
    counts = (4, 8) if study.quick else (64, 256, 1024, 4096)
    fine = 14 if study.quick else 20 if study.device.kind == "cuda" else 16
    moments: dict[tuple[str, int], tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for (name, (method, power)), count in itertools.product(SCENARIOS.items(), counts):
        result = rode.solve(
            rode.kanai_tajimi(start_process=0.0, outputs=("acceleration",)),
            method,
            t_span=(0.0, end),
            h=2.0**-power,
            delta=2.0**-fine,
            paths=count,
            rng=SEED,
            reduction="moments",
            device=study.device,
        )
        shown = result.t >= begin
        assert result.mean is not None
        assert result.variance is not None
        moments[name, count] = (
            result.t[shown],
            result.mean[shown, 0],
            result.variance[shown, 0],
        )
    rows = [
        (name, count, _root_mean_square(mean), float(variance.mean()), float(variance.std()))
        for (name, count), (_, mean, variance) in moments.items()
    ]
    heads = ("scenario", "paths", "rms of E(u'')", "mean of V(u'')", "spread of V(u'')")
    study.table(f"Expected value and variance, {begin:g} to {end:g} s", heads, rows)
    compared = counts[-2]
    distances = _compare(moments, compared)
    study.table(
        f"Distances of the lines of figure 12.7, {compared} paths, over the size of the first",
        ("lines", "distance"),
        distances,
    )
    for name, number in PICTURES.items():
        _draw_counts(study, f"rode-expectation-{number}.png", moments, name, counts)
    _draw_scenarios(study, "rode-expectation-12.7.png", moments, compared)
    settings = {"seed": SEED, "delta": 2.0**-fine, "window": (begin, end)}
    return {**settings, "columns": heads, "rows": rows, "distances": distances}


def _root_mean_square(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _compare(moments: dict, count: int) -> list[tuple[str, float]]:
    """Return the distances of expected values at the times that all scenarios have."""
    lines = {}
    for name, (_, power) in SCENARIOS.items():
        lines[name] = moments[name, count][1][:: 2 ** (power - 5)]
    return [
        (f"{a}; {b}", _root_mean_square(lines[a] - lines[b]) / _root_mean_square(lines[a]))
        for a, b in itertools.combinations(lines, 2)
    ]


def _draw_counts(
    study: Study, file: str, moments: dict, name: str, counts: tuple[int, ...]
) -> None:
    figure = study.figure((9.0, 6.0))
    for row, label in enumerate(("E(u'') (m/s^2)", "V(u'') (m^2/s^4)")):
        axes = figure.add_subplot(2, 1, row + 1)
        for count in counts:
            times, *values = moments[name, count]
            axes.plot(times, values[row], label=f"{count} paths", linewidth=0.8)
        axes.set_ylabel(label)
        axes.legend(ncols=len(counts), fontsize="small")
    axes.set_xlabel("t (s)")
    study.save(figure, file)


def _draw_scenarios(study: Study, file: str, moments: dict, count: int) -> None:
    figure = study.figure()
    axes = figure.subplots()
    for name in SCENARIOS:
        times, mean, _ = moments[name, count]
        axes.plot(times, mean, label=name, linewidth=0.8)
    axes.set_xlabel("t (s)")
    axes.set_ylabel("E(u'') (m/s^2)")
    axes.legend()
    study.save(figure, file)

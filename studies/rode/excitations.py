"""Rates of excitations and of response spectra: three correlated processes, an earthquake.

A coarse step draws the exact sums of the processes, which stand for as many fine steps as the order
of the scheme asks for: h^-1 for averaged Heun. Both rates are stated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import rode
from hetero.arrays import Workspace
from hetero.cpu.threads import use_threads
from rode.spectra import loops as loops_of
from rode.spectra.response_spectrum import coefficients_of
from studies.study import Study

CORRELATION = [[1.0, 0.8, 0.0], [0.8, 1.0, -0.5], [0.0, -0.5, 1.0]]

HEADS = ("what", "dtype", "sizes", "s", "unit", "units/s")


def duffing(x, p):  # type: ignore[no-untyped-def]
    """Return the drift of two states."""
    return x[1], -x[0] - x[0] * x[0] * x[0] - x[1] * type(x[0])(0.2)


def three_columns(p):  # type: ignore[no-untyped-def]
    """Return what each of three processes pushes."""
    return (0.0, 1.0), (0.5, 0.0), (0.0, 2.0)


def three_processes() -> rode.Problem:
    """Return an oscillator that three correlated processes push."""
    processes = rode.OU([0.1, 0.5, 1.0], [2.0, 1.0, 0.5], correlation=CORRELATION)
    return rode.additive(duffing, three_columns, dimension=2, excitation=processes)


def run(study: Study) -> dict:
    """Measure all rates."""
    rows = study.table("Rates of excitations and response spectra", HEADS, rates(study))
    return {"units/s": {f"{row[0]}, {row[1]}, {row[4]}": row[5] for row in rows}}


def rates(study: Study) -> Iterator[tuple]:
    """Yield the rows of the table."""
    on_gpu, quick = study.device.kind == "cuda", study.quick
    three, power = three_processes(), 10
    paths, steps = (1 << 20, 4096) if on_gpu else (256 if quick else 16_384, 256)

    def solve_three() -> None:
        rode.solve(
            three, "averaged-heun", t_span=(0.0, steps * 2.0**-power), h=2.0**-power, paths=paths,
            sampling="exact", reduction="moments", save_every=steps, rng=1, dtype="float32",
            normals="fast", device=study.device,
        )  # fmt: skip

    seconds = fastest(solve_three)
    sizes = f"{paths} paths, {steps} steps of 2^-{power} s"
    work, name = paths * steps, "three correlated processes, two states, averaged Heun"
    yield name, "float32", sizes, seconds, "coarse steps", work / seconds
    fine = work << power
    yield name, "float32", sizes, seconds, f"fine steps ({2**power} a coarse step)", fine / seconds
    yield from earthquakes(study)
    yield from spectra(study)


def earthquakes(study: Study) -> Iterator[tuple]:
    """Yield the time of 4096 earthquakes with an envelope of 15 s, in 4096 steps."""
    paths, steps, T = 64 if study.quick else 4096, 4096, 15.0
    soil = rode.Filtered.kanai_tajimi(c=0.05, envelope=([0, 2, 8, T], [0, 1, 1, 0.1]))
    house = rode.shear_frame([30.0], [18e3], 0.05, excitation=soil, outputs="drift")

    for dtype in ("float32", "float64"):

        def solve(dtype: str = dtype) -> None:
            rode.solve(
                house, "3-rode-taylor", t_span=(0.0, T), h=T / steps, paths=paths, sampling="exact",
                reduction="peaks", rng=1, dtype=dtype, device=study.device,
            )  # fmt: skip

        seconds = fastest(solve)
        work = paths * steps
        sizes = f"{paths} paths, {steps} steps"
        yield (
            "Kanai-Tajimi with an envelope, oscillator, 3-RODE-Taylor", dtype, sizes, seconds,
            "coarse steps", work / seconds,
        )  # fmt: skip


def spectra(study: Study) -> Iterator[tuple]:
    """Yield the rate of steps of all oscillators; on a CPU in one thread and in all."""
    records, samples, periods = (2, 2000, 64) if study.quick else (100, 20_000, 1000)
    motions = np.random.default_rng(1).standard_normal((records, samples))
    T = np.geomspace(0.05, 10.0, periods)
    threads: tuple[int | None, ...] = (None,) if study.device.kind == "cuda" else (1, None)
    for dtype in ("float32", "float64"):
        for count in threads:

            def compute(dtype: str = dtype, count: int | None = count) -> None:
                settings: dict[str, Any] = {"dtype": dtype, "device": study.device}
                if count is None:
                    rode.response_spectrum(motions, 0.01, T, **settings)
                    return
                with use_threads(count):
                    rode.response_spectrum(motions, 0.01, T, **settings)

            seconds = fastest(compute)
            sizes = f"{periods} periods, {records} records, {samples} samples"
            sizes += ", one thread" if count else ""
            work = records * samples * periods
            yield "response spectra", dtype, sizes, seconds, "oscillator steps", work / seconds
        if study.device.kind == "cuda":
            rate = rate_on_device(study, motions, T, dtype)
            name = "response spectra, records on the device"
            yield name, dtype, sizes, work / rate, "oscillator steps", rate


def rate_on_device(study: Study, motions: np.ndarray, T: np.ndarray, dtype: str) -> float:
    """Return the steps of oscillators per second without the copies to and from the host."""
    space = Workspace(study.device)
    table = coefficients_of(T, 0.05, 0.01)
    records, coefficients = (
        space.input(name, one, dtype).reshape(one.shape)
        for name, one in (("records", motions), ("periods", table))
    )
    result = space.output((3, len(motions), T.size), dtype, flat=False)
    loops = loops_of(study.device)
    return study.rate(
        lambda: loops.compute_peaks(records, coefficients, result, space.stream),
        motions.size * T.size,
    )


def fastest(function: Callable[[], object], runs: int = 3) -> float:
    """Return the shortest of several times in s, after a run that compiles."""
    function()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)

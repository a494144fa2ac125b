"""tmd: sub-domains a second of the Boolean tests, and their ratios."""

from __future__ import annotations

from dataclasses import replace

import hetero
from benchmarks.figures import Figure
from hetero.jit import twin
from tmd.functions import function
from tmd.plan import batch
from tmd.study.phases import windows, with_lengths

PLAIN = 14.3
"""G sub-domains/s of a plain kernel on one H200: regular, random coefficients."""

TESTS = (
    *(("lefevre", "reciprocal"), ("swap", "reciprocal"), ("alternating", "reciprocal")),
    *(("regular", "reciprocal"), ("clipped", "reciprocal"), ("clipped", "float64")),
    *(("lefevre", "integer"), ("clipped", "integer")),
)


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    """Sub-domains of 2^15 arguments of [1, 2), phase 1 alone."""
    loops, f = twin("tmd._scan", device), function("exp")
    gpu = device.kind == "cuda"
    (p,) = windows(f, 1, 2, 1, 24 if quick else 42 if gpu else 35, 32)
    rates, figures = {}, []
    with device.active():
        for test, division in TESTS[3:5] if quick else TESTS:
            p = with_lengths(replace(p, algorithm=test, division=division), 15, 3)
            made = batch(f, p, 0, p.supers)
            timing = hetero.benchmark(
                lambda m=made, p=p: loops.survivors(m, p.shape, p.algorithm, p.division),
                repeats=5,
                device=device,
            )
            rates[test, division] = timing.rate(float(made.used.sum())) / 1e9
            figures.append(
                Figure(
                    f"phase 1, {test}, {division}, sub-domains of 2^15 arguments",
                    rates[test, division],
                    "G sub-domains/s",
                    peers={"plain kernel, H200": PLAIN} if gpu else {},
                    timing=timing.as_dict(),
                )
            )
    if (base := rates.get(("lefevre", "reciprocal"))) is not None:
        for figure, rate in zip(figures, rates.values(), strict=True):
            figure.peers["times Lefevre's"] = rate / base
    return figures

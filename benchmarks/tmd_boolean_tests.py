"""tmd: sub-domains per second of the Boolean tests, and their ratios."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import hetero
from benchmarks.measurements import Measurement
from studies.tmd.domains import random_windows
from studies.tmd.phases import with_subdomain_size
from tmd import _search
from tmd._search import make_batch
from tmd.functions import load_function

MINIMAL_KERNEL = 14.3
"""G sub-domains/s of a minimal kernel with the regular test and random coefficients, on an H200."""

TESTS = (
    *(("lefevre", "reciprocal"), ("swap", "reciprocal"), ("alternating", "reciprocal")),
    *(("regular", "reciprocal"), ("clipped", "reciprocal"), ("clipped", "float64")),
    *(("lefevre", "integer"), ("clipped", "integer")),
)


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure phase 1 alone, for sub-domains of 2^15 arguments in [1, 2)."""
    loops, f = _search.loops(device), load_function("exp")
    gpu = device.kind == "cuda"
    (p,) = random_windows(f, 1, 2, 1, 24 if quick else 42 if gpu else 35, 32)
    rates, figures = {}, []
    with device.active():
        for test, division in TESTS[3:5] if quick else TESTS:
            p = with_subdomain_size(replace(p, algorithm=test, division=division), 15, 3)
            batch = make_batch(f, p, 0, p.super_blocks)
            call = partial(loops.count_failing_subdomains, batch, p)
            timing = hetero.benchmark(call, repeats=5, device=device)
            rates[test, division] = timing.rate(float(batch.subdomain_counts.sum())) / 1e9
            figures.append(
                Measurement(
                    f"phase 1, {test}, {division}, sub-domains of 2^15 arguments",
                    rates[test, division],
                    "G sub-domains/s",
                    peers={"minimal kernel, H200": MINIMAL_KERNEL} if gpu else {},
                    timing=timing.as_dict(),
                )
            )
    if (base := rates.get(("lefevre", "reciprocal"))) is not None:
        for figure, rate in zip(figures, rates.values(), strict=True):
            figure.peers["times Lefevre's"] = rate / base
    return figures

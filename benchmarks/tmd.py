"""tmd: seconds for whole binades of exp, rates of the Boolean tests, arguments a second."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import hetero
import tmd
from benchmarks.figures import Figure
from benchmarks.tmd_campaign import keep
from hetero.jit import twin
from tmd.functions import function
from tmd.plan import batch
from tmd.study.phases import windows, with_lengths

PLAIN = 1.43e10
"""Sub-domains a second of a plain kernel on one H200: regular, 64-bit random coefficients."""

PAPER = {1: 1497.0 / 2, 128: 53194.0 / 2}
"""Seconds of the paper's C2070 for the binades from 1 and 128 on, halved: it had 2^53 arguments."""

TESTS = (
    *(("clipped", "reciprocal"), ("regular", "reciprocal"), ("lefevre", "reciprocal")),
    *(("swap", "reciprocal"), ("clipped", "float64"), ("clipped", "integer")),
)


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    gpu = device.kind == "cuda"
    figures = tests(device, quick)
    figures.append(audit(device, quick))
    if gpu and not quick:
        figures += [binade(1, 32, device, 3), binade(1, 45, device, 1), binade(128, 32, device, 1)]
    else:
        widths = {1: 28 if quick else 39, 128: 24 if quick else 35}
        figures += [part(lo, width, device, quick) for lo, width in widths.items()]
    return figures


def tests(device, quick) -> list[Figure]:
    """Sub-domains of 2^15 arguments of [1, 2) a second, phase 1 alone; ratios to Lefevre's."""
    loops, f = twin("tmd._scan", device), function("exp")
    width = 24 if quick else (42 if device.kind == "cuda" else 36)
    rates, figures = {}, []
    with device.active():
        for test, division in TESTS[:2] if quick else TESTS:
            # Slow ones get fewer sub-domains.
            slow = 4 if test in ("lefevre", "swap") else 1 if division == "integer" else 0
            (p,) = windows(f, 1, 2, 1, width - (0 if quick else slow), 32)
            p = with_lengths(replace(p, algorithm=test, division=division), 15, 3)
            made = batch(f, p, 0, p.supers)
            timing = hetero.benchmark(
                lambda m=made, p=p: loops.survivors(m, p.shape, p.algorithm, p.division),
                repeats=5,
                device=device,
            )
            rates[test, division] = timing.rate(float(made.used.sum()))
            figures.append(
                Figure(
                    f"phase 1, {test}, {division}, sub-domains of 2^15 arguments",
                    rates[test, division] / 1e9,
                    "G sub-domains/s",
                    peers={"plain kernel, H200": PLAIN / 1e9} if device.kind == "cuda" else {},
                    timing=timing.as_dict(),
                )
            )
    for figure, key in zip(figures, rates, strict=True):
        if (base := rates.get(("lefevre", "reciprocal"))) is not None:
            figure.note = f"{rates[key] / base:.3g} times Lefevre's test (paper, regular: 4.06)"
    return figures


def audit(device, quick) -> Figure:
    """Every argument looked at by differences."""
    width = 22 if quick else (36 if device.kind == "cuda" else 30)
    hi = 1 + Fraction(1 << width, 1 << 52)
    timing = hetero.benchmark(
        lambda: tmd.search("exp", (1, hi), bits=32, algorithm="exhaustive", device=device),
        repeats=5,
        device=device,
    )
    return Figure(
        f"every argument by differences, 2^{width} of exp from 1 on",
        timing.rate(1 << width) / 1e9,
        "G arguments/s",
        note="tmd.search, everything in",
        timing=timing.as_dict(),
    )


def binade(lo: int, bits: int, device, repeats: int) -> Figure:
    """A whole binade, everything in: plans, models, search, decisions, certificate."""
    tmd.search("exp", (lo, lo * (1 + 2.0**-16)), bits=bits, device=device)  # compiles
    taken = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = tmd.search("exp", (lo, 2 * lo), bits=bits, device=device)
        taken.append(time.perf_counter() - begin)
    keep(result, Path("out/tmd"), min(taken))
    peers = {"paper, C2070, half of its 2^53 arguments": PAPER[lo]} if bits == 32 else {}
    return Figure(
        f"exp, all doubles of [{lo}, {2 * lo}), bits = {bits}, all rounding modes",
        sorted(taken)[len(taken) // 2],
        "s",
        peers=peers,
        note=f"everything in, compiled before; {len(result.cases)} cases; median of {repeats}",
        timing={"samples": taken},
    )


def part(lo: int, width: int, device, quick: bool) -> Figure:
    """Arguments a second of a search of a random part of a binade."""
    (p,) = windows(function("exp"), lo, 2 * lo, 1, width, 20 if quick else 32)
    run = p.block.run
    domain = run.argument(0), run.argument(run.count)
    timing = hetero.benchmark(
        lambda: tmd.search("exp", domain, bits=p.bits, device=device), repeats=5, device=device
    )
    return Figure(
        f"exp, 2^{width} doubles in [{lo}, {2 * lo}), bits = {p.bits}, all rounding modes",
        timing.rate(run.count) / 1e9,
        "G arguments/s",
        note=f"tmd.search, everything in; {hetero.threads()} threads",
        timing=timing.as_dict(),
    )

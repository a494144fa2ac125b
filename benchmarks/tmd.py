"""tmd: seconds for whole binades of exp, arguments a second."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import hetero
import tmd
from benchmarks.figures import Figure
from benchmarks.tmd_campaign import BITS, keep
from tmd.functions import function
from tmd.study.phases import windows

PAPER = {1: 1497.0 / 2, 128: 53194.0 / 2}
"""Seconds of the paper's C2070 for the binades from 1 and 128 on, halved: it had 2^53 arguments."""


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    gpu = device.kind == "cuda"
    figures = [audit(device, quick)]
    if gpu and not quick:
        figures += [binade(1, 32, device, 3), binade(1, 45, device, 1), binade(128, 32, device, 1)]
    else:
        widths = {1: 28 if quick else 39, 128: 24 if quick else 35}
        figures += [part(lo, width, device, quick) for lo, width in widths.items()]
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
    if bits == BITS:
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

"""tmd: seconds for complete binades of exp, and arguments per second."""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import hetero
import tmd
from benchmarks.measurements import Measurement
from benchmarks.tmd_campaign import BITS, write_binade
from studies.tmd.domains import random_windows
from tmd.functions import load_function

PUBLISHED = {1: (785.14 + 711.8) / 2, 128: (1612.03 + 51530.44) / 2}
"""Seconds for a binade on a C2070, by its lower end, derived from Fortin et al. (2016, table 5).

The sum of the printed times of the polynomials and of the faster search, the regular one in [1, 2)
and Lefevre's in [128, 256), halved: they are for 2^53 arguments, twice the doubles of a binade.
"""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure complete binades on a GPU, parts of them on the CPU, and an exhaustive search."""
    gpu = device.kind == "cuda"
    figures = [measure_exhaustive_search(device, quick)]
    if gpu and not quick:
        figures += [
            measure_binade(1, 32, device, 3),
            measure_binade(1, 45, device, 1),
            measure_binade(128, 32, device, 1),
        ]
    else:
        widths = {1: 28 if quick else 39, 128: 24 if quick else 35}
        figures += [measure_window(lo, width, device, quick) for lo, width in widths.items()]
    return figures


def measure_exhaustive_search(device: hetero.Device, quick: bool) -> Measurement:
    """Measure an exhaustive search, which computes every value by differences."""
    width = 22 if quick else (36 if device.kind == "cuda" else 30)
    hi = 1 + Fraction(1 << width, 1 << 52)
    timing = hetero.benchmark(
        lambda: tmd.search("exp", (1, hi), bits=32, algorithm="exhaustive", device=device),
        repeats=5,
        device=device,
    )
    return Measurement(
        f"every argument by differences, 2^{width} of exp from 1 on",
        timing.rate(1 << width) / 1e9,
        "G arguments/s",
        note="tmd.search, everything included",
        timing=timing.as_dict(),
    )


def measure_binade(lo: int, bits: int, device: hetero.Device, repeats: int) -> Measurement:
    """Measure a complete binade, with plans, models, search, decisions and certificate."""
    tmd.search("exp", (lo, lo * (1 + 2.0**-16)), bits=bits, device=device)  # compiles
    samples = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = tmd.search("exp", (lo, 2 * lo), bits=bits, device=device)
        samples.append(time.perf_counter() - begin)
    if bits == BITS:
        write_binade(result, Path("out/tmd"), min(samples))
    peers = (
        {"Fortin et al. 2016, C2070, half of its 2^53 arguments": PUBLISHED[lo]}
        if bits == 32
        else {}
    )
    return Measurement(
        f"exp, all doubles of [{lo}, {2 * lo}), bits = {bits}, all rounding modes",
        sorted(samples)[len(samples) // 2],
        "s",
        peers=peers,
        note=f"everything included but compilation; {len(result.cases)} cases; median of {repeats}",
        timing={"samples": samples},
    )


def measure_window(lo: int, width: int, device: hetero.Device, quick: bool) -> Measurement:
    """Measure the search of a random window of a binade."""
    (p,) = random_windows(load_function("exp"), lo, 2 * lo, 1, width, 20 if quick else 32)
    run = p.block.run
    domain = run.argument(0), run.argument(run.count)
    timing = hetero.benchmark(
        lambda: tmd.search("exp", domain, bits=p.bits, device=device), repeats=5, device=device
    )
    return Measurement(
        f"exp, 2^{width} doubles in [{lo}, {2 * lo}), bits = {p.bits}, all rounding modes",
        timing.rate(run.count) / 1e9,
        "G arguments/s",
        note=f"tmd.search, everything included; {hetero.threads()} threads",
        timing=timing.as_dict(),
    )

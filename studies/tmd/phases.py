"""Arguments that reach each phase (Fortin, Gouicem and Graillat 2016, tables 2, 6 and 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hetero.devices import Device
from studies.study import Study
from studies.tmd.domains import PUBLISHED, plan_first_block, random_windows
from tmd._search import search_stretches
from tmd._search.formulas.line_formulas import Shape
from tmd._search.planning import Plan, Stretch
from tmd.formats import Format
from tmd.functions import load_function
from tmd.functions.function import Function

TESTS = ("lefevre", "swap", "regular", "clipped")
"""Algorithm 1, Algorithm 3, which the published times are of, Algorithm 4, and ours."""

BINADES = ((1, 2), (128, 256))


def count_arguments(f: Function, plans: Sequence[Plan], device: Device) -> tuple[float, float, int]:
    """Search blocks; return the numbers of arguments in phases 2 and 3, and of cases."""
    second = third = cases = 0
    with device.active():
        found = search_stretches(f, map(Stretch.whole, plans), device)
        for p, block_cases in zip(plans, found, strict=True):
            second += block_cases.counts[1] << p.shape.subdomain
            third += block_cases.counts[2] << p.shape.piece
            cases += block_cases.index.size
    return float(second), float(third), int(cases)


def with_subdomain_size(p: Plan, subdomain: int, split: int) -> Plan:
    """Return a plan with sub-domains of 2^subdomain arguments, split into 2^split pieces."""
    packet = min(9, p.shape.super_block - subdomain - 5)
    return replace(p, shape=Shape(p.shape.super_block, subdomain, subdomain - split, packet))


def run(study: Study) -> dict:
    """Count the arguments of each phase, on the published example and on random windows."""
    f = load_function("exp")
    width = 24 if study.quick else (40 if study.device.kind == "cuda" else 34)
    lo, hi = PUBLISHED
    if study.quick:
        hi = 1 + (hi - 1) / 2**12
    _, base = plan_first_block("exp", lo, hi, Format.create(53, 54), 33, "directed")
    base = with_subdomain_size(base, 15, 3)
    rows = []
    for test in TESTS:
        second, third, cases = count_arguments(f, [replace(base, algorithm=test)], study.device)
        rows.append((test, float(base.block.run.count), second, third, cases))
    heads = ("test", "phase 1", "phase 2", "phase 3", "cases")
    study.table("Table 2: exp, 54-bit arguments from 1 on, N = 2^15, 8 pieces", heads, rows)
    scaled, seconds = [], []
    for begin, end in BINADES:
        plans = random_windows(f, begin, end, 4, width, 32)
        total = sum(p.block.run.count for p in plans)
        for subdomain in sorted({15, plans[0].shape.subdomain}):
            split = 3 if begin == 1 else 4
            resized = [with_subdomain_size(p, subdomain, split) for p in plans]
            for test in TESTS:
                tested = [replace(p, algorithm=test) for p in resized]
                counts = count_arguments(f, tested, study.device)
                scale = 2.0**52 / total
                place = f"[{begin}, {end})", subdomain, test
                scaled.append((*place, *(n * scale for n in counts)))
                if study.device.kind == "cuda":
                    times = _seconds_of_phases(f, tested, study.device)
                    seconds.append((*place, *(s * scale for s in times)))
    study.table(
        f"Tables 6 and 7: arguments of a binade, scaled from 4 random windows of 2^{width}",
        ("binade", "log2 N", "test", "phase 2", "phase 3", "cases"),
        scaled,
    )
    if seconds:
        study.table(
            "Tables 6 and 7: seconds of a binade's doubles, scaled from the same windows",
            ("binade", "log2 N", "test", "phase 1, s", "phase 2, s", "phase 3, s"),
            seconds,
        )
    return {"published example": rows, "binades": scaled, "part": 4 << width, "seconds": seconds}


def _seconds_of_phases(f: Function, plans: Sequence[Plan], device: Device) -> list[float]:
    """Return the seconds of the three phases on a GPU, over all plans."""
    from studies.tmd.phase_times import time_phases

    with device.active():
        return [sum(times) for times in zip(*(time_phases(f, p) for p in plans), strict=True)]

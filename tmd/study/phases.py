"""Arguments that reach each phase (paper, tables 2, 6 and 7)."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from tmd._scan_math import Shape
from tmd.blocks import blocks
from tmd.engine import scan
from tmd.formats import Format
from tmd.functions import function
from tmd.plan import plan
from tmd.study.domains import PAPER
from tmd.taylor import Scale

TESTS = ("lefevre", "regular", "clipped")
BINADES = ((1, 2), (128, 256))


def counted(f, plans, device) -> tuple[float, float, int]:
    """Arguments in phases 2 and 3, and cases."""
    second = third = cases = 0
    for p, found in scan(f, plans, device):
        second += found.counts[1] << p.shape.domain
        third += found.counts[2] << p.shape.piece
        cases += found.index.size
    return float(second), float(third), int(cases)


def with_lengths(p, domain: int, split: int):
    """A plan with sub-domains of 2^domain arguments, pieces of 2^(domain - split)."""
    shape = Shape(p.shape.size, domain, domain - split, min(9, p.shape.size - domain - 5))
    return replace(p, shape=shape)


def windows(f, lo, hi, count: int, width: int, bits: int, seed: int = 1) -> list:
    """Blocks of 2^width arguments at random places of a binade."""
    parts, _ = blocks(f, Fraction(lo), Fraction(hi), Format.checked(53))
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        b = rng.choices(parts, [p.run.count for p in parts])[0]
        n = min(1 << width, b.run.count)
        begin = rng.randrange(b.run.count - n + 1)
        piece = replace(b, run=b.run.part(begin, begin + n))
        found.append(plan(f, piece, bits, Scale(), "clipped", "reciprocal"))
    return found


def run(study) -> dict:
    f = function("exp")
    gpu = study.device.kind == "cuda"
    width = 24 if study.quick else (40 if gpu else 34)
    lo, hi = PAPER
    if study.quick:
        hi = 1 + (hi - 1) / 2**12
    parts, _ = blocks(f, lo, hi, Format.checked(53, 54))
    base = with_lengths(plan(f, parts[0], 33, Scale.of("directed"), "clipped", "reciprocal"), 15, 3)
    rows = []
    for test in TESTS:
        second, third, cases = counted(f, [replace(base, algorithm=test)], study.device)
        rows.append((test, float(base.block.run.count), second, third, cases))
    heads = ("test", "phase 1", "phase 2", "phase 3", "cases")
    study.table("Table 2: exp, 54-bit arguments from 1 on, N = 2^15, split by 8", heads, rows)
    scaled = []
    for lo, hi in BINADES:
        plans = windows(f, lo, hi, 4, width, 32)
        total = sum(p.block.run.count for p in plans)
        own = plans[0].shape.domain
        for domain in sorted({15, own}):
            forced = [with_lengths(p, domain, 3 if lo == 1 else 4) for p in plans]
            for test in TESTS:
                made = [replace(p, algorithm=test) for p in forced]
                second, third, cases = counted(f, made, study.device)
                share = 2.0**52 / total
                scaled.append((f"[{lo}, {hi})", domain, test, second * share, third * share,
                               cases * share))  # fmt: skip
    heads = ("binade", "log2 N", "test", "phase 2", "phase 3", "cases")
    study.table(
        f"Tables 6 and 7: arguments of a binade, scaled from 4 random parts of 2^{width}",
        heads,
        scaled,
    )
    return {"paper": rows, "binades": scaled, "part": 4 << width}

"""Domains that several studies use."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from tmd._search.blocks import split_into_blocks
from tmd._search.planning import Plan, make_plan
from tmd._search.taylor_models import Scale
from tmd.formats import Format
from tmd.functions import load_function
from tmd.functions.function import Function

PUBLISHED = (Fraction(1), 1 + Fraction(1, 2**13))
"""[1, 1 + 2^-13): the example of Fortin, Gouicem and Graillat (2016), with 54-bit arguments."""


def plan_first_block(
    name: str, lo: Fraction, hi: Fraction, fmt: Format, bits: int, rounding: str
) -> tuple[Function, Plan]:
    """Return the function, and the plan of the first block of a domain for the clipped test."""
    f = load_function(name)
    blocks, _ = split_into_blocks(f, lo, hi, fmt)
    return f, make_plan(f, blocks[0], bits, Scale.for_rounding(rounding), "clipped", "reciprocal")


def random_windows(
    f: Function,
    lo: int | Fraction,
    hi: int | Fraction,
    count: int,
    width: int,
    bits: int,
    *,
    seed: int = 1,
    fmt: Format | None = None,
    scale: Scale | None = None,
) -> list[Plan]:
    """Return plans for `count` random windows of 2^width arguments in [lo, hi).

    Without `fmt` and `scale`, the arguments are doubles, and all rounding modes are searched.
    """
    fmt, scale = fmt or Format.create(53), scale or Scale()
    blocks, _ = split_into_blocks(f, Fraction(lo), Fraction(hi), fmt)
    rng = random.Random(seed)
    plans = []
    for _ in range(count):
        b = rng.choices(blocks, [p.run.count for p in blocks])[0]
        n = min(1 << width, b.run.count)
        begin = rng.randrange(b.run.count - n + 1)
        window = replace(b, run=b.run.slice(begin, begin + n))
        plans.append(make_plan(f, window, bits, scale, "clipped", "reciprocal"))
    return plans

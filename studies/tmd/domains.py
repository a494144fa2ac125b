"""Domains that several studies use."""

from __future__ import annotations

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

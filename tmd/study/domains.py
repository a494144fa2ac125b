"""Domains of the studies."""

from __future__ import annotations

from fractions import Fraction

from tmd.blocks import blocks
from tmd.formats import Format
from tmd.functions import function
from tmd.plan import plan
from tmd.taylor import Scale

PAPER = (Fraction(1), 1 + Fraction(1, 2**13))
"""[1, 1 + 2^-13): the paper's example, searched with arguments of 54 digits."""


def plan_of(name, lo, hi, fmt: Format, bits, rounding, algorithm="clipped", division="reciprocal"):
    """The function and the plan of a domain that is one block."""
    f = function(name)
    parts, _ = blocks(f, lo, hi, fmt)
    return f, plan(f, parts[0], bits, Scale.of(rounding), algorithm, division)

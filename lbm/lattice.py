"""The D3Q19 lattice, built by rule: rest, six faces, twelve edges of the cube.

Populations come in opposite pairs (1, 2), (3, 4), ...: the first of a pair has a positive first
component that is not zero, the second is its opposite. Everything is a tuple of plain numbers, so
that kernels can unroll it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

CS2 = Fraction(1, 3)
"""Speed of sound, squared, in cells^2/step^2."""


def _velocities() -> tuple[tuple[int, int, int], ...]:
    ordered = [(0, 0, 0)]
    for norm in (1, 2):
        for c in sorted(product((1, 0, -1), repeat=3), reverse=True):
            positive = next((x for x in c if x), 0) > 0
            if positive and sum(x * x for x in c) == norm:
                ordered += [c, tuple(-x for x in c)]
    return tuple(ordered)


def _weights() -> tuple[Fraction, ...]:
    """From isotropy: sum w = 1, sum w cx cx = cs^2, sum w cx cx cy cy = cs^4."""
    edge = CS2**2 / sum(c[0] ** 2 * c[1] ** 2 for c in C)
    face = (CS2 - edge * sum(c[0] ** 2 for c in C if _norm(c) == 2)) / 2
    rest = 1 - 6 * face - 12 * edge
    return tuple((rest, face, edge)[_norm(c)] for c in C)


def _norm(c) -> int:
    return sum(x * x for x in c)


C = _velocities()
"""Velocities c_q in cells a step."""

Q = len(C)
W_EXACT = _weights()
W = tuple(map(float, W_EXACT))
"""Weights w_q."""

OPPOSITE = tuple(C.index(tuple(-x for x in c)) for c in C)
"""OPPOSITE[q] is the population that moves against q."""

PAIRS = tuple((q, OPPOSITE[q]) for q in range(1, Q, 2))

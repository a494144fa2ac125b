"""The D3Q19 lattice, built by rule: velocities to the cell itself, six faces and twelve edges.

Populations come in opposite pairs (1, 2), (3, 4), ...: in the first of a pair the first component
that is not zero is positive, and the second is its opposite. Everything is a tuple of plain
numbers, so that kernels can unroll it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

CS2 = Fraction(1, 3)
"""Speed of sound, squared, in cells^2/step^2."""


def _make_velocities() -> tuple[tuple[int, int, int], ...]:
    ordered = [(0, 0, 0)]
    for norm in (1, 2):
        for c in sorted(product((1, 0, -1), repeat=3), reverse=True):
            positive = next((x for x in c if x), 0) > 0
            if positive and sum(x * x for x in c) == norm:
                ordered += [(c[0], c[1], c[2]), (-c[0], -c[1], -c[2])]
    return tuple(ordered)


def _make_weights() -> tuple[Fraction, ...]:
    """Solve for isotropy: sum w = 1, sum w cx cx = cs^2, sum w cx cx cy cy = cs^4."""
    edge = CS2**2 / sum(c[0] ** 2 * c[1] ** 2 for c in C)
    face = (CS2 - edge * sum(c[0] ** 2 for c in C if _squared_norm(c) == 2)) / 2
    resting = 1 - 6 * face - 12 * edge
    return tuple((resting, face, edge)[_squared_norm(c)] for c in C)


def _squared_norm(c: tuple[int, ...]) -> int:
    return sum(x * x for x in c)


C = _make_velocities()
"""Velocities c_q in cells/step."""

Q = len(C)
"""Number of populations of a cell: 19."""

W_EXACT = _make_weights()
"""Weights w_q as fractions."""

W = tuple(map(float, W_EXACT))
"""Weights w_q as floats."""

OPPOSITE = tuple(C.index(tuple(-x for x in c)) for c in C)
"""OPPOSITE[q] is the population with the velocity -c_q."""

PAIRS = tuple((q, OPPOSITE[q]) for q in range(1, Q, 2))
"""Pairs of opposite populations."""

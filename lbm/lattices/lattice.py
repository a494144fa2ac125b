"""The class of lattices: all that the package knows of one.

Populations come in opposite pairs (1, 2), (3, 4), ...: in the first of a pair the first component
that is not zero is positive, and the second is its opposite. Everything is a tuple of plain
numbers, so that kernels can unroll it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

Velocity = tuple[int, int, int]
"""Velocity of a population in cells/step."""

CS2 = Fraction(1, 3)
"""Speed of sound, squared, in cells^2/step^2: the same for all lattices of the package."""

SOUND = float(CS2) ** 0.5
"""Speed of sound in cells/step."""


@dataclass(frozen=True)
class Lattice:
    """A lattice: the velocities with which populations stream, and their weights at rest.

    Lattices are equal if they have the same name.

    Attributes
    ----------
    name : str
        The number of dimensions and of velocities, such as "D3Q19".
    velocities : tuple
        Velocities c_q in cells/step, each (x, y, z); the first is 0.
    exact_weights : tuple of Fraction
        Weights w_q, which add up to 1.
    """

    name: str
    velocities: tuple[Velocity, ...] = field(compare=False, repr=False)
    exact_weights: tuple[Fraction, ...] = field(compare=False, repr=False)

    @functools.cached_property
    def size(self) -> int:
        """Number of populations of a cell."""
        return len(self.velocities)

    @functools.cached_property
    def weights(self) -> tuple[float, ...]:
        """Weights w_q as floats."""
        return tuple(map(float, self.exact_weights))

    @functools.cached_property
    def opposite(self) -> tuple[int, ...]:
        """Population with the velocity -c_q, for each q."""
        return tuple(self.velocities.index((-x, -y, -z)) for x, y, z in self.velocities)

    @functools.cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Pairs of opposite populations."""
        return tuple((q, self.opposite[q]) for q in range(1, self.size, 2))

    @functools.cached_property
    def weight_unit(self) -> Fraction:
        """The smallest weight: all others are multiples of it."""
        return min(self.exact_weights)

    @property
    def has_corners(self) -> bool:
        """Return whether populations stream to the corners of a cube, too."""
        return (1, 1, 1) in self.velocities


def order_velocities(norms: Sequence[int]) -> tuple[Velocity, ...]:
    """Return the velocities with these squared norms in opposite pairs, behind that at rest."""
    ordered: list[Velocity] = [(0, 0, 0)]
    for norm in norms:
        for c in sorted(product((1, 0, -1), repeat=3), reverse=True):
            positive = next((x for x in c if x), 0) > 0
            if positive and squared_norm(c) == norm:
                ordered += [(c[0], c[1], c[2]), (-c[0], -c[1], -c[2])]
    return tuple(ordered)


def squared_norm(c: Sequence[int]) -> int:
    """Return the square of the length of a velocity."""
    return sum(x * x for x in c)

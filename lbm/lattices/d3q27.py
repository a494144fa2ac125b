"""D3Q27: velocities to the cell itself, the six faces, twelve edges and eight corners of a cube."""

from __future__ import annotations

import math
from fractions import Fraction

from lbm.lattices.lattice import CS2, Lattice, order_velocities

_VELOCITIES = order_velocities((1, 2, 3))

_WEIGHTS_OF_AXIS = 1 - CS2, CS2 / 2
"""Weights of the velocities 0 and +-1 along one axis: their second moment is cs^2."""

D3Q27 = Lattice(
    "D3Q27",
    _VELOCITIES,
    tuple(math.prod((_WEIGHTS_OF_AXIS[abs(x)] for x in c), start=Fraction(1)) for c in _VELOCITIES),
)
"""The lattice D3Q27 (He and Luo 1997): the product of three lattices of three velocities.

Moments of the second order along each axis are independent, so that the errors of the convection
of momentum have no preferred axes (Silva and Semiao 2014). It takes 27/19 of the memory and the
time of D3Q19.
"""

"""D3Q19: velocities to the cell itself, the six faces and the twelve edges of a cube."""

from __future__ import annotations

from fractions import Fraction

from lbm.lattices.lattice import CS2, Lattice, order_velocities, squared_norm

_VELOCITIES = order_velocities((1, 2))


def _make_weights() -> tuple[Fraction, ...]:
    """Solve for isotropy: sum w = 1, sum w cx cx = cs^2, sum w cx cx cy cy = cs^4."""
    edge = CS2**2 / sum(c[0] ** 2 * c[1] ** 2 for c in _VELOCITIES)
    face = (CS2 - edge * sum(c[0] ** 2 for c in _VELOCITIES if squared_norm(c) == 2)) / 2
    resting = 1 - 6 * face - 12 * edge
    return tuple((resting, face, edge)[squared_norm(c)] for c in _VELOCITIES)


D3Q19 = Lattice("D3Q19", _VELOCITIES, _make_weights())
"""The lattice D3Q19 (Qian, d'Humieres and Lallemand 1992).

Its moments are isotropic up to the fourth order. It has no third moment c_x c_y c_z.
"""

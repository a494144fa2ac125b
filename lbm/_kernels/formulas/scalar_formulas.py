"""Formulas of a scalar that drives the flow of a cell, for both targets."""

from lbm.collisions.unroll import inlined


@inlined
def total(g):
    """Return the scalar of a cell with the populations g, a tuple of 7."""
    return ((g[1] + g[2]) + (g[3] + g[4])) + ((g[5] + g[6]) + g[0])


@inlined
def add_half_impulse(drho, ux, uy, uz, s, numbers):
    """Return the velocity of a cell with half of the impulse of its scalar s.

    drho is the density less 1; `numbers` are those of `Engine.accelerate`.
    """
    T = type(drho)
    half = T(0.5) * (s - numbers[3]) / (T(1) + drho)
    return ux + half * numbers[0], uy + half * numbers[1], uz + half * numbers[2]

"""Squared speed of a cell, or a huge value if it is not finite: for finding the worst cell."""

from lbm.collisions.unroll import inlined


@inlined
def squared_speed_or_huge(drho, ux, uy, uz):
    """Return u^2 in (cells/step)^2; 1e30 if rho or u is not finite or rho is not positive."""
    T = type(drho)
    square = ux * ux + uy * uy + uz * uz
    total = square + drho
    if total - total != T(0) or drho <= T(-1):
        return T(1e30)
    return square

"""Badness of the state of a cell as a number, by which the worst cell is found."""

from lbm.boundaries.limits import DENSITY_LIMITS, SPEED_LIMIT
from lbm.collisions.unroll import inlined

NOT_FINITE = 1e30
"""Badness of a cell whose density or velocity is not finite, or whose density is not positive."""

DENSITY_UNIT = 1e20
"""Factor of 1 + rho in the badness of a cell whose density is out of bounds: more than any squared
speed, less than NOT_FINITE."""

LARGEST_DENSITY = 1e6
"""Densities above this count as not finite, so that their badness stays below NOT_FINITE."""

_LOWEST, _HIGHEST = (rho - 1.0 for rho in DENSITY_LIMITS)
_SQUARE_LIMIT = SPEED_LIMIT**2


@inlined
def badness(drho, ux, uy, uz):
    """Return u^2 in (cells/step)^2, DENSITY_UNIT (1 + rho) for a bad density, or NOT_FINITE."""
    T = type(drho)
    square = ux * ux + uy * uy + uz * uz
    total = square + drho
    if total - total != T(0) or drho <= T(-1) or drho > T(LARGEST_DENSITY):
        return T(NOT_FINITE)
    if drho < T(_LOWEST) or drho > T(_HIGHEST):
        return T(DENSITY_UNIT) * (T(2) + drho)
    return square


@inlined
def is_good(drho, ux, uy, uz):
    """Return whether the badness is below the square of the largest speed; False for NaN."""
    T = type(drho)
    square = ux * ux + uy * uy + uz * uz
    return (square < T(_SQUARE_LIMIT)) & (drho >= T(_LOWEST)) & (drho <= T(_HIGHEST))

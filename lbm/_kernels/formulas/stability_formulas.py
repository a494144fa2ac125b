"""The test of a cell for a state in which the method is valid, for both targets."""

from lbm.boundaries.limits import DENSITY_LIMITS, SPEED_LIMIT
from lbm.collisions.unroll import inlined

_LOWEST, _HIGHEST = (rho - 1.0 for rho in DENSITY_LIMITS)
_SQUARE_LIMIT = SPEED_LIMIT**2


@inlined
def is_good(drho, ux, uy, uz):
    """Return whether density and speed are within their limits; False for NaN."""
    T = type(drho)
    square = ux * ux + uy * uy + uz * uz
    return (square < T(_SQUARE_LIMIT)) & (drho >= T(_LOWEST)) & (drho <= T(_HIGHEST))

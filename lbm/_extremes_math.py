"""The fastest cell of a field, and the first that is no number, for both targets."""

from lbm._unroll import inlined


@inlined
def badness(rise, ux, uy, uz):
    """Squared speed; infinite where rho or u is not finite, or rho is not positive."""
    T = type(rise)
    square = ux * ux + uy * uy + uz * uz
    total = square + rise
    if total - total != T(0) or rise <= T(-1):
        return T(1e30)
    return square

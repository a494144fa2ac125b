"""log2 x for x > 0. A rational for powers of two only (unique factorisation)."""

from fractions import Fraction

from tmd.functions import Function
from tmd.functions.log import hole


def _series(x):
    from flint import arb

    return x.log() / arb.const_log2()


def _exponent(x) -> int | None:
    """log2 of a power of two."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x == Fraction(2) ** e else None


FUNCTION = Function("log2", series=_series, exact=_exponent, hole=hole)

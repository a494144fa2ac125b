"""log2 x for x > 0. It is rational for powers of two only (unique factorization)."""

from fractions import Fraction
from typing import Any

from tmd.functions.function import Function
from tmd.functions.log import find_singularity


def _series(x: Any) -> Any:
    from flint import arb

    return x.log() / arb.const_log2()


def _exponent_of_power(x: Fraction) -> int | None:
    """Return log2 x if x is a power of two."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if x == Fraction(2) ** e else None


FUNCTION = Function(
    "log2", series=_series, exact=_exponent_of_power, singularity=find_singularity, monotone=True
)

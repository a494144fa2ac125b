"""log2 x for x > 0. A rational for powers of two only (unique factorisation)."""

from tmd.functions import Function
from tmd.functions.log import hole


def _series(x):
    from flint import arb

    return x.log() / arb.const_log2()


def _is_power_of_two(x) -> bool:
    n = x.numerator * x.denominator  # one of them is 1
    return min(x.numerator, x.denominator) == 1 and n & (n - 1) == 0


FUNCTION = Function("log2", series=_series, exact=_is_power_of_two, hole=hole)

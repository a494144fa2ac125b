"""2^x. A rational for integers x only: else a root of a power of two."""

import math

from tmd.functions import Function, never


def _series(x):
    from flint import arb

    return (x * arb.const_log2()).exp()


FUNCTION = Function(
    "exp2",
    series=_series,
    exact=lambda x: (1, int(x)) if x.denominator == 1 else None,
    hole=never,
    tiny=(math.log(2.0), 1),
)

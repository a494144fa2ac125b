"""log2(1 + x) for x > -1. It is rational where 1 + x is a power of two, like log2."""

from tmd.functions import log1p
from tmd.functions.function import Function
from tmd.functions.parts import exponent_of_power, in_base, points_at

FUNCTION = Function(
    "log2p1",
    series=in_base(2, log1p.series),
    exact=lambda x: exponent_of_power(1 + x, 2),
    value=in_base(2, lambda x: x.log1p()),
    domain=(-1, None),
    points=points_at(-1, 0),
    is_singular=True,
    monotone=True,
)

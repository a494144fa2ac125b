"""log10(1 + x) for x > -1. It is rational where 1 + x is a power of ten, like log10."""

from tmd.functions import log1p
from tmd.functions.function import Function
from tmd.functions.parts import exponent_of_power, in_base, points_at

FUNCTION = Function(
    "log10p1",
    series=in_base(10, log1p.series),
    exact=lambda x: exponent_of_power(1 + x, 10),
    value=in_base(10, lambda x: x.log1p()),
    domain=(-1, None),
    points=points_at(-1, 0),
    is_singular=True,
    monotone=True,
)

"""log2 x for x > 0. It is rational for powers of two only (unique factorization)."""

from tmd.functions.function import Function
from tmd.functions.parts import exponent_of_power, in_base, log_of, points_at

_value = in_base(2, lambda x: x.log())

FUNCTION = Function(
    "log2",
    series=_value,
    exact=lambda x: exponent_of_power(x, 2),
    value=_value,
    domain=(0, None),
    points=points_at(0, 1),
    monotone=True,
    doubling=lambda: in_base(2, log_of)(2),
)

"""log10 x for x > 0. For numbers with finitely many binary digits it is rational at 10^n, n >= 0.

From x^b = 10^a follows that 5 divides x a/b times, so that a/b = n is an integer and x = 10^n.
"""

from tmd.functions.function import Function
from tmd.functions.parts import exponent_of_power, in_base, log_of, points_at

_value = in_base(10, lambda x: x.log())

FUNCTION = Function(
    "log10",
    series=_value,
    exact=lambda x: exponent_of_power(x, 10),
    value=_value,
    domain=(0, None),
    points=points_at(0, 1),
    monotone=True,
    doubling=lambda: in_base(10, log_of)(2),
)

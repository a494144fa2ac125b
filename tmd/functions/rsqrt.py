"""1/sqrt(x) for x > 0. It has finitely many binary digits for powers of four only.

If it is rational, x is the square of a rational number, and 1/sqrt(x) its inverse: for x with
finitely many binary digits, m^2 4^k with m odd, that is 2^-k/m, which has infinitely many unless
m = 1.
"""

from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import exponent_of_power, points_at


def _exact(x: Fraction) -> tuple[int, int] | None:
    e = exponent_of_power(x, 2) if x > 0 else None
    return None if e is None or e % 2 else (1, -e // 2)


FUNCTION = Function(
    "rsqrt",
    series=lambda x: x.rsqrt(),
    exact=_exact,
    value=lambda x: x.rsqrt(),
    domain=(0, None),
    points=points_at(0),
    monotone=True,
)

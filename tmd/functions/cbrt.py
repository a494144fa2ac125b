"""The cube root. It is rational for cubes of rational numbers only (unique factorization)."""

from fractions import Fraction
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import points_at


def _value(x: Any) -> Any:
    from flint import arb

    return x.root(3) if x > 0 else -((-x).root(3)) if x < 0 else arb.nan()


def _series(x: Any) -> Any:
    return -_series(-x) if x[0] < 0 else (x.log() / 3).exp()


def _exact(x: Fraction) -> tuple[int, int] | None:
    """Return the root of m 2^(3 e) if m is a cube."""
    if x == 0:
        return 0, 0
    e = x.denominator.bit_length() - 1
    e += -e % 3
    m = abs(x.numerator) * ((1 << e) // x.denominator)
    root = _integer_root(m)
    return ((root if x > 0 else -root), -e // 3) if root**3 == m else None


def _integer_root(m: int) -> int:
    """Return the integer r with r^3 <= m < (r + 1)^3, by Newton's iteration from above."""
    r = 1 << -(-m.bit_length() // 3)
    while (s := (2 * r + m // (r * r)) // 3) < r:
        r = s
    return r


FUNCTION = Function(
    "cbrt",
    series=_series,
    exact=_exact,
    value=_value,
    points=points_at(0),
    symmetry="odd",
    monotone=True,
)

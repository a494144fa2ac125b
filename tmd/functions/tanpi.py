"""tan(pi x). For rational x it is rational at multiples of 1/4 only: 0, 1, -1 or a pole (Niven)."""

from fractions import Fraction
from typing import Any

from tmd.functions.function import Function


def _series(x: Any) -> Any:
    return x.sin_pi() / x.cos_pi()


FUNCTION = Function(
    "tanpi",
    series=_series,
    exact=lambda x: {0: 0, 1: 1, 3: -1}.get(int(4 * x) % 4) if (4 * x).denominator == 1 else None,
    value=lambda x: x.tan_pi(),
    lattices=(Fraction(1, 2), Fraction(1, 2)),
    symmetry="odd",
)

"""sin(pi x). For rational x it is rational at 0, 1/6 and 1/2 and their like only (Niven)."""

from fractions import Fraction

from tmd.functions.function import Function


def exact(x: Fraction) -> int | None:
    """Return sin(pi x) at multiples of 1/2; None elsewhere."""
    return (0, 1, 0, -1)[int(2 * x) % 4] if (2 * x).denominator == 1 else None


FUNCTION = Function(
    "sinpi",
    series=lambda x: x.sin_pi(),
    exact=exact,
    value=lambda x: x.sin_pi(),
    lattices=(Fraction(1, 2), Fraction(1, 2)),
    symmetry="odd",
    below_one=True,
)

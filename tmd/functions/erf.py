"""The error function. Nobody has proved that its values at rational numbers are irrational.

(sqrt(pi) erf(x) is transcendental by Siegel and Shidlovsky.) Balls decide each candidate all the
same; a value with finitely many digits would be listed as undecided.
"""

from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import points_at

FUNCTION = Function(
    "erf",
    series=lambda x: x.erf(),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.erf(),
    points=points_at(0),
    limits=(Fraction(-1), Fraction(1)),
    symmetry="odd",
    below_one=True,
    monotone=True,
)

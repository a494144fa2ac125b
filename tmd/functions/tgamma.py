"""The gamma function. It is (x - 1)! for integers x > 0, and has poles at 0 and below.

It is irrational at half and quarter integers (Chudnovsky); nobody has proved it for other numbers
with finitely many binary digits. Balls decide each candidate all the same; a value with finitely
many digits would be listed as undecided.
"""

import math
from fractions import Fraction

from tmd.functions.function import Function
from tmd.functions.parts import points_at

FUNCTION = Function(
    "tgamma",
    series=lambda x: x.gamma(),
    exact=lambda x: math.factorial(int(x) - 1) if x.denominator == 1 and 0 < x <= 1024 else None,
    value=lambda x: x.gamma(),
    points=points_at(0),
    lattices=(Fraction(1), None),
    limits=(None, math.inf),
)

"""ln |gamma(x)|. It is 0 at 1 and 2, has poles at 0, -1, ..., and is ln (x - 1)! at integers.

These are irrational (Lindemann); see tgamma for what is known about others.
"""

import math
from fractions import Fraction
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import points_at


def _value(x: Any) -> Any:
    return x.lgamma() if x > 0 else abs(x.gamma()).log()


def _series(x: Any) -> Any:
    if x[0] > 0:
        return x.lgamma()
    gamma = x.gamma()
    return (gamma if gamma[0] > 0 else -gamma).log()


FUNCTION = Function(
    "lgamma",
    series=_series,
    exact=lambda x: 0 if x in (1, 2) else None,
    value=_value,
    points=points_at(0, 1, 2),
    lattices=(Fraction(1), None),
    is_singular=True,
    limits=(None, math.inf),
)

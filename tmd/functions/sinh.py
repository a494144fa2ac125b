"""sinh x. It is irrational for every rational x but 0 (Lindemann)."""

import math
from typing import Any

from tmd.functions.function import Function
from tmd.functions.parts import points_at


def hyperbolic(x: Any, sinh: bool) -> Any:
    """Return sinh or cosh of a series x = m + t, without cancellation for small m.

    sinh x = sinh m cosh t + cosh m sinh t, and cosh x = cosh m cosh t + sinh m sinh t.
    """
    from flint import arb_series

    m, t = x[0], arb_series([0, x[1]])
    growing, falling = t.exp() / 2, (-t).exp() / 2
    first, second = (m.sinh(), m.cosh()) if sinh else (m.cosh(), m.sinh())
    return (growing + falling) * first + (growing - falling) * second


FUNCTION = Function(
    "sinh",
    series=lambda x: hyperbolic(x, True),
    exact=lambda x: 0 if x == 0 else None,
    value=lambda x: x.sinh(),
    points=points_at(0),
    fixed_near_zero=("x", 2),
    limits=(math.inf, math.inf),
    symmetry="odd",
    monotone=True,
)

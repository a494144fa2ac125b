"""2^x. It is rational for integers x only; else it is a root of a power of two."""

import math
from typing import Any

from tmd.functions.function import Function, no_singularity


def _series(x: Any) -> Any:
    from flint import arb

    return (x * arb.const_log2()).exp()


FUNCTION = Function(
    "exp2",
    series=_series,
    exact=lambda x: (1, int(x)) if x.denominator == 1 else None,
    singularity=no_singularity,
    trivial_near_zero=(math.log(2.0), 1),
    monotone=True,
)

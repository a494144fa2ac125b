"""The reduction to the largest absolute value of each output over the coarse steps of a path."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any

import numpy as np

from rode._solver.reductions.reduction import Fold, Reduction, State


class Peaks(Reduction):
    """Largest absolute values; NaN from the first NaN on, as in `numpy.max`."""

    name = "peaks"
    axes = MappingProxyType({"peaks": ("output", "path")})
    needs_times = False

    @property
    def fold(self) -> Fold:
        """The larger absolute value."""
        return Fold(1, make_update())

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Keep the peaks."""
        state["peaks"] = folded[:, 0]


@functools.cache
def make_update() -> Any:
    """Make the function that keeps the larger absolute value."""
    import math

    from hetero.jit import scalar

    @scalar(forceinline=True)
    def update(t: Any, h: Any, y: Any, old: Any, is_first: Any) -> Any:
        size = abs(y)
        if is_first or not (size <= old[0] or math.isnan(old[0])):
            return (size,)
        return old

    return update


PEAKS = Peaks()

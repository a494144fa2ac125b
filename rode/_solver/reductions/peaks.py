"""The reduction to the largest absolute value of each output over the coarse steps of a path."""

from __future__ import annotations

import functools
from types import MappingProxyType
from typing import Any

import numpy as np

from rode._solver.reductions.reduction import Reduction, State


class Peaks(Reduction):
    """Largest absolute values; NaN from the first NaN on, as in `numpy.max`."""

    name = "peaks"
    axes = MappingProxyType({"peaks": ("output", "path")})
    needs_times = False

    def begin(self, extent: Any) -> State:
        """Return an empty state: a part has no numbers before its last step."""
        return {}

    def fold_rows(self, outputs: int) -> int:
        """Return one number for each output."""
        return outputs

    def make_fold(self, outputs: int, offset: int) -> Any:
        """Make the function that takes the outputs of a coarse step."""
        return make_fold(offset)

    def finish(self, state: State, folded: np.ndarray) -> None:
        """Keep the peaks."""
        state["peaks"] = folded


@functools.cache
def make_fold(offset: int) -> Any:
    """Make the fold of the largest absolute values."""
    import math

    from numba import int64

    from hetero.jit import scalar

    @scalar(forceinline=True)
    def fold(t: Any, h: Any, y: Any, is_first: Any, number: Any, folds: Any) -> Any:
        finite = True
        for i in range(len(y)):
            size, k = abs(y[i]), int64(offset + i)
            if is_first or not (size <= folds[k, number]):
                if is_first or not math.isnan(folds[k, number]):
                    folds[k, number] = size
                finite = finite and math.isfinite(size)
        return finite

    return fold


PEAKS = Peaks()

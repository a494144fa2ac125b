"""Products of matrices by the orthogonal factor of a reduction."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from hetero.arrays import Array
from sbth._back_transformation.diamonds import Layout, apply_in_waves, form_all_diamonds


def apply_stage(
    xp: ModuleType, layout: Layout, vectors: Array, x: Array, transposed: bool = False
) -> Array:
    """Return Q x for x (n, columns), or Q^T x, where Q consists of the reflections of a stage.

    `vectors` and `x` are C-contiguous arrays of `xp`; `x` may be overwritten. On a CPU reflections
    are applied one after the other, which is as fast there as products for wide bands and up to
    three times as fast for narrow ones. On a GPU they are applied as matrix products, and
    `transposed` must be False.
    """
    if xp is not np:
        return apply_in_waves(xp, layout, form_all_diamonds(xp, layout, vectors, x.dtype), x)
    from sbth._back_transformation import cpu_sweeps

    cpu_sweeps.apply_reflections(vectors.astype(x.dtype, copy=False), layout, x, transposed)
    return x

"""Reflections that reduce a band, and their product with vectors."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from hetero.arrays import Array, Workspace
from hetero.equality import equal_by_value
from sbth._back.diamonds import Layout, apply_in_waves, form_all_diamonds


@equal_by_value
@dataclass(frozen=True, eq=False)
class Reflections:
    """Reflections that reduce a band from `before` to `after` subdiagonals.

    Attributes
    ----------
    before, after : int
    vectors : array (columns, n)
        Row j holds the reflections 1 - tau v v^T that belong to column j, one after the other from
        index j + after on. Each occupies `before` elements (the last one may have fewer): tau,
        v_2, v_3, ...; v_1 is 1. It acts on the rows of the matrix with the same indices.
    """

    before: int
    after: int
    vectors: Array

    @property
    def layout(self) -> Layout:
        """Rows and columns on which the reflections act."""
        columns, n = self.vectors.shape
        return Layout(n, self.before, self.after, min(columns, n - self.after))

    def on_host(self, space: Workspace) -> Reflections:
        """Return the reflections in host memory; results of `space` are NumPy arrays."""
        flat = self.vectors.reshape(self.vectors.size)
        return Reflections(self.before, self.after, space.result(flat, self.vectors.shape))

    def apply(self, xp: ModuleType, x: Array, *, transposed: bool = False) -> Any:
        """Return Q x for x (n, columns), or Q^T x, where Q is the product of the reflections.

        `x` is a C-contiguous array of `xp` on the device, and may be overwritten. On a CPU
        reflections are applied one after the other, which is as fast there as products for wide
        bands and up to three times as fast for narrow ones. On a GPU they are applied as matrix
        products, and `transposed` must be False.
        """
        layout, vectors = self.layout, xp.asarray(self.vectors)
        if xp is not np:
            return apply_in_waves(xp, layout, form_all_diamonds(xp, layout, vectors, x.dtype), x)
        from sbth._back import cpu_sweeps  # imports Numba

        cpu_sweeps.apply_reflections(vectors.astype(x.dtype, copy=False), layout, x, transposed)
        return x

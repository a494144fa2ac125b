"""Products by the reflections of a stage as matrix products, on CuPy arrays (or NumPy's).

The reflections of some consecutive columns and one task each overlap like the rows of a
parallelogram. Their product is 1 - V T V^T with V of (height, width) elements, a diamond, so that
nearly all work is in matrix products (Bischof, Lang and Sun 2000; Auckenthaler et al. 2011).

In Q x, the diamonds of later columns come first, and those of the same columns in the order of the
tasks. Diamonds (g, k), for group of columns g counted from the last one and task k, with the same
g + k act on different rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from hetero.arrays import Array
from sbth._compact_wy import triangular_factors
from sbth._in_place_products import add_products

_MIN_WIDTH = 16
"""Columns of a group for narrow bands: fewer would leave products of thin matrices (not tuned)."""


class Layout(NamedTuple):
    """Rows and columns that the reflections of a stage change; `sbth.reflectors.Stage` stores them.

    Attributes
    ----------
    order, before, after : int
        Order of the matrix, and its subdiagonals before and after the stage.
    columns : int
        Columns that the stage eliminates.
    """

    order: int
    before: int
    after: int
    columns: int

    @property
    def width(self) -> int:
        """Columns of a group: those of a panel, or as many that V is twice as high as wide."""
        return self.after if self.after > 1 else max(_MIN_WIDTH, self.before)

    @property
    def height(self) -> int:
        """Rows of a diamond."""
        return self.before + self.width - 1

    @property
    def groups(self) -> list[tuple[int, int]]:
        """First column of each group, and the number of its columns; the last group first."""
        starts = range(0, self.columns, self.width)
        return [(s, min(self.width, self.columns - s)) for s in reversed(starts)]

    def tasks(self, start: int) -> int:
        """Return the number of diamonds of a group."""
        return -(-(self.order - start - self.after) // self.before)


WAVE_MATRICES = 8
"""Number of (n, n) matrices that `apply_in_waves` needs at most, with those that it returns."""


def form_diamonds(
    xp: ModuleType, layout: Layout, vectors: Array, group: tuple[int, int], v: Array
) -> Array:
    """Store V of each diamond of a group in v (tasks, height, width), and return U = V T."""
    n, before, width = layout.order, layout.before, layout.width
    start, count = group
    tasks, item = layout.tasks(start), v.itemsize
    # Zeros behind the end of each row make the reflections of all columns equally long.
    pitch = n + width + before
    rows = xp.zeros((width, pitch), v.dtype)
    rows[:count, :n] = vectors[start : start + count]
    stride = xp.lib.stride_tricks.as_strided
    packed = stride(
        rows[0, start + layout.after :],
        (tasks, width, before),
        (before * item, (pitch + 1) * item, item),
    )
    v[...] = 0
    # Element (k, i, l) of this view is element (k, i + l, i) of v.
    slanted = stride(
        v, (tasks, width, before), (layout.height * width * item, (width + 1) * item, width * item)
    )
    slanted[...] = packed
    tau = packed[:, :, 0].copy()
    slanted[:, :, 0] = tau != 0
    return xp.matmul(v, triangular_factors(xp, v, tau))


def apply_in_waves(xp: ModuleType, layout: Layout, vectors: Array, x: Array) -> Array:
    """Return Q x for x (n, columns), with batched products of all diamonds that are independent.

    It keeps V and U of all diamonds, 2 n^2 (1 + width / before) numbers.
    """
    groups, n, item = layout.groups, layout.order, x.itemsize
    if not groups:
        return x
    count, most = len(groups), layout.tasks(0)
    height, width, columns = layout.height, layout.width, x.shape[1]
    v = xp.zeros((count, most, height, width), x.dtype)
    u = xp.zeros_like(v)
    # Stored from the last group to the first, so that in a wave both g and k step upwards.
    for g, group in enumerate(groups, 1):
        tasks = layout.tasks(group[0])
        u[-g, :tasks] = form_diamonds(xp, layout, vectors, group, v[-g, :tasks])
    padded = xp.zeros((n + height + layout.before, columns), x.dtype)
    padded[:n] = x
    stride = xp.lib.stride_tricks.as_strided
    step = (most + 1) * height * width * item
    jump = (width + layout.before) * columns * item
    products = xp.empty((min(count, most), width, columns), x.dtype)
    for first, stop, k in list_waves(layout):
        size = stop - first
        k -= size - 1
        row = groups[stop - 1][0] + layout.after + k * layout.before
        rows = stride(padded[row:], (size, height, columns), (jump, columns * item, item))
        shape, strides = (size, height, width), (step, width * item, item)
        left = stride(u[count - stop, k:], shape, strides)
        right = stride(v[count - stop, k:], shape, strides)
        product = products[:size]
        add_products(xp, product, right.transpose(0, 2, 1), rows, 1.0, keep=0.0)
        add_products(xp, rows, left, product, -1.0)
    return padded[:n]


def list_waves(layout: Layout) -> Iterator[tuple[int, int, int]]:
    """Yield the diamonds (g, k) with g + k = 0, 1, ...: the first and last g, and k of the first.

    The last one is not included. From g to g + 1, k decreases by 1.
    """
    groups = layout.groups
    for wave in range(len(groups) + layout.tasks(0) - 1):
        first = 0
        while first < len(groups) and wave - first >= layout.tasks(groups[first][0]):
            first += 1
        stop = min(wave + 1, len(groups))
        if first < stop:
            yield first, stop, wave - first

"""Products by the reflections of a stage as matrix products, on CuPy arrays.

The reflections of some consecutive columns and one task each overlap like the rows of a
parallelogram. Their product is 1 - V T V^H with V of (height, width) elements, a diamond, so that
nearly all work is in matrix products (Bischof, Lang and Sun 2000; Auckenthaler et al. 2011).

In Q x, the diamonds of later columns come first, and those of the same columns in the order of the
tasks. Diamonds (g, k), for group of columns g counted from the last one and task k, with the same
g + k act on different rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from hetero.arrays import Array
from sbth._back.compact_wy import triangular_factors
from sbth._vendor.products import Operand, address_of, multiply_at

_GROUPS = 32
"""Groups of columns whose diamonds are formed at once: so many that a GPU is busy, so few that the
arrays for it are small (not tuned)."""

_MIN_WIDTH = 16
"""Columns of a group for narrow bands: fewer would leave products of thin matrices (not tuned)."""


class Layout(NamedTuple):
    """Rows and columns that the reflections of a stage change; `Reflections` stores them.

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


def wave_matrices(before: int) -> int:
    """Return how many (n, n) matrices a back-transformation in waves needs at most.

    They are the diamonds, V and U, which are the larger the narrower the band, and the vectors with
    copies of them. `before` is the number of subdiagonals before the stage.
    """
    width = max(_MIN_WIDTH, before)
    return 4 + math.ceil(2 * (before + width) / max(before, 1))


def form_diamonds(
    xp: ModuleType, layout: Layout, vectors: Array, groups: range, dtype: DTypeLike
) -> tuple[Array, Array]:
    """Return V and U = V T of the diamonds of consecutive groups.

    `groups` are the numbers of the groups in the order of their columns. Both results are arrays
    (groups, tasks of the first one, height, width); diamonds that a group does not have are 0.
    """
    n, before, width, count = layout.order, layout.before, layout.width, len(groups)
    start, stop = groups.start * width, min(groups.stop * width, layout.columns)
    tasks, item = layout.tasks(start), np.dtype(dtype).itemsize
    # Zeros behind the end of each row make the reflections of all columns equally long, and the
    # groups equally long.
    pitch = n + count * width + before
    rows = xp.zeros((count * width, pitch), dtype)
    rows[: stop - start, :n] = vectors[start:stop]
    stride = xp.lib.stride_tricks.as_strided
    shape = count, tasks, width, before
    steps = width * (pitch + 1), before, pitch + 1, 1
    packed = stride(rows[0, start + layout.after :], shape, [step * item for step in steps])
    v = xp.zeros((count, tasks, layout.height, width), dtype)
    # Element (g, k, i, l) of this view is element (g, k, i + l, i) of v.
    slanted = stride(v, shape, (*v.strides[:2], (width + 1) * item, width * item))
    slanted[...] = packed
    tau = packed[..., 0].real.copy()
    slanted[..., 0] = tau != 0
    flat = v.reshape(-1, layout.height, width)
    u = xp.matmul(flat, triangular_factors(xp, flat, tau.reshape(-1, width)))
    return v, u.reshape(v.shape)


def form_all_diamonds(
    xp: ModuleType, layout: Layout, vectors: Array, dtype: DTypeLike
) -> tuple[Array, Array]:
    """Return V and U of all diamonds (groups, tasks, height, width).

    They are 2 n^2 (1 + width / before) numbers. The groups are in the order of their columns.
    """
    count, most, width = len(layout.groups), layout.tasks(0), layout.width
    v, u = (xp.zeros((count, most, layout.height, width), dtype) for _ in range(2))
    for first in range(0, count, _GROUPS):
        numbers = range(first, min(first + _GROUPS, count))
        stored = slice(numbers.start, numbers.stop), slice(layout.tasks(first * width))
        v[stored], u[stored] = form_diamonds(xp, layout, vectors, numbers, dtype)
    return v, u


def apply_in_waves(
    xp: ModuleType, layout: Layout, diamonds: tuple[Array, Array], x: Array
) -> Array:
    """Return Q x for x (n, columns), with batched products of all diamonds that are independent.

    `diamonds` are those of `form_all_diamonds`, in the type of x.
    """
    n, columns = layout.order, x.shape[1]
    if not (layout.groups and columns):
        return x
    padded = xp.zeros((n + layout.height + layout.before, columns), x.dtype)
    padded[:n] = x
    tasks_of_wave = min(diamonds[0].shape[:2])
    products = xp.empty((tasks_of_wave, layout.width, columns), x.dtype)
    _multiply_waves(layout, padded, diamonds, products)
    return padded[:n]


def _multiply_waves(
    layout: Layout, rows: Array, diamonds: tuple[Array, Array], products: Array
) -> None:
    """Apply 1 - U V^H of all diamonds to rows (n + height + before, columns), wave after wave.

    `diamonds` are V and U (groups, tasks, height, width), and `products` has room for those of a
    wave. The host adds up addresses, because it takes longer to slice arrays than a GPU to multiply
    small ones.
    """
    groups, kind, item = layout.groups, rows.dtype.char, rows.itemsize
    count, most = diamonds[0].shape[:2]
    height, width, columns = layout.height, layout.width, rows.shape[1]
    right = Operand(address_of(products), columns, width * columns)
    begin, *begins = map(address_of, (rows, *diamonds))
    size_of_diamond = height * width
    for first, stop, k in list_waves(layout):
        size = stop - first
        k -= size - 1
        row = groups[stop - 1][0] + layout.after + k * layout.before
        target = Operand(begin + row * columns * item, columns, (width + layout.before) * columns)
        offset = ((count - stop) * most + k) * size_of_diamond * item
        step = (most + 1) * size_of_diamond
        v, u = (Operand(address + offset, width, step) for address in begins)
        inner, outer = (width, height, columns), (height, width, columns)
        multiply_at(kind, inner, right, v.adjoint(kind), target, 1.0, keep=0.0, count=size)
        multiply_at(kind, outer, target, u, right, -1.0, count=size)


def list_waves(layout: Layout) -> Iterator[tuple[int, int, int]]:
    """Yield the diamonds (g, k) with g + k = 0, 1, ...: the first and last g, and k of the first.

    The last one is not included. From g to g + 1, k decreases by 1.
    """
    tasks = [layout.tasks(start) for start, _ in layout.groups]
    first = 0
    for wave in range(len(tasks) + layout.tasks(0) - 1):
        while first < len(tasks) and wave - first >= tasks[first]:
            first += 1
        stop = min(wave + 1, len(tasks))
        if first < stop:
            yield first, stop, wave - first

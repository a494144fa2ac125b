"""The reflections of a reduction, kept: A = Q T Q^T."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Stage:
    """Reflections that take a band from `before` subdiagonals to `after`.

    Attributes
    ----------
    before, after : int
    vectors : NumPy array (columns, n)
        Row j has the reflections that belong to column j, one after the other from place
        j + after on, each in `before` places (fewer at the end): tau, then v_2, v_3, ... of
        1 - tau v v^T, which acts on the rows of these places. v_1 = 1.
    """

    before: int
    after: int
    vectors: np.ndarray

    def apply(self, x: np.ndarray, transposed: bool) -> None:
        columns, n = self.vectors.shape
        columns = min(columns, n - self.after)
        order = range(columns) if transposed else range(columns - 1, -1, -1)
        for j in order:
            start = j + self.after
            count = -(-(n - start) // self.before)
            v = np.zeros((count * self.before,), x.dtype)
            v[: n - start] = self.vectors[j, start:]
            v = v.reshape(count, self.before)
            tau = v[:, 0].copy()
            v[:, 0] = 1.0
            block = np.zeros((count * self.before, x.shape[1]), x.dtype)
            block[: n - start] = x[start:]
            block = block.reshape(count, self.before, x.shape[1])
            dots = np.einsum("ki,kic->kc", v, block)
            block -= (tau[:, None] * v)[:, :, None] * dots[:, None, :]
            x[start:] = block.reshape(count * self.before, x.shape[1])[: n - start]


@dataclass(frozen=True, eq=False)
class Reflections:
    """Q of A = Q T Q^T, as a product of reflections.

    Attributes
    ----------
    order : n
    stages : tuple of Stage, the widest band first
    """

    order: int
    stages: tuple[Stage, ...] = ()

    def apply(self, x, *, transposed: bool = False) -> np.ndarray:
        """Q x, or Q^T x, for x (n,) or (n, columns): 2 n^2 operations a column and stage.

        Raises
        ------
        TypeError, ValueError
            `x` holds no numbers, or has not n rows.
        """
        x = np.asarray(x)
        if x.ndim not in (1, 2) or len(x) != self.order:
            raise ValueError(f"x must have {self.order} rows, got shape {x.shape}")
        if x.dtype.kind not in "fiubc":
            raise TypeError(f"x must hold numbers, got dtype {x.dtype}")
        columns = math.prod(x.shape[1:])
        result = np.array(x.reshape(self.order, columns), dtype=np.result_type(x, np.float32))
        for stage in self.stages if transposed else self.stages[::-1]:
            stage.apply(result, transposed)
        return result.reshape(x.shape)

"""The transformation Q of a reduction A = Q T Q^T, as a product of reflections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hetero import validation
from hetero.arrays import Array
from hetero.devices import device_of
from hetero.equality import equal_by_value
from sbth._back_transformation import apply_stage
from sbth._back_transformation.diamonds import Layout
from sbth.band_storage import copy_like, copy_to_host


@equal_by_value
@dataclass(frozen=True, eq=False)
class Stage:
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


@equal_by_value
@dataclass(frozen=True, eq=False)
class Reflectors:
    """The orthogonal Q in A = Q T Q^T, as a product of reflections.

    Attributes
    ----------
    order : int
    stages : tuple of Stage
        The stages of the reduction, in their order, in host memory.
    dtype : float32 or float64
        Type of the matrix that was reduced.
    """

    order: int
    stages: tuple[Stage, ...] = ()
    dtype: type | np.dtype = np.float64

    def __repr__(self) -> str:
        stages = ", ".join(f"{stage.before} to {stage.after}" for stage in self.stages)
        return (
            f"Reflectors(order={self.order}, dtype={np.dtype(self.dtype).name}, "
            f"subdiagonals: {stages or 'unchanged'})"
        )

    def apply(self, x: ArrayLike, *, transposed: bool = False) -> Any:
        """Return Q x, or Q^T x, with 2 n^2 operations for each column and stage.

        Parameters
        ----------
        x : array_like (n,) or (n, columns)
            An array on a GPU is copied to the host, where Q is, and the result back to that GPU.

        Returns
        -------
        array like x
            In the more precise of the types of `x` and of the reduced matrix.

        Raises
        ------
        TypeError, ValueError
            `x` does not hold numbers or does not have n rows, or is complex and on a GPU.
        """
        if device_of(x) is not None:
            return copy_like(self.apply(copy_to_host("x", x), transposed=transposed), x)
        validation.require_unmasked("x", x)
        try:
            x = np.asarray(x)
        except ValueError:
            raise TypeError(f"x must hold numbers, got {validation.describe(x)}") from None
        if x.ndim not in (1, 2) or len(x) != self.order:
            raise ValueError(f"x must have {self.order} rows, got shape {x.shape}")
        if x.dtype.kind not in "fiubc":
            raise TypeError(f"x must hold numbers, got dtype {x.dtype}")
        columns = math.prod(x.shape[1:])
        dtype = np.result_type(x.dtype, self.dtype)
        result = np.array(x.reshape(self.order, columns), dtype=dtype)
        # Real and imaginary parts are columns of their own.
        parts = result.view(result.real.dtype)
        for stage in self.stages if transposed else self.stages[::-1]:
            apply_stage(np, stage.layout, stage.vectors, parts, transposed)
        return result.reshape(x.shape)

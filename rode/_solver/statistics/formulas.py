"""Formulas of statistics that both targets call."""

from __future__ import annotations

from typing import Any

from hetero.intrinsics.floats import fma
from hetero.jit import scalar, serial


@scalar(forceinline=True)
def merge(
    mean: Any, squares: Any, count: Any, other_mean: Any, other_squares: Any, other: Any
) -> Any:
    """Return mean and sum of squared distances of two groups of `count` and `other` numbers.

    Products and sums that a compiler could fuse are explicit, so that both targets round alike.
    """
    total = count + other
    distance = other_mean - mean
    weight = count * (other / total)
    return (
        fma(other_mean, other / total, mean * (count / total)),
        fma(distance * weight, distance, squares + other_squares),
    )


def merge_arrays(mean, squares, count, other_mean, other_squares, other):
    """Return mean and squares of two groups in each element of arrays of one shape, as new ones."""
    arrays = (a.flatten() for a in (mean, squares, other_mean, other_squares))
    first, second, other_first, other_second = arrays
    _merge_flat(first, second, count, other_first, other_second, other)
    return first.reshape(mean.shape), second.reshape(mean.shape)


@serial
def _merge_flat(mean, squares, count, other_mean, other_squares, other):
    """Replace the first group's moments by those of both groups."""
    for i in range(mean.size):
        mean[i], squares[i] = merge(
            mean[i], squares[i], count, other_mean[i], other_squares[i], other
        )

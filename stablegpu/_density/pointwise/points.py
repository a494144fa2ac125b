"""Points of an evaluation, each with its own parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

from hetero.arrays import Array


class Points(NamedTuple):
    """Flat arrays of the points and their parameters.

    Each has one element, which then holds for all points, or as many as the outputs.
    """

    x: Array
    alpha: Array
    beta: Array
    loc: Array
    scale: Array
    in_s0: Array  # bool: whether the location is that of S0, not S1


def value_for_point(values: Array, i: int) -> Any:
    """Return values[i]; an array of one element holds for all points.

    It takes an array, so each target compiles it for its own.
    """
    return values[i if values.size > 1 else 0]

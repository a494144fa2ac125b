"""Points of an evaluation, each with its own parameters."""

from __future__ import annotations

from typing import Any, NamedTuple


class Points(NamedTuple):
    """Flat arrays of the points and their parameters.

    Each has one element, which then holds for all points, or as many as the outputs.
    """

    x: Any
    alpha: Any
    beta: Any
    loc: Any
    scale: Any
    in_s0: Any  # bool: whether the location is that of S0, not S1

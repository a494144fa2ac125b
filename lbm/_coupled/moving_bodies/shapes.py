"""Shapes of moving bodies as numbers that kernels read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.validation import describe
from lbm._coupled.moving_bodies.shape_formulas import BOX, CYLINDER, GRID, SPHERE
from lbm.geometry.meshes import TriangleMesh
from lbm.geometry.shapes import AXES, Box, Complement, Cylinder, Sphere
from lbm.geometry.triangles.height_grid import POINTS_PER_CELL, find_heights

ROUNDING = 1e-6
"""Cells by which a body of one cell may be thinner."""


class BodyShape(NamedTuple):
    """A shape in the frame of its body.

    Attributes
    ----------
    numbers : float64 [9], `shape_formulas.height` reads them
    grid : float64 [z, y, x], heights of a mesh above its surface
    middle : float64 [3], a point of the shape in the domain
    """

    numbers: np.ndarray
    grid: np.ndarray
    middle: np.ndarray

    def about(self, centre: np.ndarray) -> np.ndarray:
        """Return the numbers with the position relative to a centre."""
        numbers = self.numbers.copy()
        numbers[1:4] -= centre
        return numbers


def make_shape(name: str, shape: Any) -> BodyShape:
    """Return a shape as numbers; raise TypeError for those that cannot move."""
    if isinstance(shape, Complement):
        inside = make_shape(name, shape.shape)
        inside.numbers[8] = -1.0
        return inside
    none = np.zeros((2, 2, 2))
    if isinstance(shape, Sphere):
        numbers = [SPHERE, *shape.centre, shape.radius, 0, 0, 0, 1]
        _require_thick(name, 2.0 * shape.radius)
        return BodyShape(np.array(numbers, float), none, np.array(shape.centre))
    if isinstance(shape, Cylinder):
        axis = AXES.index(shape.axis)
        point, along = np.insert(shape.centre, axis, 0.0), np.eye(3)[axis]
        numbers = [CYLINDER, *point, *along, shape.radius, 1]
        _require_thick(name, 2.0 * shape.radius)
        return BodyShape(np.array(numbers, float), none, point)
    if isinstance(shape, Box):
        low, high = np.array(shape.low), np.array(shape.high)
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        _require_thick(name, float((high - low).min()))
        return BodyShape(np.array([BOX, *middle, *half, 0, 1], float), none, middle)
    if isinstance(shape, TriangleMesh):
        corner, grid = find_heights(shape)
        # The deepest point may lie between those of the grid.
        deepest = 1.01 * 0.5 / POINTS_PER_CELL - float(grid.min())
        _require_thick(name, min(2.0 * deepest, float(np.ptp(shape.bounds, axis=0).min())))
        numbers = [GRID, *corner, POINTS_PER_CELL, 0, 0, 0, 1]
        return BodyShape(np.array(numbers, float), grid, shape.bounds.mean(axis=0))
    raise TypeError(
        f"boundaries[{name!r}] moves, so its cells must be a lbm.Sphere, lbm.Cylinder, lbm.Box or "
        f"lbm.TriangleMesh, or ~ of one of these, got {describe(shape)}"
    )


def _require_thick(name: str, thickness: float) -> None:
    """Raise ValueError for a body that covers cells at some times only, and lets fluid through."""
    if thickness < 1.0 - ROUNDING:
        raise ValueError(
            f"boundaries[{name!r}] moves and is at most {thickness:.3g} cells thick, so that no "
            "cell may belong to it: it must be a cell thick at least. Use a thicker body, or more "
            "cells"
        )

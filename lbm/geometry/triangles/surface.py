"""The surface of a mesh, as functions of this folder read it."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Surface(Protocol):
    """The surface of a body: a `TriangleMesh` in cells of a domain."""

    @property
    def vertices(self) -> np.ndarray:
        """Float64 [vertex, (x, y, z)]."""

    @property
    def faces(self) -> np.ndarray:
        """Integers [triangle, 3], the corners of the triangles."""

    @property
    def caps(self) -> np.ndarray:
        """Integers [triangle, 3], the corners of the triangles that close the surface."""

    @property
    def sheets(self) -> int:
        """Number of the last faces that bound nothing."""

    @property
    def is_oriented(self) -> bool:
        """True if all triangles face outwards, or all inwards."""

    @property
    def triangles(self) -> np.ndarray:
        """Corners of the faces, float64 [triangle, corner, (x, y, z)]."""

    @property
    def closed_triangles(self) -> np.ndarray:
        """Corners of the triangles that bound the body, and of the caps."""

    @property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates, float64 [2, 3]."""

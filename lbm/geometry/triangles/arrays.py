"""Checked arrays of vertices and triangles, and their rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.arrays import as_real
from hetero.validation import describe, require_unmasked
from lbm.boundaries import check_vector

LARGEST_COORDINATE = 1e12
"""Largest coordinate of a mesh: its square is far from the range of float64."""

_RIGHT_ANGLE = 1e-15
"""Elements of a rotation matrix that are so near to 0, 1 or -1 are meant to be that."""


def check_arrays(vertices: Any, faces: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices as float64 [vertex, xyz] and the faces as int64 [triangle, corner]."""
    require_unmasked("faces", faces)
    points = as_real("vertices", vertices)
    if points.ndim != 2 or points.shape[1] != 3:
        raise ValueError(f"vertices must have shape (vertices, 3), got {points.shape}")
    points = np.array(points, np.float64)
    if not (np.abs(points) <= LARGEST_COORDINATE).all():
        raise ValueError(
            f"vertices must be finite and at most {LARGEST_COORDINATE:g}: correct the mesh, or "
            "use a larger unit"
        )
    try:
        corners = np.asarray(faces)
    except ValueError:
        raise TypeError(f"faces must be an array of integers, got {describe(faces)}") from None
    if corners.dtype.kind not in "iu":
        raise TypeError(f"faces must be an array of integers, got {corners.dtype}")
    if corners.ndim != 2 or corners.shape[1] != 3 or not len(corners):
        raise ValueError(f"faces must have shape (triangles, 3), got {corners.shape}")
    if corners.min() < 0 or corners.max() >= len(points):
        raise ValueError(
            f"faces must be indices of the {len(points)} vertices, got {corners.min()} to "
            f"{corners.max()}"
        )
    return points, corners.astype(np.int64)


def rotate(points: np.ndarray, angles: Sequence[float]) -> np.ndarray:
    """Return points [k, xyz] rotated about the fixed axes x, y and z, by angles in degrees.

    Right angles are exact. Equal points stay equal to the bit.
    """
    from scipy.spatial.transform import Rotation

    matrix = Rotation.from_euler("xyz", check_vector("rotation", angles), degrees=True).as_matrix()
    nearest = np.round(matrix)
    matrix = np.where(np.abs(matrix - nearest) < _RIGHT_ANGLE, nearest, matrix)
    x, y, z = points.T
    return np.stack([a * x + b * y + c * z for a, b, c in matrix], axis=1)

"""The place of a body in a wind tunnel: axes of its file, angles, size and clearance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hetero.validation import check_choice, check_finite, check_positive, describe
from lbm.geometry.meshes import TriangleMesh, move_mesh, read_mesh
from lbm.geometry.shapes import Shape
from lbm.geometry.triangles.arrays import rotate

DIRECTIONS = "x", "-x", "y", "-y", "z", "-z"
"""Axes of a file along which the stream may run, or which may point up."""


class Body(NamedTuple):
    """A body in metres, turned so that the stream runs along +x and +z points up.

    Attributes
    ----------
    mesh : in metres
    length : the longest side of its bounding box in its file, in metres
    name : for messages
    """

    mesh: TriangleMesh
    length: float
    name: str


def orient(
    body: str | os.PathLike | TriangleMesh, length: float | None, unit: float | None,
    flow: str, up: str, incidence: float, yaw: float, repair: bool,
) -> Body:  # fmt: skip
    """Return a body in metres as it stands in the stream; see `lbm.wind_tunnel`."""
    frame = _frame(flow, up)
    for name, angle in (("incidence", incidence), ("yaw", yaw)):
        check_finite(name, angle)
    if (length is None) == (unit is None):
        raise ValueError(
            "wind_tunnel needs either length, the longest side of the body in metres, or unit, "
            f"metres in a unit of the file (0.001 for mm); got length={length!r} and unit={unit!r}"
        )
    if isinstance(body, TriangleMesh):
        mesh = body
        if repair is not False:
            mesh = TriangleMesh(body.vertices, body.faces, body.weld, repair)
        name = "the body"
    elif isinstance(body, str | os.PathLike):
        mesh, name = read_mesh(body, repair=repair), Path(body).name
    else:
        kind = "a shape: give its surface as a TriangleMesh" if isinstance(body, Shape) else ""
        raise TypeError(
            "body must be the path of a file of triangles or an lbm.TriangleMesh, got "
            f"{kind or describe(body)}"
        )
    low, high = mesh.bounds
    side = float((high - low).max())
    scale = (
        check_positive("unit", unit) if length is None else check_positive("length", length) / side
    )
    centred = (mesh.vertices - (low + high) / 2.0) * scale
    turned = rotate(centred @ frame.T, (0.0, float(incidence), float(yaw)))
    return Body(move_mesh(mesh, turned), side * scale, name)


def _frame(flow: str, up: str) -> np.ndarray:
    """Return the rotation [3, 3] that turns the axes of the file into those of the tunnel."""
    along, height = (
        _unit(check_choice(name, axis, DIRECTIONS)) for name, axis in (("flow", flow), ("up", up))
    )
    if flow[-1] == up[-1]:
        raise ValueError(f"flow={flow!r} and up={up!r} must be different axes")
    return np.stack([along, np.cross(height, along), height])


def _unit(axis: str) -> np.ndarray:
    """Return the unit vector of an axis with a sign."""
    vector: np.ndarray = (-1.0 if axis[0] == "-" else 1.0) * np.eye(3)["xyz".index(axis[-1])]
    return vector


def place(
    body: Body, dx: float, lowest: Sequence[float], minimum_thickness: int = 0
) -> TriangleMesh:
    """Return the mesh in cells of dx metres; `lowest` is the lowest corner of its box in cells."""
    return body.mesh.place(dx=dx, corner=lowest, minimum_thickness=minimum_thickness)

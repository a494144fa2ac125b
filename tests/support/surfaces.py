"""Triangle meshes of known bodies, and files of them."""

import itertools
import struct
import warnings

import numpy as np
from scipy.spatial import ConvexHull

import lbm


def box(low, high):
    """Return the vertices and the faces of a box."""
    return hull(np.array(list(itertools.product(*zip(low, high, strict=True))), float))


def surface(f, rows, columns):
    """Return a closed surface that is periodic in both of its parameters in [0, 1)."""
    i, j = np.divmod(np.arange(rows * columns), columns)
    vertices = np.stack(f(i / rows, j / columns), axis=1)
    right, up = i * columns + (j + 1) % columns, (i + 1) % rows * columns + j
    both = (i + 1) % rows * columns + (j + 1) % columns
    here = i * columns + j
    return vertices, np.concatenate(
        [np.stack([here, right, up], 1), np.stack([right, both, up], 1)]
    )


def sphere(rows=200, columns=200):
    """Return a unit sphere; at its poles triangles are degenerate."""

    def position(s, t):
        # The first half of s runs from pole to pole, the second one back along the axis.
        theta, phi = np.pi * np.minimum(2 * s, 2 - 2 * s), 2 * np.pi * t
        radius = np.where(s <= 0.5, np.sin(theta), 0.0)
        return radius * np.cos(phi), radius * np.sin(phi), np.cos(theta)

    return surface(position, rows, columns)


def torus(large=2.0, small=0.75, rows=160, columns=80):
    """Return a torus around the z axis."""

    def position(s, t):
        radius = large + small * np.cos(2 * np.pi * t)
        return (radius * np.cos(2 * np.pi * s), radius * np.sin(2 * np.pi * s),
                small * np.sin(2 * np.pi * t))  # fmt: skip

    return surface(position, rows, columns)


def hull(points):
    """Return the convex hull of points, with all triangles facing outwards."""
    found = ConvexHull(points)
    faces = found.simplices.copy()
    a, b, c = (points[faces[:, k]] for k in range(3))
    inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), a - points.mean(axis=0)) < 0
    faces[inwards] = faces[inwards][:, ::-1]
    return points, faces


def mesh_of(vertices, faces, **options):
    """Return a mesh, without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return lbm.TriangleMesh(vertices, faces, **options)


def winding_numbers(triangles, points):
    """Return winding numbers by solid angles (Van Oosterom and Strackee 1983), an exact sum."""
    total = np.zeros(len(points))
    for a, b, c in triangles[:, :, None] - points:
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        ab, bc, ca = ((v * w).sum(axis=1) for v, w in ((a, b), (b, c), (c, a)))
        volume = (a * np.cross(b, c)).sum(axis=1)
        total += np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb) / (2.0 * np.pi)
    return total


def write_stl(path, vertices, faces):
    """Write a binary STL file in float32."""
    corners = np.asarray(vertices)[faces].astype("<f4")
    record = np.zeros(len(corners), np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    record["v"] = corners
    head = b"made by a test".ljust(80) + struct.pack("<I", len(corners))
    path.write_bytes(head + record.tobytes())
    return path

"""Meshes that a domain or its cells do not suit: an error and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from lbm.geometry.triangles.surface import Surface
from lbm.geometry.triangles.topology import describe_point
from lbm.lattices.extent import Triple

LARGEST_LOSS = 0.1
"""Share of passages without a cell above which `TriangleMesh.place` warns: at the edges of a
rotated box of 18 x 12 x 8 cells it is 0.07, of a sphere of 8 cells 0.01."""

MOSTLY_OPEN = 0.5
"""Area of the caps that close a surface, in areas of the surface, above which `TriangleMesh.place`
warns: for a box without a side it is 0.2, for a flat sheet 1. Not tuned."""

FEWEST_CELLS = 2.0
"""Cells along the longest side of a mesh below which its size is taken for a mistake: the body is
one cell then, whatever its shape."""

_TOUCHING = 1e-6
"""Cells by which a body that touches a face may lie beyond it, from rounding."""


def require_inside(
    mesh: Surface, domain: Triple, periodic: Sequence[bool] = (False, False, False)
) -> None:
    """Raise ValueError if the mesh lies outside of a domain; warn if it does not suit it.

    It does not if it sticks out of the domain, but for periodic axes, along which it goes on at
    the other end, or if it is hardly longer than a cell.
    """
    low, high = mesh.bounds
    if (low >= domain).any() or (high <= 0.0).any():
        raise ValueError(
            f"the mesh lies outside of the domain of shape {domain}: it reaches from "
            f"{describe_point(low)} to {describe_point(high)}. Correct its place or its size"
        )
    if (size := float((high - low).max())) < FEWEST_CELLS:
        warnings.warn(
            f"the mesh is {size:.3g} cells long, which no flow resolves: it may have another "
            "unit than you think. Correct length or dx (unit in a case file)",
            stacklevel=3,
        )
    sticks_out = (low < -_TOUCHING) | (high > np.add(domain, _TOUCHING))
    if (sticks_out & ~np.array(periodic)).any():
        warnings.warn(
            f"the mesh reaches from {describe_point(low)} to {describe_point(high)}: what "
            f"lies outside of the domain of shape {domain} is cut off",
            stacklevel=3,
        )


def _is_mostly_open(mesh: Surface) -> bool:
    """Return whether the caps of openings are larger than half of the surface."""
    if not len(mesh.caps):
        return len(mesh.faces) == mesh.sheets
    capped, whole = (mesh.vertices[corners] for corners in (mesh.caps, mesh.faces))
    areas = [
        np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).sum()
        for t in (capped, whole)
    ]
    return bool(areas[0] > MOSTLY_OPEN * areas[1])


def warn_of_thin_parts(mesh: Surface) -> None:
    """Warn if parts or gaps are thinner than a cell, so that they vanish."""
    from lbm.geometry.triangles.inside import find_lost_share

    share, axis = find_lost_share(mesh.triangles, not mesh.is_oriented)
    if _is_mostly_open(mesh):
        warnings.warn(
            "most of the surface is open: sheets hold no cell, unless with minimum_thickness=1,"
            " and cracks along the edges of triangles are closed by weld, a distance in the "
            "unit of the file",
            stacklevel=4,
        )
        return
    if share > LARGEST_LOSS:
        warnings.warn(
            f"of the passages of lines of cell centres along {'xyz'[axis]} through the mesh or "
            f"its gaps, {share:.0%} contain no cell: parts or gaps thinner than a cell vanish. "
            "Use more cells for the body, minimum_thickness=1, or move it by a fraction of a "
            "cell",
            stacklevel=4,
        )

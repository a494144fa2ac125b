"""Topology of triangle meshes: equal vertices and triangles, open edges, orientation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_EVEN_ORDERS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Orders of the corners of a triangle that keep its orientation."""


SUGGESTED_WELD = 1e-5
"""Distance, relative to the size of a mesh, at which an error about open edges tries to weld it."""


class ClosedSurface(NamedTuple):
    """A surface with what makes it closed: each edge belongs to an even number of triangles.

    Attributes
    ----------
    vertices : float64 [vertex, xyz], all different, each the corner of a triangle
    faces : int64 [triangle, corner]
    is_oriented : True if triangles run along each edge as often forwards as backwards
    sheets : the number of the last faces that bound nothing, as the fluid or the body is on both
        sides of them
    caps : int64 [triangle, corner], which close the other faces
    repairs : what was done to it
    """

    vertices: np.ndarray
    faces: np.ndarray
    is_oriented: bool
    sheets: int = 0
    caps: np.ndarray = np.zeros((0, 3), np.int64)
    repairs: tuple[str, ...] = ()


def close_surface(vertices: np.ndarray, faces: np.ndarray, weld: float) -> ClosedSurface:
    """Return a surface with merged vertices and without repeated triangles.

    Raises ValueError if it is not closed, or encloses nothing.
    """
    vertices, merged = merge_vertices(vertices, faces, weld)
    faces = remove_repeated(merged)
    if not len(faces):
        raise ValueError(
            f"faces must enclose a volume, but all of its {len(merged)} triangles are degenerate "
            "or cancel each other"
        )
    open_edges, is_oriented = examine_edges(faces)
    if len(open_edges):
        raise ValueError(_describe_open_edges(vertices, faces, open_edges))
    used, corners = np.unique(faces, return_inverse=True)
    return ClosedSurface(vertices[used], corners.reshape(faces.shape), is_oriented)


def number_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows of an array [row, column].

    Returns
    -------
    first : int64 [distinct row], the index of the first row of each kind
    number : int64 [row], the number of its kind
    """
    order = np.lexsort(rows.T[::-1])  # it is stable: the first of equal rows stays the first
    ordered = rows[order]
    is_new = np.ones(len(rows), bool)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    number = np.empty(len(rows), np.int64)
    number[order] = np.cumsum(is_new) - 1
    return order[is_new], number


def merge_vertices(
    vertices: np.ndarray, faces: np.ndarray, weld: float
) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal vertices, and with `weld` > 0 those that are not farther apart than that.

    Each group keeps the position of one of its vertices.
    """
    first, number = number_rows(vertices + 0.0)  # -0.0 becomes 0.0
    vertices, faces = vertices[first] + 0.0, number[faces]
    if weld == 0.0:
        return vertices, faces
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(vertices).query_pairs(weld, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), bool), pairs.T), shape=(len(vertices),) * 2)
    _, group = connected_components(links, directed=False)
    _, representative = np.unique(group, return_index=True)
    return vertices[representative], group.astype(np.int64)[faces]


def remove_repeated(faces: np.ndarray) -> np.ndarray:
    """Return the triangles without degenerate ones, each once, in their order.

    Copies with the same orientation become one. Copies that cancel, such as the common side of two
    boxes that touch, are removed: there is no surface between them.
    """
    distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    faces = faces[distinct]
    ordered, ranks = np.sort(faces, axis=1), np.argsort(faces, axis=1, kind="stable")
    is_even = np.zeros(len(faces), bool)
    for order in _EVEN_ORDERS:
        is_even |= (ranks == order).all(axis=1)
    first, number = number_rows(ordered)
    sign = np.where(is_even, 1.0, -1.0)
    net = np.bincount(number, sign, minlength=len(first))
    # The copy that stays is the first with the orientation of the majority.
    stays = np.flatnonzero(sign == np.sign(net)[number])
    _, position = np.unique(number[stays], return_index=True)
    return faces[np.sort(stays[position])]


class Edges(NamedTuple):
    """Edges of triangles; the sides of triangle t are 3 t, 3 t + 1 and 3 t + 2.

    Attributes
    ----------
    is_forward : bool [side], whether it runs from the lower to the higher number of a vertex
    number : int64 [side], of its edge
    uses : int64 [edge], the number of its triangles
    ends : int64 [edge, end]
    balance : int64 [edge], how many more triangles run along it forwards than backwards
    """

    is_forward: np.ndarray
    number: np.ndarray
    uses: np.ndarray
    ends: np.ndarray
    balance: np.ndarray


def number_edges(faces: np.ndarray) -> Edges:
    """Number the edges of triangles."""
    start = faces.ravel()
    end = np.roll(faces, -1, axis=1).ravel()
    ends = np.stack([np.minimum(start, end), np.maximum(start, end)], axis=1)
    first, number = number_rows(ends)
    uses = np.bincount(number, minlength=len(first))
    sums = np.bincount(number, np.where(start < end, 1.0, -1.0), minlength=len(first))
    return Edges(start < end, number, uses, ends[first], sums.astype(np.int64))


def examine_edges(faces: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the open edges [edge, end], and whether the triangles are oriented consistently.

    Open edges belong to an odd number of triangles.
    """
    edges = number_edges(faces)
    return edges.ends[edges.uses % 2 == 1], not edges.balance.any()


def _describe_open_edges(vertices: np.ndarray, faces: np.ndarray, edges: np.ndarray) -> str:
    """Return the message about edges [edge, end] that belong to an odd number of triangles."""
    start, end = (describe_point(vertices[k]) for k in edges[0])
    near = SUGGESTED_WELD * float(np.ptp(vertices, axis=0).max())
    welded = remove_repeated(merge_vertices(vertices, faces, near)[1])
    left = len(examine_edges(welded)[0])
    if left < len(edges) and len(welded):
        remedy = f"With weld={near:.2g}, which merges vertices that are so near, {left} are left"
    else:
        remedy = (
            "Close the holes in a CAD program, or use repair=True, which takes cells for inside"
        )
        remedy += " whose winding number is above one half"
    return (
        f"the surface is not closed: {len(edges)} of its edges are open, as they belong to an odd "
        f"number of triangles, the first from {start} to {end}. {remedy}"
    )


def describe_point(point: np.ndarray) -> str:
    """Return the coordinates of a point for a message."""
    return f"({', '.join(f'{c:g}' for c in point)})"

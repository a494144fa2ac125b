"""Surfaces that are not closed: triangles that face one way, and caps that close what is open.

The winding number of an open surface S around a point is a real number: its solid angle over 4 pi
(Jacobson, Kavan and Sorkine-Hornung 2013). With caps C, any triangles whose edges are the open ones
of S, it is n(S + C) - w(C): the first is the integer of a closed surface, which crossings of lines
count, and only the second, of a few triangles, needs solid angles.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from lbm.geometry.triangles.inside import find_outermost_triangles
from lbm.geometry.triangles.topology import (
    SUGGESTED_WELD,
    ClosedSurface,
    close_surface,
    examine_edges,
    merge_vertices,
    number_edges,
    remove_repeated,
)

VIEW_LINES = 256
"""Lines across the longest side of a body by which it is seen along an axis. Not tuned."""

SEEN_FROM_BEHIND = 2.0
"""How many times more of a patch is seen from behind than from its front if it faces inwards."""

LEAST_SEEN = 0.25
"""Share of a patch, seen along the axes, that must be seen from behind: less may be seen of the
inner side of a vessel through its holes. Not tuned."""


def repair_surface(vertices: np.ndarray, faces: np.ndarray, weld: float) -> ClosedSurface:
    """Return a surface as it is, with caps; one that is closed and faces outwards stays the same.

    Raises ValueError if all triangles are degenerate.
    """
    notes = []
    points, corners = merge_vertices(vertices, faces, weld)
    is_closed, is_oriented = _is_closed(corners)
    if is_closed and is_oriented:
        points, corners, *_ = close_surface(vertices, faces, weld)
        corners, note = _face_outwards(points, corners, _unify(points, corners)[1])
        return ClosedSurface(points, corners, True, repairs=tuple(note))
    near = SUGGESTED_WELD * float(np.ptp(points, axis=0).max())
    if near > weld and not is_closed:
        merged, joined = merge_vertices(vertices, faces, near)
        if (left := _count_open(joined)) < (before := _count_open(corners)):
            notes.append(
                f"vertices at most {near:.2g} apart are merged: {left} of {before} open edges stay"
            )
            points, corners = merged, joined
    corners, sheets, doubled = _split_sheets(corners)
    if not len(corners) + len(sheets):
        raise ValueError(f"faces must span a surface, but all {len(faces)} are degenerate")
    if len(sheets):
        notes.append(f"{len(sheets)} walls inside have the body, or the fluid, on both sides")
    if doubled:
        notes.append(f"{doubled} triangles have a copy that faces the other way: it is left out")
    corners, patch, note = _unify(points, corners)
    notes += note
    corners, note = _face_outwards(points, corners, patch)
    notes += note
    every = np.concatenate([corners, sheets])
    used, numbers = np.unique(every, return_inverse=True)
    every, points = numbers.reshape(every.shape), points[used]
    points, caps, openings = _close(points, every[: len(corners)])
    if openings:
        notes.append(
            f"{openings} holes or open ends with {len(caps)} edges: cells whose winding number is "
            "above one half are inside"
        )
    return ClosedSurface(points, every, True, len(sheets), caps, tuple(notes))


def _is_closed(faces: np.ndarray) -> tuple[bool, bool]:
    """Return whether a surface encloses something, and whether its triangles face one way."""
    distinct = remove_repeated(faces)
    open_edges, is_oriented = examine_edges(distinct)
    return bool(len(distinct)) and not len(open_edges), is_oriented


def _count_open(faces: np.ndarray) -> int:
    return len(examine_edges(remove_repeated(faces))[0])


def _components(links: np.ndarray, count: int) -> np.ndarray:
    """Return the number of the connected component of each of `count` nodes; links [link, end]."""
    graph = coo_array((np.ones(len(links), bool), links.T), shape=(count, count))
    return connected_components(graph, directed=False)[1]


def _split_sheets(faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return triangles that bound the body, those between its parts, and how many are doubled.

    Two copies with opposite orientations are one triangle. It is a wall between parts, such as the
    common side of two boxes, if it is connected with other triangles, and else a doubled surface.
    """
    unrepeated = remove_repeated(faces)
    distinct = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    order = np.sort(np.concatenate([unrepeated, distinct]), axis=1)
    _, first, number = np.unique(order, axis=0, return_index=True, return_inverse=True)
    is_kept = np.zeros(len(first), bool)
    is_kept[number.ravel()[: len(unrepeated)]] = True
    cancelled = distinct[first[~is_kept] - len(unrepeated)]
    if not len(cancelled):
        return unrepeated, cancelled, 0
    of_vertex = _components(
        np.concatenate([cancelled[:, :2], cancelled[:, 1:]]), int(faces.max()) + 1
    )
    is_wall = np.isin(of_vertex[cancelled[:, 0]], of_vertex[unrepeated.ravel()])
    bounding = np.concatenate([unrepeated, cancelled[~is_wall]])
    return bounding, cancelled[is_wall], int((~is_wall).sum())


def _unify(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Let triangles face as the larger part of their patch; return faces, patches and notes.

    A patch is what hangs together by edges of two triangles. Each triangle is two nodes of a graph,
    as it is and turned over, and edges connect those that fit: a patch is two components then.
    """
    count = len(faces)
    forward, number, uses = number_edges(faces)[:3]
    halves = np.argsort(number, kind="stable")
    halves = halves[uses[number[halves]] == 2].reshape(-1, 2)
    t, u = (halves // 3).T
    other = np.where(forward[halves[:, 0]] != forward[halves[:, 1]], u, u + count)
    links = np.stack([np.concatenate([t, t + count]), np.concatenate([other, (other + count)
                      % (2 * count)])], axis=1)  # fmt: skip
    label = _components(links, 2 * count)
    as_is, turned = label[:count], label[count:]
    patch, is_turned = np.minimum(as_is, turned), as_is > turned
    area = np.linalg.norm(_areas(vertices, faces), axis=1)
    balance = np.bincount(patch, np.where(is_turned, -area, area), minlength=2 * count)
    is_turned ^= (balance[patch] < 0.0) & (as_is != turned)
    notes = []
    if is_turned.any():
        notes.append(f"{is_turned.sum()} of {count} triangles that face against their neighbours "
                     "are turned over")  # fmt: skip
    if one_sided := int((as_is == turned).sum()):
        notes.append(f"{one_sided} triangles belong to one-sided patches, which bound no body")
    return _turn(faces, is_turned), np.unique(patch, return_inverse=True)[1], notes


def _areas(vertices: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return the vectors of area of triangles [triangle, xyz]."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a) / 2.0


def _turn(faces: np.ndarray, is_turned: np.ndarray) -> np.ndarray:
    return np.where(is_turned[:, None], faces[:, ::-1], faces)


def _face_outwards(
    vertices: np.ndarray, faces: np.ndarray, patch: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Turn over patches that are seen from behind along the axes, from both sides."""
    if not len(faces):
        return faces, []
    areas, count = _areas(vertices, faces), int(patch.max()) + 1
    front, behind, whole = np.zeros(count), np.zeros(count), np.zeros(count)
    triangles = vertices[faces]
    spacing = max(float(np.ptp(triangles, axis=(0, 1)).max()), 1e-300) / VIEW_LINES
    for axis in range(3):
        first, last = find_outermost_triangles(np.roll(triangles, -axis, axis=2), spacing)
        whole += np.bincount(patch, np.abs(areas[:, axis]) / spacing**2, minlength=count)
        for visible, sign in ((first, -1.0), (last, 1.0)):
            faces_us = sign * areas[visible, axis] > 0.0
            front += np.bincount(patch[visible], faces_us, minlength=count)
            behind += np.bincount(patch[visible], ~faces_us, minlength=count)
    is_inward = (behind > SEEN_FROM_BEHIND * front) & (behind > LEAST_SEEN * whole)
    if is_inward.all():
        return faces, []  # winding numbers are negative then, which is as good
    turned = int(is_inward.sum())
    notes = [f"{turned} of {count} parts that face inwards are turned over"] if turned else []
    return _turn(faces, is_inward[patch]), notes


def _close(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return vertices, caps and the number of openings.

    Caps are fans around the middle of each set of connected edges that triangles run along more
    often in one direction than in the other.
    """
    _, _, _, ends, balance = number_edges(faces)
    is_open = balance != 0
    ends, balance = ends[is_open], balance[is_open]
    if not len(ends):
        return vertices, np.zeros((0, 3), np.int64), 0
    used, corners = np.unique(ends, return_inverse=True)
    corners = corners.reshape(ends.shape)
    opening = _components(corners, len(used))
    count = int(opening.max()) + 1
    sizes = np.bincount(opening)
    middles = [np.bincount(opening, c) / sizes for c in vertices[used].T]
    apex = len(vertices) + opening[corners[:, 0]]
    back = np.where((balance > 0)[:, None], ends[:, ::-1], ends)
    caps = np.column_stack([back, apex]).repeat(np.abs(balance), axis=0)
    return np.concatenate([vertices, np.stack(middles, axis=1)]), caps, count

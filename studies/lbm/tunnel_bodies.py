"""Meshes of bodies for wind tunnels, made of extruded polygons and bodies of revolution.

Lengths are those of the bodies of the literature in metres, or 1. The stream runs along +x, and z
points up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from lbm import TriangleMesh

AROUND = 48
"""Sides of a body of revolution."""


def extrude(
    outline: Sequence[Sequence[float]] | np.ndarray, low: float, high: float
) -> TriangleMesh:
    """Return a polygon (x, z), star-shaped about its mean point, between two planes of y."""
    points = np.array(outline, float)
    x, z = points.T
    if np.dot(x, np.roll(z, -1)) < np.dot(z, np.roll(x, -1)):
        points = points[::-1]
    n = len(points)
    middle = points.mean(axis=0)
    ends = [np.insert(np.vstack([points, middle]), 1, y, axis=1) for y in (low, high)]
    k, after = np.arange(n), (np.arange(n) + 1) % n
    centre = np.full(n, n)
    faces = [
        np.stack([centre, k, after], axis=1),
        np.stack([centre, after, k], axis=1) + n + 1,
        np.stack([k, k + n + 1, after], axis=1),
        np.stack([after, k + n + 1, after + n + 1], axis=1),
    ]
    return TriangleMesh(np.vstack(ends), np.vstack(faces))


def box(low: Sequence[float], high: Sequence[float]) -> TriangleMesh:
    """Return a box between two corners."""
    (x, y, z), (x1, y1, z1) = low, high
    return extrude([(x, z), (x1, z), (x1, z1), (x, z1)], y, y1)


def revolve(x: np.ndarray, radius: np.ndarray) -> TriangleMesh:
    """Return a body of revolution about the axis x; its ends are points on it."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = np.stack(
        [np.repeat(x, AROUND), np.outer(radius, np.cos(angle)).ravel(),
         np.outer(radius, np.sin(angle)).ravel()], axis=1,
    )  # fmt: skip
    ends = np.array([[x[0], 0.0, 0.0], [x[-1], 0.0, 0.0]])
    k, after = np.arange(AROUND), (np.arange(AROUND) + 1) % AROUND
    first, last = len(rings), len(rings) + 1
    faces = [np.stack([np.full(AROUND, first), after, k], axis=1)]
    for ring in range(len(x) - 1):
        a, b = ring * AROUND, (ring + 1) * AROUND
        faces += [np.stack([k + a, after + a, k + b], axis=1)]
        faces += [np.stack([after + a, after + b, k + b], axis=1)]
    end = (len(x) - 1) * AROUND
    faces.append(np.stack([np.full(AROUND, last), k + end, after + end], axis=1))
    return TriangleMesh(np.vstack([rings, ends]), np.vstack(faces))


def join(*parts: TriangleMesh) -> TriangleMesh:
    """Return one mesh of parts, which may overlap."""
    counts = np.cumsum([0, *(len(p.vertices) for p in parts)])
    faces = [p.faces + count for p, count in zip(parts, counts, strict=False)]
    return TriangleMesh(np.vstack([p.vertices for p in parts]), np.vstack(faces))


def sphere() -> TriangleMesh:
    angle = np.linspace(0.02, np.pi - 0.02, 40)
    return revolve(-0.5 * np.cos(angle), 0.5 * np.sin(angle))


def cone() -> TriangleMesh:
    return revolve(np.array([0.0, 1.0]), np.array([0.005, 0.25]))


def airship() -> TriangleMesh:
    x = np.linspace(0.002, 0.998, 50)
    return revolve(x, 0.3 * np.sqrt(x) * (1.0 - x) ** 0.75)


def disc() -> TriangleMesh:
    return revolve(np.array([0.0, 0.08]), np.array([0.5, 0.5]))


def cylinder() -> TriangleMesh:
    angle = np.linspace(0.0, 2.0 * np.pi, AROUND, endpoint=False)
    return extrude(np.stack([0.25 * np.cos(angle), 0.25 * np.sin(angle)], axis=1), 0.0, 1.0)


def wing() -> TriangleMesh:
    """NACA 0012, half as wide as long."""
    x = 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, 40)))
    t = 0.6 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    upper, lower = np.stack([x, t], axis=1), np.stack([x, -t], axis=1)[-2:0:-1]
    return extrude(np.vstack([upper, lower]), 0.0, 0.5)


def loft(x: np.ndarray, half: np.ndarray, low: np.ndarray, high: np.ndarray) -> TriangleMesh:
    """Return a body whose section at each x is a rectangle |y| <= half, low <= z <= high."""
    corners = [(-half, low), (half, low), (half, high), (-half, high)]
    sections = np.stack([np.stack([x, y, z], axis=1) for y, z in corners], axis=1)
    faces = [(0, 2, 1), (0, 3, 2)]
    for a in range(0, 4 * len(x) - 4, 4):
        for k in range(4):
            i, j = a + k, a + (k + 1) % 4
            faces += [(i, j, i + 4), (j, j + 4, i + 4)]
    e = 4 * len(x) - 4
    faces += [(e, e + 1, e + 2), (e, e + 2, e + 3)]
    return TriangleMesh(sections.reshape(-1, 3), np.array(faces))


def ahmed(slant: float) -> Callable[[], TriangleMesh]:
    """Return the body of Ahmed, Ramm and Faltin (1984): all four edges of its front are rounded by
    0.1 m, and the slant is 0.222 m long; without its struts."""

    def make() -> TriangleMesh:
        arc, cut = np.linspace(0.0, np.pi / 2.0, 9), np.radians(slant)
        x = np.append(0.1 - 0.1 * np.cos(arc), [1.044 - 0.222 * np.cos(cut), 1.044])
        inset = np.append(0.1 - 0.1 * np.sin(arc), [0.0, 0.0])
        roof = 0.288 - inset
        roof[-1] -= 0.222 * np.sin(cut)
        return loft(x, 0.1945 - inset, inset, roof)

    return make


def car() -> TriangleMesh:
    body = [(0, 0.2), (0, 0.6), (1.1, 0.8), (1.7, 1.3), (3.0, 1.3), (3.6, 0.9), (4, 0.85), (4, 0.2)]
    wheels = [
        box((x, y, 0.0), (x + 0.6, y + 0.2, 0.4)) for x in (0.5, 2.9) for y in (-0.8, 0.6)
    ]  # fmt: skip
    return join(extrude(body, -0.8, 0.8), *wheels)


def tree() -> TriangleMesh:
    """A trunk and crossing sheets of a fiftieth of the height."""
    sheets = [
        part
        for z in (0.3, 0.5, 0.7)
        for part in (box((-0.3, -0.01, z), (0.3, 0.01, z + 0.25)),
                     box((-0.01, -0.3, z + 0.02), (0.01, 0.3, z + 0.27)))
    ]  # fmt: skip
    return join(box((-0.04, -0.04, 0.0), (0.04, 0.04, 0.95)), *sheets)


def sheets() -> TriangleMesh:
    """Return the same tree of sheets without thickness, on a closed trunk."""
    flat = tree()
    is_leaf = flat.faces.min(axis=1) >= 8  # the trunk has the first eight corners
    vertices = flat.vertices.copy()
    leaves = np.unique(flat.faces[is_leaf])
    thin = np.abs(vertices[leaves, :2]) < 0.0101
    vertices[leaves, :2] = np.where(thin, 0.0, vertices[leaves, :2])
    return TriangleMesh(vertices, flat.faces, repair=True)


def shell() -> TriangleMesh:
    """Return the car without its floor and a twentieth of its other triangles, some turned over."""
    whole = car()
    random = np.random.default_rng(0)
    count = len(whole.faces)
    is_floor = (whole.vertices[whole.faces][:, :, 2] < 0.21).all(axis=1)
    faces = np.where((random.random(count) < 0.3)[:, None], whole.faces[:, ::-1], whole.faces)
    return TriangleMesh(
        whole.vertices, faces[~is_floor & (random.random(count) > 0.05)], repair=True
    )


class Set(NamedTuple):
    """A body of the study.

    Attributes
    ----------
    make : function that makes its mesh
    length : its length in the unit of its Reynolds number, over the longest side
    settings : arguments of `lbm.wind_tunnel`
    """

    make: Callable[[], TriangleMesh]
    settings: dict = {}  # noqa: RUF012 - never changed


BODIES = {
    "sphere": Set(sphere),
    "cube": Set(lambda: box((0, 0, 0), (1, 1, 1))),
    "cylinder": Set(cylinder),
    "wing": Set(wing, {"incidence": 8.0, "area": "plan"}),
    "Ahmed 35": Set(ahmed(35.0), {"ground": "moving", "clearance": 0.05}),
    "Ahmed 25": Set(ahmed(25.0), {"ground": "moving", "clearance": 0.05}),
    "car": Set(car, {"ground": "moving", "yaw": 5.0}),
    "building": Set(lambda: box((0, 0, 0), (0.5, 0.5, 1)), {"ground": "fixed"}),
    "tree": Set(tree, {"ground": "fixed", "minimum_thickness": 1}),
    "airship": Set(airship),
    "cone": Set(cone),
    "disc": Set(disc),
    "tree of sheets": Set(sheets, {"ground": "fixed", "minimum_thickness": 1}),
    "open car": Set(shell, {"ground": "moving", "yaw": 5.0}),
}
"""Bodies by name, with the settings of their tunnels."""

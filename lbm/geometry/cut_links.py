"""Links that a surface cuts: where, of which body, and what its wall sends back along them.

An interpolated wall (Bouzidi, Firdaouss and Lallemand 2001, linear) stands at the share d of the
link q from a fluid cell. Of the populations after a collision, it returns

    f_-q(t + 1) = 2 d f_q + (1 - 2 d) g - 6 w_q (c_q . U)                              if d < 1/2,
    f_-q(t + 1) = f_q / (2 d) + (1 - 1/(2 d)) f_-q - 6 w_q (c_q . U) / (2 d)           otherwise,

where g is the population q of the cell behind, which arrives at this cell: so all numbers are those
that this cell stores in one step or loads in the next one, and halos hold them in all patterns. If
a wall stands behind the cell too, g is what that wall returns, and two interpolated walls are a
linear system for the two populations that they return.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lbm.boundaries import Condition, Solid
from lbm.geometry.wall_types import HALF_STEP
from lbm.lattices import Lattice
from lbm.lattices.extent import Extent, Triple

NARROWEST = 1e-9
"""Smallest determinant of the system of two walls with one cell between: there both coincide."""


class MovingBody(NamedTuple):
    """The links of a body whose wall moves, `links` [k], and their points [k, (x, y, z)]."""

    condition: Condition
    links: np.ndarray
    points: np.ndarray


@dataclass(frozen=True, eq=False)
class CutLinks:
    """Links that end at interpolated walls, in the order of their cells and directions.

    Attributes
    ----------
    lattice : the lattice
    cells : int64 [link, (z, y, x)], their fluid cells, counted from the first one of the block
    q : int64 [link], populations that run into the wall
    distance : float64 [link], where the wall stands on the link, from 0 at the cell to 1
    body : int64 [link], number of the solid
    names : of the solids
    velocity : float64 [link, (x, y, z)], of the wall in step 0
    moving : bodies whose velocity changes with time
    """

    lattice: Lattice
    cells: np.ndarray
    q: np.ndarray
    distance: np.ndarray
    body: np.ndarray
    names: tuple[str, ...]
    velocity: np.ndarray
    moving: tuple[MovingBody, ...] = ()

    def __len__(self) -> int:
        return len(self.q)

    @property
    def directions(self) -> np.ndarray:
        """Velocities c_q, float64 [link, (x, y, z)]."""
        return np.array(self.lattice.velocities, float)[self.q]

    @property
    def weights(self) -> np.ndarray:
        """Weights w_q, float64 [link]."""
        return np.array(self.lattice.weights)[self.q]

    def wall_terms_in(self, step: int) -> np.ndarray:
        """Return 6 w_q (c_q . U) of the links in a step, float64 [link]."""
        velocity = self.velocity.copy()
        for body in self.moving:
            velocity[body.links] = body.condition.parameters(body.points, step + HALF_STEP)[:, 2:]
        return 6.0 * self.weights * (velocity * self.directions).sum(axis=1)

    def points(self, start: Triple) -> np.ndarray:
        """Return where links meet the wall [link, (x, y, z)]; the block begins at cell `start`."""
        centres = self.cells[:, ::-1] + np.array(start) + 0.5
        return centres + self.distance[:, None] * self.directions

    def of_body(self, name: str) -> np.ndarray:
        """Return the numbers of the links of a solid."""
        return np.flatnonzero(self.body == self.names.index(name))

    def find_within(self, extent: Extent) -> np.ndarray:
        """Return the numbers of the links of the cells in `extent`."""
        start, stop = (np.array(corner[::-1]) for corner in extent)
        return np.flatnonzero(((self.cells >= start) & (self.cells < stop)).all(axis=1))

    def select(self, extent: Extent, halo: Triple) -> CutLinks:
        """Return the links of the cells in `extent`, counted in a block with this halo."""
        inside, start = self.find_within(extent), np.array(extent.start[::-1])
        position = np.full(len(self), -1)
        position[inside] = np.arange(len(inside))
        moving = []
        for body in self.moving:
            links = position[body.links]
            moving.append(MovingBody(body.condition, links[links >= 0], body.points[links >= 0]))
        cells = self.cells[inside] - start + np.array(halo[::-1])
        selected = {k: getattr(self, k)[inside] for k in ("q", "distance", "body", "velocity")}
        return replace(self, cells=cells, moving=tuple(moving), **selected)


def find_cut_links(boundary: Any, extent: Extent) -> CutLinks | None:
    """Find the links of an extent's cells that end at interpolated walls; None without such walls.

    `boundary` are the `BoundaryCells` of the extent.

    Raises
    ------
    ValueError
        If the surface of a shape does not cross a link that ends in one of its cells.
    """
    shape, _, solids = boundary.enclosure
    names = tuple(solids)
    interpolated = [k for k, solid in enumerate(solids.values()) if solid.is_interpolated]
    if not interpolated:
        return None
    is_cut = np.isin(boundary.owner, np.array(interpolated) + 2)
    cell, q = np.nonzero(is_cut)
    position = np.stack([boundary.x, boundary.y, boundary.z], axis=1)[cell]
    body = boundary.owner[cell, q].astype(np.int64) - 2
    distance, velocity = np.empty(len(q)), np.zeros((len(q), 3))
    lattice: Lattice = boundary.lattice
    c = np.array(lattice.velocities, float)[q]
    for k in interpolated:
        of_solid = np.flatnonzero(body == k)
        solid = solids[names[k]]
        distance[of_solid] = _measure(names[k], solid, position[of_solid], c[of_solid], boundary)
    for k in interpolated if len(interpolated) > 1 else ():
        _cut_by_nearer(k, solids[names[k]].cells, position, c, shape, distance, body)
    moving = []
    for k in interpolated:
        of_solid, solid = np.flatnonzero(body == k), solids[names[k]]
        if solid.condition.moves:
            points = position[of_solid] + 0.5 + distance[of_solid, None] * c[of_solid]
            velocity[of_solid] = solid.condition.parameters(points, HALF_STEP)[:, 2:]
            if solid.condition.depends_on.time:
                moving.append(MovingBody(solid.condition, of_solid, points))
    cells = (position - np.array(extent.start))[:, ::-1]
    q = q.astype(np.int64)
    return CutLinks(lattice, cells, q, distance, body, names, velocity, tuple(moving))


def _measure(
    name: str, solid: Solid, cells: np.ndarray, c: np.ndarray, boundary: Any
) -> np.ndarray:
    """Return where the surface of a solid cuts links along c of cells, both [link, (x, y, z)].

    Links are followed back from their solid end: behind a periodic face that is where the shape is.
    Behind a free-slip face the shape is mirrored: a link that meets it there is mirrored instead.
    A link through an edge in which two solid cells touch ends there if it misses the surface. So do
    links into cells of a surface with holes, or of a sheet that was thickened, half-way.
    """
    shape_of_solid: Any = solid.cells
    shape, faces, _ = boundary.enclosure
    ends = cells + c
    mirrored = np.zeros(ends.shape, bool)
    for axis in range(3):
        outside = (ends[:, axis] < 0) | (ends[:, axis] >= shape[axis])
        mirrored[:, axis] = outside & faces[2 * axis].mirrors
        mirrored[:, axis] |= outside & faces[2 * axis + 1].mirrors
    wrapped = np.where(mirrored, ends, ends % np.array(shape))
    distance = _distances(shape_of_solid, wrapped + 0.5 - c, c)
    behind = np.flatnonzero(mirrored.any(axis=1) & ~(distance <= 0.5))
    if len(behind):
        flip = np.where(mirrored[behind], -1.0, 1.0)
        foot = np.where(mirrored[behind], cells[behind], wrapped[behind]) + 0.5
        image = c[behind] * flip
        distance[behind] = _distances(shape_of_solid, foot - image, image)
    missing = ~((distance >= 0.0) & (distance <= 1.0))
    foot = np.where(mirrored, cells, ends)[missing].astype(np.int64)
    is_edge = boundary.labels.of_cells(*foot.T) == 0
    if not getattr(shape_of_solid, "crosses_links", True):
        is_edge[:] = True
    at_edge = np.flatnonzero(missing)[is_edge]
    distance[at_edge], missing[at_edge] = 0.5, False
    if missing.any():
        first = tuple(int(x) for x in cells[missing][0])
        raise ValueError(
            f"boundaries[{name!r}]: its surface does not cross {int(missing.sum())} of "
            f"{len(c)} links that end in its cells, the first from cell {first} along "
            f"{tuple(map(int, c[missing][0]))}. The cells and the distances of a shape must "
            "belong to one surface, also where it passes through a periodic face: give a shape of "
            "your own its `bounds`, move it away from that face, or use wall='halfway'"
        )
    return distance


def _cut_by_nearer(
    number: int,
    shape_of_solid: Any,
    cells: np.ndarray,
    c: np.ndarray,
    shape: Triple,
    distance: np.ndarray,
    body: np.ndarray,
) -> None:
    """Give a solid the links that cross its surface before they reach that of another solid.

    Such links end in a cell of a body that touches this one, or nearly does.
    """
    ends = cells + c
    is_inside = ((ends >= 0) & (ends < np.array(shape))).all(axis=1)
    others = np.flatnonzero((body != number) & is_inside)
    nearer = _distances(shape_of_solid, cells[others] + 0.5, c[others])
    is_nearer = (nearer >= 0.0) & (nearer < distance[others])
    distance[others[is_nearer]], body[others[is_nearer]] = nearer[is_nearer], number


def _distances(shape: Any, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return `shape.distances(points, directions)`, if it has one number for each link."""
    distance = np.asarray(shape.distances(points, directions), float)
    if distance.shape != (len(points),):
        raise ValueError(
            f"distances must return one number for each of the {len(points)} links, got an array "
            f"of shape {distance.shape}"
        )
    return distance.copy()


class Interpolation(NamedTuple):
    """Coefficients of links: what a wall returns is sent * f_q + other * g - wall * 6 w (c . U).

    Attributes
    ----------
    sent, other, wall : float64 [link]
    mate_wall : float64 [link], the factor of 6 w (c . U) of the opposite link, if that is cut too
    mate : int64 [link], the number of the opposite link of the cell if it is cut too, or -1: g is
        then its population f_-q after the collision
    is_behind : bool [link], True where g is the population that arrives from the cell behind, False
        where it is f_-q
    """

    sent: np.ndarray
    other: np.ndarray
    wall: np.ndarray
    mate_wall: np.ndarray
    mate: np.ndarray
    is_behind: np.ndarray


def interpolate_linearly(distance: np.ndarray, mate: np.ndarray) -> Interpolation:
    """Return the coefficients of links with walls at `distance`, of which some have a mate."""
    near = distance < 0.5
    double = np.where(near, 1.0, 2.0 * distance)
    sent = np.where(near, 2.0 * distance, 1.0 / double)
    other, wall = 1.0 - sent, 1.0 / double
    both = np.flatnonzero(mate >= 0)
    mate_wall = np.zeros(len(distance))
    if len(both):
        # X = a A + b Y - m and Y = a' B + b' X - m' if both walls are near, Y = B otherwise.
        pair = mate[both]
        a, b, m = sent[both], other[both], wall[both]
        a2, b2, m2 = sent[pair], other[pair], wall[pair]
        # A wall that is not near returns a' B + b' A: its other population is A.
        returned = near[both]
        chain = np.where(returned, b * b2, 0.0) * near[pair]
        scale = 1.0 - chain
        narrow = scale < NARROWEST
        scale = np.where(narrow, 1.0, scale)
        # The share of A that comes back by way of a far wall on the other side.
        back = np.where(returned & ~near[pair], b * b2, 0.0)
        sent[both] = np.where(narrow, 0.5, (a + back) / scale)
        other[both] = np.where(narrow, 0.5, np.where(returned, b * a2, b) / scale)
        wall[both] = np.where(narrow, 1.0, m / scale)
        mate_wall[both] = np.where(narrow | ~returned, 0.0, b * m2 / scale)
    return Interpolation(sent, other, wall, mate_wall, mate, near & (mate < 0))


def find_mates(cells: np.ndarray, q: np.ndarray, opposite: Sequence[int]) -> np.ndarray:
    """Return the number of the link against each link q of the same cell (z, y, x), or -1.

    `opposite` is that of their lattice.
    """
    cells = cells - cells.min(axis=0, initial=0)
    size = *(cells.max(axis=0, initial=0) + 1), len(opposite)
    keys, sought = (np.ravel_multi_index((*cells.T, k), size) for k in (q, np.array(opposite)[q]))
    return find_keys(keys, sought)


def find_keys(keys: np.ndarray, sought: np.ndarray) -> np.ndarray:
    """Return where numbers are among distinct keys, or -1."""
    order = np.argsort(keys)
    index = order[np.minimum(np.searchsorted(keys, sought, sorter=order), len(keys) - 1)]
    return np.where(keys[index] == sought, index, -1)

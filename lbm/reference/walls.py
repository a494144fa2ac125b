"""The walls of a reference flow: labels of all cells, and what is at the ends of links."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lbm import boundaries as b
from lbm.geometry.periodic_images import repeat_solids
from lbm.lattices import Lattice

_Entry = tuple[b.Condition, tuple[int, ...]]
"""A condition, and the axes in which it mirrors."""


class Cut(NamedTuple):
    """Links q of cells (x, y, z) at whose share `distance` [link] the surface of a body stands.

    `points` [(x, y, z), link] are these places, and `condition` is that of the body.
    """

    q: int
    cells: tuple[np.ndarray, ...]
    distance: np.ndarray
    points: np.ndarray
    condition: b.Condition


def _without_component(wall: b.Condition, axis: int) -> b.MovingWall:
    """Return a wall with a velocity, or a function of it, with 0 as the component along an axis."""
    if not wall.depends_on:
        x, y, z = (0.0 if a == axis else v for a, v in enumerate(wall.prescribed))
        return b.MovingWall((x, y, z))
    return b.MovingWall(
        lambda x, y, z, t: [0.0 if a == axis else v for a, v in enumerate(wall.at((x, y, z), t))]
    )


class ReferenceWalls:
    """The faces and the solids of a domain, by masks of its cells.

    Attributes
    ----------
    labels : int [x, y, z], indices of `conditions` with a layer around the domain; 0 is fluid
    fluid : bool [x, y, z]
    ends : the labels at the ends of links [x, y, z], for each population
    cuts : links that interpolated walls cut
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        boundaries: Mapping[str, b.Condition | b.Solid] | None,
        lattice: Lattice,
    ):
        self.shape, self.lattice = shape, lattice
        self.faces, solids = b.split_boundaries(boundaries)
        self.solids = repeat_solids(b.Enclosure(shape, self.faces, solids))
        self.labels = self._label_cells()
        self.fluid = self.labels[1:-1, 1:-1, 1:-1] == 0
        self.ends = [self._labels_at_ends(c) for c in self.lattice.velocities]
        self.cuts = self._find_cuts()

    def _label_cells(self) -> np.ndarray:
        """Label all cells and a layer around them with indices of `conditions`; 0 is fluid."""
        self.conditions: list[_Entry] = [(b.NoSlip(), ())]  # entry 0, of fluid, is not used
        labels = np.zeros(tuple(n + 2 for n in self.shape), int)
        inside = np.zeros(self.shape, int)
        for solid in self.solids.values():
            self.conditions.append((solid.bounce, ()))
            inside[solid.mask(self.shape)] = len(self.conditions) - 1
        labels[1:-1, 1:-1, 1:-1] = inside
        periodic = [self.faces[2 * a].is_periodic for a in range(3)]
        for end in itertools.product((-1, 0, 1), repeat=3):
            crossed = [a for a in range(3) if end[a] and not periodic[a]]
            if not any(end):
                continue
            region = tuple({-1: slice(0, 1), 0: slice(1, -1), 1: slice(-1, None)}[e] for e in end)
            walls: list[Any] = [self.faces[2 * a + (end[a] > 0)] for a in crossed]
            if len(crossed) > 1:
                self.conditions.append(self._at_edge(walls, crossed))
                labels[region] = len(self.conditions) - 1
                continue
            # Behind a periodic face there is a copy of the cells at the other side. Behind another
            # face the cells before it count, because a solid continues behind it.
            near = {-1: slice(0, 1), 0: slice(None), 1: slice(-1, None)}
            far = {-1: slice(-1, None), 0: slice(None), 1: slice(0, 1)}
            beside = inside[tuple((near if a in crossed else far)[e] for a, e in enumerate(end))]
            labels[region] = self._behind(beside, crossed[0], walls[0]) if crossed else beside
        return labels

    def _at_edge(self, walls: Sequence[b.Condition], crossed: Sequence[int]) -> _Entry:
        """Return (condition, axes in which it mirrors) behind one or more faces."""
        slip = tuple(a for a, wall in zip(crossed, walls, strict=True) if wall.mirrors)
        others = [wall for wall in walls if not wall.mirrors]
        strongest = min(walls, key=lambda wall: wall.rank)
        if slip and all(wall.is_open for wall in others):
            return strongest, slip
        closed = not strongest.is_open and sum(not wall.is_open for wall in walls) > 1
        return (b.NoSlip() if closed else strongest), ()

    def _behind(self, beside: np.ndarray, axis: int, face: b.Condition) -> np.ndarray:
        """Return the labels behind a face; `beside` has those of the cells before it."""
        labels = np.empty_like(beside)
        for k in np.unique(beside):
            entry: _Entry = face, ((axis,) if face.mirrors else ())
            if k:
                body = list(self.solids.values())[k - 1]
                solid = body.bounce if face.mirrors else body.condition
                entry = self._at_edge([face, solid], [axis, -1])  # a solid has no axis
                if solid.moves and not face.is_open:
                    entry = _without_component(solid, axis), ()
            self.conditions.append(entry)
            labels[beside == k] = len(self.conditions) - 1
        return labels

    def _labels_at_ends(self, c: Sequence[int]) -> np.ndarray:
        """Return the labels at the ends of the links c of all cells.

        If each path of steps along the axes meets a solid, that is a solid on one of the paths.
        """
        labels = self._labels_at(c).copy()
        axes, count = [a for a in range(3) if c[a]], len(self.solids)
        for axis in (None, *axes):  # None: within the domain; otherwise behind a face across it
            along = [0 if a == axis else k for a, k in enumerate(c)]
            closed, met = (labels if axis is None else self._labels_at(along)) == 0, []
            for path in itertools.permutations(a for a in axes if a != axis):
                steps = [
                    [k * (a in path[:n]) for a, k in enumerate(c)] for n in range(1, len(path))
                ]
                between = [self._labels_at(step) for step in steps]
                met += between
                closed &= np.any([(k > 0) & (k <= count) for k in between], axis=0)
            if axis is not None:
                index = -1 if c[axis] > 0 else 0
                at_face = np.zeros(self.shape, bool)
                np.moveaxis(at_face, axis, 0)[index] = not self.faces[2 * axis].is_periodic
                closed &= at_face
            if not met or not closed.any():
                continue
            solids = list(self.solids.values())
            ranks = [(solid.condition.rank, k) for k, solid in enumerate(solids, 1)]
            strongest = np.array([
                min(ranks[k[cell] - 1] for k in met if 0 < k[cell] <= count)[1]
                for cell in zip(*np.nonzero(closed), strict=True)
            ])  # fmt: skip
            if axis is not None:
                face: Any = self.faces[2 * axis + (c[axis] > 0)]
                strongest = self._behind(strongest, axis, face)
            labels[closed] = strongest
        return labels

    def _labels_at(self, c: Sequence[int]) -> np.ndarray:
        """Return the labels of the cells at c from all cells."""
        return self.labels[
            tuple(slice(1 + s, 1 + s + n) for s, n in zip(c, self.shape, strict=True))
        ]

    def _find_cuts(self) -> list[Cut]:
        """Find where interpolated walls cut links, by bisection between fluid and solid ends.

        Links that a free-slip face mirrors into such a wall are left out.
        """
        cuts = []
        for k, solid in enumerate(self.solids.values(), 1):
            for q in range(1, self.lattice.size) if solid.is_interpolated else ():
                c = np.array(self.lattice.velocities[q], float)[:, None]
                cells = np.nonzero((self.ends[q] == k) & self.fluid)
                if not len(cells[0]):
                    continue
                start = (np.stack(cells) + c) % np.array(self.shape)[:, None]
                start = start + 0.5 - c
                # A link between two fluid cells may miss the body, or cross it.
                steps = np.linspace(0.0, 1.0, 1001)
                along = (start[:, None] + steps[:, None] * c[:, None]).reshape(3, -1)
                inside = np.reshape(solid.cells(*along), (len(steps), -1))  # type: ignore[operator]
                high = np.where(inside.any(axis=0), steps[inside.argmax(axis=0)], 0.5)
                low = np.where(inside.any(axis=0), np.maximum(high - 1e-3, 0.0), 0.5)
                for _ in range(60):
                    middle = (low + high) / 2.0
                    inside = np.asarray(solid.cells(*(start + middle * c)))  # type: ignore[operator]
                    low, high = np.where(inside, low, middle), np.where(inside, middle, high)
                points = np.stack(cells) + 0.5 + high * c
                cuts.append(Cut(q, cells, high, points, solid.condition))
        return cuts

    def stays_beside(self, q: int, axis: int) -> np.ndarray:
        """Return the cells whose links q leave through no face that is not across the axis."""
        cells = np.ones(self.shape, bool)
        for other in range(3):
            step = self.lattice.velocities[q][other]
            if other != axis and step and not self.faces[2 * other].is_periodic:
                np.moveaxis(cells, other, 0)[-1 if step > 0 else 0] = False
        return cells

    def ends_at(self, q: int, condition: b.Condition, axis: int) -> np.ndarray:
        """Return the cells whose link q ends at an inlet or an outlet across an axis.

        Beyond an edge of two inlets or of two outlets, all links belong to that of the first axis.
        """
        c = self.lattice.velocities[q]
        cells = np.zeros(self.shape, bool)
        for k, (wall, slip) in enumerate(self.conditions):
            if wall is condition:
                on_face = self.ends[q] == k
                cells |= on_face & ~self.is_mirrored(q, on_face, slip)[1] if slip else on_face
        for other in range(axis):
            outside = np.moveaxis(cells, other, 0)
            for side, index in ((-1, 0), (1, -1)):
                face = self.faces[2 * other + (side > 0)]
                if c[other] == side and face.is_open and face.prescribes == condition.prescribes:
                    outside[index] = False
        return cells

    def is_mirrored(
        self, q: int, cells: np.ndarray, slip: tuple[int, ...]
    ) -> tuple[int, np.ndarray]:
        """Return the mirror image of q, and those of the cells in which that is mirrored too."""
        velocities = self.lattice.velocities
        turned = [c if a in slip else -c for a, c in enumerate(velocities[q])]
        image = velocities.index((turned[0], turned[1], turned[2]))
        same = [k for k, entry in enumerate(self.conditions) if k and entry[1] == slip]
        return image, cells & np.isin(self.ends[image], same)

"""Which links of which cells run into walls: classes of cells, and the table of the classes.

Every cell has a class: 0 with no wall near, 1 for cells that are not fluid, and one number for each
combination of walls around a cell. A cubic cavity has 26 of these, so that a byte a cell says all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lbm.boundaries import FreeSlip, NoSlip, Periodic, Solid
from lbm.lattice import OPPOSITE, C, Q

SOLID_CLASS = 1
_FIRST = 2
_MOST_KINDS = 256  # their numbers are bytes


@dataclass(frozen=True, eq=False)
class Links:
    """Walls of a domain.

    Attributes
    ----------
    classes : [z, y, x], the smallest unsigned integers that hold them
    masks : uint32 [class, what]; bit q: the population q runs into a wall; it does and its
        reflection is more than a bounce; it comes out of a wall
    materials : uint8 [class, q, what]: row of `kinds`; the population whose value is sent back,
        q itself but for free slip
    kinds : float64 [kind, 5]: what `_cell_math.reflect` needs
    bodies : for each named solid the cells beside it [k, (z, y, x)] and their links q [k]
    """

    classes: np.ndarray
    masks: np.ndarray
    materials: np.ndarray
    kinds: np.ndarray
    bodies: dict[str, tuple[np.ndarray, np.ndarray]]

    @property
    def any(self) -> bool:
        """Whether there is any wall at all."""
        return len(self.masks) > _FIRST


class _Kinds:
    """Rows of the table of kinds, numbered as they turn up; row 0 is a wall at rest."""

    def __init__(self):
        self.rows = [NoSlip().row()]

    def number(self, row) -> int:
        if row not in self.rows:
            if len(self.rows) == _MOST_KINDS:
                raise ValueError(
                    f"boundaries hold more than {_MOST_KINDS} different velocities and densities: "
                    "give some walls the same"
                )
            self.rows.append(row)
        return self.rows.index(row)

    def of_faces(self, crossed: list[tuple[int, object]]) -> tuple[int, int]:
        """(kind, axes of free slip as bits) of a link through one or more faces.

        At an edge the condition of lowest rank holds; free slip has the highest.
        """
        condition = min((wall for _, wall in crossed), key=lambda wall: wall.rank)
        slip = sum(1 << axis for axis, _ in crossed) if isinstance(condition, FreeSlip) else 0
        return self.number(condition.row()), slip


def find(shape: tuple[int, int, int], faces: tuple, solids: dict[str, Solid]) -> Links:
    """Classes of the cells of a domain (nx, ny, nz)."""
    kinds = _Kinds()
    names = list(solids)
    if len(names) > 254:
        raise ValueError(f"at most 254 solids, got {len(names)}: join those with one condition")
    material = _materials(shape, solids)
    near = _near(shape[::-1], faces, material)
    z, y, x = np.nonzero(near)
    owner = np.zeros((len(x), Q), np.uint8)  # 1: a face, 2 + number: a solid
    kind, slip = np.zeros((len(x), Q), np.uint8), np.zeros((len(x), Q), np.uint8)
    solid_kind = np.array([0, *(kinds.number(s.condition.row()) for s in solids.values())])
    for q in range(1, Q):
        _link(q, (x, y, z), shape, faces, material, kinds, solid_kind, owner, kind, slip)
    partner = _partners(slip)
    walls, number, first = _number(owner > 0, kind, partner)
    classes = np.zeros(near.shape, np.min_scalar_type(_FIRST + len(first)))
    if material is not None:
        classes[material > 0] = SOLID_CLASS
    classes[z, y, x] = np.where(walls, number + _FIRST, 0)
    table = np.array(kinds.rows)
    masks, materials = _table(owner[first] > 0, kind[first], partner[first], table)
    at = np.stack([z, y, x], axis=1)
    bodies = {n: _body(at, owner == k + 2) for k, n in enumerate(names)}
    return Links(classes, masks, materials, table, bodies)


def _materials(shape, solids) -> np.ndarray | None:
    """[z, y, x]: 0 for fluid, k + 1 for the solid number k; None without solids."""
    if not solids:
        return None
    material = np.zeros(shape[::-1], np.uint8)
    for k, (name, solid) in enumerate(solids.items()):
        if solid.cells.shape != shape:
            raise ValueError(
                f"boundaries[{name!r}] has cells of shape {solid.cells.shape}, the domain {shape}"
            )
        cells = solid.cells.T
        if (material[cells] > 0).any():
            raise ValueError(f"boundaries[{name!r}] overlaps another solid")
        material[cells] = k + 1
    return material


def _near(shape, faces, material) -> np.ndarray:
    """Fluid cells that may have a wall beside them."""
    near = np.zeros(shape, bool)
    for axis in range(3):
        if not isinstance(faces[2 * axis], Periodic):
            ends = np.moveaxis(near, 2 - axis, 0)
            ends[0] = ends[-1] = True
    if material is not None:
        solid = material > 0
        for c in C[1:]:
            near |= np.roll(solid, (-c[2], -c[1], -c[0]), (0, 1, 2))
        near &= ~solid
    return near


def _link(q, cells, shape, faces, material, kinds, solid_kind, owner, kind, slip) -> None:
    """Fill column q of `owner`, `kind` and `slip`: what is at the end of each cell's link q."""
    ends, through = [], []
    for axis in range(3):
        end = cells[axis] + C[q][axis]
        crossed = (end < 0) | (end >= shape[axis])
        ends.append(end % shape[axis])
        wall = None if C[q][axis] == 0 else faces[2 * axis + (C[q][axis] > 0)]
        if wall is not None and not isinstance(wall, Periodic):
            through.append((axis, wall, crossed))
    inside = np.ones(len(cells[0]), bool)
    for _, _, crossed in through:
        inside &= ~crossed
    if material is not None:
        hit = np.where(inside, material[ends[2], ends[1], ends[0]], 0)
        owner[:, q] = np.where(hit > 0, hit + 1, 0)
        kind[:, q] = solid_kind[hit]
    for choice in range(1, 1 << len(through)):
        which = [t for i, t in enumerate(through) if choice >> i & 1]
        these = np.ones(len(inside), bool)
        for i, (_, _, crossed) in enumerate(through):
            these &= crossed if choice >> i & 1 else ~crossed
        if these.any():
            owner[these, q] = 1
            crossed = [(axis, wall) for axis, wall, _ in which]
            kind[these, q], slip[these, q] = kinds.of_faces(crossed)


def _partners(slip: np.ndarray) -> np.ndarray:
    """The population whose value the wall sends back against q: the mirror image where it slips.

    q runs into the face and its mirror image along the face too: the two swap. Where the mirror
    image meets another wall, at a corner, q bounces back, so that no mass is lost.
    """
    partner = np.broadcast_to(np.arange(Q, dtype=np.uint8), slip.shape).copy()
    for q in range(1, Q):
        for axes in np.unique(slip[:, q][slip[:, q] > 0]):
            image = C.index(tuple(c if axes >> a & 1 else -c for a, c in enumerate(C[q])))
            both = (slip[:, q] == axes) & (slip[:, image] == axes)
            partner[both, q] = image
    return partner


def _number(walls: np.ndarray, kind: np.ndarray, partner: np.ndarray):
    """(cells with walls, number of each cell's combination, a cell that has each of them)."""
    codes = np.where(walls, (kind.astype(np.uint64) + np.uint64(1)) * np.uint64(Q) + partner, 0)
    key = np.zeros(len(codes), np.uint64)
    for q in range(Q):  # a hash, as sorting rows of 19 would take minutes for millions of cells
        key = (key ^ codes[:, q]) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    some = walls.any(axis=1)
    _, first, inverse = np.unique(key[some], return_index=True, return_inverse=True)
    first = np.flatnonzero(some)[first]
    number = np.zeros(len(codes), np.int64)
    number[some] = inverse
    if not np.array_equal(codes[first[number]][some], codes[some]):
        raise RuntimeError("two combinations of walls have one hash value; please report this")
    return some, number, first


def _table(walls, kind, partner, kinds) -> tuple[np.ndarray, np.ndarray]:
    bits = np.uint32(1) << np.arange(Q, dtype=np.uint32)
    more = (np.any(kinds != 0, axis=1)[kind] | (partner != np.arange(Q))) & walls
    masks = np.zeros((len(walls) + _FIRST, 3), np.uint32)
    for column, links in enumerate((walls, more, walls[:, list(OPPOSITE)])):
        masks[_FIRST:, column] = (links * bits).sum(axis=1, dtype=np.uint32)
    materials = np.zeros((len(walls) + _FIRST, Q, 2), np.uint8)
    materials[_FIRST:] = np.stack([kind, partner], axis=2)
    return masks, materials


def _body(at, owned) -> tuple[np.ndarray, np.ndarray]:
    cell, q = np.nonzero(owned)
    return at[cell], q

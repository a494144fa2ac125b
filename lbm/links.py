"""Which links of which cells run into walls: classes of cells, and the table of the classes.

Every cell has a class: 0 with no wall near, 1 for cells that are not fluid, and one number for each
combination of walls around a cell. A cubic cavity has 26 of these, so that a byte a cell says all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lbm.boundaries import (
    FreeSlip,
    MovingWall,
    NoSlip,
    Periodic,
    PressureOutlet,
    Solid,
    VelocityInlet,
)
from lbm.lattice import OPPOSITE, C, Q, W

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
    bodies : for each named solid the cells beside it [k, (z, y, x)], their links q [k], and the
        velocity of the wall there [k, 3]
    """

    classes: np.ndarray
    masks: np.ndarray
    materials: np.ndarray
    kinds: np.ndarray
    bodies: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]

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

    def of_link(self, crossed: list[tuple[int, object]]) -> tuple[int, int]:
        """Return (kind, slip axes as bits) of a link that meets one or more conditions.

        `crossed` holds (axis, condition) pairs. Where the second number is not 0 the link should
        be mirrored in these axes, and the first one says what holds if that is impossible.
        """
        conditions = [wall for _, wall in crossed]
        slip = sum(1 << axis for axis, wall in crossed if isinstance(wall, FreeSlip))
        strongest = min(conditions, key=lambda wall: wall.rank)
        # Fluid slides along slip faces and passes inlets and outlets: nothing turns the tangential
        # velocity around where these meet, so only the component across the slip faces is mirrored.
        if slip and all(isinstance(w, FreeSlip) or not is_impermeable(w) for w in conditions):
            return self.number(strongest.row()), slip
        # Two impermeable faces: a velocity of one along the other's normal would push mass through
        # the edge, and across itself a face has none.
        if len(conditions) > 1 and all(map(is_impermeable, conditions)):
            return 0, 0
        return self.number(strongest.row()), 0

    def of_link_behind_face(self, axis: int, face, condition) -> tuple[int, int]:
        """Return the same for a link through one face, beside a solid that stands at this face.

        The link ends where the solid would go on behind the face. Faces with the condition of the
        solid in its place would meet in an edge there.
        """
        if not (is_impermeable(face) and is_impermeable(condition)):
            return self.of_link([(axis, face), (-1, condition)])
        # Each of the two blocks the fluid in one direction, and its velocity counts there: that of
        # the face is 0 across it.
        row = list(condition.row())
        row[2 + axis] = 0.0
        return self.number(tuple(row)), 0


def is_impermeable(condition) -> bool:
    """Whether no fluid passes a face or a solid with this condition."""
    if isinstance(condition, VelocityInlet | PressureOutlet):
        return False
    return isinstance(condition, NoSlip | MovingWall | FreeSlip)


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
    bodies = list(solids.values())
    solid_kind = np.array([0, *(kinds.number(s.condition.row()) for s in bodies)])
    for q in range(1, Q):
        _link(q, (x, y, z), shape, faces, material, bodies, kinds, solid_kind, owner, kind, slip)
    partner = _mirror_images(slip, owner, kind)
    walls, number, first = _number(owner > 0, kind, partner)
    classes = np.zeros(near.shape, np.min_scalar_type(_FIRST + len(first)))
    if material is not None:
        classes[material > 0] = SOLID_CLASS
    classes[z, y, x] = np.where(walls, number + _FIRST, 0)
    table = np.array(kinds.rows)
    masks, materials = _table(owner[first] > 0, kind[first], partner[first], table)
    at = np.stack([z, y, x], axis=1)
    links_of = {n: _body(at, owner == k + 2, table, kind) for k, n in enumerate(names)}
    return Links(classes, masks, materials, table, links_of)


def inflow(links: Links) -> tuple[float, float]:
    """Return (mass that walls bring in a step at density 1, the same with all amounts positive)."""
    counts = np.zeros(len(links.masks), np.int64)
    for plane in links.classes:
        counts += np.bincount(plane.ravel(), minlength=len(counts))
    velocity = links.kinds[links.materials[:, :, 0], 2:]  # [class, q, component]
    into_wall = links.masks[:, :1] >> np.arange(Q, dtype=np.uint32) & 1
    brought = -6.0 * into_wall * np.array(W) * (velocity * np.array(C)).sum(axis=2)
    return float(counts @ brought.sum(axis=1)), float(counts @ np.abs(brought).sum(axis=1))


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
    if material.all():
        raise ValueError("the solids in boundaries leave no fluid cell in the domain")
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


def _link(q, cells, shape, faces, material, solids, kinds, solid_kind, owner, kind, slip):
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
        if not these.any():
            continue
        owner[these, q] = 1
        crossed = [(axis, wall) for axis, wall, _ in which]
        kind[these, q], slip[these, q] = kinds.of_link(crossed)
        if material is None or len(crossed) > 1:
            continue
        axis, face = crossed[0]
        near = np.flatnonzero(these)
        foot = [(cells[a] if a == axis else ends[a])[near] for a in range(3)]
        hit = material[foot[2], foot[1], foot[0]]
        for k in np.unique(hit[hit > 0]):
            behind, condition = near[hit == k], solids[k - 1].condition
            kind[behind, q], slip[behind, q] = kinds.of_link_behind_face(axis, face, condition)
            if isinstance(face, FreeSlip):  # it mirrors the solid, and has no friction of its own
                owner[behind, q] = k + 1


def _mirror_images(slip: np.ndarray, owner: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Return the population whose value the wall sends back against q; fill in its owner and kind.

    That is q itself where it bounces, and its mirror image where it meets a slip face. q runs into
    the face and its mirror image along the face too: the two swap. Where the mirror image meets
    another wall, at a corner, q bounces back, so that no mass is lost.
    """
    partner = np.broadcast_to(np.arange(Q, dtype=np.uint8), slip.shape).copy()
    for q in range(1, Q):
        for axes in np.unique(slip[:, q][slip[:, q] > 0]):
            image = C.index(tuple(c if axes >> a & 1 else -c for a, c in enumerate(C[q])))
            both = (slip[:, q] == axes) & (slip[:, image] == axes)
            partner[both, q] = image
            owner[both, q], kind[both, q] = 1, 0
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


def _body(at, owned, table, kind) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    cell, q = np.nonzero(owned)
    return at[cell], q, table[kind[cell, q], 2:]

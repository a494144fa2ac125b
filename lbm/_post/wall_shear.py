"""Wall shear stress from the velocities of the cells before a wall.

Along a link that runs into a wall, the velocity is known at the wall and in the cells at the
distances d, 1 + d and 2 + d of the link's length from it. The parabola through the wall and two of
the cells gives its derivative at the wall; in a gap of one cell, through the walls on both sides
and the cell. Along a wall the velocity is that of the wall itself, so
that all links of a cell measure one vector, the derivative across the wall.

Before an interpolated wall the second and the third cell are taken. The error of the first one does
not vanish as d does, and halves of it would remain; in pipes and between cylinders of 6 to 24 cells
the stress of the populations' moments has twice the error, too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.validation import describe
from lbm._coupled.flow import Flow
from lbm._post.gradients import velocity_with_neighbours
from lbm._post.wall_stress import WallShear
from lbm.boundaries import FACES
from lbm.geometry import surface_normals
from lbm.geometry.wall_links import INTO

SHALLOW = 0.1
"""Smallest share of a link across the wall with which it counts: links along a wall hardly measure
what changes across it."""

_REACH = 2
"""Cells behind the one before a wall whose velocities are used."""


class _WallLinks(NamedTuple):
    """Links of fluid cells into a wall.

    Attributes
    ----------
    cells : int64 [link, (x, y, z)], counted from the first cell of the rank
    q : int64 [link], numbers of the links
    c : float64 [link, (x, y, z)], their velocities
    distance : float64 [link], where the wall stands, as a share of the link
    normal : float64 [link, (x, y, z)], unit vectors that point into the fluid
    points : float64 [link, (x, y, z)], where links meet the wall, in the domain
    condition : NoSlip or MovingWall
    skips : 1 if the first cell before the wall is left out, otherwise 0
    """

    cells: np.ndarray
    q: np.ndarray
    c: np.ndarray
    distance: np.ndarray
    normal: np.ndarray
    points: np.ndarray
    condition: Any
    skips: int


def wall_shear(flow: Flow, name: str) -> WallShear:
    """Return the stress at a face or a solid; see `Simulation.wall_shear`."""
    flow.domain.ranks.require_same_call("wall_shear", {"name": describe(name)})
    with flow.domain.ranks.agreeing():
        require_wall(flow, name)
    return _measure(flow, name, *velocity_with_neighbours(flow, _REACH))


def wall_shear_fields(flow: Flow) -> tuple[np.ndarray, np.ndarray]:
    """Return the stress [c, x, y, z] and y+ [x, y, z] in the cells beside all walls, 0 elsewhere.

    In a cell beside several walls they are those of the nearest one, and of equally near
    ones those of the largest y+.
    """
    u, fluid = velocity_with_neighbours(flow, _REACH)
    shape = flow.region.shape
    stress, y_plus = np.zeros((3, *shape)), np.zeros(shape)
    nearest = np.full(shape, np.inf)
    conditions = flow.enclosure.conditions
    for name in (n for n, condition in conditions.items() if condition.has_friction):
        shear = _measure(flow, name, u, fluid)
        cells = tuple((shear.cells - flow.region.start).T)
        closer = shear.distance < nearest[cells]
        closer |= (shear.distance == nearest[cells]) & (shear.y_plus > y_plus[cells])
        x, y, z = (c[closer] for c in cells)
        nearest[x, y, z] = shear.distance[closer]
        stress[:, x, y, z] = shear.stress[closer].T
        y_plus[x, y, z] = shear.y_plus[closer]
    return stress, y_plus


def require_wall(flow: Flow, name: str) -> None:
    """Raise TypeError or ValueError if a name is not that of a wall with friction."""
    if not isinstance(name, str):
        raise TypeError(f"name must be that of a face or a solid, got {describe(name)}")
    if flow.moving is not None and name in flow.bodies:
        raise ValueError(
            f"name must be that of a face or a solid at rest: the stress on {name!r}, which moves, "
            "is not known, but force_on and torque_on are"
        )
    conditions = flow.enclosure.conditions
    if (condition := conditions.get(name)) is None:
        names = ", ".join(map(repr, conditions))
        raise ValueError(f"name must be that of a face or a solid ({names}), got {name!r}")
    if not condition.has_friction:
        raise ValueError(
            f"{name!r} is {type(condition).__name__}, at which no wall shear stress is defined: "
            "use the name of a wall with NoSlip or MovingWall"
        )


def _measure(flow: Flow, name: str, u: np.ndarray, fluid: np.ndarray) -> WallShear:
    """Return the stress at a wall; u and `fluid` are arrays with neighbours."""
    links = _find_links(flow, name)
    c = links.c
    slope = _slope_at_wall(flow, links, u, fluid)
    frame, along = _wall_gradient(links, flow.steps)
    # Away from the wall, a link moves by -c: across the wall, and along it.
    across = -(c * links.normal).sum(axis=1)
    on_wall = -(c[:, None] * frame).sum(axis=2)
    slope -= (on_wall[:, :, None] * along).sum(axis=1)
    weight = np.where(across > SHALLOW, across**2, 0.0)
    number, first = surface_normals.number_cells(links.cells, flow.region.shape)
    is_measured = np.bincount(number, weight, len(first)) > 0.0
    total = np.where(is_measured, np.bincount(number, weight, len(first)), 1.0)

    def average(values: np.ndarray) -> np.ndarray:
        """Average values [link, component] over the links of each cell."""
        sums = [np.bincount(number, weight * v, len(first)) for v in values.T]
        return np.stack(sums, axis=1) / total[:, None]

    normal = average(links.normal)
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    # What the velocity of the wall adds to the stress along it: the gradient along the wall of the
    # component across it.
    turning = ((along * links.normal[:, None]).sum(axis=2)[:, :, None] * frame).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        across_wall = np.where(weight[:, None] > 0.0, slope / across[:, None], 0.0)
    traction = average(across_wall + turning)
    traction -= (traction * normal).sum(axis=1)[:, None] * normal
    cells, points = links.cells[first], average(links.points)
    start = np.array(flow.region.start)
    height = ((cells + start + 0.5 - points) * normal).sum(axis=1)
    density = flow.rho[tuple(cells.T)].astype(np.float64)
    viscosity = (flow.collision.tau - 0.5) / 3.0
    measured = np.flatnonzero(is_measured)
    stress = (density * viscosity)[:, None] * traction
    return WallShear(
        (cells + start)[measured], points[measured], normal[measured],
        np.abs(height)[measured], stress[measured],
        density[measured], viscosity,
    )  # fmt: skip


def _slope_at_wall(flow: Flow, links: _WallLinks, u: np.ndarray, fluid: np.ndarray) -> np.ndarray:
    """Return the derivative of the velocity at the wall along each link, away from the wall.

    It is that of a parabola, or of a straight line where neither a fluid cell nor a wall half-way
    to the next cell is behind the first one.
    """
    wall = links.condition.parameters(links.points, float(flow.steps))[:, 2:]
    cells = [
        tuple((links.cells + _REACH - k * links.c.astype(np.int64)).T)
        for k in range(2 + links.skips)
    ]
    relative = [u[:, *cell].T.astype(np.float64) - wall for cell in cells]
    is_fluid = [fluid[cell][:, None] for cell in cells]
    d = np.maximum(links.distance, surface_normals.NEARBY)[:, None]
    slope = relative[0] / d
    if not links.skips:
        is_gap, velocity = _walls_behind(flow, links)
        far = d + 0.5
        parabola = (far / d * relative[0] - d / far * (velocity - wall)) / 0.5
        slope = np.where(is_gap[:, None], parabola, slope)
    for k in range(1 + links.skips):
        near, far = d + k, d + k + 1.0
        parabola = far / near * relative[k] - near / far * relative[k + 1]
        slope = np.where(is_fluid[k] & is_fluid[k + 1], parabola, slope)
    return slope


def _walls_behind(flow: Flow, links: _WallLinks) -> tuple[np.ndarray, np.ndarray]:
    """Return which cells have a wall half-way to the cell behind them, and its velocity, [link].

    Outlets, free slip and interpolated walls do not count.
    """
    walls, lattice = flow.problem.links, flow.problem.lattice
    behind = np.array(lattice.opposite)[links.q]
    x, y, z = links.cells.T
    classes = walls.classes[z, y, x]
    row, partner = walls.wall_rows[classes, behind].T
    types = walls.wall_types_in(flow.steps)[row]
    is_wall = (walls.masks[classes, INTO] >> behind.astype(np.uint32) & np.uint32(1)) > 0
    is_wall &= (partner == behind) & (types[:, 0] == 0.0)
    if walls.cut is not None:
        of_links, of_cuts = (
            np.ravel_multi_index((*cells.T, q), (*walls.classes.shape, lattice.size))
            for cells, q in ((links.cells[:, ::-1], behind), (walls.cut.cells, walls.cut.q))
        )
        is_wall &= ~np.isin(of_links, of_cuts)
    return is_wall, types[:, 2:]


def _wall_gradient(links: _WallLinks, t: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two unit vectors along the wall at each link, and the derivatives of its velocity.

    Both are [link, vector, (x, y, z)]; the derivatives are 0 unless the velocity is a function of
    position.
    """
    frame = np.stack(surface_normals.complete_frame(links.normal), axis=1)
    along = np.zeros_like(frame)
    if links.condition.depends_on.position and len(links.c):
        for k in range(2):
            step = surface_normals.NEARBY * frame[:, k]
            ahead, back = (
                links.condition.parameters(links.points + sign * step, float(t))
                for sign in (1.0, -1.0)
            )
            along[:, k] = (ahead - back)[:, 2:] / (2.0 * surface_normals.NEARBY)
    return frame, along


# ---- the links of a wall ---------------------------------------------------------------------


def _find_links(flow: Flow, name: str) -> _WallLinks:
    """Return the links of this rank's cells into a face or a solid."""
    condition = flow.enclosure.conditions[name]
    start, skips = np.array(flow.region.start), 0
    lattice = flow.problem.lattice
    velocities = np.array(lattice.velocities, float)
    if name not in flow.solids:
        cells, q = _links_of_face(flow, FACES.index(name))
        distance, normal = np.full(len(q), 0.5), -velocities[q]
    elif flow.solids[name].is_interpolated:
        cut = flow.problem.links.cut
        assert cut is not None
        of_solid, skips = cut.of_body(name), 1
        cells, q, distance = cut.cells[of_solid, ::-1], cut.q[of_solid], cut.distance[of_solid]
        normal = surface_normals.normals_of_shape(
            lattice, flow.shape, flow.solids[name].cells, cells + start, q, distance
        )
    else:
        cells, q, _ = flow.problem.links.bodies[name]
        cells, q = cells[:, ::-1], q.astype(np.int64)
        distance = np.full(len(q), 0.5)
        normal = surface_normals.normals_of_cells(lattice, cells, q, flow.region.shape)
    c = velocities[q]
    points = cells + start + 0.5 + distance[:, None] * c
    return _WallLinks(cells, q, c, distance, normal, points, condition, skips)


def _links_of_face(flow: Flow, face: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells of this rank before a face, and the links that meet it straight."""
    axis, at_end = divmod(face, 2)
    is_here = flow.region.stop[axis] == flow.shape[axis] if at_end else flow.region.start[axis] == 0
    fluid = np.zeros(flow.region.shape, bool)
    if is_here:
        layer: list[Any] = [slice(None)] * 3
        layer[axis] = -1 if at_end else 0
        fluid[tuple(layer)] = flow.fluid[tuple(layer)]
    cells = np.argwhere(fluid)
    direction = tuple((1 if at_end else -1) * (a == axis) for a in range(3))
    return cells, np.full(len(cells), flow.problem.lattice.velocities.index(direction))

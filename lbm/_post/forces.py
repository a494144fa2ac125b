"""Forces on solids by momentum exchange (Ladd 1994, Mei et al. 2002)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.validation import describe
from lbm._coupled.flow import Flow
from lbm._kernels.moments.sent_populations import read_sent
from lbm._parallel.ranks.communication import Ranks
from lbm._parallel.ranks.exact_sum import exact_sum
from lbm.boundaries import FACES, check_vector


def force_on(flow: Flow, name: str) -> np.ndarray:
    """Return the force on the solid `name`; see `Simulation.force_on`."""
    flow.domain.ranks.require_same_call("force_on")
    if flow.moving is not None and name in flow.bodies:
        return flow.moving.of_last_step(name, flow.steps).force()
    return exact_sum(forces_on_links(flow, name)[0], flow.domain.ranks)


def torque_on(flow: Flow, name: str, centre: Sequence[float]) -> np.ndarray:
    """Return the torque on the solid `name`; see `Simulation.torque_on`."""
    flow.domain.ranks.require_same_call("torque_on")
    about = np.array(check_vector("centre", centre))
    if flow.moving is not None and name in flow.bodies:
        return flow.moving.of_last_step(name, flow.steps).torque(about)
    force, point, end = forces_on_links(flow, name)
    for axis, n in enumerate(flow.shape):
        if flow.faces[2 * axis].is_periodic:
            point[:, axis] += _shifts_to_one_piece(end[:, axis], n, about[axis], flow.domain.ranks)
    return exact_sum(np.cross(point - about, force), flow.domain.ranks)


def _shifts_to_one_piece(end: np.ndarray, n: int, centre: float, ranks: Ranks) -> np.ndarray:
    """Return multiples of n by which links move along a periodic axis to make a body one piece.

    `end` has the coordinates of the cells of the body at the ends of links, which may lie beyond a
    face. A body within the domain stays there. One that passes through the face is divided at its
    widest gap, and taken at the image that is nearest to the centre.
    """
    plane = end % n
    shift = plane - end
    occupied = ranks.sum(np.bincount(plane, minlength=n)) > 0
    free = np.flatnonzero(~occupied)
    if len(free) and occupied[0] and occupied[-1]:
        first, last = max(np.split(free, np.flatnonzero(np.diff(free) > 1) + 1), key=len)[[0, -1]]
        shift = shift - n * (plane > last)
        middle = 0.5 * (first + last + 1 - n)
        shift = shift + n * int(np.round((centre - middle) / n))
    return shift


def forces_on_links(flow: Flow, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the force on each link of a solid in the last step, the point where it acts, and the
    cell at the end of the link.

    Only links of this rank's cells are returned.

    Arrays [link, component], in density times cells^4/step^2 and in cells; cells are integers.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be that of a solid, got {describe(name)}")
    if name not in flow.solids:
        if name in FACES:
            raise ValueError(
                f"{name!r} is a face of the domain, but forces are measured on solids: make the "
                "wall a layer of cells, boundaries={'wall': lbm.Solid(cells)}"
            )
        names = ", ".join(map(repr, sorted(flow.solids)))
        raise ValueError(
            f"name must be that of a solid: there is no solid {name!r} in this simulation, which "
            f"has {names or 'no solids'}"
        )
    condition = flow.solids[name].condition
    if condition.is_outlet:
        raise ValueError(f"the solid {name!r} is an outlet, for which no force is defined")
    if not flow.steps:
        raise ValueError(
            f"there is no force on {name!r} at step 0: forces are those of the last step, so run "
            "the simulation first"
        )
    if flow.solids[name].is_interpolated:
        return _forces_on_cut_links(flow, name)
    cells, q, row = flow.problem.links.bodies[name]
    velocity = flow.problem.links.wall_types_in(flow.steps - 1)[row, 2:]
    lattice = flow.problem.lattice
    c, w = np.array(lattice.velocities, float)[q], np.array(lattice.weights)[q]
    added = -6.0 * w * (c * velocity).sum(axis=1)
    if flow.problem.precision.moments:
        _require_step(flow)
        returned = added.copy()
        for engine, inside, block in flow.domain.find_cells(cells):
            returned[inside] += read_sent(engine, flow.steps, block, q[inside])
    else:
        returned = flow.domain.read_wall_returns(flow.steps, cells, q)
    cells, sent = cells[:, ::-1] + flow.region.start, returned - added
    return (sent + returned)[:, None] * c, cells + 0.5 + 0.5 * c, cells + c.astype(np.int64)


def _require_step(flow: Flow) -> None:
    """Raise ValueError if the moments before the last step are not in memory."""
    if not flow.has_previous_state:
        raise ValueError(
            f"the step before step {flow.steps} is not known after a restart, and state='moments' "
            "needs it for forces: run the simulation first"
        )


def _forces_on_cut_links(flow: Flow, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `forces_on_links` returns, for an interpolated wall."""
    links, walls = flow.problem.links.cut, flow.interpolated
    assert links is not None
    assert walls is not None
    sent, returned = walls.read(flow.steps)
    of_body = links.of_body(name)
    force = (sent[of_body] + returned[of_body])[:, None] * links.directions[of_body]
    start = flow.region.start
    end = links.cells[of_body, ::-1] + start + links.directions[of_body].astype(np.int64)
    return force, links.points(start)[of_body], end

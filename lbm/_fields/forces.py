"""Forces on solids by momentum exchange (Ladd 1994, Mei et al. 2002)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hetero.validation import describe
from lbm._domain.ranks.exact_sum import exact_sum
from lbm.boundaries import FACES, PressureOutlet, check_vector

if TYPE_CHECKING:
    from lbm._domain.flow import Flow


def force_on(flow: Flow, name: str) -> np.ndarray:
    """Return the force on the solid `name`; see `Simulation.force_on`."""
    flow.domain.ranks.require_same_call("force_on")
    return exact_sum(forces_on_links(flow, name)[0], flow.domain.ranks)


def torque_on(flow: Flow, name: str, centre: Sequence[float]) -> np.ndarray:
    """Return the torque on the solid `name`; see `Simulation.torque_on`."""
    flow.domain.ranks.require_same_call("torque_on")
    force, point = forces_on_links(flow, name)
    arm = point - np.array(check_vector("centre", centre))
    return exact_sum(np.cross(arm, force), flow.domain.ranks)


def forces_on_links(flow: Flow, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the force on each link of a solid in the last step, and the point where it acts.

    Only links of this rank's cells are returned.

    Arrays [link, component], in density times cells^4/step^2 and in cells.
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
    if isinstance(condition, PressureOutlet):
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
    returned = flow.domain.read_wall_returns(flow.steps, cells, q)
    point = cells[:, ::-1] + flow.region.start + 0.5 + 0.5 * c
    sent = returned + 6.0 * w * (c * velocity).sum(axis=1)
    return (sent + returned)[:, None] * c, point


def _forces_on_cut_links(flow: Flow, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what `forces_on_links` returns, for an interpolated wall."""
    links, walls = flow.problem.links.cut, flow.domain.interpolated
    assert links is not None
    assert walls is not None
    sent, returned = walls.read(flow.steps)
    own = links.of_body(name)
    force = (sent[own] + returned[own])[:, None] * links.directions[own]
    return force, links.points(flow.region.start)[own]

"""Forces on solids by momentum exchange (Ladd 1994, Mei et al. 2002)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hetero.validation import describe
from lbm._model.lattice import C, W
from lbm.boundaries import FACES, PressureOutlet

if TYPE_CHECKING:
    from lbm.simulation import Simulation


def forces_on_links(simulation: Simulation, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the force on each link of a solid in the last step, and the point where it acts.

    Only links of this rank's cells are returned.

    Arrays [link, component], in density times cells^4/step^2 and in cells.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be that of a solid, got {describe(name)}")
    if name not in simulation.solids:
        if name in FACES:
            raise ValueError(
                f"{name!r} is a face of the domain, but forces are measured on solids: make the "
                "wall a layer of cells, boundaries={'wall': lbm.Solid(cells)}"
            )
        names = ", ".join(map(repr, sorted(simulation.solids)))
        raise ValueError(
            f"name must be that of a solid: there is no solid {name!r} in this simulation, which "
            f"has {names or 'no solids'}"
        )
    condition = simulation.solids[name].condition
    if isinstance(condition, PressureOutlet):
        raise ValueError(f"the solid {name!r} is an outlet, for which no force is defined")
    if not simulation.steps:
        raise ValueError(
            f"there is no force on {name!r} at step 0: forces are those of the last step, so run "
            "the simulation first"
        )
    cells, q, velocity = simulation.problem.links.bodies[name]
    c, w = np.array(C, float)[q], np.array(W)[q]
    returned = simulation.domain.read_wall_returns(simulation.steps, cells, q)
    point = cells[:, ::-1] + simulation.region.start + 0.5 + 0.5 * c
    sent = returned + 6.0 * w * (c * velocity).sum(axis=1)
    return (sent + returned)[:, None] * c, point

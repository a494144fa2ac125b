"""Forces on bodies by momentum exchange: Ladd (1994), Mei et al. (2002)."""

from __future__ import annotations

import numpy as np

from lbm.boundaries import FACES, PressureOutlet
from lbm.lattice import C, W


def on_links(simulation, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(force on each link of a body in the last step, the point of the wall where it acts)."""
    if name not in simulation.solids:
        if name in FACES:
            raise ValueError(
                f"{name!r} is a face of the domain, and forces are measured on solids: make the "
                "wall a layer of cells, boundaries={'wall': lbm.Solid(cells)}"
            )
        named = ", ".join(map(repr, sorted(simulation.solids)))
        raise ValueError(
            f"there is no solid {name!r}: " + (f"there are {named}" if named else "there is none")
        )
    condition = simulation.solids[name].condition
    if isinstance(condition, PressureOutlet):
        raise ValueError(f"the solid {name!r} is an outlet: it has no force")
    cells, q, velocity = simulation.problem.links.bodies[name]
    c, w = np.array(C, float)[q], np.array(W)[q]
    back = simulation._returned(cells, q)
    sent = back + 6.0 * w * (c * velocity).sum(axis=1)
    return (sent + back)[:, None] * c, cells[:, ::-1] + 0.5 + 0.5 * c

"""Forces on bodies by momentum exchange: Ladd (1994), Mei et al. (2002)."""

from __future__ import annotations

import numpy as np

from lbm.boundaries import PressureOutlet
from lbm.lattice import C, W


def on_links(simulation, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(force on each link of a body in the last step, the point of the wall where it acts)."""
    if name not in simulation.solids:
        raise ValueError(f"there is no solid {name!r}; there are {sorted(simulation.solids)}")
    condition = simulation.solids[name].condition
    if isinstance(condition, PressureOutlet):
        raise ValueError(f"the solid {name!r} is an outlet: it has no force")
    cells, q, velocity = simulation.problem.links.bodies[name]
    c, w = np.array(C, float)[q], np.array(W)[q]
    back = simulation._returned(cells, q)
    sent = back + 6.0 * w * (c * velocity).sum(axis=1)
    return (sent + back)[:, None] * c, cells[:, ::-1] + 0.5 + 0.5 * c

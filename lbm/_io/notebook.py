"""Tables that describe a simulation and the results of flows in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hetero.display.notebook import html_table
from lbm.boundaries import FACES

if TYPE_CHECKING:
    from lbm.simulation import Simulation


def describe_simulation(simulation: Simulation) -> str:
    """Return an HTML table of the settings and the progress of a simulation."""
    problem, ratio = simulation.problem, simulation.ratio
    faces = zip(FACES, simulation.faces, strict=True)
    solids = ((name, solid.condition) for name, solid in simulation.solids.items())
    rows = [
        ("cells", " x ".join(map(str, simulation.shape))),
        ("steps", simulation.steps),
        ("collision", simulation.collision),
        *(("face " + name, condition) for name, condition in faces),
        *(("solid " + name, condition) for name, condition in solids),
        ("force", problem.force if problem.forced else "none"),
        ("streaming pattern", problem.pattern.name),
        ("numbers", problem.precision),
        ("device", simulation.device),
        ("share of the CPU", ratio if isinstance(ratio, str) else f"{ratio:.1%}"),
        ("stability checks", f"every {simulation.check} steps" if simulation.check else "none"),
    ]
    return html_table("Simulation", rows)

"""Tables that describe a simulation and the results of flows in a notebook."""

from __future__ import annotations

from hetero.display.notebook import html_table
from lbm._coupled.flow import Flow
from lbm.boundaries import FACES


def describe_simulation(flow: Flow, ratio: float, check: int) -> str:
    """Return an HTML table of the settings and the progress of a simulation.

    `ratio` is the CPU's share of the rows, and `check` the number of steps between checks.
    """
    problem = flow.problem
    faces = zip(FACES, flow.faces, strict=True)
    solids = ((name, solid.condition) for name, solid in flow.solids.items())
    rows = [
        ("cells", " x ".join(map(str, flow.shape))),
        ("steps", flow.steps),
        ("collision", flow.collision),
        *(("face " + name, condition) for name, condition in faces),
        *(("solid " + name, condition) for name, condition in solids),
        ("force", problem.force if problem.forced else "none"),
        ("lattice", problem.lattice.name),
        ("streaming pattern", problem.pattern.name),
        ("numbers", problem.precision),
        ("device", flow.device),
        ("share of the CPU", f"{ratio:.1%}"),
        ("stability checks", f"every {check} steps" if check else "none"),
    ]
    return html_table("Simulation", rows)

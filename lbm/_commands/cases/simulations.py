"""The simulation of a case file; errors name the file and the key."""

from __future__ import annotations

import re
import warnings
from typing import Any

from lbm._commands.cases.case import Case
from lbm._commands.cases.output_settings import ProbeTable
from lbm.simulation import Simulation


def make_simulation(case: Case, **changes: Any) -> Simulation:
    """Create the simulation of a case at its start; `changes` replace arguments of the case.

    Its warnings name the file, too.

    Raises
    ------
    ValueError
        If the flow cannot be built, or a probe lies in a solid.
    """
    arguments = {**case.arguments, **changes}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            simulation = Simulation(arguments.pop("shape"), **arguments)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{case.file}: {_name_keys(str(error), case)}") from None
    for warning in caught:
        named = f"{case.file}: {_name_keys(str(warning.message), case)}"
        warnings.warn(named, warning.category, stacklevel=2)
    if case.outputs.probes is not None:
        _require_fluid(case, case.outputs.probes, simulation)
    return simulation


def _name_keys(message: str, case: Case) -> str:
    """Return a message of `Simulation` with keys of the file instead of arguments."""
    solids = {
        name for name, value in case.arguments["boundaries"].items() if hasattr(value, "cells")
    }
    named = re.sub(
        r"boundaries\['([^']*)'\]",
        lambda found: f"{'solids' if found[1] in solids else 'boundaries'}.{found[1]}",
        message,
    )
    if "covers no cell" not in named:
        return named
    size = " x ".join(f"{n * case.scales.cell:g}" for n in case.arguments["shape"])
    return f"{named}. The domain measures {size} {case.scales.length_name}"


def _require_fluid(case: Case, probes: ProbeTable, simulation: Simulation) -> None:
    """Raise ValueError on all ranks if a probe lies in a solid."""
    fluid, region = simulation.fluid, simulation.region
    for cell, label in zip(probes.cells, probes.labels, strict=True):
        local = tuple(c - first for c, first in zip(cell, region.start, strict=True))
        is_solid = region.contains(cell) and not fluid[local]
        if simulation.domain.ranks.any(is_solid):
            raise ValueError(
                f"{case.file}: output.probes.{probes.key}: [{', '.join(label.split())}] lies in a "
                "solid: move it into the fluid"
            )

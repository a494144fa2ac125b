"""Fields of a flow as a dataset of xarray, which is imported here only."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.validation import describe
from lbm._coupled.flow import Flow
from lbm._io.fields import collect_fields
from lbm.units import Units

AXES = "x", "y", "z"


def make_dataset(flow: Flow, units: Units | None, derived: Sequence[str]) -> Any:
    """Return the fields of this rank's cells; see `Simulation.to_xarray`."""
    if importlib.util.find_spec("xarray") is None:
        raise ImportError("to_xarray needs xarray: pip install xarray")
    import xarray

    flow.domain.ranks.require_same_call("to_xarray", {"derived": describe(derived)})
    collected, region = collect_fields(flow, units, derived), flow.region
    coordinates: dict[str, Any] = {"component": list(AXES)}
    for axis, first, last in zip(AXES, *region, strict=True):
        centres = (np.arange(first, last) + 0.5) * collected.spacing
        coordinates[axis] = axis, centres, {"units": collected.length_unit}
    coordinates["time"] = (), collected.time, {"units": collected.time_unit}
    variables = {
        name: (
            (("component",) if field.values.ndim == 4 else ()) + AXES,
            field.values,
            {"units": field.unit, "long_name": field.title},
        )
        for name, field in collected.fields.items()
    }
    return xarray.Dataset(variables, coordinates, {"steps": flow.steps})

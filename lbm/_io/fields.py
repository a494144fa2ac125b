"""The fields of a flow for other programs, in lattice units or in SI."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hetero.validation import check_choice, describe
from lbm._coupled.flow import Flow
from lbm._post.gradients import q_criterion, strain_rate, velocity_gradient, vorticity
from lbm._post.wall_shear import wall_shear_fields
from lbm.errors import UnstableError
from lbm.units import Units

_OF_GRADIENT: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int, str, str]] = {
    "vorticity": (vorticity, 1, "", "vorticity"),
    "q": (q_criterion, 2, "^2", "Q criterion, positive in vortices"),
    "strain": (strain_rate, 1, "", "strain rate, sqrt(2 S:S)"),
}
"""Functions of the velocity gradient, their powers of 1/time, and titles of their fields."""

DERIVED = *_OF_GRADIENT, "wall_shear"
"""Fields that are computed on request."""


class Field(NamedTuple):
    """A field of this rank's cells.

    Attributes
    ----------
    values : array [x, y, z], or [c, x, y, z] of a vector
    unit : its name, "1" for a plain number
    title : what it is
    """

    values: np.ndarray
    unit: str
    title: str


class Fields(NamedTuple):
    """The fields of a state.

    Attributes
    ----------
    fields : Field by name
    spacing : edge of a cell
    length_unit, time_unit : names of units
    time : of the state
    """

    fields: dict[str, Field]
    spacing: float
    length_unit: str
    time: float
    time_unit: str


def collect_fields(flow: Flow, units: Units | None, derived: Sequence[str]) -> Fields:
    """Return the fields of this rank; with `derived` all ranks must call it.

    With `units` they are in SI: pressure instead of density.
    """
    require_options(units, derived)
    speed = rate = 1.0
    if units is None:
        fields = {
            "rho": Field(flow.rho, "1", "density"),
            "drho": Field(flow.drho, "1", "density minus 1"),
        }
    else:
        speed, rate = units.to_physical(speed=1.0), 1.0 / units.dt
        pressure = _scaled(flow.drho, units.to_physical(pressure=1.0))
        fields = {"pressure": Field(pressure, "Pa", "pressure relative to density 1")}
    unit = "cells/step" if units is None else "m/s"
    fields["u"] = Field(_scaled(flow.u, speed), unit, "velocity")
    fields |= _derive(flow, rate, "step" if units is None else "s", derived)
    if "wall_shear" in derived:
        fields |= _derive_wall_shear(flow, units)
    for name, scalar in flow.scalars.items():
        fields[name] = Field(scalar.values, "1", name.replace("_", " "))
    fields["fluid"] = Field(flow.fluid, "1", "whether a cell is fluid")
    if units is None:
        return Fields(fields, 1.0, "cells", float(flow.steps), "steps")
    return Fields(fields, units.dx, "m", units.to_physical(steps=flow.steps), "s")


def require_options(units: Units | None, derived: Sequence[str]) -> None:
    """Raise TypeError or ValueError for what are no units, or no names of derived fields."""
    if units is not None and not isinstance(units, Units):
        raise TypeError(f"units must be lbm.Units or None, got {describe(units)}")
    if not isinstance(derived, list | tuple):
        raise TypeError(f"derived must be a list of names, got {describe(derived)}")
    for name in derived:
        check_choice("derived", name, DERIVED)


def _derive(flow: Flow, rate: float, time: str, derived: Sequence[str]) -> dict[str, Field]:
    """Return the requested fields that follow from the gradient of the velocity."""
    if not set(derived) & set(_OF_GRADIENT):
        return {}
    gradient = velocity_gradient(flow)
    return {
        name: Field(_scaled(derive(gradient), rate**power), f"1/{time}{suffix}", title)
        for name, (derive, power, suffix, title) in _OF_GRADIENT.items()
        if name in derived
    }


def _derive_wall_shear(flow: Flow, units: Units | None) -> dict[str, Field]:
    """Return the stress on walls and y+ in the cells beside them."""
    stress, y_plus = (values.astype(flow.u.dtype) for values in wall_shear_fields(flow))
    unit, scale = "1", 1.0
    if units is not None:
        unit, scale = "Pa", units.density * (units.dx / units.dt) ** 2
    return {
        "wall_shear": Field(_scaled(stress, scale), unit, "shear stress on walls"),
        "y_plus": Field(y_plus, "1", "distance from the wall in wall units, y+"),
    }


def _scaled(values: np.ndarray, factor: float) -> np.ndarray:
    """Return values times a factor, in their dtype and order."""
    return values if factor == 1.0 else values * values.dtype.type(factor)


def require_finite(flow: Flow) -> None:
    """Raise UnstableError if a cell of this rank is not finite: other programs would show noise."""
    for values in (flow.drho, flow.u):
        finite = np.isfinite(values).reshape(-1, *flow.region.shape).all(axis=0)
        if not finite.all():
            index = np.unravel_index(int(finite.argmin()), finite.shape)
            x, y, z = (int(i) + k for i, k in zip(index, flow.region.start, strict=True))
            raise UnstableError(
                f"the state of step {flow.steps} is not finite in cell {(x, y, z)} and was "
                "not written",
                flow.steps,
                (x, y, z),
            )


def make_dataset(flow: Flow, units: Units | None, derived: Sequence[str]) -> Any:
    """Return the fields of this rank's cells; see `Simulation.to_xarray`."""
    if importlib.util.find_spec("xarray") is None:
        raise ImportError("to_xarray needs xarray: pip install xarray")
    import xarray

    flow.domain.ranks.require_same_call("to_xarray", {"derived": describe(derived)})
    collected, region = collect_fields(flow, units, derived), flow.region
    coordinates: dict[str, Any] = {"component": list("xyz")}
    for axis, first, last in zip("xyz", *region, strict=True):
        centres = (np.arange(first, last) + 0.5) * collected.spacing
        coordinates[axis] = axis, centres, {"units": collected.length_unit}
    coordinates["time"] = (), collected.time, {"units": collected.time_unit}
    variables = {
        name: (
            (*["component"] * (field.values.ndim == 4), *"xyz"),
            field.values,
            {"units": field.unit, "long_name": field.title},
        )
        for name, field in collected.fields.items()
    }
    return xarray.Dataset(variables, coordinates, {"steps": flow.steps})

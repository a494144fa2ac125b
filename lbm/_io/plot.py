"""A picture of a slice through a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.validation import check_choice, check_integer
from lbm._io.fields import require_options

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lbm._coupled.flow import Flow
    from lbm.units import Units

FIELDS = {
    "speed": "speed in cells/step",
    "ux": "u along x in cells/step",
    "uy": "u along y in cells/step",
    "uz": "u along z in cells/step",
    "rho": "density",
    "drho": "density - 1",
}
"""Fields of a slice, and the labels of their colours."""

SIGNED = "ux", "uy", "uz", "drho"
"""Fields around 0: white is 0, and both colours reach equally far."""

LEAST_HEIGHT = 1.6
"""Height of a picture in inches below which its bar lies under it: beside it, its label would be
longer than the bar."""


def read_slice(
    flow: Flow, axis: int, index: int, field: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return a field in a layer of cells and its fluid cells on rank 0, and None on the others.

    Both are arrays over the two other axes, in the order x, y, z. All ranks call this function.
    """
    region, ranks = flow.region, flow.domain.ranks
    piece = None
    if region.start[axis] <= index < region.stop[axis]:
        layer: list[Any] = [slice(None)] * 3
        layer[axis] = index - region.start[axis]
        slices = tuple(s for k, s in enumerate(region.slices) if k != axis)
        piece = slices, _evaluate(flow, field, tuple(layer)), flow.fluid[tuple(layer)]
    pieces = ranks.gather(piece)
    if pieces is None:
        return None
    shape = tuple(n for k, n in enumerate(flow.shape) if k != axis)
    values, fluid = np.empty(shape), np.empty(shape, bool)
    for each in pieces:
        if each is not None:
            values[each[0]], fluid[each[0]] = each[1], each[2]
    return values, fluid


def _evaluate(flow: Flow, field: str, layer: tuple[Any, ...]) -> np.ndarray:
    """Return a field in the cells `layer` of this rank."""
    if field in flow.scalars:
        return flow.scalars[field].values[layer]
    if field in ("rho", "drho"):
        return getattr(flow, field)[layer]
    u = flow.u[(slice(None), *layer)].astype(float)
    return np.sqrt((u**2).sum(axis=0)) if field == "speed" else u["xyz".index(field[1])]


def plot_slice(
    flow: Flow,
    axis: str,
    index: int | None,
    field: str,
    ax: Axes | None,
    units: Units | None = None,
) -> Figure | None:
    """Draw a slice; the parameters are those of `Simulation.plot`."""
    flow.domain.ranks.require_same_call("plot")
    number = "xyz".index(check_choice("axis", axis, ("x", "y", "z")))
    check_choice("field", field, (*FIELDS, *flow.scalars))
    require_options(units, ())
    count = flow.shape[number]
    index = count // 2 if index is None else check_integer("index", index, 0, count - 1)
    result = read_slice(flow, number, index, field)
    if result is None:
        return None
    from hetero.display.figures import DATA_COLOUR, axes_of, figure_of, figure_style

    values, fluid = result
    label, factor = _scale_of(field, units)
    cell, length = (1.0, "cells") if units is None else (units.dx, "m")
    across, up = (name for name in "xyz" if name != axis)
    picture = np.ma.masked_array(values * factor, ~fluid).T
    limits: dict[str, Any] = {"cmap": "viridis"}
    if field in SIGNED:
        most = float(np.abs(picture).max()) if fluid.any() else 0.0
        limits = {"cmap": "RdBu_r", "vmin": -most or None, "vmax": most or None}
    with figure_style():
        width, height = 5.5 * np.array(values.shape) / max(values.shape)  # inches
        is_flat = height < LEAST_HEIGHT
        side, space = ("bottom", (1.0, 1.8)) if is_flat else ("right", (1.5, 1.0))
        axes = axes_of(ax, (space[0] + float(width), space[1] + float(height)))
        figure = figure_of(axes)
        if ax is None:  # the bar has the length of the picture, and labels have room
            figure.set_layout_engine("compressed")
        axes.set_facecolor(DATA_COLOUR)  # solids
        extent = 0, cell * values.shape[0], 0, cell * values.shape[1]
        image = axes.imshow(picture, origin="lower", extent=extent, **limits)
        figure.colorbar(image, ax=axes, label=label, aspect=30, location=side)
        step = f"step {flow.steps}"
        time = step if units is None else f"{units.to_physical(steps=flow.steps):.4g} s"
        title = f"{time}, {axis} = {cell * (index + 0.5):.6g}{'' if units is None else ' m'}"
        axes.set(xlabel=f"{across} in {length}", ylabel=f"{up} in {length}", title=title)
    return figure


def _scale_of(field: str, units: Units | None) -> tuple[str, float]:
    """Return the label of a field's colours, and by what its lattice units are multiplied."""
    label = FIELDS.get(field, field)
    if units is None or field not in FIELDS:
        return label, 1.0
    if field == "drho":
        return "pressure in Pa, relative to density 1", units.to_physical(pressure=1.0)
    if field == "rho":
        return "density in kg/m^3", units.density
    return label.replace("cells/step", "m/s"), units.to_physical(speed=1.0)

"""A picture of a slice through a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hetero.validation import check_choice, check_integer

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lbm._domain.flow import Flow

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
        values: np.ndarray = getattr(flow, field)[layer]
        return values
    u = flow.u[(slice(None), *layer)].astype(float)
    return np.sqrt((u**2).sum(axis=0)) if field == "speed" else u["xyz".index(field[1])]


def plot_slice(
    flow: Flow, axis: str, index: int | None, field: str, ax: Axes | None
) -> Figure | None:
    """Draw a slice; the parameters are those of `Simulation.plot`."""
    flow.domain.ranks.require_same_call("plot")
    number = "xyz".index(check_choice("axis", axis, ("x", "y", "z")))
    check_choice("field", field, (*FIELDS, *flow.scalars))
    count = flow.shape[number]
    index = count // 2 if index is None else check_integer("index", index, 0, count - 1)
    result = read_slice(flow, number, index, field)
    if result is None:
        return None
    from hetero.display.figures import DATA_COLOUR, axes_of, figure_of, figure_style

    values, fluid = result
    width, height = values.shape
    across, up = (name for name in "xyz" if name != axis)
    picture = np.ma.masked_array(values, ~fluid).T
    limits: dict[str, Any] = {"cmap": "viridis"}
    if field in SIGNED:
        most = float(np.abs(picture).max()) if fluid.any() else 0.0
        limits = {"cmap": "RdBu_r", "vmin": -most or None, "vmax": most or None}
    with figure_style():
        scale = 5.5 / max(width, height)  # inches in a cell
        axes = axes_of(ax, (1.5 + scale * width, 1.0 + scale * height))
        axes.set_facecolor(DATA_COLOUR)  # solids
        image = axes.imshow(picture, origin="lower", extent=(0, width, 0, height), **limits)
        bar = axes.inset_axes((1.0 + 0.1 / (scale * width), 0.0, 0.15 / (scale * width), 1.0))
        figure_of(axes).colorbar(image, cax=bar, label=FIELDS.get(field, field))
        title = f"step {flow.steps}, {axis} = {index + 0.5:g}"
        axes.set(xlabel=f"{across} in cells", ylabel=f"{up} in cells", title=title)
    return figure_of(axes)

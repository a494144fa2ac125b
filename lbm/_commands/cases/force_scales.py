"""Scales that make forces and frequencies of a case dimensionless: speed, frontal areas, length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lbm._commands.cases.scales import CaseFlow
from lbm._io.tables import Table
from lbm.boundaries import evaluate_solid
from lbm.geometry.meshes import TriangleMesh
from lbm.geometry.periodic_images import PeriodicImages, repeat_solids
from lbm.lattices.extent import Extent, Triple


class ForceScales(NamedTuple):
    """Scales that make forces dimensionless, in the units of the tables.

    Attributes
    ----------
    pressure : density speed^2 / 2; a force is divided by it and by the area of its solid
    areas : area of each solid
    time : length / speed in steps, by which a frequency is multiplied; 0 without a length
    """

    pressure: float
    areas: tuple[float, ...]
    time: float


def read_force_scales(table: Table, names: Sequence[str], flow: CaseFlow) -> ForceScales | None:
    """Read speed, area and length; the default of the area is the frontal area of each solid."""
    enclosure, scales = flow.enclosure, flow.scales
    if not any(key in table for key in ("speed", "area", "length", "direction")):
        return None
    speed, length = table.positive("speed"), table.positive("length", 0.0)
    axis = "xyz".index(table.choice("direction", ("x", "y", "z"), "x"))
    if "area" in table:
        if "direction" in table:
            raise table.error("direction", "is that of the default of area: remove one of them")
        areas = (table.positive("area"),) * len(names)
    else:
        named = {name: enclosure.solids[name] for name in names}
        solids = repeat_solids(enclosure._replace(solids=named))
        areas = tuple(
            scales.cell**2 * measure_frontal_area(solids[name], enclosure.shape, axis)
            for name in names
        )
    density = 1.0 if scales.units is None else scales.units.density
    time = length / speed / scales.physical(steps=1.0)
    return ForceScales(0.5 * density * speed**2, areas, time)


def measure_frontal_area(solid: Any, shape: Triple, axis: int) -> float:
    """Return the area in cells^2 of the silhouette of a solid along an axis.

    That of a mesh is the silhouette of its surface; of other solids it is that of their cells,
    which are evaluated layer by layer.
    """
    body = solid.cells.shape if isinstance(solid.cells, PeriodicImages) else solid.cells
    if isinstance(body, TriangleMesh):
        x, y, z = np.eye(3)[axis]
        return body.frontal_area((x, y, z))
    if isinstance(solid.cells, np.ndarray):
        return float(solid.cells.any(axis=axis).sum())
    shadow: Any = False
    for layer in range(shape[axis]):
        extent = Extent.of_layers(shape, axis, layer, layer + 1)
        shadow = shadow | evaluate_solid("solid", solid.cells, *extent.centres)
    return float(np.sum(shadow))

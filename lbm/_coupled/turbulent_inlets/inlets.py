"""Turbulent inlets of the parts of a domain: who computes their velocities before each step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lbm._coupled.turbulent_inlets import loops
from lbm._coupled.turbulent_inlets.face_eddies import FaceEddies
from lbm._kernels.engine import Engine
from lbm.geometry.wall_links import Links
from lbm.geometry.wall_types import VaryingRows


class TurbulentInlets:
    """The turbulent inlets of all parts of this rank, each on the device of the part.

    Parameters
    ----------
    links : the walls of this rank
    engines : its parts

    Attributes
    ----------
    others : rows of walls that change with time for another reason
    """

    def __init__(self, links: Links, engines: Sequence[Engine]):
        velocities = [(rows, _velocity_of(rows)) for rows in links.varying]
        self.others = tuple(rows for rows, velocity in velocities if velocity is None)
        self._velocities = [velocity for _, velocity in velocities if velocity is not None]
        self._stores = [
            loops(engine.device).create_rows(engine, velocity, rows)
            for rows, velocity in velocities
            if velocity is not None
            for engine in engines
            if _has(engine.problem.links, rows)
        ]

    @property
    def are_alone(self) -> bool:
        """True if only turbulent inlets change with time, and their means do not."""
        return not self.others and not any(velocity.changes for velocity in self._velocities)

    def write(self, step: int) -> None:
        """Set the velocities of all inlets to those of a step, after the work of their streams."""
        for store in self._stores:
            store.write(step)


def _velocity_of(rows: VaryingRows) -> FaceEddies | None:
    """Return the velocity of a turbulent inlet whose rows these are; None for other walls."""
    velocity = rows.wall.condition.prescribed
    return velocity if isinstance(velocity, FaceEddies) else None


def _has(links: Links, rows: VaryingRows) -> bool:
    """Return whether links of the cells of a block end at walls with these rows."""
    used = links.wall_rows[np.unique(links.classes), :, 0]
    return bool(((used >= rows.first) & (used < rows.first + len(rows.points))).any())

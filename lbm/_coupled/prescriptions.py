"""Forces, walls and turbulent inlets that change with time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lbm._coupled.cut_walls.walls import InterpolatedWalls
from lbm._coupled.turbulent_inlets import loops
from lbm._coupled.turbulent_inlets.face_eddies import FaceEddies
from lbm._kernels.engine import Engine
from lbm._parallel.domain.domain import Domain
from lbm.geometry.wall_links import Links
from lbm.geometry.wall_types import VaryingRows


class Prescriptions:
    """Sets the forces and the walls of all parts to those of a step, where they change with time.

    Parameters
    ----------
    domain : the parts
    interpolated : their interpolated walls, if there are any
    """

    def __init__(self, domain: Domain, interpolated: InterpolatedWalls | None):
        self._domain, self._interpolated = domain, interpolated
        self._inlets = TurbulentInlets(domain.problem.links, domain.engines)

    def set_step(self, t: int) -> None:
        """Set forces and walls that change with time to those of step t."""
        domain, problem = self._domain, self._domain.problem
        # Where only turbulent inlets change, by kernels in the default stream of a GPU, for which
        # all other streams wait, the host waits for no device.
        others = problem.force_in_time is not None or self._interpolated is not None
        if self._inlets.are_alone and not others:
            self._write_inlets(t)
            if domain.exchange is not None:
                domain.exchange.order_streams()
            return
        domain.synchronize()
        if self._interpolated is not None:
            self._interpolated.prescribe(t)
        force = problem.force_in(t)
        types = problem.links.wall_types_in(t, self._inlets.others)
        for engine in domain.engines:
            if problem.force_in_time is not None:
                engine.set_force(force)
            if self._inlets.others:
                engine.set_wall_types(types)
        self._write_inlets(t)
        for engine in domain.engines:
            engine.synchronize()  # steps may run on other streams than this

    def _write_inlets(self, t: int) -> None:
        """Set the velocities of turbulent inlets, and prepare all parts for walls that changed."""
        self._inlets.write(t)
        for engine in self._domain.engines:
            engine.update_walls()


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

"""Forces and walls that change with time."""

from __future__ import annotations

from lbm._coupled.cut_walls.walls import InterpolatedWalls
from lbm._coupled.turbulent_inlets.inlets import TurbulentInlets
from lbm._parallel.domain.domain import Domain


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

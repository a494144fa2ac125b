"""Turbulent inlets: synthetic eddies that pass through a face of the domain."""

from typing import Protocol

from hetero.devices import Device
from lbm._coupled.turbulent_inlets.face_eddies import FaceEddies
from lbm._kernels.engine import Engine
from lbm.geometry.wall_types import VaryingRows


class InletRows(Protocol):
    """The rows of a turbulent inlet in the table of walls of a block, on its device."""

    def write(self, step: int) -> None:
        """Set the rows to the velocities of a step, on the stream of the engine.

        The steps before have ended, or are on this stream, too.
        """


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def create_rows(self, engine: Engine, velocity: FaceEddies, rows: VaryingRows) -> InletRows:
        """Create the rows of an inlet with this velocity in the table of a block."""
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._coupled.turbulent_inlets import cpu

        return cpu
    from lbm._coupled.turbulent_inlets import cuda

    return cuda

"""Scalars on the parts of a domain: a second lattice beside that of the flow."""

from collections.abc import Callable
from typing import Any, Protocol

from hetero.devices import Device


class Loops(Protocol):
    """The function that `cpu.py` and `cuda.py` of this folder both have."""

    def prepare_step(
        self, g: Any, target: Any, velocity: Any, classes: Any, kinds: Any, numbers: Any,
        rates: tuple[Any, Any], box: tuple[int, ...],
    ) -> Callable[[], None]:  # fmt: skip
        """Return a function that collides and streams from g to `target`, on the current device.

        Parameters
        ----------
        g, target : [7, z, y, x], populations of a block, float32 or float64
        velocity : [3, z, y, x]
        classes : unsigned [z, y, x], the class of each cell; 1 is not fluid
        kinds : int8 [class, 7], the kind of each link (`formulas`)
        numbers : [class, 7], the value or the flux at the end of each link
        rates : relaxation rates of even and odd parts
        box : (x0, x1, y0, y1, z0, z1), the cells that are updated
        """
        ...


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._coupled.scalars import cpu

        return cpu
    from lbm._coupled.scalars import cuda

    return cuda

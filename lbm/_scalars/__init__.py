"""Scalars on the parts of a domain: a second lattice beside that of the flow."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetero.devices import Device


class Block(NamedTuple):
    """The constants of a scalar in a block.

    Attributes
    ----------
    classes : unsigned [z, y, x], the class of each cell; 1 is not fluid
    kinds : int8 [class, 7], the kind of each link (`lbm._scalars.formulas`)
    numbers : [class, 7], the value or the flux at the end of each link
    rates : relaxation rates of even and odd parts
    box : (x0, x1, y0, y1, z0, z1), the cells that are updated
    """

    classes: Any
    kinds: Any
    numbers: Any
    rates: tuple[Any, Any]
    box: tuple[int, int, int, int, int, int]


class Cut(NamedTuple):
    """Links of a block into interpolated walls, in the memory of its device.

    Attributes
    ----------
    wall, other, factors : as in `lbm._scalars.cut_links.LinkTable`
    sent, returned : [link], what ran into the walls in the last step, and what they have returned
    """

    wall: Any
    other: Any
    factors: Any
    sent: Any
    returned: Any


class Loops(Protocol):
    """The functions that `cpu.py` and `cuda.py` of this folder both have.

    Populations g are arrays [q, z, y, x] of a block in the memory of the device, velocities
    [3, z, y, x]; both are float32 or float64.
    """

    def zeros(self, shape: tuple[int, ...], dtype: type) -> Any:
        """Allocate an array of zeros on the current device."""

    def to_device(self, array: np.ndarray) -> Any:
        """Return a copy of an array on the current device."""

    def prepare_step(self, g: Any, target: Any, velocity: Any, block: Block) -> Callable[[], None]:
        """Return a function that collides and streams from g to `target`, on the current device."""
        ...

    def interpolate(self, g: Any, cut: Cut) -> None:
        """Replace what walls half-way between cells have returned to g by what walls within cells
        return."""

    def add_half_force(
        self, fields: Any, g: Any, classes: Any, numbers: Any, box: tuple[int, ...]
    ) -> None:
        """Add half of the buoyancy's impulse to the velocities in fields [4, z, y, x] of a box.

        `numbers` are the force for each unit of the scalar, and the value without a force.
        """

    def has_not_finite(self, g: Any, block: Block) -> bool:
        """Return whether a value in a fluid cell of a block is not finite."""
        ...

    def read_slab(self, array: Any, z0: int, z1: int) -> np.ndarray:
        """Return the layers z0 to z1 of an array [k, z, y, x] in host memory."""
        ...

    def write_slab(self, array: Any, z0: int, values: np.ndarray) -> None:
        """Set layers of an array [k, z, y, x] from z0 on."""

    def read_array(self, array: Any) -> np.ndarray:
        """Return an array in host memory."""
        ...

    def copy(self, source: Any, target: Any) -> None:
        """Copy an array of the device over another one."""


def loops(device: Device) -> Loops:
    """Return the loops for `device`; its compiler is imported at the first call."""
    if device.kind == "cpu":
        from lbm._scalars import cpu

        return cpu
    from lbm._scalars import cuda

    return cuda

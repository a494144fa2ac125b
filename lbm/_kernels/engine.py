"""The base class of the engines, which hold a block of cells in the memory of one device."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from lbm._kernels.problem import Box, Problem, population_bytes


class DrivingScalar(NamedTuple):
    """A scalar whose buoyancy drives the flow of a block.

    Attributes
    ----------
    g : [7, z, y, x], the populations of the scalar in the block
    numbers : force for each unit of the scalar (three), and the value without a force
    """

    g: Any
    numbers: tuple


class SpongeLayer(NamedTuple):
    """A layer of cells of a block that relax towards a target, on the block's device.

    Attributes
    ----------
    axis : across the layer
    first : x of the first cell in `target`
    strength : [coordinate along the axis in the block], 0 outside of the layer
    target : [3, row, x], the target velocity of the cells of the layer's rows
    """

    axis: int
    first: int
    strength: Any
    target: Any


class Engine:
    """A block on one device: the base class of `CPUEngine` and `GPUEngine`.

    `t` is the number of steps done before: it decides where populations are. Arrays are NumPy's or,
    on a GPU, Numba's device arrays.

    Attributes
    ----------
    whole : all cells of the block
    populations : copies of the populations
    viscosity : the eddy viscosity, for an operator that reads it: stored as the populations of a
        slot are, in words on a GPU; None or without elements for other operators
    """

    def __init__(self, problem: Problem, device: Device):
        T = problem.precision.compute
        self.problem, self.device = problem, device
        self.set_force(problem.force)
        self.whole = self.box()
        self.rates = tuple(map(T, problem.collision.rates))
        self.populations: list[Any] = []
        self.viscosity: Any = None

    def box(self, y0: int = 0, y1: int | None = None, z0: int = 0, z1: int | None = None) -> Box:
        """Return the whole rows of the block between y0 and y1, z0 and z1."""
        nx, ny, nz = self.problem.shape
        return Box(0, nx, y0, ny if y1 is None else y1, z0, nz if z1 is None else z1)

    def source(self, t: int) -> Any:
        """Return the populations that step t reads."""
        return self.populations[t % len(self.populations)]

    @property
    def state_bytes(self) -> int:
        """Memory in bytes of one copy of the populations."""
        p = self.problem
        return population_bytes(p.cells, p.pattern, p.precision) // p.pattern.copies

    def target(self, t: int) -> Any:
        """Return the populations that step t writes."""
        return self.populations[(t + 1) % len(self.populations)]

    def cells(self, memory: Any) -> Any:
        """Return words [..., word] as an array [..., cell], however many a word holds."""
        return memory

    def set_division(self, count: int) -> None:
        """Set the number of threads in a GPU's block, or of tasks for each thread of the CPU."""
        raise NotImplementedError

    def set_force(self, force: tuple[float, float, float]) -> None:
        """Set the body force of the steps and reads that follow."""
        self.force = tuple(map(self.problem.precision.compute, force))

    @property
    def wall_types(self) -> Any:
        """The table that `set_wall_types` sets, in the memory of the device."""
        raise NotImplementedError

    def set_wall_types(self, rows: np.ndarray) -> None:
        """Set `Links.wall_types` for the steps that follow; those before have ended."""
        raise NotImplementedError

    def update_walls(self) -> None:
        """Prepare the next step for rows of `wall_types` that have changed."""

    def step(self, t: int, box: Box) -> None:
        """Step the cells of a box."""
        raise NotImplementedError

    def damp(self, t: int, box: Box, layer: SpongeLayer, drho: float, rate: float) -> None:
        """Relax the populations that step t loads in a layer towards its target velocity and the
        density 1 + drho; the targets follow the flow by the share `rate`."""
        raise NotImplementedError

    def accelerate(self, t: int, box: Box, scalar: DrivingScalar, velocity: Any) -> None:
        """Drive the populations that step t loads by the buoyancy of a scalar.

        velocity [3, z, y, x] gets the velocity with half of the impulse.
        """
        raise NotImplementedError

    def survey(self, t: int, box: Box, scalar: DrivingScalar | None = None) -> Any:
        """Return an array of one integer that is not 0 if a cell may be bad before step t.

        `stability_formulas.is_good` is the test; half of the impulse of a scalar counts. The array
        is valid until the next survey.
        """
        raise NotImplementedError

    def read(self, t: int, box: Box, populations: bool = False) -> Any:
        """Return rho - 1 and the velocity [4, z, y, x], or the populations [q, z, y, x].

        They are those that step t loads. The array is valid until the next read.
        """
        raise NotImplementedError

    def copy_moments(self, t: int, box: Box, out: Any) -> None:
        """Write rho - 1 and the velocity to an array of this engine, [4, z, y, x].

        What it holds in solid cells stays as it is, or becomes 0.
        """
        raise NotImplementedError

    def write(self, t: int, box: Box, values: np.ndarray, populations: bool = False) -> None:
        """Set what step t loads to the equilibrium of moments [4, z, y, x], or to populations."""
        raise NotImplementedError

    def read_elements(self, t: int, indices: np.ndarray) -> np.ndarray:
        """Return elements of the flat array of populations, in stored form, in host memory."""
        raise NotImplementedError

    def read_viscosity(self, cells: np.ndarray) -> np.ndarray:
        """Return the stored eddy viscosity of cells by their numbers, in host memory."""
        raise NotImplementedError

    def to_host(self, array: Any) -> np.ndarray:
        """Return an array of this engine as a NumPy array."""
        raise NotImplementedError

    def copy_state(self, t: int, into: Any = None) -> Any:
        """Return a copy of the populations that step t reads, in the memory of an earlier copy."""
        raise NotImplementedError

    def return_to_state(self, t: int, state: Any) -> None:
        """Restore the populations that `copy_state` has copied at the same t."""
        raise NotImplementedError

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        raise NotImplementedError

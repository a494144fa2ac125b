"""The base class of operators with an eddy viscosity that follows from the velocity gradient.

The populations of a cell know the symmetric part of the gradient only, so that the velocities of
its six neighbours are read. The eddy viscosity is a field, with one number a cell, which is
computed before a step whenever the number of steps is a multiple of `every`; the collision reads
it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from hetero.validation import check_integer
from lbm.collisions.operator import Bounds, Collision

LARGEST_CONSTANT = 10.0
"""Largest constant: more than a hundred times that of isotropic turbulence, for tests and damping
regions."""

MOST_STEPS = 1000
"""Most steps between two computations of the eddy viscosity: a flow that is ten times slower than
fast ones, 0.1 cells/step, moves by ten cells in so many steps."""


class EddyViscosityModel(Collision):
    """A collision operator whose relaxation time contains the eddy viscosity of the cell.

    An operator that derives from this class has the fields `constant` and `every`, defines
    `eddy_viscosity`, and gets its result as the last number of what `relax` and `relax_pairs` call
    `rates`, behind those of the property `rates`. With it the relaxation time is tau + 3 times the
    eddy viscosity.

    Attributes
    ----------
    constant : float
        The constant of the model for a filter of one cell, above 0 and at most 10.
    every : int
        Steps between two computations of the eddy viscosity, from 1 to 1000.

    Notes
    -----
    Derivatives are central differences of the velocities of both neighbours, second order in the
    cell. Where one of these is behind a face that is not periodic or in a solid, the difference is
    that to the other one, first order; between two walls it is 0. The velocity is that which
    `Simulation.u` returns. Numbers are stored in the dtype of the populations; in 16 bits they have
    11 bits, and the largest one is 2 cells^2/step.
    """

    constant: float
    every: int
    is_linear: ClassVar[bool] = True
    reads_viscosity: ClassVar[bool] = True
    bounds: ClassVar[Bounds] = {**Collision.bounds, "constant": (0.0, LARGEST_CONSTANT)}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "every", check_integer("every", self.every, 1, MOST_STEPS))

    @staticmethod
    @abstractmethod
    def eddy_viscosity() -> Callable[..., Any]:
        """Make eddy_viscosity(along_x, along_y, along_z, constant), in cells^2/step.

        Its first arguments are the derivatives of the velocity along the axes, three numbers each,
        in 1/step. Numba compiles it for both targets, with the rules of `Collision.relax`.
        """

    @abstractmethod
    def reference_viscosity(self, gradient: np.ndarray) -> np.ndarray:
        """Return the eddy viscosity [x, y, z] of a gradient du_i/dx_j [i, j, x, y, z], in plain
        NumPy, for `lbm.reference`."""

    @abstractmethod
    def reference_collide(
        self, f: np.ndarray, e: np.ndarray, viscosity: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the populations after the collision with an eddy viscosity [x, y, z]; see
        `Collision.reference_collide`."""

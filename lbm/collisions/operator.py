"""The base class of collision operators: all that the package knows of them."""

from __future__ import annotations

import dataclasses
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from hetero.validation import check_in_range
from lbm.collisions.stability_map import FlowKind
from lbm.lattices import DEFAULT, Lattice

LARGEST_TAU = 100.0
"""Largest relaxation time in steps. At 100 the flow in a channel is exact to 3e-6 with TRT in
float32; at 1000 it is still 1 % off after 20000 steps."""

Bounds = Mapping[str, tuple[float, float]]
"""Fields of an operator, and the numbers between which they are: the upper one is allowed."""


class Collision(ABC):
    """A collision operator: it moves the populations of a cell towards their equilibrium.

    An operator is a frozen dataclass that derives from this class, defines `rates` and either
    `relax` or `relax_pairs`, and conserves mass and momentum. Its first field is `tau`; further
    fields are numbers, its parameters. Operators are compared, saved and printed by their `repr`.

    Attributes
    ----------
    tau : float
        Relaxation time in steps: the viscosity is (tau - 1/2)/3 cells^2/step.
    is_linear : bool
        Whether the result is f + Omega (e - f) with a matrix Omega that depends on nothing but
        `rates` and, if the operator reads it, the eddy viscosity.
    reads_viscosity : bool
        Whether `relax` gets one more number behind `rates`, the eddy viscosity of the cell in
        cells^2/step: a field that `lbm.collisions.eddy_viscosity.EddyViscosityModel` describes.
    suits_modelled_walls : bool
        Whether the friction of `Solid(wall="modelled")` was right with it.
    lattices : tuple of str
        Names of the lattices for which the operator is defined; by default D3Q19 alone.
    bounds : dict
        Fields that the constructor checks, with the number that each must exceed and the largest
        that it may have; by default `tau` is above 1/2 and at most 100.

    Raises
    ------
    ValueError
        If a field is out of its bounds, or not a number.

    Notes
    -----
    With a body force the operator gets f + S/2 in the place of f, and S/2 is added to its result;
    S is the forcing term of Guo et al. (2002). The density and the momentum of f + S/2 are those of
    e. For a linear operator this is exactly Guo's (1 - Omega/2) S. For one whose Omega depends on
    the state it is the same with Omega taken at f + S/2, where the second moments of f + S/2 - e
    are proportional to the viscous stress; for any other it is the symmetric splitting of force and
    collision, which is second order in time (Dellar 2013). An operator needs to know nothing about
    forces, and the momentum that the fluid gains is exact.
    """

    tau: float
    is_linear: ClassVar[bool] = False
    reads_viscosity: ClassVar[bool] = False
    suits_modelled_walls: ClassVar[bool] = False
    lattices: ClassVar[tuple[str, ...]] = (DEFAULT,)
    bounds: ClassVar[Bounds] = {"tau": (0.5, LARGEST_TAU)}

    def __post_init__(self) -> None:
        for name, (least, most) in self.bounds.items():
            value = check_in_range(name, getattr(self, name), least, most, closed="right")
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def rates(self) -> tuple[float, ...]:
        """Numbers that `relax` gets in the dtype of the arithmetic; changing them compiles
        nothing anew."""

    @property
    def magic(self) -> float | None:
        """The magic parameter (tau - 1/2)(tau_odd - 1/2), or None where there is none.

        It decides where walls stand and, at small viscosities, which flows are stable.
        """
        return None

    @staticmethod
    def relax(lattice: Lattice) -> Callable[..., Any]:
        """Make relax(f, e, rates) for a lattice, which returns the populations after the collision.

        f and e are tuples of populations and their equilibria, in the order of
        `lattice.velocities`, both less the weights: f_q - w_q and e_q - w_q, so that float32 keeps
        its digits. Differences e_q - f_q need no attention; an operator that needs whole
        populations adds w_q.

        Numba compiles the function for both targets. Its tuples need constant indices:
        `per_population` and `matrix_product` of `lbm.collisions.unroll` write out what concerns all
        populations. Constants are written type(f[0])(0.5), because 0.5 * f is float64. Code with no
        branches and no functions but `abs` and `math.sqrt` is computed for vectors of cells on the
        CPU; other code for one cell after the other, which is slower.
        """
        raise NotImplementedError

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any] | None:
        """Make relax(f, pairs, rates) for a lattice, which saves additions where opposite
        populations relax together; by default there is none, and `relax` is used.

        Element 0 of `pairs` is the equilibrium at rest. For a pair (i, j) of opposite populations,
        `lattice.pairs`, element i is (e_i + e_j)/2 and element j is (e_i - e_j)/2. The decorator
        `per_pair` of `lbm.collisions.unroll` hides this order.
        """
        return None

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any] | None:
        """Make relax(drho, j, u, stress, rates) for a lattice, which returns the same populations
        as `relax`; None, as by default, if they depend on more than ten moments.

        `drho` is rho - 1, `j` the momentum, `u` the velocity j/rho, and `stress` the second moments
        of f - e in the order of `lbm.collisions.moments.SECOND`. Operators that have it go with
        `Simulation(..., state="moments")`.
        """
        return None

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return the populations after the collision, in plain NumPy, for `lbm.reference`.

        f and e are arrays [q, x, y, z] of whole populations (the weights included) in float64. A
        linear operator must take any numbers.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no reference_collide: define it to compare flows with "
            "lbm.reference.Reference"
        )

    @classmethod
    def suited_to(cls, tau: float, cell_reynolds: float, kind: FlowKind) -> Self:
        """Make the operator with the parameters that suit a flow, by default those of the class.

        `cell_reynolds` is speed/viscosity in lattice units; `kind` says what bounds the flow:
        "walls", "open" ends (inlets or outlets), or nothing ("free").
        """
        return cls(tau)  # type: ignore[call-arg]  # the constructor of a dataclass

    @classmethod
    def stability_limit(cls, kind: FlowKind) -> float | None:
        """Return the largest cell Reynolds number of a stable flow, or None if it is unknown."""
        return None

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        """Return the names of the parameters besides tau, with their default values."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # operators are dataclasses
        return {field.name: field.default for field in fields if field.name != "tau"}


def check_collision(collision: Collision, lattice: Lattice | None = None) -> Collision:
    """Return `collision`, if it is a collision operator that is complete and has this lattice."""
    if not isinstance(collision, Collision):
        raise TypeError(
            f"collision must be an operator such as lbm.BGK(tau), got {collision!r}; operators of "
            "your own derive from lbm.Collision"
        )
    operator = type(collision)
    if operator.relax is Collision.relax and operator.relax_pairs is Collision.relax_pairs:
        raise TypeError(f"collision {collision!r} must define relax() or relax_pairs()")
    for name in ("relax", "relax_pairs"):
        signature = inspect.signature(getattr(collision, name))
        try:
            signature.bind(lattice)
        except TypeError:
            raise TypeError(
                f"{operator.__name__}.{name} must take a lattice and return the function of the "
                f"populations, got {name}{signature}: make it a static method {name}(lattice)"
            ) from None
    if lattice is not None and lattice.name not in operator.lattices:
        raise ValueError(
            f"collision {collision!r} is not defined for lattice={lattice.name!r}, only for "
            f"{', '.join(operator.lattices)}: choose another lattice, or another operator. An "
            "operator of your own names its lattices in the attribute `lattices`"
        )
    return collision

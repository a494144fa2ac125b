"""The subgrid model of Vreman (2004), with two relaxation times, with one, regularized, and
with central moments.

With the derivatives a_ij = du_j/dx_i and b_ij = sum_m a_mi a_mj, for a filter of one cell, the eddy
viscosity is (equations 5 to 8)

    nu_e = constant * sqrt(B / sum_ij a_ij^2)
    B = b_11 b_22 - b_12^2 + b_11 b_33 - b_13^2 + b_22 b_33 - b_23^2

B is the sum of the principal minors of second order of b = a^T a, and therefore (Cauchy and Binet)
that of the squares of all minors of second order of a. This sum is not negative in any rounding,
and it is 0 where the gradient has rank 1: in every laminar shear, and at walls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.central_moments import CentralMoments, collide_central_moments
from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.collisions.operator import Bounds
from lbm.collisions.recursive import RecursiveRegularized, collide_recursively
from lbm.collisions.stability_map import FlowKind, choose_magic
from lbm.collisions.trt import TRT, make_local_rates, relax_in_parts
from lbm.lattices import LATTICES, Lattice

_LEAST_SQUARE = 1e-30
"""Added to the square of the gradient, in 1/step^2, so that fluid at rest gives 0 and not NaN.

It is a normal number in float32. Gradients of 1e-15, whose square it is, are below the rounding
errors of all velocities."""

_LATTICES = tuple(LATTICES)


def _make_viscosity() -> Callable[..., Any]:
    """Make the eddy viscosity of the model; see `EddyViscosityModel.eddy_viscosity`."""
    from hetero.jit import scalar

    # Without fused operations the CPU computes the same bits for vectors and for single cells.
    @scalar(forceinline=True)
    def square(a: Any) -> Any:
        return (a[0] * a[0] + a[1] * a[1]) + a[2] * a[2]

    @scalar(forceinline=True)
    def minors(a: Any, b: Any) -> tuple[Any, Any, Any]:
        return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]

    @scalar(forceinline=True)
    def viscosity(along_x: Any, along_y: Any, along_z: Any, constant: Any) -> Any:
        T = type(along_x[0])
        minor = (square(minors(along_x, along_y)) + square(minors(along_x, along_z))) + square(
            minors(along_y, along_z)
        )
        gradient = (square(along_x) + square(along_y)) + square(along_z)
        return constant * T(math.sqrt(minor / (gradient + T(_LEAST_SQUARE))))

    return viscosity


class _VremanModel(EddyViscosityModel):
    """The eddy viscosity of the model, for all operators."""

    @staticmethod
    def eddy_viscosity() -> Callable[..., Any]:
        """Make the formula of the model; see `EddyViscosityModel.eddy_viscosity`."""
        return _make_viscosity()

    def reference_viscosity(self, gradient: np.ndarray) -> np.ndarray:
        """Return the eddy viscosity [x, y, z] of du_i/dx_j [i, j, x, y, z], by the formula of the
        paper."""
        a = np.swapaxes(gradient, 0, 1)
        b = np.einsum("mixyz,mjxyz->ijxyz", a, a)
        minor = sum(b[i, i] * b[j, j] - b[i, j] ** 2 for i, j in ((0, 1), (0, 2), (1, 2)))
        square = (a**2).sum(axis=(0, 1))
        ratio = np.maximum(minor, 0.0) / np.where(square > 0.0, square, 1.0)
        return self.constant * np.sqrt(ratio)


@dataclass(frozen=True)
class Vreman(_VremanModel):
    """Collision operator with two relaxation times and the eddy viscosity of Vreman (2004).

    Mean flows lower the viscosity of shear: at 0.1 cells/step by 3 % along an axis and by 6 %
    along (1, 1, 0), in proportion to the square of the speed (docs/packages/lbm.md).

    The eddy viscosity vanishes at walls and in laminar shear, where that of `Smagorinsky` does not.
    The local relaxation time of the odd part keeps the magic parameter.

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps without the eddy viscosity, above 1/2 and at most
        100: the viscosity of the fluid is (tau - 1/2)/3 cells^2/step.
    constant : float
        The model's constant for a filter of one cell, above 0 and at most 10: about 2.5 times the
        square of the constant of `Smagorinsky`, 0.07 in isotropic turbulence.
    magic : float
        Magic parameter (tau' - 1/2)(tau_odd - 1/2) in each cell.
    every : int
        Steps between two computations of the eddy viscosity, from 1 to 1000. With the default 4 the
        fluid moves by less than half a cell in between.

    Notes
    -----
    `Simulation.eddy_viscosity` returns the field. `EddyViscosityModel` says how the gradient of the
    velocity is computed.
    """

    tau: float
    constant: float = 0.07
    magic: float = 1.0 / 12.0
    every: int = 4
    lattices: ClassVar[tuple[str, ...]] = _LATTICES
    bounds: ClassVar[Bounds] = {**EddyViscosityModel.bounds, **TRT.bounds}

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation time without eddies, and the magic parameter."""
        return self.tau, self.magic

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.unroll import inlined

        local_rates, two_rates = make_local_rates(), inlined(TRT.relax_pairs(lattice))

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            tau = rates[0] + type(f[0])(3) * rates[2]
            return two_rates(f, pairs, local_rates(tau, rates[1]))

        return relax

    def reference_collide(
        self, f: np.ndarray, e: np.ndarray, viscosity: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return f less the even and the odd part of f - e, each divided by its local time."""
        tau = self.tau + 3.0 * viscosity
        return relax_in_parts(f, e, tau, 0.5 + self.magic / (tau - 0.5))

    @classmethod
    def suited_to(cls, tau: float, cell_reynolds: float, kind: FlowKind) -> Vreman:
        """Make the operator with the magic parameter that TRT would have."""
        return cls(tau, magic=choose_magic(cell_reynolds, kind))


@dataclass(frozen=True)
class _OneTime(_VremanModel):
    """The fields of the operators whose only relaxation time is local."""

    tau: float
    constant: float = 0.07
    every: int = 4
    lattices: ClassVar[tuple[str, ...]] = _LATTICES

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation time without eddies."""
        return (self.tau,)


def _with_local_time(relax_pairs: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operator with the local relaxation time of one that gets the share 1 - 1/tau."""
    from lbm.collisions.unroll import inlined

    relax_with_share = inlined(relax_pairs)

    def relax(f: Any, pairs: Any, rates: Any) -> Any:
        T = type(f[0])
        share = T(1) - T(1) / (rates[0] + T(3) * rates[1])
        return relax_with_share(f, pairs, (share,))

    return relax


def _with_local_time_of_moments(relax_moments: Callable[..., Any]) -> Callable[..., Any]:
    """Make the same for ten moments."""
    from lbm.collisions.unroll import inlined

    relax_with_share = inlined(relax_moments)

    def relax(drho: Any, j: Any, u: Any, stress: Any, rates: Any) -> Any:
        T = type(drho)
        share = T(1) - T(1) / (rates[0] + T(3) * rates[1])
        return relax_with_share(drho, j, u, stress, (share,))

    return relax


@dataclass(frozen=True)
class VremanBGK(_OneTime):
    """Collision operator with one relaxation time and the eddy viscosity of Vreman (2004).

    Parameters
    ----------
    tau, constant, every
        The same as for `Vreman`.
    """

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.bgk import BGK
        from lbm.collisions.unroll import inlined

        one_rate = inlined(BGK.relax_pairs(lattice))

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            return one_rate(f, pairs, (T(1) / (rates[0] + T(3) * rates[1]),))

        return relax

    def reference_collide(
        self, f: np.ndarray, e: np.ndarray, viscosity: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return f + (e - f) / tau' with the local relaxation time."""
        return f + (e - f) / (self.tau + 3.0 * viscosity)


@dataclass(frozen=True)
class VremanRecursive(_OneTime):
    """Recursive regularized operator with the eddy viscosity of Vreman (2004).

    It is `RecursiveRegularized` with the local relaxation time of `VremanBGK`: the viscosity is
    right in a mean flow along an axis, and ten moments of a cell are enough.

    Parameters
    ----------
    tau, constant, every
        The same as for `Vreman`.
    """

    is_linear: ClassVar[bool] = False

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        return _with_local_time(RecursiveRegularized.relax_pairs(lattice))

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments; see `Collision.relax_moments`."""
        return _with_local_time_of_moments(RecursiveRegularized.relax_moments(lattice))

    def reference_collide(
        self, f: np.ndarray, e: np.ndarray, viscosity: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the populations after the collision with the local relaxation time."""
        return collide_recursively(f, e, self.tau + 3.0 * viscosity)


@dataclass(frozen=True)
class VremanCentralMoments(_OneTime):
    """Central moments with the eddy viscosity of Vreman (2004).

    It is `CentralMoments` with the local relaxation time of `VremanBGK`. It needs no viscosity to
    be stable, so that flows whose cells are far too large run although the viscosity vanishes at
    walls: `VremanBGK` blows up there.

    Parameters
    ----------
    tau, constant, every
        The same as for `Vreman`.
    """

    is_linear: ClassVar[bool] = False
    suits_modelled_walls: ClassVar[bool] = True

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        return _with_local_time(CentralMoments.relax_pairs(lattice))

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments; see `Collision.relax_moments`."""
        return _with_local_time_of_moments(CentralMoments.relax_moments(lattice))

    def reference_collide(
        self, f: np.ndarray, e: np.ndarray, viscosity: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """Return the populations after the collision with the local relaxation time."""
        return collide_central_moments(f, self.tau + 3.0 * viscosity)

"""The subgrid model of Smagorinsky (1963), with two relaxation times, with one, and regularized.

The local strain rate S follows from the second moments P of f - e (Hou et al. 1996), so that no
neighbour is read: S = -3 P / (2 rho tau'), where tau' is the local relaxation time. With the eddy
viscosity (constant * cell)^2 |S| and |S|^2 = 2 S:S, tau' solves a quadratic equation:

    tau' = (tau + sqrt(tau^2 + 18 constant^2 sqrt(2 P:P) / rho)) / 2

Models that vanish at walls need the whole velocity gradient, of which the populations of a cell
know the symmetric part only: `lbm.collisions.vreman` takes it from the neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import Bounds, Collision
from lbm.collisions.recursive import RecursiveRegularized, collide_recursively
from lbm.collisions.stability_map import FlowKind, choose_magic
from lbm.collisions.trt import TRT, make_local_rates, relax_in_parts
from lbm.lattices import LATTICES, Lattice, lattice_of_size

LARGEST_CONSTANT = 2.0
"""Largest constant: ten times that of isotropic turbulence, for tests and damping regions."""


def _strength(constant: float) -> float:
    """Return 18 sqrt(2) constant^2, by which sqrt(P:P)/rho is multiplied under the root."""
    return 18.0 * math.sqrt(2.0) * constant**2


def _make_local_tau(lattice: Lattice) -> Callable[..., Any]:
    """Make local_tau(f, pairs, tau, strength), which returns tau' of a cell."""
    from lbm.collisions.moments import moments_of
    from lbm.collisions.unroll import inlined

    moments, non_equilibrium, second_moments = moments_of(lattice)[:3]
    tau_of_stress = _make_tau_of_stress()

    @inlined
    def local_tau(f: Any, pairs: Any, tau: Any, strength: Any) -> Any:
        stress = second_moments(non_equilibrium(f, pairs))
        return tau_of_stress(stress, moments(f)[0], tau, strength)

    return local_tau


def _make_tau_of_stress() -> Callable[..., Any]:
    """Make tau_of_stress(P, rho - 1, tau, strength), which returns tau' of a cell."""
    from lbm.collisions.unroll import inlined

    @inlined
    def tau_of_stress(stress: Any, drho: Any, tau: Any, strength: Any) -> Any:
        T = type(drho)
        xx, yy, zz, xy, xz, yz = stress
        product = (xx * xx + yy * yy) + zz * zz + T(2) * ((xy * xy + xz * xz) + yz * yz)
        inverse = T(1) / (T(1) + drho)  # the compiler has it from the velocity
        strain = strength * (T(math.sqrt(product)) * inverse)
        return T(0.5) * (tau + T(math.sqrt(tau * tau + strain)))

    return tau_of_stress


def _reference_tau(f: np.ndarray, e: np.ndarray, tau: float, constant: float) -> np.ndarray:
    """Return tau' [x, y, z] of whole populations [q, x, y, z]."""
    c = np.array(lattice_of_size(len(f)).velocities, float)
    stress = np.einsum("qa,qb,qxyz->abxyz", c, c, f - e)
    strain = np.sqrt(2.0 * (stress**2).sum(axis=(0, 1))) / f.sum(axis=0)  # 2/3 tau' |S|
    return 0.5 * (tau + np.sqrt(tau**2 + 18.0 * constant**2 * strain))


@dataclass(frozen=True)
class Smagorinsky(Collision):
    """Collision operator with two relaxation times and the eddy viscosity of Smagorinsky (1963).

    Mean flows lower the viscosity of shear: at 0.1 cells/step by 3 % along an axis and by 6 %
    along (1, 1, 0), in proportion to the square of the speed (docs/packages/lbm.md).

    The local relaxation time of the odd part keeps the magic parameter.

    Parameters
    ----------
    tau : float
        Relaxation time of the even part in steps without the eddy viscosity, above 1/2 and at most
        100: the viscosity of the fluid is (tau - 1/2)/3 cells^2/step.
    constant : float
        The model's constant for a filter of one cell, above 0 and at most 2: 0.1 between walls (Hou
        et al. 1996), 0.16 to 0.18 in isotropic turbulence. The eddy viscosity does not vanish at
        walls, and not in laminar shear.
    magic : float
        Magic parameter (tau' - 1/2)(tau_odd - 1/2) in each cell.
    """

    tau: float
    constant: float = 0.1
    magic: float = 1.0 / 12.0
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)
    bounds: ClassVar[Bounds] = {**TRT.bounds, "constant": (0.0, LARGEST_CONSTANT)}

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation time without eddies, the model's strength, and the magic parameter."""
        return self.tau, _strength(self.constant), self.magic

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.unroll import inlined

        local_tau, two_rates = _make_local_tau(lattice), inlined(TRT.relax_pairs(lattice))
        local_rates = make_local_rates()

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            tau = local_tau(f, pairs, rates[0], rates[1])
            return two_rates(f, pairs, local_rates(tau, rates[2]))

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return f less the even and the odd part of f - e, each divided by its local time."""
        tau = _reference_tau(f, e, self.tau, self.constant)
        return relax_in_parts(f, e, tau, 0.5 + self.magic / (tau - 0.5))

    @classmethod
    def suited_to(cls, tau: float, cell_reynolds: float, kind: FlowKind) -> Smagorinsky:
        """Make the operator with the magic parameter that TRT would have."""
        return cls(tau, magic=choose_magic(cell_reynolds, kind))


@dataclass(frozen=True)
class _OneTime(Collision):
    """The fields of the operators whose only relaxation time is local."""

    tau: float
    constant: float = 0.1
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)
    bounds: ClassVar[Bounds] = {**Collision.bounds, "constant": (0.0, LARGEST_CONSTANT)}

    @property
    def rates(self) -> tuple[float, ...]:
        """The relaxation time without eddies, and the strength of the model."""
        return self.tau, _strength(self.constant)


@dataclass(frozen=True)
class SmagorinskyBGK(_OneTime):
    """Collision operator with one relaxation time and the eddy viscosity of Smagorinsky (1963).

    Parameters
    ----------
    tau, constant : float
        The same as for `Smagorinsky`.
    """

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.bgk import BGK
        from lbm.collisions.unroll import inlined

        local_tau, one_rate = _make_local_tau(lattice), inlined(BGK.relax_pairs(lattice))

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            return one_rate(f, pairs, (T(1) / local_tau(f, pairs, rates[0], rates[1]),))

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return f + (e - f) / tau' with the local relaxation time."""
        return f + (e - f) / _reference_tau(f, e, self.tau, self.constant)


@dataclass(frozen=True)
class SmagorinskyRecursive(_OneTime):
    """Recursive regularized operator with the eddy viscosity of Smagorinsky (1963).

    It is `RecursiveRegularized` with the local relaxation time of `SmagorinskyBGK`: the viscosity
    is right in a mean flow along an axis, and ten moments of a cell are enough.

    Parameters
    ----------
    tau, constant : float
        The same as for `Smagorinsky`.
    """

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.unroll import inlined

        local_tau = _make_local_tau(lattice)
        relax_with_share = inlined(RecursiveRegularized.relax_pairs(lattice))

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            share = T(1) - T(1) / local_tau(f, pairs, rates[0], rates[1])
            return relax_with_share(f, pairs, (share,))

        return relax

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments; see `Collision.relax_moments`."""
        from lbm.collisions.unroll import inlined

        tau_of_stress = _make_tau_of_stress()
        relax_with_share = inlined(RecursiveRegularized.relax_moments(lattice))

        def relax(drho: Any, j: Any, u: Any, stress: Any, rates: Any) -> Any:
            T = type(drho)
            share = T(1) - T(1) / tau_of_stress(stress, drho, rates[0], rates[1])
            return relax_with_share(drho, j, u, stress, (share,))

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return the populations after the collision with the local relaxation time."""
        return collide_recursively(f, e, _reference_tau(f, e, self.tau, self.constant))

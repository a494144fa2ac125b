"""Regularized: of what a flow is not in equilibrium, only the viscous stress is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import Collision
from lbm.lattices import LATTICES, Lattice, lattice_of_size


@dataclass(frozen=True)
class Regularized(Collision):
    """Regularized collision operator of the second order (Latt and Chopard 2006).

    Of f - e the second-order Hermite polynomials with the viscous stress are kept, all other modes
    are gone after one step. Mean flows lower the viscosity of shear as with BGK.

    Parameters
    ----------
    tau : float
        Relaxation time of the stress in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step. The position of walls depends on it, as with BGK.
    """

    tau: float
    is_linear: ClassVar[bool] = True
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of the stress that is left, 1 - 1/tau."""
        return (1.0 - 1.0 / self.tau,)

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.moments import moments_of
        from lbm.collisions.unroll import matrix_product, per_population

        tools = moments_of(lattice)
        # Kernels cannot take functions out of a tuple.
        _, non_equilibrium, second_moments, join_parts = tools[:4]
        of_stress = matrix_product(tools.stress_to_parts)
        add = per_population(lattice, 2)(lambda a, b, share: a + share * b)

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            stress = second_moments(non_equilibrium(f, pairs))
            parts = add(pairs, of_stress(stress), rates[0])
            return join_parts(parts, parts)

        return relax

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments; see `Collision.relax_moments`."""
        from lbm.collisions.moments import make_hermite_populations, relax_stress

        populations = make_hermite_populations(lattice, 2)

        def relax(drho: Any, j: Any, u: Any, stress: Any, rates: Any) -> Any:
            _, whole = relax_stress(j, u, stress, rates[0])
            return populations(drho, j, whole, whole)

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return e + w (9/2) (1 - 1/tau) (c_a c_b - delta_ab/3) P_ab."""
        lattice = lattice_of_size(len(f))
        c, w = np.array(lattice.velocities, float), np.array(lattice.weights)
        second = np.einsum("qa,qb->qab", c, c) - np.eye(3) / 3
        stress = (1 - 1 / self.tau) * np.einsum("qa,qb,qxyz->abxyz", c, c, f - e)
        return np.asarray(e + 4.5 * np.einsum("q,qab,abxyz->qxyz", w, second, stress))

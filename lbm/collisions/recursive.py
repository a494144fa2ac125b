"""Recursive regularized: third-order equilibrium, and a viscous part rebuilt from the stress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbm._model.lattice import C, W
from lbm.collisions.operator import Collision


@dataclass(frozen=True)
class RecursiveRegularized(Collision):
    """Recursive regularized collision operator (Malaspinas 2015; Coreixas et al. 2017).

    The equilibrium has the six combinations of third-order Hermite polynomials that D3Q19
    supports. Of f - e only the viscous stress P is kept; the third-order coefficients follow from
    the stress and the velocity by recursion: a_aab = u_b P_aa + 2 u_a P_ab. Modes that carry no
    flow are gone after one step, and shear along the axes decays by the right viscosity in a mean
    flow, too.

    Parameters
    ----------
    tau : float
        Relaxation time of the stress in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step. The position of walls depends on it, as with BGK.
    """

    tau: float

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of the stress that is left, 1 - 1/tau."""
        return (1.0 - 1.0 / self.tau,)

    @staticmethod
    def relax_pairs() -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.moments import (
            PARTS_OF_MOMENTS,
            STRESS_TO_PARTS,
            join_parts,
            moments,
            non_equilibrium,
            second_moments,
            third_moments,
        )
        from lbm.collisions.unroll import matrix_product, per_population

        # Even parts of stresses, and odd parts of third moments that change no momentum.
        correction = matrix_product(np.hstack([STRESS_TO_PARTS, PARTS_OF_MOMENTS[:, 10:16]]))
        add = per_population(2)(lambda a, b: a + b)

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            share = rates[0]
            drho, jx, jy, jz = moments(f)
            inverse = T(1) / (T(1) + drho)
            u = jx * inverse, jy * inverse, jz * inverse
            xx, yy, zz, xy, xz, yz = second_moments(non_equilibrium(f, pairs))
            p = share * xx, share * yy, share * zz, share * xy, share * xz, share * yz
            # u_b (P_aa + rho u_a u_a) + 2 u_a P_ab: the recursion and the equilibrium in one
            whole = p[0] + jx * u[0], p[1] + jy * u[1], p[2] + jz * u[2], p[3], p[4], p[5]
            parts = add(pairs, correction(p + third_moments(u, whole)))
            return join_parts(parts, parts)

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return the sum of Hermite polynomials of orders 0 to 3 with the coefficients above.

        Third-order polynomials are taken in the orthogonal combinations H_aac + H_bbc and
        H_aac - H_bbc (Jacob, Malaspinas and Sagaut 2018).
        """
        c, w, delta = np.array(C, float), np.array(W), np.eye(3)
        rho = f.sum(axis=0)
        u = np.tensordot(c.T, f, 1) / rho
        stress = (1 - 1 / self.tau) * np.einsum("qa,qb,qxyz->abxyz", c, c, f - e)
        second = np.einsum("qa,qb->qab", c, c) - delta / 3
        result = e + 4.5 * np.einsum("q,qab,abxyz->qxyz", w, second, stress)
        third = (
            np.einsum("qa,qb,qd->qabd", c, c, c)
            - (
                np.einsum("qa,bd->qabd", c, delta)
                + np.einsum("qb,ad->qabd", c, delta)
                + np.einsum("qd,ab->qabd", c, delta)
            )
            / 3
        )
        mixed = np.einsum("axyz,bdxyz->abdxyz", u, stress)
        a3 = rho * np.einsum("axyz,bxyz,dxyz->abdxyz", u, u, u) + (
            mixed + mixed.transpose(1, 0, 2, 3, 4, 5) + mixed.transpose(1, 2, 0, 3, 4, 5)
        )
        for axis in range(3):
            a, b = (axis + 1) % 3, (axis + 2) % 3
            for sign in 1, -1:
                h = third[:, a, a, axis] + sign * third[:, b, b, axis]
                coefficient = (a3[a, a, axis] + sign * a3[b, b, axis]) / (w * h * h).sum()
                result += (w * h)[:, None, None, None] * coefficient
        return result

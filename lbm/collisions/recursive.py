"""Recursive regularized: third-order equilibrium, and a viscous part rebuilt from the stress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import Collision
from lbm.lattices import LATTICES, Lattice, lattice_of_size


@dataclass(frozen=True)
class RecursiveRegularized(Collision):
    """Recursive regularized collision operator (Malaspinas 2015; Coreixas et al. 2017).

    The equilibrium has the six combinations of third-order Hermite polynomials that D3Q19
    supports, or all seven polynomials on D3Q27. Of f - e only the viscous stress P is kept; the
    third-order coefficients follow from the stress and the velocity by recursion:
    a_aab = u_b P_aa + 2 u_a P_ab and a_xyz = u_x P_yz + u_y P_xz + u_z P_xy. Modes that carry no
    flow are gone after one step, and shear along the axes decays by the right viscosity in a mean
    flow, too. At an angle to the axes it does not, since c^3 = c on these lattices: in the plane of
    the axes x and y, with the wave vector and the mean flow along (1, 1, 0), the viscosity is 4.5 %
    too small for 0.1 cells/step along each axis, in proportion to the square of the speed.

    Parameters
    ----------
    tau : float
        Relaxation time of the stress in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step. The position of walls depends on it, as with BGK.
    """

    tau: float
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
        moments, non_equilibrium, second_moments, join_parts = tools[:4]
        # Even parts of stresses, and odd parts of third moments that change no momentum.
        of_third = _third_to_parts(lattice) if lattice.has_corners else tools.to_parts[:, 10:16]
        correction = matrix_product(np.hstack([tools.stress_to_parts, of_third]))
        add = per_population(lattice, 2)(lambda a, b: a + b)

        third = _make_third(lattice)

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            share = rates[0]
            drho, jx, jy, jz = moments(f)
            inverse = T(1) / (T(1) + drho)
            u = jx * inverse, jy * inverse, jz * inverse
            xx, yy, zz, xy, xz, yz = second_moments(non_equilibrium(f, pairs))
            p = share * xx, share * yy, share * zz, share * xy, share * xz, share * yz
            parts = add(pairs, correction(p + third(u, (jx, jy, jz), p)))
            return join_parts(parts, parts)

        return relax

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments; see `Collision.relax_moments`."""
        from lbm.collisions.moments import make_hermite_populations, relax_stress

        populations, third = make_hermite_populations(lattice, 3), _make_third(lattice)

        def relax(drho: Any, j: Any, u: Any, stress: Any, rates: Any) -> Any:
            p, whole = relax_stress(j, u, stress, rates[0])
            return populations(drho, j, whole, third(u, j, p))

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return the populations after the collision, by orthogonal polynomials."""
        return collide_recursively(f, e, self.tau)


def collide_recursively(f: np.ndarray, e: np.ndarray, tau: float | np.ndarray) -> np.ndarray:
    """Return the sum of Hermite polynomials of orders 0 to 3, whose coefficients
    `RecursiveRegularized` describes.

    On D3Q19 third-order polynomials are taken in the orthogonal combinations H_aac + H_bbc and
    H_aac - H_bbc (Jacob, Malaspinas and Sagaut 2018).
    """
    lattice, delta = lattice_of_size(len(f)), np.eye(3)
    c, w = np.array(lattice.velocities, float), np.array(lattice.weights)
    rho = f.sum(axis=0)
    u = np.tensordot(c.T, f, 1) / rho
    stress = (1 - 1 / tau) * np.einsum("qa,qb,qxyz->abxyz", c, c, f - e)
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
    if lattice.has_corners:
        return result + 4.5 * np.einsum("q,qabd,abdxyz->qxyz", w, third, a3)
    for axis in range(3):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        for sign in 1, -1:
            h = third[:, a, a, axis] + sign * third[:, b, b, axis]
            coefficient = (a3[a, a, axis] + sign * a3[b, b, axis]) / (w * h * h).sum()
            result += (w * h)[:, None, None, None] * coefficient
    return result


def _make_third(lattice: Lattice) -> Callable[..., Any]:
    """Make third(u, j, p), the third-order coefficients of the equilibrium and of the stress p."""
    from lbm.collisions.moments import third_moments
    from lbm.collisions.unroll import inlined

    @inlined
    def third_of_edges(u: Any, j: Any, p: Any) -> Any:
        # u_b (P_aa + rho u_a u_a) + 2 u_a P_ab: the recursion and the equilibrium in one
        whole = p[0] + j[0] * u[0], p[1] + j[1] * u[1], p[2] + j[2] * u[2], p[3], p[4], p[5]
        return third_moments(u, whole)

    @inlined
    def third_with_corners(u: Any, j: Any, p: Any) -> Any:
        xyz = u[0] * p[5] + u[1] * p[4] + u[2] * (p[3] + j[0] * u[1])
        return (*third_of_edges(u, j, p), xyz)

    return third_with_corners if lattice.has_corners else third_of_edges


def _third_to_parts(lattice: Lattice) -> np.ndarray:
    """Return the matrix [part, k] of the populations with third-order Hermite coefficients alone.

    These are w_q (27/2) (c_a^2 c_b - c_b/3) for the axes `THIRD`, and w_q 27 c_x c_y c_z.
    """
    from lbm.collisions.moments import THIRD

    matrix = np.zeros((lattice.size, len(THIRD) + 1))
    for i, j in lattice.pairs:
        c, w = lattice.velocities[i], lattice.weights[i]
        matrix[j, :-1] = [13.5 * w * (c[a] ** 2 - 1 / 3) * c[b] for a, b in THIRD]
        matrix[j, -1] = 27.0 * w * c[0] * c[1] * c[2]
    return matrix

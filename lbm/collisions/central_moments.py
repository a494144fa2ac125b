"""Central moments: relaxation in the frame that moves with the fluid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lbm._model.lattice import C
from lbm.collisions.operator import Collision


@dataclass(frozen=True)
class CentralMoments(Collision):
    """Collision operator on non-orthogonal central moments (Fei, Luo and Li 2018; De Rosis 2017).

    Moments of c - u relax towards those of the Maxwell distribution: shear stresses at the rate
    1/tau, and the trace of the stress and all moments of the third and fourth order at the rate 1,
    at once. The bulk viscosity is thus 1/9 cells^2/step for any tau, which damps sound.

    Parameters
    ----------
    tau : float
        Relaxation time of the shear stress in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step. The position of walls depends on it, as with BGK.
    """

    tau: float

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of the shear stress that is left, 1 - 1/tau."""
        return (1.0 - 1.0 / self.tau,)

    @staticmethod
    def relax_pairs() -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.moments import (
            join_parts,
            moments,
            non_equilibrium,
            parts_of_moments,
            second_moments,
            third_moments,
        )
        from lbm.collisions.unroll import inlined

        @inlined
        def fourth(x: Any, y: Any, flux: Any, yy: Any, xy: Any) -> Any:
            """Return the moment of c_x^2 c_y^2 less its part at rest and rho (u_x^2 + u_y^2)/3."""
            return (y * y) * flux + (x * x) * yy + type(x)(4) * (x * y) * xy

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            third = T(1.0 / 3.0)
            share = rates[0]
            drho, jx, jy, jz = moments(f)
            inverse = T(1) / (T(1) + drho)
            u = x, y, z = jx * inverse, jy * inverse, jz * inverse
            xx, yy, zz, xy, xz, yz = second_moments(non_equilibrium(f, pairs))
            mean = third * ((xx + yy) + zz)
            # Central moments less those of equilibrium after the collision: the trace is gone.
            xx, yy, zz = share * (xx - mean), share * (yy - mean), share * (zz - mean)
            xy, xz, yz = share * xy, share * xz, share * yz
            # Raw moments after the collision, for populations less their weights.
            ux, uy, uz = jx * x, jy * y, jz * z
            pressure, ninth = third * drho, third * (third * drho)
            flux = ux + xx, uy + yy, uz + zz
            t = third_moments(u, (flux[0], flux[1], flux[2], xy, xz, yz))

            parts = parts_of_moments(
                (
                    drho, jx, jy, jz,
                    pressure + flux[0], pressure + flux[1], pressure + flux[2],
                    jx * y + xy, jx * z + xz, jy * z + yz,
                    third * jy + t[0], third * jz + t[1], third * jx + t[2],
                    third * jz + t[3], third * jx + t[4], third * jy + t[5],
                    ninth + third * (ux + uy) + fourth(x, y, flux[0], yy, xy),
                    ninth + third * (ux + uz) + fourth(x, z, flux[0], zz, xz),
                    ninth + third * (uy + uz) + fourth(y, z, flux[1], zz, yz),
                )
            )  # fmt: skip
            return join_parts(parts, parts)

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Relax the moments of c - u of each cell, and solve for the populations that have them."""
        rho = f.sum(axis=0)
        u = np.tensordot(np.array(C, float).T, f, 1) / rho
        # relative[..., q, a] = c_qa - u_a; the matrix of moments has a row for each monomial.
        relative = np.array(C, float) - np.moveaxis(u, 0, -1)[..., None, :]
        x, y, z = np.moveaxis(relative, -1, 0)
        one = np.ones_like(x)
        matrix = np.stack(
            [
                one, x, y, z, x * x, y * y, z * z, x * y, x * z, y * z,
                x * x * y, x * x * z, y * y * x, y * y * z, z * z * x, z * z * y,
                x * x * y * y, x * x * z * z, y * y * z * z,
            ],
            axis=-2,
        )  # fmt: skip
        before = np.einsum("xyzmq,qxyz->mxyz", matrix, f)
        after = np.zeros_like(f)  # momentum in the moving frame and third moments are 0
        after[0], after[4:7], after[16:] = rho, rho / 3, rho / 9
        share = 1 - 1 / self.tau
        after[4:7] += share * (before[4:7] - before[4:7].mean(axis=0))
        after[7:10] = share * before[7:10]
        populations = np.linalg.solve(matrix, np.moveaxis(after, 0, -1)[..., None])[..., 0]
        return np.moveaxis(populations, -1, 0)

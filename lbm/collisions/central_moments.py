"""Central moments: relaxation in the frame that moves with the fluid."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lbm.collisions.operator import Collision
from lbm.lattices import LATTICES, Lattice, lattice_of_size


@dataclass(frozen=True)
class CentralMoments(Collision):
    """Collision operator on non-orthogonal central moments (De Rosis 2017; Fei, Luo and Li 2018).

    Moments of c - u relax towards those of the Maxwell distribution: shear stresses at the rate
    1/tau, and the trace of the stress and all moments of higher orders at the rate 1, at once:
    those of the third and fourth order on D3Q19, all up to c_x^2 c_y^2 c_z^2 on D3Q27. The bulk
    viscosity is thus 1/9 cells^2/step for any tau, which damps sound. The viscosity of shear in a
    mean flow is right along the axes, and that of `RecursiveRegularized` at an angle to them: 4.5 %
    too small for 0.1 cells/step along both x and y.

    On D3Q19 eddies of some four cells are not those of the viscosity: shear waves along (1,1,1) are
    damped too much, and some oblique ones, with the wave vector (pi/8, pi/2, pi/8), grow by 0.5 % a
    step in the limit of no viscosity, and by 0.4 % at 2.5e-4 cells^2/step. Both are fixed per step,
    so that they matter more at lower speeds. `RecursiveRegularized` damps these waves.

    Parameters
    ----------
    tau : float
        Relaxation time of the shear stress in steps, above 1/2 and at most 100: the viscosity is
        (tau - 1/2)/3 cells^2/step. The position of walls depends on it, as with BGK.
    """

    tau: float
    lattices: ClassVar[tuple[str, ...]] = tuple(LATTICES)

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of the shear stress that is left, 1 - 1/tau."""
        return (1.0 - 1.0 / self.tau,)

    @staticmethod
    def relax_pairs(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for pairs of opposite populations; see `Collision.relax_pairs`."""
        from lbm.collisions.moments import moments_of
        from lbm.collisions.unroll import matrix_product

        tools = moments_of(lattice)
        moments, non_equilibrium, second_moments, join_parts = tools[:4]
        parts_of_moments = matrix_product(tools.to_parts)
        raw_moments = _make_raw_moments(lattice)

        def relax(f: Any, pairs: Any, rates: Any) -> Any:
            T = type(f[0])
            third = T(1.0 / 3.0)
            share = rates[0]
            drho, jx, jy, jz = moments(f)
            inverse = T(1) / (T(1) + drho)
            u = jx * inverse, jy * inverse, jz * inverse
            xx, yy, zz, xy, xz, yz = second_moments(non_equilibrium(f, pairs))
            mean = third * ((xx + yy) + zz)
            # Central moments less those of equilibrium after the collision: the trace is gone.
            xx, yy, zz = share * (xx - mean), share * (yy - mean), share * (zz - mean)
            xy, xz, yz = share * xy, share * xz, share * yz
            raw = raw_moments(drho, (jx, jy, jz), u, (xx, yy, zz, xy, xz, yz))
            parts = parts_of_moments(raw)
            return join_parts(parts, parts)

        return relax

    @staticmethod
    def relax_moments(lattice: Lattice) -> Callable[..., Any]:
        """Make the operator for ten moments, of whose stress the trace is not used; see
        `Collision.relax_moments`."""
        from lbm.collisions.moments import moments_of, relax_stress
        from lbm.collisions.unroll import matrix_product

        join_parts = moments_of(lattice).join_parts
        parts_of_moments = matrix_product(moments_of(lattice).to_parts)
        raw_moments = _make_raw_moments(lattice)

        def relax(drho: Any, j: Any, u: Any, stress: Any, rates: Any) -> Any:
            (xx, yy, zz, xy, xz, yz), _ = relax_stress(j, u, stress, rates[0])
            mean = type(drho)(1.0 / 3.0) * ((xx + yy) + zz)
            p = xx - mean, yy - mean, zz - mean, xy, xz, yz
            parts = parts_of_moments(raw_moments(drho, j, u, p))
            return join_parts(parts, parts)

        return relax

    def reference_collide(self, f: np.ndarray, e: np.ndarray) -> np.ndarray:
        """Return the populations after the collision, by solving for their moments of c - u."""
        return collide_central_moments(f, self.tau)


def collide_central_moments(f: np.ndarray, tau: float | np.ndarray) -> np.ndarray:
    """Relax the moments of c - u of each cell, and solve for the populations that have them."""
    from lbm.collisions.moments import powers_of

    lattice = lattice_of_size(len(f))
    c, powers = np.array(lattice.velocities, float), np.array(powers_of(lattice))
    rho = f.sum(axis=0)
    u = np.tensordot(c.T, f, 1) / rho
    # relative[..., q, a] = c_qa - u_a; the matrix of moments has a row for each monomial.
    relative = c - np.moveaxis(u, 0, -1)[..., None, :]
    matrix = np.prod(relative[..., None, :, :] ** powers[:, None, :], axis=-1)
    before = np.einsum("xyzmq,qxyz->mxyz", matrix, f)
    after = np.zeros_like(f)  # momentum in the moving frame and odd moments are 0
    for k in np.flatnonzero((powers % 2 == 0).all(axis=1)):
        after[k] = rho / 3.0 ** (powers[k].sum() / 2)
    share = 1 - 1 / tau
    after[4:7] += share * (before[4:7] - before[4:7].mean(axis=0))
    after[7:10] = share * before[7:10]
    populations = np.linalg.solve(matrix, np.moveaxis(after, 0, -1)[..., None])[..., 0]
    return np.moveaxis(populations, -1, 0)


def _make_raw_moments(lattice: Lattice) -> Any:
    """Make raw_moments(drho, j, u, s), which returns the moments `moments.powers_of` of a lattice.

    They are those of populations less their weights with the momentum j = rho u, whose central
    moments are those of the Maxwell distribution and, in addition, the second moments s in the
    order of `moments.SECOND`.
    """
    from hetero.codegen import compile_source
    from lbm.collisions.unroll import inlined

    if not lattice.has_corners:
        return _make_raw_moments_of_edges()
    return inlined(compile_source("raw_moments", _raw_moments_source(lattice), {}))


def _make_raw_moments_of_edges() -> Any:
    """Make `raw_moments` for D3Q19."""
    from lbm.collisions.moments import third_moments
    from lbm.collisions.unroll import inlined

    @inlined
    def fourth(x: Any, y: Any, flux: Any, yy: Any, xy: Any) -> Any:
        """Return the moment of c_x^2 c_y^2 less its part at rest and rho (u_x^2 + u_y^2)/3."""
        return (y * y) * flux + (x * x) * yy + type(x)(4) * (x * y) * xy

    @inlined
    def raw_moments(drho: Any, j: Any, u: Any, s: Any) -> Any:
        third = type(drho)(1.0 / 3.0)
        (jx, jy, jz), (x, y, z), (xx, yy, zz, xy, xz, yz) = j, u, s
        ux, uy, uz = jx * x, jy * y, jz * z
        pressure, ninth = third * drho, third * (third * drho)
        flux = ux + xx, uy + yy, uz + zz
        t = third_moments(u, (flux[0], flux[1], flux[2], xy, xz, yz))
        return (
            drho, jx, jy, jz,
            pressure + flux[0], pressure + flux[1], pressure + flux[2],
            jx * y + xy, jx * z + xz, jy * z + yz,
            third * jy + t[0], third * jz + t[1], third * jx + t[2],
            third * jz + t[3], third * jx + t[4], third * jy + t[5],
            ninth + third * (ux + uy) + fourth(x, y, flux[0], yy, xy),
            ninth + third * (ux + uz) + fourth(x, z, flux[0], zz, xz),
            ninth + third * (uy + uz) + fourth(y, z, flux[1], zz, yz),
        )  # fmt: skip

    return raw_moments


def _raw_moments_source(lattice: Lattice) -> str:
    """Write out `raw_moments` for a lattice with corners, one axis after the other.

    Along an axis with the velocity v, central moments k0, k1, k2 of the orders 0, 1, 2 become raw
    ones: k0, k1 + v k0 and k2 + 2 v k1 + v^2 k0. All are less those of the weights, which are 1/3
    to the number of twos among the orders, or 0; where k0 is multiplied by v, it is whole.
    """
    from lbm.collisions.moments import SECOND, powers_of

    lines = ["def raw_moments(drho, j, u, s):", "    T = type(drho)"]
    moments: dict[tuple[int, ...], str] = {(0, 0, 0): "drho"}
    for powers in itertools.product((0, 2), repeat=3):
        if any(powers):
            moments[powers] = f"T({3.0 ** (-sum(powers) / 2)!r}) * drho"
    for k, (a, b) in enumerate(SECOND):
        second = tuple((axis == a) + (axis == b) for axis in range(3))
        moments[second] = " + ".join(filter(None, (moments.get(second), f"s[{k}]")))
    for axis, others in itertools.product(range(3), itertools.product(range(3), repeat=2)):
        zero, one, two = ((*others[:axis], order, *others[axis:]) for order in range(3))
        k0, k1, k2 = moments.get(zero), moments.get(one), moments.get(two)
        once, twice = (f"m{axis}{''.join(map(str, order))}" for order in (one, two))
        at_rest = "" if any(x % 2 for x in others) else f" + T({3.0 ** (-sum(others) / 2)!r})"
        moved = f"j[{axis}]"
        if any(others):
            moved = f"u[{axis}] * ({k0}{at_rest})" if k0 else ""
        if k1 or moved:
            lines.append(f"    {once} = {' + '.join(filter(None, (k1, moved)))}")
            shift = f"u[{axis}] * {f'({k1} + {once})' if k1 else once}"
            lines.append(f"    {twice} = {' + '.join(filter(None, (k2, shift)))}")
            moments |= {one: once, two: twice}
    results = ", ".join(moments[powers] for powers in powers_of(lattice))
    return "\n".join([*lines, f"    return ({results})", ""])

"""A reference implementation in NumPy, slow and obvious, for the tests and for reading.

It keeps unshifted populations in two arrays and treats walls by masks. It shares the lattices and
the description of boundary conditions with the rest of the package, and nothing else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lbm import boundaries as b
from lbm.boundaries.sponge import Sponge, check_sponges
from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.collisions.operator import Collision
from lbm.lattices import D3Q19, Lattice
from lbm.reference.walls import Cut, ReferenceWalls


def equilibrium(rho: np.ndarray, u: np.ndarray, lattice: Lattice = D3Q19) -> np.ndarray:
    """Return the equilibrium (Riesinger 2017, equation 13.4, with u.u in its last term).

    rho is an array [x, y, z], u an array [c, x, y, z].
    """
    square = (u**2).sum(axis=0)
    f = np.empty((lattice.size, *rho.shape))
    for q, (c, w) in enumerate(zip(lattice.velocities, lattice.weights, strict=True)):
        cu = sum(c[i] * u[i] for i in range(3))
        f[q] = w * rho * (1.0 + 3.0 * cu + 4.5 * cu**2 - 1.5 * square)
    return f


class Reference(ReferenceWalls):
    """A flow like `Simulation`, computed in float64.

    Parameters
    ----------
    shape, collision, boundaries, force, sponges, lattice : the same as for `Simulation`
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        collision: Collision,
        boundaries: Mapping[str, b.Condition | b.Solid] | None = None,
        force: Sequence[float] | Callable[[float], Sequence[float]] = (0.0, 0.0, 0.0),
        sponges: Mapping[str, Sponge | int] | None = None,
        lattice: Lattice = D3Q19,
    ):
        super().__init__(shape, boundaries, lattice)
        self.collision, self.steps, self._force = collision, 0, force
        self.sponges = check_sponges(sponges, shape, self.faces)
        self.set(np.ones(shape), np.zeros((3, *shape)))

    @property
    def force(self) -> np.ndarray:
        """The body force at the beginning of the next step."""
        return np.asarray(self._force(self.steps) if callable(self._force) else self._force, float)

    def set(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start from the equilibrium; u includes half of the force's impulse."""
        self.f = equilibrium(rho, u - 0.5 * self.force[:, None, None, None] / rho, self.lattice)
        self.memories = {
            k: face.start_memory(rho - 1.0, (2 * (k % 2) - 1) * u[k // 2])
            for k, face in enumerate(self.faces)
            if face.responds
        }
        grid = np.meshgrid(*(np.arange(n) + 0.5 for n in self.shape), indexing="ij")
        ones = np.ones((3, *self.shape))
        self.viscosity = np.zeros(self.shape)
        self.targets = {
            name: np.array(
                u if s.u is None else ones * np.array([c * ones[0] for c in s.u(*grid)])
                if callable(s.u) else ones * np.array(s.u)[:, None, None, None]
            )
            for name, s in self.sponges.items()
        }  # fmt: skip

    def damp(self) -> None:
        """Relax the cells of sponges towards their targets, which follow the flow."""
        for name, sponge in self.sponges.items():
            axis, at_end = "xyz".index(name[0]), name[1] == "+"
            profile = (np.arange(sponge.cells) + 0.5) ** 2
            profile *= -0.5 / np.sqrt(3.0) * np.log(sponge.reflection) / profile.sum()
            strength = np.zeros(self.shape[axis])
            strength[-sponge.cells :] = profile
            strength = strength if at_end else strength[::-1]
            strength = np.expand_dims(strength, [a for a in range(3) if a != axis])
            target, (_, u) = self.targets[name], self.moments()
            rho = np.full(self.shape, sponge.rho)
            moving = target - 0.5 * self.force[:, None, None, None] / rho
            e = equilibrium(rho, moving, self.lattice)
            self.f += np.where(self.fluid, strength, 0.0) * (e - self.f)
            if sponge.u is None:
                target += np.where(strength > 0, (u - target) / sponge.averaging, 0.0)

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Return rho and u; solid cells have density 1 and velocity 0."""
        rho = self.f.sum(axis=0)
        j = np.tensordot(np.array(self.lattice.velocities, float).T, self.f, 1)
        u = (j + 0.5 * self.force[:, None, None, None]) / rho
        return np.where(self.fluid, rho, 1.0), np.where(self.fluid, u, 0.0)

    def update_viscosity(self) -> None:
        """Compute the eddy viscosity anew, if the operator has one and it is time."""
        model = self.collision
        if isinstance(model, EddyViscosityModel) and self.steps % model.every == 0:
            self.viscosity = model.reference_viscosity(self.gradient())

    def gradient(self) -> np.ndarray:
        """Return du_i/dx_j [i, j, x, y, z] of the velocity.

        Differences are one-sided beside walls, and 0 between two of them.
        """
        u, everywhere = self.moments()[1], (slice(1, -1),) * 3
        gradient = np.zeros((3, *u.shape))
        for axis in range(3):
            steps, total = np.zeros(self.shape), np.zeros(u.shape)
            for side in (-1, 1):
                beside = list(everywhere)
                beside[axis] = slice(1 + side, self.shape[axis] + 1 + side)
                is_fluid = (self.labels[tuple(beside)] == 0) & self.fluid
                difference = side * (np.roll(u, -side, 1 + axis) - u)
                total += np.where(is_fluid, difference, 0.0)
                steps += is_fluid
            gradient[:, axis] = total / np.maximum(steps, 1.0)
        return gradient

    def collide(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the populations after the collision, and the velocity that it has used."""
        rho, u = self.moments()
        e = equilibrium(rho, u, self.lattice)
        s = np.empty_like(self.f)
        for q, w in enumerate(self.lattice.weights):  # Guo, Zheng, Shi (2002)
            c = np.array(self.lattice.velocities[q], float)[:, None, None, None]
            drive = 3.0 * (c - u) + 9.0 * (c * u).sum(axis=0) * c
            s[q] = w * np.tensordot(self.force, drive, 1)
        collide: Callable[..., np.ndarray] = self.collision.reference_collide
        if isinstance(self.collision, EddyViscosityModel):
            collide = functools.partial(collide, viscosity=self.viscosity)
        if self.collision.is_linear:  # (1 - Omega/2) S, where Omega S is the collision of 0 with S
            return collide(self.f, e) + s - collide(np.zeros_like(s), s) / 2, u
        return collide(self.f + s / 2, e) + s / 2, u

    def step(self) -> None:
        """Do one step: damp, collide, stream, and reflect at walls."""
        self.update_viscosity()
        self.damp()
        after, u = self.collide()
        for q, back in enumerate(self.lattice.opposite):
            self.f[back] = np.roll(after[back], self.lattice.velocities[back], (0, 1, 2))
            label = self.ends[q]
            for k in np.unique(label[(label > 0) & self.fluid]):
                cells = (label == k) & self.fluid
                condition, slip = self.conditions[k]
                self.f[back][cells] = self._reflected(q, after[q], u, condition)[cells]
                if slip:
                    self._mirror(q, after, cells, slip)
        self._interpolate(after)
        self._bend_at_outlets()
        self._respond()
        self.steps += 1

    def _bend_at_outlets(self) -> None:
        """Add the shear stress in the plane of outlets that walls with friction touch."""
        lattice, collision = self.lattice, self.collision
        c, w = np.array(lattice.velocities, float), lattice.weights
        magic = collision.magic
        tau, odd = collision.tau, 1.0 if magic is None else 0.5 + magic / (collision.tau - 0.5)
        slow = max(odd, 3 / 16 / (tau - 0.5))
        for face, condition in enumerate(self.faces):
            axis, sign = face // 2, 2 * (face % 2) - 1
            layer = np.zeros(self.shape, bool)
            np.moveaxis(layer, axis, 0)[-1 if sign > 0 else 0] = True
            beside = [end for k, end in enumerate(self.faces) if k // 2 != axis]
            touches = any(end.has_friction for end in beside)
            if not condition.is_outlet:
                continue
            if not touches and self.fluid[layer].all():
                continue
            straight = lattice.velocities.index(tuple(int(v) for v in sign * np.eye(3)[axis]))
            f, along = self.f.copy(), np.eye(3)[axis]
            rho = f.sum(axis=0)
            u = np.tensordot(c.T, f, 1) / rho
            n = f - equilibrium(rho, u, lattice)
            time = tau + 2 * odd * sign * u[axis]
            per_time = np.where(time > tau / 2, 1 / np.where(time > tau / 2, time, 1), 0)
            for q in range(lattice.size):
                turned = tuple(int(v) for v in np.where(along, c[q], -c[q]))
                if sign * c[q][axis] <= 0 or q == straight:
                    continue
                mirror = lattice.velocities.index(turned)
                cells = layer & self.ends_at(q, condition, axis) & self.stays_beside(q, axis)
                shear = (n[q] - n[mirror]) / 2
                curve = (n[q] + n[mirror]) / 2 - w[q] / w[straight] * n[straight]
                added = (2 * tau - 1 - 2 * sign * u[axis]) * shear * per_time - curve / slow
                added *= np.clip(2 - np.abs(u[axis]) / (5 * (tau - 0.5) / 3), 0, 1)
                self.f[lattice.opposite[q]][cells] += added[cells]

    def _respond(self) -> None:
        """Let the faces that respond to the flow correct what they have returned."""
        c, w, size = self.lattice.velocities, self.lattice.weights, self.lattice.size
        for face, condition in enumerate(self.faces):
            if not condition.responds:
                continue
            axis, sign = face // 2, 2 * (face % 2) - 1
            layer = np.zeros(self.shape, bool)
            np.moveaxis(layer, axis, 0)[-1 if sign > 0 else 0] = True
            layer &= self.fluid
            links = {q: layer & self.ends_at(q, condition, axis)
                     for q in range(size) if sign * c[q][axis] > 0}  # fmt: skip
            share = sum(2 * w[q] * cells for q, cells in links.items())
            rho = self.f.sum(axis=0)
            j = sign * sum(c[q][axis] * self.f[q] for q in range(size))
            before = self.memories[face]
            change, after = condition.reference_respond(rho, j, share, before)
            for q, cells in links.items():
                self.f[self.lattice.opposite[q]] += 2 * w[q] * cells * change
            self.memories[face] = np.where(layer, after, before)

    def _interpolate(self, after: np.ndarray) -> None:
        """Replace what interpolated walls return (Bouzidi et al. 2001, equation 5).

        Between two walls that are one cell apart, each depends on what the other returns: the
        equations are repeated until nothing changes.
        """
        change, opposite = 1.0, self.lattice.opposite
        while change > 1e-17:
            change = 0.0
            for cut in self.cuts:
                returned = self._returned_by(cut, after)
                before = self.f[opposite[cut.q]][cut.cells]
                change = max(change, float(np.abs(returned - before).max()))
                self.f[opposite[cut.q]][cut.cells] = returned
        if any(c.is_outlet or c.is_equilibrium for c in self.faces):
            return
        excess, weight = 0.0, 0.0
        for q, cells, *_ in self.cuts:
            excess += float((self.f[opposite[q]][cells] - after[q][cells]).sum())
            weight += self.lattice.weights[q] * len(cells[0])
        for q, cells, *_ in self.cuts:
            self.f[opposite[q]][cells] -= self.lattice.weights[q] * excess / weight

    def _returned_by(self, cut: Cut, after: np.ndarray) -> np.ndarray:
        """Return what a wall sends back along the links of a cut."""
        q, cells, d, points, condition = cut
        c, w, back = self.lattice.velocities[q], self.lattice.weights[q], self.lattice.opposite[q]
        push = np.zeros(len(d))
        if condition.moves:
            velocity = condition.at([*points], self.steps + 0.5)
            push = push + 6 * w * sum(c[a] * velocity[a] for a in range(3))
        with np.errstate(divide="ignore"):
            far = after[q][cells] / (2 * d) + (1 - 1 / (2 * d)) * after[back][cells]
            far -= push / (2 * d)
        near = 2 * d * after[q][cells] + (1 - 2 * d) * self.f[q][cells] - push
        return np.where(d < 0.5, near, far)

    def _mirror(self, q: int, after: np.ndarray, cells: np.ndarray, slip: tuple[int, ...]) -> None:
        """Send back the mirror image of q in those cells in which that is mirrored as well."""
        image, mirrored = self.is_mirrored(q, cells, slip)
        self.f[self.lattice.opposite[q]][mirrored] = after[image][mirrored]

    def _reflected(
        self, q: int, f: np.ndarray, u: np.ndarray, condition: b.Condition
    ) -> np.ndarray:
        """Return what a wall sends back for the populations f that move with c_q."""
        c, w = np.array(self.lattice.velocities[q], float), self.lattice.weights[q]
        points = [np.arange(n) + 0.5 + 0.5 * s for n, s in zip(self.shape, c, strict=True)]
        grid, t = np.meshgrid(*points, indexing="ij"), self.steps + 0.5
        return condition.reference_return(f, w, c, u, condition.at(grid, t))

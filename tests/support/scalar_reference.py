"""A flow with scalars in NumPy, slow and obvious: `lbm.reference` beside a lattice D3Q7."""

import numpy as np

import lbm
from lbm.reference import Reference

DIRECTIONS = np.array(
    [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
)
"""Velocities; those that follow each other are opposite."""

FACES = ("x-", "x+", "y-", "y+", "z-", "z+")


class ScalarReference:
    """A flow that carries one scalar; the arguments are those of `Simulation`."""

    def __init__(
        self, shape, collision, scalar, boundaries=None, force=(0.0, 0.0, 0.0), lattice=lbm.D3Q19
    ):
        self.flow = Reference(shape, collision, boundaries, force, lattice=lattice)
        self.scalar, self.shape = scalar, shape
        self.buoyancy = np.array(scalar.buoyancy)[:, None, None, None]

    def set(self, rho, u, values):
        values = np.broadcast_to(values, self.shape)
        self.g = self.equilibrium(values, u)
        self.flow.set(rho, u - self.drive() / (2 * rho))

    @property
    def values(self):
        return np.where(self.flow.fluid, self.g.sum(axis=0), 0.0)

    def drive(self):
        """Return the force of the scalar [c, x, y, z]."""
        return np.where(self.flow.fluid, self.buoyancy * (self.values - self.scalar.reference), 0.0)

    def moments(self):
        rho, u = self.flow.moments()
        return rho, u + self.drive() / (2 * rho)

    def step(self):
        (_, u), force = self.moments(), self.drive()
        lattice = self.flow.lattice
        c_q = np.array(lattice.velocities, float)[..., None, None, None]
        for q, c in enumerate(c_q):  # Guo, Zheng, Shi (2002)
            drive = 3.0 * (c - u) + 9.0 * (c * u).sum(axis=0) * c
            self.flow.f[q] += lattice.weights[q] * (drive * force).sum(axis=0)
        self.step_scalar(u)
        self.flow.step()

    @staticmethod
    def equilibrium(s, u):
        e = [s * (0.25 - (u**2).sum(axis=0))]
        for c in DIRECTIONS[1:]:
            along = (c[:, None, None, None] * u).sum(axis=0)
            e.append(s / 8 * (1 + 4 * along + 4 * along**2))
        return np.array(e)

    def step_scalar(self, u):
        s, d = self.values, self.scalar.diffusivity
        tau_odd = 0.5 + 4 * d
        tau_even = 0.5 + self.scalar.magic / (tau_odd - 0.5)
        n = self.g - self.equilibrium(s, u)
        opposite = n[[0, 2, 1, 4, 3, 6, 5]]
        after = self.g - (n + opposite) / (2 * tau_even) - (n - opposite) / (2 * tau_odd)
        new = after.copy()
        for q in range(1, 7):
            new[q] = np.roll(after[q], DIRECTIONS[q], (0, 1, 2))
        for q in range(1, 7):
            back = q + 1 if q % 2 else q - 1
            for wall, cells, is_open in self.walls(q):
                new[back][cells] = self.returned(wall, after[q], s, u[(q - 1) // 2], is_open)[cells]
        self.interpolate(after, new)
        self.g = new

    def interpolate(self, after, new):
        """Replace what interpolated walls with a value return (Ginzburg 2005, linear).

        Between two of them each depends on the other: the equations are repeated.
        """
        names = {id(solid.condition): name for name, solid in self.flow.solids.items()}
        for cut in self.flow.cuts * 60:
            match = np.flatnonzero(
                (np.array(self.flow.lattice.velocities[cut.q]) == DIRECTIONS).all(axis=1)
            )
            wall = self.scalar.boundaries.get(names[id(cut.condition)])
            if not len(match) or not isinstance(wall, lbm.FixedValue):
                continue
            q, d, v = match[0], cut.distance, wall.value
            back = q + 1 if q % 2 else q - 1
            h = after[q][cut.cells]
            with np.errstate(divide="ignore"):
                far = v / (8 * d) - h / (2 * d) + (1 - 1 / (2 * d)) * after[back][cut.cells]
            near = v / 4 - 2 * d * h - (1 - 2 * d) * new[q][cut.cells]
            new[back][cut.cells] = np.where(d < 0.5, near, far)

    def walls(self, q):
        """Yield (condition, cells beside it in the direction q, is it an inlet or outlet)."""
        axis, face = (q - 1) // 2, FACES[(q - 1) // 2 * 2 + q % 2]
        beyond = np.zeros(self.shape, bool)
        condition = self.flow.faces[FACES.index(face)]
        given = self.scalar.boundaries
        opens = lbm.VelocityInlet | lbm.PressureOutlet
        if not isinstance(condition, lbm.Periodic):
            np.moveaxis(beyond, axis, 0)[-1 if q % 2 else 0] = True
            yield (
                given.get(face, given.get(face[0])),
                beyond & self.flow.fluid,
                isinstance(condition, opens),
            )
        for name, solid in self.flow.solids.items():
            beside = np.roll(solid.mask(self.shape), -DIRECTIONS[q], (0, 1, 2)) & ~beyond
            yield given.get(name), beside & self.flow.fluid, isinstance(solid.condition, opens)

    @staticmethod
    def returned(wall, h, s, u, is_open):
        if isinstance(wall, lbm.FixedValue):
            return wall.value * (0.25 + (u**2 if is_open else 0.0)) - h
        if wall is None and is_open:
            return s * (0.25 + u**2) - h
        return h + (0.0 if wall is None else wall.flux)

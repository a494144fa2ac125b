"""A reference implementation in NumPy, slow and obvious, for the tests and for reading.

It keeps unshifted populations in two arrays and treats walls by masks. It shares the lattices and
the description of boundary conditions with the rest of the package, and nothing else.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lbm import boundaries as b
from lbm.boundaries.sponge import Sponge, check_sponges
from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.geometry.periodic_images import repeat_solids
from lbm.lattices import D3Q19, Lattice

if TYPE_CHECKING:
    from lbm.collisions.operator import Collision

_Entry = tuple[b.Condition, tuple[int, ...]]
"""A condition, and the axes in which it mirrors."""


class _Cut(NamedTuple):
    """Links q of cells (x, y, z) at whose share `distance` [link] the surface of a body stands.

    `points` [(x, y, z), link] are these places, and `condition` is that of the body.
    """

    q: int
    cells: tuple[np.ndarray, ...]
    distance: np.ndarray
    points: np.ndarray
    condition: b.Condition


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


def _without_component(wall: b.Condition, axis: int) -> b.MovingWall:
    """Return a wall with a velocity, or a function of it, with 0 as the component along an axis."""
    if not wall.depends_on:
        x, y, z = (0.0 if a == axis else v for a, v in enumerate(wall.prescribed))
        return b.MovingWall((x, y, z))
    return b.MovingWall(
        lambda x, y, z, t: [0.0 if a == axis else v for a, v in enumerate(wall.at((x, y, z), t))]
    )


class Reference:
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
        self.shape, self.collision, self.steps = shape, collision, 0
        self._force, self.lattice = force, lattice
        self.faces, solids = b.split_boundaries(boundaries)
        self.solids = repeat_solids(solids, shape, self.faces)
        self.sponges = check_sponges(sponges, shape, self.faces)
        self.labels = self._label_cells()
        self.fluid = self.labels[1:-1, 1:-1, 1:-1] == 0
        self.ends = [self._labels_at_ends(c) for c in self.lattice.velocities]
        self.cuts = self._find_cuts()
        self.set(np.ones(shape), np.zeros((3, *shape)))

    def _label_cells(self) -> np.ndarray:
        """Label all cells and a layer around them with indices of `conditions`; 0 is fluid."""
        self.conditions: list[_Entry] = [(b.NoSlip(), ())]  # entry 0, of fluid, is not used
        labels = np.zeros(tuple(n + 2 for n in self.shape), int)
        inside = np.zeros(self.shape, int)
        for solid in self.solids.values():
            self.conditions.append((solid.bounce, ()))
            inside[solid.mask(self.shape)] = len(self.conditions) - 1
        labels[1:-1, 1:-1, 1:-1] = inside
        periodic = [self.faces[2 * a].is_periodic for a in range(3)]
        for end in itertools.product((-1, 0, 1), repeat=3):
            crossed = [a for a in range(3) if end[a] and not periodic[a]]
            if not any(end):
                continue
            region = tuple({-1: slice(0, 1), 0: slice(1, -1), 1: slice(-1, None)}[e] for e in end)
            walls: list[Any] = [self.faces[2 * a + (end[a] > 0)] for a in crossed]
            if len(crossed) > 1:
                self.conditions.append(self._at_edge(walls, crossed))
                labels[region] = len(self.conditions) - 1
                continue
            # Behind a periodic face there is a copy of the cells at the other side. Behind another
            # face the cells before it count, because a solid continues behind it.
            near = {-1: slice(0, 1), 0: slice(None), 1: slice(-1, None)}
            far = {-1: slice(-1, None), 0: slice(None), 1: slice(0, 1)}
            beside = inside[tuple((near if a in crossed else far)[e] for a, e in enumerate(end))]
            labels[region] = self._behind(beside, crossed[0], walls[0]) if crossed else beside
        return labels

    def _at_edge(self, walls: Sequence[b.Condition], crossed: Sequence[int]) -> _Entry:
        """Return (condition, axes in which it mirrors) behind one or more faces."""
        slip = tuple(a for a, wall in zip(crossed, walls, strict=True) if wall.mirrors)
        others = [wall for wall in walls if not wall.mirrors]
        strongest = min(walls, key=lambda wall: wall.rank)
        if slip and all(wall.is_open for wall in others):
            return strongest, slip
        closed = len(walls) > 1 and not any(wall.is_open for wall in walls)
        return (b.NoSlip() if closed else strongest), ()

    def _behind(self, beside: np.ndarray, axis: int, face: b.Condition) -> np.ndarray:
        """Return the labels behind a face; `beside` has those of the cells before it."""
        labels = np.empty_like(beside)
        for k in np.unique(beside):
            entry: _Entry = face, ((axis,) if face.mirrors else ())
            if k:
                body = list(self.solids.values())[k - 1]
                solid = body.bounce if face.mirrors else body.condition
                entry = self._at_edge([face, solid], [axis, -1])  # a solid has no axis
                if solid.moves and not face.is_open:
                    entry = _without_component(solid, axis), ()
            self.conditions.append(entry)
            labels[beside == k] = len(self.conditions) - 1
        return labels

    def _labels_at_ends(self, c: Sequence[int]) -> np.ndarray:
        """Return the labels at the ends of the links c of all cells.

        If each path of steps along the axes meets a solid, that is a solid on one of the paths.
        """
        labels = self._labels_at(c).copy()
        axes, count = [a for a in range(3) if c[a]], len(self.solids)
        for axis in (None, *axes):  # None: within the domain; otherwise behind a face across it
            along = [0 if a == axis else k for a, k in enumerate(c)]
            closed, met = (labels if axis is None else self._labels_at(along)) == 0, []
            for path in itertools.permutations(a for a in axes if a != axis):
                steps = [
                    [k * (a in path[:n]) for a, k in enumerate(c)] for n in range(1, len(path))
                ]
                between = [self._labels_at(step) for step in steps]
                met += between
                closed &= np.any([(k > 0) & (k <= count) for k in between], axis=0)
            if axis is not None:
                index = -1 if c[axis] > 0 else 0
                at_face = np.zeros(self.shape, bool)
                np.moveaxis(at_face, axis, 0)[index] = not self.faces[2 * axis].is_periodic
                closed &= at_face
            if not met or not closed.any():
                continue
            solids = list(self.solids.values())
            ranks = [(solid.condition.rank, k) for k, solid in enumerate(solids, 1)]
            strongest = np.array([
                min(ranks[k[cell] - 1] for k in met if 0 < k[cell] <= count)[1]
                for cell in zip(*np.nonzero(closed), strict=True)
            ])  # fmt: skip
            if axis is not None:
                face: Any = self.faces[2 * axis + (c[axis] > 0)]
                strongest = self._behind(strongest, axis, face)
            labels[closed] = strongest
        return labels

    def _find_cuts(self) -> list[_Cut]:
        """Find where interpolated walls cut links, by bisection between fluid and solid ends.

        Links that a free-slip face mirrors into such a wall are left out.
        """
        cuts = []
        for k, solid in enumerate(self.solids.values(), 1):
            for q in range(1, self.lattice.size) if solid.is_interpolated else ():
                c = np.array(self.lattice.velocities[q], float)[:, None]
                cells = np.nonzero((self.ends[q] == k) & self.fluid)
                if not len(cells[0]):
                    continue
                start = (np.stack(cells) + c) % np.array(self.shape)[:, None]
                start = start + 0.5 - c
                # A link between two fluid cells may miss the body, or cross it.
                steps = np.linspace(0.0, 1.0, 1001)
                inside = np.array([solid.cells(*(start + s * c)) for s in steps])  # type: ignore[operator]
                high = np.where(inside.any(axis=0), steps[inside.argmax(axis=0)], 0.5)
                low = np.where(inside.any(axis=0), np.maximum(high - 1e-3, 0.0), 0.5)
                for _ in range(60):
                    middle = (low + high) / 2.0
                    inside = np.asarray(solid.cells(*(start + middle * c)))  # type: ignore[operator]
                    low, high = np.where(inside, low, middle), np.where(inside, middle, high)
                points = np.stack(cells) + 0.5 + high * c
                cuts.append(_Cut(q, cells, high, points, solid.condition))
        return cuts

    def _labels_at(self, c: Sequence[int]) -> np.ndarray:
        """Return the labels of the cells at c from all cells."""
        return self.labels[
            tuple(slice(1 + s, 1 + s + n) for s, n in zip(c, self.shape, strict=True))
        ]

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
            rise = (np.arange(sponge.cells) + 0.5) ** 2
            rise *= -0.5 / np.sqrt(3.0) * np.log(sponge.reflection) / rise.sum()
            strength = np.zeros(self.shape[axis])
            strength[-sponge.cells :] = rise
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
                rise = side * (np.roll(u, -side, 1 + axis) - u)
                total += np.where(is_fluid, rise, 0.0)
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
                cells = layer & self._ends_at(q, condition, axis) & self._stays_beside(q, axis)
                shear = (n[q] - n[mirror]) / 2
                curve = (n[q] + n[mirror]) / 2 - w[q] / w[straight] * n[straight]
                added = (2 * tau - 1 - 2 * sign * u[axis]) * shear * per_time - curve / slow
                added *= np.clip(2 - np.abs(u[axis]) / (5 * (tau - 0.5) / 3), 0, 1)
                self.f[lattice.opposite[q]][cells] += added[cells]

    def _stays_beside(self, q: int, axis: int) -> np.ndarray:
        """Return the cells whose links q leave through no face that is not across the axis."""
        cells = np.ones(self.shape, bool)
        for other in range(3):
            step = self.lattice.velocities[q][other]
            if other != axis and step and not self.faces[2 * other].is_periodic:
                np.moveaxis(cells, other, 0)[-1 if step > 0 else 0] = False
        return cells

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
            links = {q: layer & self._ends_at(q, condition, axis)
                     for q in range(size) if sign * c[q][axis] > 0}  # fmt: skip
            share = sum(2 * w[q] * cells for q, cells in links.items())
            rho = self.f.sum(axis=0)
            j = sign * sum(c[q][axis] * self.f[q] for q in range(size))
            before = self.memories[face]
            change, after = condition.reference_respond(rho, j, share, before)
            for q, cells in links.items():
                self.f[self.lattice.opposite[q]] += 2 * w[q] * cells * change
            self.memories[face] = np.where(layer, after, before)

    def _ends_at(self, q: int, condition: b.Condition, axis: int) -> np.ndarray:
        """Return the cells whose link q ends at an inlet or an outlet across an axis.

        Beyond an edge of two inlets or of two outlets, all links belong to that of the first axis.
        """
        c = self.lattice.velocities[q]
        cells = np.zeros(self.shape, bool)
        for k, (wall, slip) in enumerate(self.conditions):
            if wall is condition:
                here = self.ends[q] == k
                cells |= here & ~self._is_mirrored(q, here, slip)[1] if slip else here
        for other in range(axis):
            outside = np.moveaxis(cells, other, 0)
            for side, index in ((-1, 0), (1, -1)):
                face = self.faces[2 * other + (side > 0)]
                if c[other] == side and face.is_open and face.prescribes == condition.prescribes:
                    outside[index] = False
        return cells

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

    def _returned_by(self, cut: _Cut, after: np.ndarray) -> np.ndarray:
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
        image, mirrored = self._is_mirrored(q, cells, slip)
        self.f[self.lattice.opposite[q]][mirrored] = after[image][mirrored]

    def _is_mirrored(
        self, q: int, cells: np.ndarray, slip: tuple[int, ...]
    ) -> tuple[int, np.ndarray]:
        """Return the mirror image of q, and those of the cells in which that is mirrored too."""
        velocities = self.lattice.velocities
        turned = [c if a in slip else -c for a, c in enumerate(velocities[q])]
        image = velocities.index((turned[0], turned[1], turned[2]))
        same = [k for k, entry in enumerate(self.conditions) if k and entry[1] == slip]
        return image, cells & np.isin(self.ends[image], same)

    def _reflected(
        self, q: int, f: np.ndarray, u: np.ndarray, condition: b.Condition
    ) -> np.ndarray:
        """Return what a wall sends back for the populations f that move with c_q."""
        c, w = np.array(self.lattice.velocities[q], float), self.lattice.weights[q]
        points = [np.arange(n) + 0.5 + 0.5 * s for n, s in zip(self.shape, c, strict=True)]
        grid, t = np.meshgrid(*points, indexing="ij"), self.steps + 0.5
        return condition.reference_return(f, w, c, u, condition.at(grid, t))

"""The moving bodies of a flow: their cells, their poses, and what they take from the fluid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.moving_bodies import formulas
from lbm._coupled.moving_bodies.bounce_formulas import make_bounce
from lbm._coupled.moving_bodies.cover_formulas import make_cover
from lbm._coupled.moving_bodies.formulas import (
    CHUNK,
    COUNT,
    FORCE,
    FRESH,
    MASS,
    MOMENTUM,
    OVERLAP,
    POSE,
    SUMS,
    TORQUE,
    UNIT,
)  # fmt: skip
from lbm._coupled.moving_bodies.poses import Path
from lbm._coupled.moving_bodies.refill_formulas import make_refill
from lbm._coupled.moving_bodies.shapes import make_shape
from lbm._domain.domain import Domain
from lbm._kernels.items.store import Store
from lbm._kernels.problem import Problem
from lbm.boundaries import Condition, Solid
from lbm.boundaries.motion import check_motion

AHEAD = 32
"""Steps whose poses go to a device at once: it need not wait for the host in each step."""

LANES = {"cpu": 16, "cuda": 1024}
"""Parts of a sum that are added up at the same time; not tuned."""


class MovingBody:
    """A solid that moves through the cells, and what it has taken from the fluid.

    Masses and momenta are those since the start, or since a state was restored from a file.
    """

    def __init__(
        self, name: str, number: int, solid: Solid, bodies: MovingBodies, faces: Sequence[Condition]
    ):
        self.name, self.solid, self._bodies = name, solid, bodies
        problem, store = bodies.problem, bodies.store
        shape, motions = make_shape(name, solid.cells), check_motion(solid.motion)
        bounds = getattr(solid.cells, "bounds", None)
        bounds = np.outer([-1.0, 1.0], [np.inf] * 3) if bounds is None else np.array(bounds)
        periodic = tuple(face.is_periodic for face in faces[::2])
        self._path = Path(name, motions, bounds, shape.middle, problem.shape, periodic)
        bx, by, bz = map(int, self._path.box)
        count, lanes = -(-bx // CHUNK) * by * bz, LANES[store.engine.device.kind]
        self._arm = 2.0 ** int(np.ceil(np.log2(np.linalg.norm(self._path.box))))
        size = [*problem.shape, problem.pitch, problem.lattice.size, bx, by, number]
        self._pose, self._first = store.zeros(AHEAD, POSE), store.zeros(AHEAD, 3, dtype=np.int64)
        self._clock = store.zeros(1, dtype=np.int64)
        self._totals = store.zeros(2, SUMS, dtype=np.int64)
        self._past = [0] * SUMS  # sums of all steps would overflow on the device in long runs
        partial = store.zeros(SUMS, count, dtype=np.int64)
        sums = store.zeros(SUMS, lanes, dtype=np.int64)
        shared = (
            store.put(np.array([*size, solid.is_interpolated])), self._pose, self._first,
            self._clock, store.put(shape.about(self._path.centre)), store.put(shape.grid), partial,
            store.T(1.0 / self._arm),
        )  # fmt: skip
        makes = make_bounce, make_cover, make_refill
        form = problem.precision.name
        self.loops = [
            [
                store.prepare(
                    make(form), count, store.flat_target(t), bodies.labels, bodies.classes,
                    bodies.masks, bodies.tables[t], *bodies.lattice, *shared,
                )
                for make in makes
            ]
            for t in (0, 1)
        ]  # fmt: skip
        gather = store.prepare(formulas.gather_sums, SUMS * lanes, partial, sums)
        finish = store.prepare(formulas.finish_step, SUMS, sums, self._totals, self._clock)
        self.sums = gather, finish

    def __repr__(self) -> str:
        return f"<moving body {self.name!r} at {tuple(self.centre.round(3).tolist())}>"

    @property
    def centre(self) -> np.ndarray:
        """Its centre in cells: of its rotation, or else of its shape, float64 [3]."""
        return self._path.pose(self._bodies.at).centre

    @property
    def rotation(self) -> np.ndarray:
        """The matrix [3, 3] by which its shape has turned."""
        return self._path.pose(self._bodies.at).rotation

    @property
    def mass_taken(self) -> float:
        """Mass that the fluid has lost to it: what it covers less what it leaves, and what its
        walls keep, in density times cells^3."""
        return self._total(1, MASS) + self._integer(1, COUNT)

    @property
    def momentum_taken(self) -> np.ndarray:
        """Momentum that the fluid has lost to it, float64 [3]."""
        return np.array([self._total(1, MOMENTUM + k) for k in range(3)])

    def force(self) -> np.ndarray:
        """Return the force of the last step, less the momentum of mass that moves with the body."""
        return np.array([self._total(0, FORCE + k) for k in range(3)])

    def torque(self, centre: np.ndarray) -> np.ndarray:
        """Return the torque of the last step about a point."""
        torque = np.array([self._total(0, TORQUE + k) for k in range(3)]) * self._arm
        middle = (self._path.pose(self._bodies.at - 1).centre + self.centre) / 2.0
        return torque + np.cross(middle - centre, self.force())

    @property
    def overlaps(self) -> bool:
        """Return whether it has run into another body."""
        return self._integer(1, OVERLAP) > 0

    def _integer(self, row: int, k: int) -> int:
        return int(self._bodies.store.get(self._totals)[row, k]) + row * self._past[k]

    def _total(self, row: int, k: int) -> float:
        return self._integer(row, k) * UNIT

    def describe(self) -> str:
        """Return shape, wall and motion in words."""
        motions = ", ".join(
            f"{type(m).__name__}({', '.join(_describe(v) for v in vars(m).values())})"
            for m in check_motion(self.solid.motion)
        )
        return f"moving {self.name}: {self.solid.cells!r}, wall={self.solid.wall!r}, {motions}"

    # ---- steps -------------------------------------------------------------------------------

    def set_poses(self, t: int) -> None:
        """Write the place at time t and the steps from t on to the device."""
        pose, first = np.zeros((AHEAD, POSE)), np.zeros((AHEAD, 3), np.int64)
        self._path.write_start(t, pose[0], first[0])
        for k in range(1, AHEAD):
            self._path.write_step(t + k - 1, pose[k], first[k])
        store = self._bodies.store
        store.set(self._pose, pose.astype(store.T))
        store.set(self._first, first)
        store.set(self._clock, np.zeros(1, np.int64))

    def mark(self) -> None:
        """Mark the cells of the first row of the poses, and go on to the first step."""
        state = self.copy_totals()
        for loop in (self.loops[0][1], *self.sums):
            loop()
        self.set_totals(*state)

    def skip_start(self) -> None:
        """Go on to the first step: the cells are marked."""
        self._bodies.store.set(self._clock, np.ones(1, np.int64))

    def carry(self) -> None:
        """Take the sums of all steps over from the device, where they would overflow."""
        now, past = self.copy_totals()
        self.set_totals(now * [[1], [0]], [p + int(n) for p, n in zip(past, now[1], strict=True)])

    def copy_totals(self) -> tuple[np.ndarray, list[int]]:
        """Return the sums on the device, and those that were taken over from it."""
        return self._bodies.store.get(self._totals), self._past

    def set_totals(self, totals: np.ndarray, past: list[int]) -> None:
        """Set the sums to what `copy_totals` has returned."""
        self._bodies.store.set(self._totals, totals)
        self._past = past


def _describe(value: Any) -> str:
    return type(value).__name__ if callable(value) else str(value)


class MovingBodies(Companion):
    """All solids of a flow that move through its cells.

    The kernels of a step take their cells for fluid. What belongs to the bodies is done after it.
    """

    def __init__(self, domain: Domain, solids: Mapping[str, Solid], faces: Sequence[Condition]):
        super().__init__(domain)
        engine = domain.engine
        self.problem: Problem = engine.problem
        problem, lattice = self.problem, self.problem.lattice
        store = self.store = Store(engine)
        self.labels = store.zeros(problem.cells, dtype=np.uint8)
        self.classes = store.put(problem.links.classes.ravel())
        self.masks = store.put(problem.links.masks)
        directions = np.column_stack([lattice.velocities, lattice.opposite]).astype(np.int64)
        self.lattice = store.put(directions), store.put(np.array(lattice.weights))
        self.tables = [store.put(self._addresses(1 - odd)) for odd in (0, 1)]
        self.at, self._marked, self._table, self._computed = 0, -1, -1, -1
        self.bodies = {
            name: MovingBody(name, k, solid, self, faces)
            for k, (name, solid) in enumerate(solids.items(), 1)
        }

    def _addresses(self, odd: int) -> np.ndarray:
        """Return where populations are loaded, and where if they come from walls [2, q, 4]."""
        access = self.problem.pattern.steps[odd]
        tables = access.load, access.wall
        return np.array([[(a.slot, *a.shift) for a in t] for t in tables], np.int64)

    def describe(self) -> str:
        """Return the bodies in words."""
        return "; ".join(body.describe() for body in self.bodies.values())

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start with nothing taken from the fluid."""
        for body in self.bodies.values():
            body.set_totals(np.zeros((2, SUMS), np.int64), [0] * SUMS)
        self._marked = self._computed = -1

    def after_step(self, t: int) -> None:
        """Let the bodies return populations after step t, and go on to where they are then."""
        self.mark(t)
        if t - self._table == AHEAD - 1:
            self._set_poses(t)
            for body in self.bodies.values():
                body.skip_start()
                body.carry()
        for loop in range(3):
            for body in self.bodies.values():
                body.loops[t % 2][loop]()
        for body in self.bodies.values():
            for add in body.sums:
                add()
        self.at = self._marked = self._computed = t + 1

    def mark(self, t: int) -> None:
        """Mark the cells of the bodies at time t, unless they are marked."""
        self.at = t
        if self._marked == t:
            return
        self.store.set(self.labels, np.zeros(self.problem.cells, np.uint8))
        self._set_poses(t)
        for body in self.bodies.values():
            body.mark()
        self._marked, self._computed = t, -1

    def _set_poses(self, t: int) -> None:
        for body in self.bodies.values():
            body.set_poses(t)
        self._table = t

    def fluid(self, t: int) -> np.ndarray:
        """Return the cells [z, y, x] that no body covers at time t."""
        self.mark(t)
        labels = self.store.get(self.labels)
        nx, ny, nz = self.problem.shape
        free: np.ndarray = (labels == 0) | (labels >= FRESH)
        return free.reshape(nz, ny, nx)

    def of_last_step(self, name: str, t: int) -> MovingBody:
        """Return a body whose force belongs to step t - 1."""
        if self._computed != t:
            raise ValueError(
                f"the force on {name!r}, which moves, is that of the last step that was computed "
                "here: run a step first"
            )
        return self.bodies[name]

    def require_finite(self, t: int) -> None:
        """Raise RuntimeError if a body has run into another one."""
        for name, body in self.bodies.items():
            if body.overlaps:
                raise RuntimeError(
                    f"boundaries[{name!r}] has run into another moving body before step {t}: "
                    "prescribe motions in which bodies keep a cell of fluid between them"
                )

    def copy_state(self, t: int) -> Any:
        """Return what the bodies have taken."""
        return [body.copy_totals() for body in self.bodies.values()]

    def return_to_state(self, t: int, state: Any) -> None:
        """Restore what the bodies had taken; their cells follow from the time."""
        for body, totals in zip(self.bodies.values(), state, strict=True):
            body.set_totals(*totals)
        self._marked = self._computed = -1

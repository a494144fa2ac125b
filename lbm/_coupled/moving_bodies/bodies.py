"""The moving bodies of a flow: their cells, their poses, and what they take from the fluid."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.moving_bodies import formulas
from lbm._coupled.moving_bodies.blocks import BodyBlock
from lbm._coupled.moving_bodies.borders import Borders
from lbm._coupled.moving_bodies.images import AHEAD, BlockBody, BodyTraits
from lbm._coupled.moving_bodies.poses import Path
from lbm._coupled.moving_bodies.shapes import make_shape
from lbm._coupled.moving_bodies.sums import Account
from lbm._coupled.scalars.field import ScalarField
from lbm._parallel.domain.domain import Domain
from lbm._parallel.neighbours import add_neighbours
from lbm.boundaries import Solid
from lbm.boundaries.motion import check_motion
from lbm.geometry.wall_links import SOLID_CLASS


class MovingBody:
    """A solid that moves through the cells, and what it has taken from the fluid.

    Masses and momenta are those since the start, or since a state was restored from a file. All
    ranks must read them.
    """

    def __init__(self, name: str, number: int, solid: Solid, bodies: MovingBodies):
        self.name, self.number, self.solid, self._bodies = name, number, solid, bodies
        self.shape, motions = make_shape(name, solid.cells), check_motion(solid.motion)
        bounds = getattr(solid.cells, "bounds", None)
        bounds = np.outer([-1.0, 1.0], [np.inf] * 3) if bounds is None else np.array(bounds)
        partition = bodies.domain.partition
        periodic = partition.periodic
        self.path = Path(name, motions, bounds, self.shape.middle, partition.shape, periodic)
        self.arm = 2.0 ** int(np.ceil(np.log2(np.linalg.norm(self.path.box))))
        self.borders = (
            Borders(bodies.domain, bodies.blocks, self.path.box) if any(partition.cut) else None
        )
        wraps = [(0, n, -n) if p and c else (0,) for n, p, c in zip(
            partition.shape, periodic, partition.cut, strict=True)]  # fmt: skip
        traits = BodyTraits(
            number, self.shape, self.path, solid.is_interpolated, self.arm, self.borders
        )
        self._images = [
            BlockBody(block, traits, block.shift + wrap)
            for block in bodies.blocks
            for wrap in itertools.product(*wraps)
        ]
        self.account = Account(bodies.domain.ranks, formulas.SUMS)
        self.account.blocks += [image.sums[0] for image in self._images]
        self.accounts = [self.account]

    def __repr__(self) -> str:
        return f"<moving body {self.name!r} at {tuple(self.centre.round(3).tolist())}>"

    @property
    def centre(self) -> np.ndarray:
        """Its centre in cells: of its rotation, or else of its shape, float64 [3]."""
        return self.path.pose(self._bodies.at).centre

    @property
    def rotation(self) -> np.ndarray:
        """The matrix [3, 3] by which its shape has turned."""
        return self.path.pose(self._bodies.at).rotation

    @property
    def mass_taken(self) -> float:
        """Mass that the fluid has lost to it: what it covers less what it leaves, and what its
        walls keep, in density times cells^3."""
        self._bodies.domain.ranks.require_same_call("mass_taken")
        total = self.account.integers(1)
        return total[formulas.MASS] * formulas.UNIT + total[formulas.COUNT]

    @property
    def momentum_taken(self) -> np.ndarray:
        """Momentum that the fluid has lost to it, float64 [3]."""
        self._bodies.domain.ranks.require_same_call("momentum_taken")
        return self.account.read(1, formulas.MOMENTUM)

    def force(self) -> np.ndarray:
        """Return the force of the last step, less the momentum of mass that moves with the body."""
        return self.account.read(0, formulas.FORCE)

    def torque(self, centre: np.ndarray) -> np.ndarray:
        """Return the torque of the last step about a point."""
        torque = self.account.read(0, formulas.TORQUE) * self.arm
        middle = (self.path.pose(self._bodies.at - 1).centre + self.centre) / 2.0
        return torque + np.cross(middle - centre, self.force())

    @property
    def overlaps(self) -> bool:
        """Return whether it has run into another body."""
        return self.account.integers(1)[formulas.OVERLAP] > 0

    def describe(self, t: int) -> str:
        """Return shape, wall and motion in words, and the pose after t steps."""
        motions = ", ".join(
            f"{type(m).__name__}({', '.join(_describe(v) for v in vars(m).values())})"
            for m in check_motion(self.solid.motion)
        )
        pose = [(np.round(a, 6) + 0.0).tolist() for a in self.path.pose(t)]  # 0.0 instead of -0.0
        return (
            f"moving {self.name}: {self.solid.cells!r}, wall={self.solid.wall!r}, {motions}, with "
            f"the centre {pose[0]} and the rotation {pose[1]} at step {t}"
        )

    # ---- steps -------------------------------------------------------------------------------

    @property
    def near(self) -> list[BlockBody]:
        """Its images in blocks to which it comes while the present poses last."""
        return [image for image in self._images if image.is_near]

    def set_poses(self, t: int) -> None:
        """Write the place at time t and the steps from t on to the devices."""
        pose, first = self.path.tabulate(t, AHEAD)
        for image in self._images:
            image.set_poses(pose, first)
        self.first = first

    def mark(self) -> None:
        """Mark the cells of the first row of the poses, and go on to the first step."""
        for image in self.near:
            image.loops[0][1][0]()
        self.skip_start()

    def skip_start(self) -> None:
        """Go on to the first step: the cells are marked."""
        for image in self._images:
            image.block.store.set(image.clock, np.ones(1, np.int64))

    def add_sums(self) -> None:
        """Add what the step has taken from the fluid to the sums, and go on to the next."""
        for image in self.near:
            for sums in image.sums:
                sums.add_step()

    def add_scalar(self, field: ScalarField, numbers: np.ndarray, account: Account) -> list[Any]:
        """Let a scalar follow the flow in all blocks, and sum up in an account.

        `numbers` are those of the wall; what is returned holds them in each block of the account.
        """
        walls = []
        for image in self._images:
            sums, wall = image.add_scalar(field.block(image.block.part), numbers)
            account.blocks.append(sums)
            walls.append(wall)
        self.accounts.append(account)
        return walls


def _describe(value: Any) -> str:
    return type(value).__name__ if callable(value) else str(value)


class MovingBodies(Companion):
    """All solids of a flow that move through its cells.

    The kernels of a step take their cells for fluid. What belongs to the bodies is done after it.

    Parameters
    ----------
    domain : the parts of this rank
    solids : the bodies
    """

    def __init__(self, domain: Domain, solids: Mapping[str, Solid]):
        super().__init__(domain)
        solid = None
        if any(domain.partition.cut):
            ours = domain.problem.links.classes == SOLID_CLASS
            solid = add_neighbours(ours.T, domain.ranks, domain.partition).T
        self.blocks = [BodyBlock(part, solid) for part in domain.parts]
        self.at, self._marked, self._table, self._computed = 0, -1, -1, -1
        self.choose_scales: list[Callable[[], None]] = []  # before the first step of a state
        self._is_new, self._warned = True, set[str]()
        with warnings.catch_warnings():
            if domain.ranks.rank:  # the first one says it
                warnings.simplefilter("ignore")
            self.bodies = {
                name: MovingBody(name, k, solid, self)
                for k, (name, solid) in enumerate(solids.items(), 1)
            }

    def describe(self, t: int) -> str:
        """Return the bodies in words."""
        return "; ".join(body.describe(t) for body in self.bodies.values())

    def start(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Start with nothing taken from the fluid."""
        self._forget()

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Start with nothing taken from a fluid that is restored; bodies keep no rows."""
        self._forget()

    def _forget(self) -> None:
        for body in self.bodies.values():
            for account in body.accounts:
                account.clear()
        self._marked = self._computed = -1
        self._is_new = True

    def before_step(self, t: int) -> None:
        """Choose the scales of sums for the scalars of a state that is new."""
        if self._is_new:
            for choose in self.choose_scales:
                choose()
            self._is_new = False

    def after_step(self, t: int) -> None:
        """Let the bodies return populations after step t, and go on to where they are then."""
        self.mark(t)
        bodies = self.bodies.values()
        if t - self._table == AHEAD - 1:
            self._set_poses(t)
            for body in bodies:
                body.skip_start()
        with self.domain.between_streams():
            for loop in (0, 1):
                for body in bodies:
                    self._run(body, t, loop)
            for body in bodies:
                if body.borders is not None:
                    body.borders.exchange(t, body.first[t + 1 - self._table])
            for body in bodies:
                self._run(body, t, 2)
                body.add_sums()
        self.at = self._marked = self._computed = t + 1

    @staticmethod
    def _run(body: MovingBody, t: int, loop: int) -> None:
        for image in body.near:
            for run in image.loops[t % 2][loop]:
                run()

    def mark(self, t: int) -> None:
        """Mark the cells of the bodies at time t, unless they are marked."""
        self.at = t
        if self._marked == t:
            return
        with self.domain.between_streams():
            for block in self.blocks:
                block.store.set(block.labels, np.zeros(block.problem.cells, np.uint8))
            self._set_poses(t)
            for body in self.bodies.values():
                body.mark()
        self._marked, self._computed = t, -1

    def _set_poses(self, t: int) -> None:
        for body in self.bodies.values():
            body.set_poses(t)
        self._table = t

    def fluid(self, t: int) -> np.ndarray:
        """Return the cells [z, y, x] of this rank that no body covers at time t."""
        return self._find_covering(t) == 0

    def _find_covering(self, t: int) -> np.ndarray:
        """Return the number of the body that covers each cell [z, y, x] at time t, or 0."""
        self.mark(t)
        numbers = np.zeros(self.domain.problem.shape[::-1], np.uint8)
        for block in self.blocks:
            labels = block.read_labels()
            x, y, z = block.part.local.slices
            numbers[z, y, x] = np.where(labels < formulas.FRESH, labels, 0)
        return numbers

    def _touches(self, body: MovingBody, numbers: np.ndarray) -> bool:
        """Return whether a cell of a body has a neighbour on this rank of which another solid is.

        `numbers` [z, y, x] are those of the bodies that cover cells, and FRESH in solids at rest.
        """
        start, sizes = self.domain.region.start, body.path.domain
        first = body.first[self.at - self._table]
        cells = []
        for f, width, n, s, own in zip(
            first, body.path.box, sizes, start, numbers.shape[::-1], strict=True
        ):
            along = (f + np.arange(width)) % n - s
            cells.append(along[(along >= 0) & (along < own)])
        box = numbers.T[np.ix_(*cells)]
        for axis in range(3):
            low, high = np.moveaxis(box, axis, 0)[:-1], np.moveaxis(box, axis, 0)[1:]
            meets = (low != high) & (low > 0) & (high > 0)
            meets &= (low == body.number) | (high == body.number)
            if meets[np.diff(cells[axis]) % sizes[axis] == 1].any():
                return True
        return False

    def _warn_of_touching(self, t: int) -> None:
        """Warn of bodies, once of each, that touch other solids."""
        numbers = self._find_covering(t)
        numbers[self.domain.problem.links.classes == SOLID_CLASS] = formulas.FRESH
        for name in sorted(self.bodies.keys() - self._warned):
            if self.domain.ranks.any(self._touches(self.bodies[name], numbers)):
                self._warned.add(name)
                if not self.domain.ranks.rank:
                    warnings.warn(
                        f"boundaries[{name!r}] touches another solid at step {t}: forces on both, "
                        "and what is taken from the fluid, are wrong from here on. Keep a cell of "
                        "fluid between bodies, and between bodies and solids at rest",
                        stacklevel=2,
                    )

    def of_last_step(self, name: str, t: int) -> MovingBody:
        """Return a body whose force belongs to step t - 1."""
        if self._computed != t:
            raise ValueError(
                f"the force on {name!r}, which moves, is that of the last step that was computed "
                "here: run a step first"
            )
        return self.bodies[name]

    def require_finite(self, t: int) -> None:
        """Raise RuntimeError if a body has run into another one; warn if it touches a solid."""
        self._warn_of_touching(t)
        for name, body in self.bodies.items():
            if body.overlaps:
                raise RuntimeError(
                    f"boundaries[{name!r}] has run into another moving body before step {t}: "
                    "prescribe motions in which bodies keep a cell of fluid between them"
                )

    def copy_state(self, t: int) -> Any:
        """Return what the bodies have taken."""
        return [[a.copy() for a in body.accounts] for body in self.bodies.values()]

    def return_to_state(self, t: int, state: Any) -> None:
        """Restore what the bodies had taken; their cells follow from the time."""
        for body, totals in zip(self.bodies.values(), state, strict=True):
            for account, of_account in zip(body.accounts, totals, strict=True):
                account.set(of_account)
        self._marked = self._computed = -1

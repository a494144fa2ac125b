"""The images of moving bodies in the blocks of parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lbm._coupled.moving_bodies.blocks import BodyBlock
from lbm._coupled.moving_bodies.borders import Borders
from lbm._coupled.moving_bodies.bounce_formulas import make_bounce
from lbm._coupled.moving_bodies.change_formulas import make_beside, make_change
from lbm._coupled.moving_bodies.cover_formulas import make_cover
from lbm._coupled.moving_bodies.formulas import MEANS, SUMS
from lbm._coupled.moving_bodies.poses import Path
from lbm._coupled.moving_bodies.scalar_formulas import HEAT_SUMS, bounce_scalar, sweep_scalar
from lbm._coupled.moving_bodies.shape_formulas import POSE
from lbm._coupled.moving_bodies.shapes import BodyShape
from lbm._coupled.moving_bodies.sums import BlockSums
from lbm._coupled.scalars.block import ScalarBlock

AHEAD = 32
"""Steps whose poses go to a device at once: it need not wait for the host in each step."""


class BodyTraits(NamedTuple):
    """Everything about a moving body that is the same in all blocks.

    `arm` is the length by which torques are divided, and `borders` exchanges the means of cells
    beside the borders of parts, if there are several.
    """

    number: int
    shape: BodyShape
    path: Path
    is_interpolated: bool
    arm: float
    borders: Borders | None


class BlockBody:
    """A moving body in the block of a part, or one of its images at periodic faces.

    Parameters
    ----------
    block : the block
    body : its numbers and shape
    shift : from coordinates of the domain to those of the block

    Attributes
    ----------
    loops : after even and after odd steps, functions that bounce, cover and change: each a list
        with that of the flow, and those of scalars
    sums : what they sum up
    is_near : whether the body comes to the block while the present poses last
    """

    def __init__(self, block: BodyBlock, body: BodyTraits, shift: np.ndarray):
        self.block, self._shift, store = block, shift, block.store
        bx, by, bz = self._box = body.path.box
        self._count, self.is_near = int(bx * by * bz), False
        self._pose, self._first = store.zeros(AHEAD, POSE), store.zeros(AHEAD, 3, dtype=np.int64)
        self.clock = store.zeros(1, dtype=np.int64)
        self.sums = [BlockSums(store, SUMS, self.clock)]
        size = [*block.size, bx, by, body.number, body.is_interpolated, *block.own]
        self._size = store.put(np.array([*size, *body.path.domain], np.int64))
        shape, problem = body.shape, block.problem
        self._shape = store.put(shape.about(body.path.centre)), store.put(shape.grid)
        cells = store.zeros(2, self._count, dtype=np.int64)
        lengths = store.zeros(2, dtype=np.int64)
        box = *block.lattice, self._size, self._pose, self._first, self.clock
        scale, form = store.T(1.0 / body.arm), problem.precision.name
        none = store.zeros(1, 1, 1, dtype=np.int32), store.zeros(1, MEANS)
        sent = none if body.borders is None else body.borders.arrays(block)
        sums, lattice, links = self.sums[0].partial, problem.lattice, problem.lattice.size - 1
        neighbours = store.zeros(store.lanes, links, MEANS + 1)
        self.loops = [
            [
                [store.prepare_adding(
                    make_bounce(form), self._count, (lengths, 0, links), sums, cells,
                    *populations, *box, *self._shape, scale,
                )],
                [store.prepare_choice(
                    make_cover(form, lattice), self._count, cells, lengths, *populations, *box,
                    *self._shape,
                )],
                [store.prepare_joining(
                    make_beside(form, lattice), make_change(form, lattice), (lengths, 1, links),
                    sums, neighbours, cells, *populations, *box, scale, *sent,
                )],
            ]
            for populations in block.populations
        ]  # fmt: skip

    def add_scalar(self, scalar: ScalarBlock, numbers: np.ndarray) -> tuple[BlockSums, Any]:
        """Let a scalar follow the flow; return what it sums up, and the numbers of the wall."""
        store, labels = self.block.store, self.block.labels
        sums = BlockSums(store, HEAT_SUMS, store.zeros(1, dtype=np.int64))
        self.sums.append(sums)
        box = self._size, self._pose, self._first, self.clock
        wall = store.put(numbers)
        count = store.put(np.array([self._count])), 0, 1
        classes = scalar.device_classes, scalar.kinds, labels
        for t, (bounce, cover, _) in enumerate(self.loops):
            g = scalar.populations[1 - t], scalar.populations[t]
            for loops, item, arguments in (
                (bounce, bounce_scalar, (*classes, *box, *self._shape)),
                (cover, sweep_scalar, (labels, *box)),
            ):
                loops.append(
                    store.prepare_adding(
                        item, self._count, count, sums.partial, *g, *arguments, wall
                    )
                )
        return sums, wall

    def set_poses(self, pose: np.ndarray, first: np.ndarray) -> None:
        """Write the poses of the next steps and the first cells of the boxes to the device."""
        store, first = self.block.store, first + self._shift
        beside = (first <= self.block.own[3:]) & (first + self._box >= self.block.own[:3])
        self.is_near = bool(beside.all(axis=1).any())
        store.set(self._pose, pose.astype(store.T))
        store.set(self._first, first)
        store.set(self.clock, np.zeros(1, np.int64))

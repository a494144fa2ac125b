"""Domains that are cut by xz planes, with each part on a device.

Each part holds a range of the rows y, and a halo row beyond either end. A step of a part updates
its own rows only, first those beside the cuts. The planes that they share with halo rows are then
copied to the neighbouring parts while the interior is computed: no interior cell reads or writes
them in the same step. Which slots are copied follows from the addresses of the pattern (Riesinger
2017, section 14.3, for A-A).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hetero.devices import Device
from hetero.jit import loops_for
from lbm._domain.domain import Domain, Part, make_engine
from lbm._engines.engine import Engine
from lbm._model.lattice import OPPOSITE, Q
from lbm._model.problem import Box, Message, Problem, row_position
from lbm._model.wall_links import INTO
from lbm.boundaries import Condition, Periodic


class Link(NamedTuple):
    """A pair of parts, and the messages from one to the other after even and after odd steps."""

    source: Engine
    target: Engine
    messages: tuple[Message, Message]


class SplitDomain(Domain):
    """A domain that is cut between rows, with each part on a device.

    All devices compute at the same time. On the CPU there may be any number of parts; with a GPU
    there are two, because one stream of the GPU does the whole exchange.

    Parameters
    ----------
    problem : the flow in the whole domain
    cuts : the first row of each part but the first
    devices : one for each part
    faces : conditions at the faces of the domain, of which those at y- and y+ matter
    """

    def __init__(
        self,
        problem: Problem,
        cuts: Sequence[int],
        devices: Sequence[Device],
        faces: Sequence[Condition],
    ):
        ny = problem.shape[1]
        bounds = [0, *cuts, ny]
        if any(a >= b for a, b in itertools.pairwise(bounds)):
            raise ValueError(f"cuts must increase and lie in 1..{ny - 1}, got {list(cuts)}")
        if len(devices) != len(bounds) - 1:
            raise ValueError(f"{len(bounds) - 1} parts need as many devices, got {len(devices)}")
        self.devices, self.wraps = tuple(devices), isinstance(faces[2], Periodic)
        gpu = next((d for d in devices if d.kind == "cuda"), devices[0])
        self._halo = loops_for("lbm._domain.halo", gpu).create_halo(gpu)
        parts = []
        for (a, b), device in zip(itertools.pairwise(bounds), devices, strict=True):
            block = problem.select_rows(np.arange(a - 1, b + 1))
            engine = make_engine(block, device, memory=self._halo.allocate)
            parts.append(Part(engine, a, b - a, halo=1))
        super().__init__(problem, parts)
        count = len(parts)
        self._boxes = [self._step_boxes(k) for k in range(count)]
        # A GPU gets its work first, so that it computes while the CPU does.
        self._order = sorted(range(count), key=lambda k: devices[k].kind != "cuda")
        self._halo.connect(self._links())

    def _neighbours(self, part: int) -> list[tuple[int, bool]]:
        """Return the parts beyond both ends of a part, and whether they lie above it."""
        count = len(self.parts)
        both = [(part + 1, True), (part - 1, False)]
        return [(k % count, up) for k, up in both if self.wraps or 0 <= k < count]

    def _step_boxes(self, part: int) -> tuple[list[Box], Box | None]:
        """Return (boxes of the rows beside a cut, box of the others or None) of a part."""
        engine, first, last = self.parts[part].engine, 1, self.parts[part].rows
        edges = sorted({last if up else first for _, up in self._neighbours(part)})
        y0, y1 = first + (first in edges), last + 1 - (last in edges)
        return [engine.box(r, r + 1) for r in edges], engine.box(y0, y1) if y1 > y0 else None

    def _links(self) -> list[Link]:
        """Return what each part sends to its neighbours."""
        links = []
        for source in range(len(self.parts)):
            for target in dict.fromkeys(k for k, _ in self._neighbours(source)):
                engines = self.parts[source].engine, self.parts[target].engine
                messages = self._message(0, source, target), self._message(1, source, target)
                links.append(Link(*engines, messages))
        return links

    def _message(self, odd: int, source: int, target: int) -> Message:
        """Return the message from one part to another after an even or odd step.

        It holds what the step has stored in halo rows, and what the target will read there.
        """
        now, after = self.problem.pattern.steps[odd], self.problem.pattern.steps[1 - odd]
        planes = []
        for neighbour, up in self._neighbours(source):
            if neighbour != target:
                continue
            dy = 1 if up else -1
            edge = self.parts[source].rows if up else 1
            row = 1 if up else self.parts[target].rows
            planes += [(a.slot, edge + dy, row) for a in now.store if a.shift[1] == dy]
            planes += [(a.slot, edge, row - dy) for a in after.load if a.shift[1] == -dy]
        slots, rows, target_rows = np.array(sorted(set(planes)), np.int64).reshape(-1, 3).T
        return Message(
            slots=np.ascontiguousarray(slots),
            source_rows=np.ascontiguousarray(rows),
            target_rows=np.ascontiguousarray(target_rows),
            writable=_writable_cells(self.parts[target].engine.problem, slots, target_rows),
        )

    def step(self, t: int) -> None:
        """Do step number t, counted from 0."""
        for k in self._order:
            self.parts[k].engine.begin_step(t, *self._boxes[k], halo=self._halo)
        self._halo.exchange(t)
        for k in self._order:
            self.parts[k].engine.finish_step(t, self._boxes[k][1])

    def wait(self) -> None:
        """Wait until what neighbouring parts send each other after a step has arrived."""
        self._halo.wait()


def _writable_cells(problem: Problem, slots: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return where planes of a part hold nothing that walls have returned to it."""
    nx, ny, nz = problem.shape
    into_wall = problem.links.masks[:, INTO]
    writable = np.ones((len(slots), nz, nx), bool)
    for q in range(1, Q):
        slot, (dx, dy, dz) = problem.pattern.steps[0].wall[OPPOSITE[q]]
        for k in np.flatnonzero(slots == slot):
            y = rows[k] - dy
            if 1 <= y <= ny - 2:
                returned = into_wall[problem.links.classes[:, y]] >> np.uint32(q) & 1
                writable[k] &= np.roll(returned, (dz, dx), (0, 1)) == 0
    x = np.argsort(row_position(np.arange(nx), nx, problem.precision.lanes))
    return np.ascontiguousarray(writable[:, :, x])

"""Domains: the cells of a flow in one or more parts, each of which is on one device.

A split domain is cut by xz planes: each part holds a range of the rows y, and a halo row beyond
either end. A step of a part updates its own rows only, first those beside the cuts. The planes that
they share with halo rows are then copied to the neighbouring parts while the interior is computed:
no interior cell reads or writes them in the same step. Which slots are copied follows from the
addresses of the pattern (Riesinger 2017, section 14.3, for A-A).
"""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from hetero.jit import loops_for
from hetero.memory import free_bytes
from lbm._domain.memory_forecast import SLAB_CELLS, shortage_error
from lbm._engines.engine import Engine
from lbm._model.lattice import OPPOSITE, Q
from lbm._model.problem import Box, Message, Problem, row_position, wall_return_indices
from lbm._model.wall_links import INTO
from lbm.boundaries import Condition, Periodic

READ_COUNTS = {"read_moments": 4, "read_populations": Q}
"""Operations of engines that read fields of cells, and the number of these fields."""


def make_engine(problem: Problem, device: Device, **memory: Callable[..., Any]) -> Engine:
    """Create the engine of a block, or raise a MemoryError that says what to change."""
    device.require()
    free = free_bytes(device)
    with contextlib.suppress(MemoryError):  # an engine that failed frees its memory
        if problem.bytes <= free:
            engine: Engine = loops_for("lbm._engines", device).create_engine(
                problem, device, **memory
            )
            return engine
    gc.collect()
    raise shortage_error(
        problem.shape, problem.pattern.name, problem.precision, problem.bytes, free, device
    )


def make_domain(
    problem: Problem, device: Device, faces: Sequence[Condition], cut: int = 0
) -> Domain:
    """Create a domain whose first `cut` rows are computed by the CPU, the others by `device`."""
    cpu = Device("cpu")
    if cut == 0:
        return SingleDomain(problem, device)
    if cut == problem.shape[1]:
        return SingleDomain(problem, cpu)
    return SplitDomain(problem, [cut], [cpu, device], faces)


@dataclass(frozen=True, eq=False)
class Part:
    """A range of the rows of a domain, in a block of one device.

    Attributes
    ----------
    engine : the block
    first_row : first of these rows, counted in the domain
    rows : number of rows
    halo : number of further rows of the block before them, and behind them
    """

    engine: Engine
    first_row: int
    rows: int
    halo: int = 0

    def box(self, z0: int, z1: int) -> Box:
        """Return the cells of all rows of this part between z0 and z1."""
        return self.engine.box(self.halo, self.halo + self.rows, z0, z1)


class Slab(NamedTuple):
    """Fields [k, z, y, x] of some cells, in the memory of the device of `engine`.

    The first cell is (0, y0, z0). The data are valid until the next read.
    """

    z0: int
    y0: int
    engine: Engine
    data: Any


class Domain:
    """The cells of a flow in one or more parts; the base class of both kinds of domains.

    `t` is the number of steps done before.
    """

    def __init__(self, problem: Problem, parts: Sequence[Part]):
        self.problem, self.parts = problem, tuple(parts)

    def step(self, t: int) -> None:
        """Do step number t, counted from 0."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait until what neighbouring parts send each other after a step has arrived."""

    @property
    def engines(self) -> list[Engine]:
        """Engines of the parts, whose blocks may have halo rows."""
        return [part.engine for part in self.parts]

    def synchronize(self) -> None:
        """Wait until all devices are idle."""
        self.wait()
        for engine in self.engines:
            engine.synchronize()

    def read(self, operation: str, t: int, z0: int, z1: int) -> Iterator[Slab]:
        """Read the layers z0 <= z < z1 of each part, by one of the engines' READ_COUNTS."""
        self.wait()
        for part in self.parts:
            data = getattr(part.engine, operation)(t, part.box(z0, z1))
            yield Slab(z0, part.first_row, part.engine, data)

    def read_moments(self, t: int) -> Iterator[Slab]:
        """Yield rho - 1 and the velocity of all cells, slab by slab, on their devices."""
        for z0, z1 in self.layers():
            yield from self.read("read_moments", t, z0, z1)

    def layers(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges (z0, z1) of slabs of about SLAB_CELLS cells."""
        nx, ny, nz = self.problem.shape
        thickness = max(1, SLAB_CELLS // (nx * ny))
        return ((z, min(z + thickness, nz)) for z in range(0, nz, thickness))

    def read_to_host(self, operation: str, t: int, z0: int, z1: int) -> np.ndarray:
        """Return what `read` reads, [k, z, y, x] in host memory."""
        nx, ny, _ = self.problem.shape
        shape = READ_COUNTS[operation], z1 - z0, ny, nx
        out: np.ndarray = np.empty(shape, self.problem.precision.compute)
        for slab in self.read(operation, t, z0, z1):
            out[:, :, slab.y0 : slab.y0 + slab.data.shape[2]] = slab.engine.to_host(slab.data)
        return out

    def read_moments_to_host(self, t: int) -> np.ndarray:
        """Return rho - 1 and the velocity of all cells, [k, z, y, x] in host memory."""
        nx, ny, nz = self.problem.shape
        out: np.ndarray = np.empty((4, nz, ny, nx), self.problem.precision.compute)
        for z0, z1 in self.layers():
            out[:, z0:z1] = self.read_to_host("read_moments", t, z0, z1)
        return out

    def momentum(self, t: int) -> np.ndarray:
        """Return the total momentum of the fluid, with half of the force's impulse."""
        total = np.zeros(3)
        for z0, z1 in self.layers():
            moments = self.read_to_host("read_moments", t, z0, z1)
            drho, *u = moments.astype(np.float64, copy=False)
            total += [((1.0 + drho) * c).sum() for c in u]
        return total

    def write(self, operation: str, t: int, z0: int, values: np.ndarray) -> None:
        """Set layers from z0 on to values [k, z, y, x].

        By "write_equilibrium" (of moments) or "write_populations" of the engines.
        """
        self.wait()
        for part in self.parts:
            rows = slice(part.first_row, part.first_row + part.rows)
            box = part.box(z0, z0 + values.shape[1])
            getattr(part.engine, operation)(t, box, np.ascontiguousarray(values[:, :, rows]))

    def write_moments(self, rho: np.ndarray, u: np.ndarray) -> None:
        """Set all populations to the equilibrium of rho [x, y, z] and u [c, x, y, z] at step 0.

        Either may be the value for all cells: a number, or three.
        """
        nx, ny, _ = self.problem.shape
        for z0, z1 in self.layers():
            data: np.ndarray = np.empty((4, z1 - z0, ny, nx), self.problem.precision.compute)
            data[0] = rho - 1.0 if rho.ndim == 0 else rho.T[z0:z1] - 1.0
            for k in range(3):
                data[k + 1] = u[k] if u.ndim == 1 else u[k].T[z0:z1]
            self.write("write_equilibrium", 0, z0, data)

    def read_wall_returns(self, t: int, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return what walls returned last, f - w in float64, on links q of cells [i, (z, y, x)]."""
        self.wait()
        stored: np.ndarray = np.empty(len(q), self.problem.precision.storage)
        for part in self.parts:
            y = cells[:, 1] - part.first_row
            inside = (y >= 0) & (y < part.rows)
            if inside.any():
                local = cells[inside] + np.array([0, part.halo - part.first_row, 0])
                indices = wall_return_indices(part.engine.problem, local, q[inside])
                stored[inside] = part.engine.read_elements(t, indices)
        return self.problem.precision.decode(stored)


class SingleDomain(Domain):
    """The whole domain on one device."""

    def __init__(self, problem: Problem, device: Device):
        self.engine = make_engine(problem, device)
        self._box = self.engine.box()
        super().__init__(problem, [Part(self.engine, 0, problem.shape[1])])

    def step(self, t: int) -> None:
        """Do step number t, counted from 0."""
        self.engine.step(t, self._box)


class Link(NamedTuple):
    """What one part of a split domain sends to another after even and after odd steps."""

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

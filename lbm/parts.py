"""Rows of a domain on one device or split between two, behind one interface.

The domain is cut by an xz plane: rows y < cut belong to the first part, the others to the second.
Each part has a ghost row beyond each end. A step of a part updates its own rows only, first those
beside the cut; what they have exchanged with ghost rows then moves to the other part while the
inside is computed: no cell of the inside reads or writes it in the same step.
Which slots travel follows from the pattern's places (the thesis's section 14.3 for A-A).
"""

from __future__ import annotations

import contextlib
import gc

import numpy as np

from hetero.devices import Device
from hetero.jit import twin
from lbm.boundaries import Periodic
from lbm.engine import Engine, Message, Problem, position, wall_places
from lbm.lattice import OPPOSITE, Q
from lbm.memory import free_bytes, shortage


def make(problem: Problem, device: Device, **memory) -> Engine:
    """Return an engine with room for its block, or raise a MemoryError that says what to change."""
    device.require()
    free = free_bytes(device)
    with contextlib.suppress(MemoryError):  # what it allocated is given back with its frames
        if problem.bytes <= free:
            return twin("lbm._engine", device).engine(problem, device, **memory)
    gc.collect()
    form = problem.precision.name
    raise shortage(problem.shape, problem.pattern.name, form, device, problem.bytes, free)


def place(problem: Problem, device: Device, faces, cut: int = 0) -> Single | Split:
    """A domain whose first `cut` rows are the CPU's, the others on `device`."""
    cpu = Device("cpu")
    if cut == 0:
        return Single(problem, device)
    if cut == problem.shape[1]:
        return Single(problem, cpu)
    return Split(problem, cut, (cpu, device), faces)


class Single:
    """The whole domain on one device."""

    def __init__(self, problem: Problem, device: Device):
        self.problem, self.device = problem, device
        self.engine = make(problem, device)
        self._box = self.engine.box()

    def step(self, t: int) -> None:
        self.engine.step(t, self._box)

    def slab(self, what: str, t: int, z0: int, z1: int):
        """[(y0, engine, array)] of "fields" or "gather" between z0 and z1, on the devices."""
        data = getattr(self.engine, what)(t, self.engine.box(0, None, z0, z1))
        return [(0, self.engine, data)]

    def put(self, what: str, t: int, z0: int, values) -> None:
        """Set moments ("fill") or populations ("scatter") [k, z, y, x] from z0 on."""
        box = self.engine.box(0, None, z0, z0 + values.shape[1])
        getattr(self.engine, what)(t, box, values)

    def at(self, t: int, cells, q) -> np.ndarray:
        """What walls returned last for links q of cells (z, y, x), stored form."""
        return self.engine.at(t, wall_places(self.problem, cells, q))

    def synchronize(self) -> None:
        self.engine.synchronize()

    @property
    def engines(self) -> list[Engine]:
        """The blocks of the domain."""
        return [self.engine]


class Split:
    """The domain's rows below `cut` on one device, the others on another, at the same time."""

    def __init__(self, problem: Problem, cut: int, devices: tuple[Device, Device], faces):
        ny = problem.shape[1]
        if not 0 < cut < ny:
            raise ValueError(f"cut must lie in 1..{ny - 1}, got {cut}")
        self.problem, self.cut, self.devices = problem, cut, devices
        self.wraps = isinstance(faces[2], Periodic)
        ranges = (0, cut), (cut, ny)
        gpu = next((d for d in devices if d.kind == "cuda"), devices[0])
        self._halo = twin("lbm._halo", gpu).halo(gpu)
        self.parts = [
            make(problem.rows(np.arange(a - 1, b + 1)), d, memory=self._halo.memory)
            for (a, b), d in zip(ranges, devices, strict=True)
        ]
        self.first = [a for a, _ in ranges]
        self._boxes = [self._cuts(k) for k in (0, 1)]
        # A GPU is given its work first: it computes while the CPU is at its own.
        self._order = sorted((0, 1), key=lambda k: devices[k].kind != "cuda")
        self._halo.connect(self.parts, [[self._message(o, k) for o in (0, 1)] for k in (0, 1)])

    def _own(self, part: int) -> tuple[int, int]:
        """First and last own row of a part, in its block."""
        return 1, self.parts[part].problem.shape[1] - 2

    def _cuts(self, part: int):
        """(rows beside a cut, the others) of a part, as boxes."""
        engine = self.parts[part]
        first, last = self._own(part)
        edges = sorted({last if up else first for up in self._interfaces(part)})
        y0, y1 = first + (first in edges), last + 1 - (last in edges)
        return [engine.box(r, r + 1) for r in edges], engine.box(y0, y1) if y1 > y0 else None

    def _message(self, odd: int, source: int) -> Message:
        """What `source` sends after a step: what its ghosts got, and what the other will read."""
        now, after = self.problem.pattern.steps[odd], self.problem.pattern.steps[1 - odd]
        planes = []
        for up in self._interfaces(source):
            dy = 1 if up else -1
            edge = self._own(source)[1] if up else 1
            theirs = 1 if up else self._own(1 - source)[1]
            planes += [(p.slot, edge + dy, theirs) for p in now.store if p.shift[1] == dy]
            planes += [(p.slot, edge, theirs - dy) for p in after.load if p.shift[1] == -dy]
        slots, rows, into = np.array(sorted(set(planes)), np.int64).reshape(-1, 3).T
        free = self._free(self.parts[1 - source].problem, slots, into)
        return Message(*map(np.ascontiguousarray, (slots, rows, into)), free)

    def _interfaces(self, source: int):
        """Whether the other part lies above, for each cut that `source` has with it."""
        return [source == 0, source != 0] if self.wraps else [source == 0]

    @staticmethod
    def _free(problem: Problem, slots, rows) -> np.ndarray:
        """Where planes of a part hold nothing that its own walls have returned."""
        nx, ny, nz = problem.shape
        sent = problem.links.masks[:, 0]
        free = np.ones((len(slots), nz, nx), bool)
        for q in range(1, Q):
            slot, (dx, dy, dz) = problem.pattern.steps[0].wall[OPPOSITE[q]]
            for k in np.flatnonzero(slots == slot):
                y = rows[k] - dy
                if 1 <= y <= ny - 2:
                    wall = sent[problem.links.classes[:, y]] >> np.uint32(q) & 1
                    free[k] &= np.roll(wall, (dz, dx), (0, 1)) == 0
        x = np.argsort(position(np.arange(nx), nx, problem.precision.lanes))
        return np.ascontiguousarray(free[:, :, x])

    def step(self, t: int) -> None:
        for k in self._order:
            self.parts[k].begin(t, *self._boxes[k], self._halo)
        self._halo.exchange(t)
        for k in self._order:
            self.parts[k].finish(t, self._boxes[k][1])

    def slab(self, what: str, t: int, z0: int, z1: int):
        self._halo.arrived()
        found = []
        for first, engine in zip(self.first, self.parts, strict=True):
            box = engine.box(1, engine.problem.shape[1] - 1, z0, z1)
            found.append((first, engine, getattr(engine, what)(t, box)))
        return found

    def put(self, what: str, t: int, z0: int, values) -> None:
        self._halo.arrived()
        for first, engine in zip(self.first, self.parts, strict=True):
            rows = engine.problem.shape[1] - 2
            box = engine.box(1, rows + 1, z0, z0 + values.shape[1])
            own = np.ascontiguousarray(values[:, :, first : first + rows])
            getattr(engine, what)(t, box, own)

    def at(self, t: int, cells, q) -> np.ndarray:
        self._halo.arrived()
        found = np.empty(len(q), self.problem.precision.storage)
        for first, engine in zip(self.first, self.parts, strict=True):
            rows = engine.problem.shape[1] - 2
            mine = (cells[:, 1] >= first) & (cells[:, 1] < first + rows)
            local = cells[mine] + np.array([0, 1 - first, 0])
            if mine.any():
                found[mine] = engine.at(t, wall_places(engine.problem, local, q[mine]))
        return found

    def synchronize(self) -> None:
        self._halo.arrived()
        for engine in self.parts:
            engine.synchronize()

    @property
    def engines(self) -> list[Engine]:
        """The blocks of the domain, with their ghost rows."""
        return self.parts

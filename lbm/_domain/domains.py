"""Domains on one device or split between two, behind one interface.

A split domain is cut by an xz plane: rows y < cut belong to the first part, the others to the
second. Each part has a halo row beyond each end. A step of a part updates its own rows only, first
those beside the cut. The planes that they share with halo rows are then copied to the other part
while the interior is computed: no interior cell reads or writes them in the same step. Which slots
are copied follows from the addresses of the pattern (Riesinger 2017, section 14.3, for A-A).
"""

from __future__ import annotations

import contextlib
import gc

import numpy as np

from hetero.devices import Device
from hetero.jit import loops_for
from lbm._domain.memory_forecast import free_bytes, shortage_error
from lbm._engines.engine import Engine, Message, Problem, position, wall_return_indices
from lbm._model.lattice import OPPOSITE, Q
from lbm._model.wall_links import INTO
from lbm.boundaries import Periodic


def make_engine(problem: Problem, device: Device, **memory) -> Engine:
    """Create the engine of a block, or raise a MemoryError that says what to change."""
    device.require()
    free = free_bytes(device)
    with contextlib.suppress(MemoryError):  # an engine that failed frees its memory
        if problem.bytes <= free:
            return loops_for("lbm._engines", device).create_engine(problem, device, **memory)
    gc.collect()
    form = problem.precision.name
    raise shortage_error(problem.shape, problem.pattern.name, form, device, problem.bytes, free)


def make_domain(
    problem: Problem, device: Device, faces: tuple, cut: int = 0
) -> SingleDomain | SplitDomain:
    """Create a domain whose first `cut` rows are computed by the CPU, the others by `device`."""
    cpu = Device("cpu")
    if cut == 0:
        return SingleDomain(problem, device)
    if cut == problem.shape[1]:
        return SingleDomain(problem, cpu)
    return SplitDomain(problem, cut, (cpu, device), faces)


class SingleDomain:
    """The whole domain on one device."""

    def __init__(self, problem: Problem, device: Device):
        self.problem, self.device = problem, device
        self.engine = make_engine(problem, device)
        self._box = self.engine.box()

    def step(self, t: int) -> None:
        """Do step number t, counted from 0."""
        self.engine.step(t, self._box)

    def read(self, operation: str, t: int, z0: int, z1: int) -> list[tuple]:
        """Read the layers z0 <= z < z1 by "read_moments" or "read_populations" of the engines.

        Returns (y0, engine, array on its device) for each part.
        """
        data = getattr(self.engine, operation)(t, self.engine.box(0, None, z0, z1))
        return [(0, self.engine, data)]

    def write(self, operation: str, t: int, z0: int, values: np.ndarray) -> None:
        """Set layers from z0 on to values [k, z, y, x].

        By "write_equilibrium" (of moments) or "write_populations" of the engines.
        """
        box = self.engine.box(0, None, z0, z0 + values.shape[1])
        getattr(self.engine, operation)(t, box, values)

    def read_links(self, t: int, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return what walls returned last for the links q of cells (z, y, x), in stored form."""
        return self.engine.read_elements(t, wall_return_indices(self.problem, cells, q))

    def synchronize(self) -> None:
        """Wait until the device is idle."""
        self.engine.synchronize()

    @property
    def engines(self) -> list[Engine]:
        """Engines of the domain's blocks."""
        return [self.engine]


class SplitDomain:
    """A domain whose rows below `cut` are on one device and the others on another.

    Its methods are those of `SingleDomain`; both devices compute at the same time.
    """

    def __init__(self, problem: Problem, cut: int, devices: tuple[Device, Device], faces):
        ny = problem.shape[1]
        if not 0 < cut < ny:
            raise ValueError(f"cut must lie in 1..{ny - 1}, got {cut}")
        self.problem, self.cut, self.devices = problem, cut, devices
        self.wraps = isinstance(faces[2], Periodic)
        ranges = (0, cut), (cut, ny)
        gpu = next((d for d in devices if d.kind == "cuda"), devices[0])
        self._halo = loops_for("lbm._domain.halo", gpu).create_halo(gpu)
        self.parts = [
            make_engine(problem.select_rows(np.arange(a - 1, b + 1)), d, memory=self._halo.allocate)
            for (a, b), d in zip(ranges, devices, strict=True)
        ]
        self.first_rows = [a for a, _ in ranges]
        self._boxes = [self._step_boxes(k) for k in (0, 1)]
        # A GPU gets its work first, so that it computes while the CPU does.
        self._order = sorted((0, 1), key=lambda k: devices[k].kind != "cuda")
        self._halo.connect(self.parts, [[self._message(o, k) for o in (0, 1)] for k in (0, 1)])

    def _inner_rows(self, part: int) -> tuple[int, int]:
        """Return the first and the last row of a part's block that are not halo rows."""
        return 1, self.parts[part].problem.shape[1] - 2

    def _step_boxes(self, part: int):
        """Return (boxes of the rows beside a cut, box of the others or None) of a part."""
        engine = self.parts[part]
        first, last = self._inner_rows(part)
        edges = sorted({last if up else first for up in self._interfaces(part)})
        y0, y1 = first + (first in edges), last + 1 - (last in edges)
        return [engine.box(r, r + 1) for r in edges], engine.box(y0, y1) if y1 > y0 else None

    def _message(self, odd: int, source: int) -> Message:
        """Return the message of `source` after a step.

        It holds what the step has stored in halo rows, and what the other part will read there.
        """
        now, after = self.problem.pattern.steps[odd], self.problem.pattern.steps[1 - odd]
        planes = []
        for up in self._interfaces(source):
            dy = 1 if up else -1
            edge = self._inner_rows(source)[1] if up else 1
            target = 1 if up else self._inner_rows(1 - source)[1]
            planes += [(a.slot, edge + dy, target) for a in now.store if a.shift[1] == dy]
            planes += [(a.slot, edge, target - dy) for a in after.load if a.shift[1] == -dy]
        slots, rows, target_rows = np.array(sorted(set(planes)), np.int64).reshape(-1, 3).T
        writable = self._writable(self.parts[1 - source].problem, slots, target_rows)
        return Message(*map(np.ascontiguousarray, (slots, rows, target_rows)), writable)

    def _interfaces(self, source: int) -> list[bool]:
        """Return whether the other part lies above, for each cut that `source` has with it."""
        return [source == 0, source != 0] if self.wraps else [source == 0]

    @staticmethod
    def _writable(problem: Problem, slots, rows) -> np.ndarray:
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
        x = np.argsort(position(np.arange(nx), nx, problem.precision.lanes))
        return np.ascontiguousarray(writable[:, :, x])

    def step(self, t: int) -> None:
        for k in self._order:
            self.parts[k].begin_step(t, *self._boxes[k], self._halo)
        self._halo.exchange(t)
        for k in self._order:
            self.parts[k].finish_step(t, self._boxes[k][1])

    def read(self, operation: str, t: int, z0: int, z1: int) -> list[tuple]:
        self._halo.wait()
        slabs = []
        for first, engine in zip(self.first_rows, self.parts, strict=True):
            box = engine.box(1, engine.problem.shape[1] - 1, z0, z1)
            slabs.append((first, engine, getattr(engine, operation)(t, box)))
        return slabs

    def write(self, operation: str, t: int, z0: int, values: np.ndarray) -> None:
        self._halo.wait()
        for first, engine in zip(self.first_rows, self.parts, strict=True):
            rows = engine.problem.shape[1] - 2
            box = engine.box(1, rows + 1, z0, z0 + values.shape[1])
            part = np.ascontiguousarray(values[:, :, first : first + rows])
            getattr(engine, operation)(t, box, part)

    def read_links(self, t: int, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        self._halo.wait()
        returned = np.empty(len(q), self.problem.precision.storage)
        for first, engine in zip(self.first_rows, self.parts, strict=True):
            rows = engine.problem.shape[1] - 2
            inside = (cells[:, 1] >= first) & (cells[:, 1] < first + rows)
            if inside.any():
                local = cells[inside] + np.array([0, 1 - first, 0])
                indices = wall_return_indices(engine.problem, local, q[inside])
                returned[inside] = engine.read_elements(t, indices)
        return returned

    def synchronize(self) -> None:
        self._halo.wait()
        for engine in self.parts:
            engine.synchronize()

    @property
    def engines(self) -> list[Engine]:
        """Engines of the domain's blocks, which have halo rows."""
        return self.parts

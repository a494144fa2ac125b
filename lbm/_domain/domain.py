"""Domains: the cells of a flow in one or more parts, each of which is on one device."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from hetero.jit import loops_for
from hetero.memory import free_bytes
from lbm._domain.memory_forecast import SLAB_CELLS, shortage_error
from lbm._engines.engine import Engine
from lbm._model.lattice import Q
from lbm._model.problem import Box, Problem, wall_return_indices

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

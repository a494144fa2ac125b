"""The cells of a flow that belong to this rank, in one or more parts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetero.devices import Device
from lbm._kernels.engine import DrivingScalar, Engine
from lbm._kernels.problem import Box, Problem, wall_return_indices
from lbm._parallel.domain.stepping import PartsOfRank
from lbm._parallel.memory_forecast import SLAB_CELLS
from lbm._parallel.partition import Partition
from lbm._parallel.parts import Part
from lbm._parallel.placement import place_parts
from lbm._parallel.ranks.communication import Ranks
from lbm._parallel.ranks.exact_sum import ExactSum
from lbm.lattices.extent import Triple

LOGGER = logging.getLogger(__name__)


class Driver(Protocol):
    """A force that acts between two steps beside the body force: a scalar with a buoyancy."""

    def scalar(self, part: Part, t: int) -> DrivingScalar:
        """Return the scalar of a part after t steps."""
        ...

    def add_half_impulse(self, part: Part, t: int, box: Box, data: Any) -> None:
        """Add half of the impulse to the velocities in moments [4, z, y, x] of a box, in place."""

    def without_half_force(self, rho: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the velocity from which populations start so that u is read."""
        ...


class Slab(NamedTuple):
    """Fields [k, z, y, x] of some cells, in the memory of the device of `engine`.

    The data are valid until the next read. They may have a halo at both ends of x: `x_range`
    selects the cells that belong to the part.

    Attributes
    ----------
    start : (x, y, z) of the first cell of the part, counted from the first cell of the rank
    engine : the block
    data : the fields
    x_range : slice of these cells along x
    """

    start: Triple
    engine: Engine
    data: Any
    x_range: slice

    def to_host(self) -> np.ndarray:
        """Return the fields of the part's cells in host memory."""
        return self.engine.to_host(self.data)[..., self.x_range]


class Domain(PartsOfRank):
    """The cells of a rank, which are read and written wherever they are.

    In all methods `t` is the number of steps done before, and coordinates are counted from the
    first cell of the rank.

    Attributes
    ----------
    driver : a companion that drives the flow; half of its impulse is added to velocities
    """

    driver: Driver | None = None

    # ---- reading -----------------------------------------------------------------------------

    def read(self, t: int, z0: int, z1: int, *, populations: bool = False) -> Iterator[Slab]:
        """Read the moments of the layers z0 <= z < z1 of each part, or their populations."""
        self.wait()
        for part, first, last, _ in self.parts_within(z0, z1):
            (x, y, z), engine, hx = part.local.start, part.engine, part.halo[0]
            box = part.rows(first, last)
            data = engine.read(t, box, populations)
            if not populations:
                self.add_half_impulse(part, t, box, data)
            yield Slab((x, y, z + first), engine, data, slice(hx, hx + part.extent.shape[0]))

    def add_half_impulse(self, part: Part, t: int, box: Box, data: Any) -> None:
        """Add half of the impulse of what drives the flow to moments [4, z, y, x] of a box."""
        if self.driver is not None:
            with part.engine.device.active():
                self.driver.add_half_impulse(part, t, box, data)

    def read_moments(self, t: int) -> Iterator[Slab]:
        """Yield rho - 1 and the velocity of all cells, slab by slab, on their devices."""
        for z0, z1 in self.layers():
            yield from self.read(t, z0, z1)

    def may_have_bad_cell(self, t: int) -> bool:
        """Return whether a cell of this rank may be bad before step t, by one pass over them all.

        Where a scalar drives the flow, its value is finite in all cells that are good.
        """
        self.wait()
        flags = []
        for part in self.parts:
            scalar = None if self.driver is None else self.driver.scalar(part, t)
            box = part.rows(0, part.extent.shape[2])
            flags.append((part.engine, part.engine.survey(t, box, scalar)))
        return any(engine.to_host(flag)[0] for engine, flag in flags)

    def layers(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges (z0, z1) of slabs of about SLAB_CELLS cells."""
        nx, ny, nz = self.problem.shape
        thickness = max(1, SLAB_CELLS // (nx * ny))
        return ((z, min(z + thickness, nz)) for z in range(0, nz, thickness))

    def read_to_host(self, t: int, z0: int, z1: int, *, populations: bool = False) -> np.ndarray:
        """Return what `read` reads, [k, z, y, x] in host memory."""
        nx, ny, _ = self.problem.shape
        rows = self.problem.lattice.size if populations else 4
        shape = rows, z1 - z0, ny, nx
        out: np.ndarray = np.empty(shape, self.problem.precision.compute)
        for slab in self.read(t, z0, z1, populations=populations):
            data, (x, y, z) = slab.to_host(), slab.start
            _, dz, dy, dx = data.shape
            out[:, z - z0 : z - z0 + dz, y : y + dy, x : x + dx] = data
        return out

    def read_moments_to_host(self, t: int) -> np.ndarray:
        """Return rho - 1 and the velocity of all cells, [k, z, y, x] in host memory."""
        nx, ny, nz = self.problem.shape
        out: np.ndarray = np.empty((4, nz, ny, nx), self.problem.precision.compute)
        for z0, z1 in self.layers():
            out[:, z0:z1] = self.read_to_host(t, z0, z1)
        return out

    def momentum(self, t: int) -> np.ndarray:
        """Return the total momentum of the fluid of all ranks, with half of the force's impulse."""
        total = ExactSum(3)
        for z0, z1 in self.layers():
            moments = self.read_to_host(t, z0, z1)
            drho, *u = moments.astype(np.float64, copy=False)
            total.add(np.stack([((1.0 + drho) * c).ravel() for c in u], axis=1))
        return total.result(self.ranks)

    def read_wall_returns(self, t: int, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return what walls returned last, f - w in float64, on links q of cells [i, (z, y, x)]."""
        stored: np.ndarray = np.empty(len(q), self.problem.precision.storage)
        for engine, inside, block in self.find_cells(cells):
            indices = wall_return_indices(engine.problem, block, q[inside])
            stored[inside] = engine.read_elements(t, indices)
        return self.problem.precision.decode(stored)

    def find_cells(self, cells: np.ndarray) -> Iterator[tuple[Engine, np.ndarray, np.ndarray]]:
        """Yield for each part its engine, which of cells [i, (z, y, x)] it has, and where."""
        self.wait()
        for part in self.parts:
            start, stop = (np.array(corner)[::-1] for corner in part.local)
            inside = np.asarray(((cells >= start) & (cells < stop)).all(axis=1))
            if inside.any():
                yield part.engine, inside, part.block_cells(cells[inside] - start)

    # ---- writing -----------------------------------------------------------------------------

    def write(self, t: int, z0: int, values: np.ndarray, *, populations: bool = False) -> None:
        """Set layers from z0 on to the equilibrium of moments [k, z, y, x], or to populations."""
        self.wait()
        for part, first, last, selection in self.parts_within(z0, z0 + values.shape[1]):
            block, box, hx = values[selection], part.rows(first, last), part.halo[0]
            if hx:
                behind = box.x1 - hx - block.shape[-1]
                block = np.pad(block, ((0, 0), (0, 0), (0, 0), (hx, behind)))
            part.engine.write(t, box, np.ascontiguousarray(block), populations)

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
            self.write(0, z0, data)


def create_domain(
    problem: Problem, partition: Partition, devices: Sequence[Device], ratio: float, ranks: Ranks
) -> Domain:
    """Create the parts of this rank on their devices; the CPU gets the share `ratio` of each."""
    partition, placed = place_parts(partition, devices, ratio, ranks)
    domain = Domain(problem, partition, placed, ranks)
    exchange = domain.exchange
    if LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info(
            "rank %d of %d: parts %s, halos %s",
            ranks.rank,
            ranks.size,
            ", ".join(f"{part.extent.shape} on {part.engine.device}" for part in domain.parts),
            dict(exchange.transports) if exchange is not None else "none",
        )
    return domain

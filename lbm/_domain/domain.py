"""The cells of a flow that belong to this rank, in one or more parts."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from hetero.devices import Device
from lbm._kernels.engine import DrivingScalar, Engine
from lbm._kernels.problem import Box, Problem, wall_return_indices
from lbm._parallel import exchange
from lbm._parallel.exchange.exchange import Exchange
from lbm._parallel.exchange.field_exchange import FieldExchange
from lbm._parallel.exchange.halo_data import Field, HaloData, Moments, Populations
from lbm._parallel.memory_forecast import SLAB_CELLS
from lbm._parallel.neighbours import add_neighbours
from lbm._parallel.partition import AXES, Partition
from lbm._parallel.parts import Part, cut_box, make_engine
from lbm._parallel.placement import place_parts
from lbm._parallel.ranks.communication import Ranks
from lbm._parallel.ranks.exact_sum import ExactSum
from lbm.geometry.wall_links import SOLID_CLASS
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
        array: np.ndarray = self.engine.to_host(self.data)[..., self.x_range]
        return array


class Domain:
    """The cells of a rank in one or more parts, each of which is on one device.

    Parameters
    ----------
    problem : the flow in all cells of this rank
    partition : the parts of all ranks
    devices : the device of each part of this rank
    ranks : the ranks

    Attributes
    ----------
    driver : a companion that drives the flow; half of its impulse is added to velocities

    Notes
    -----
    A step of a part begins with the cells beside other parts. What they send each other travels
    while the others are computed. Where the state is moments, those travel that a step begins with,
    while the cells inside are computed, and the cells beside other parts come last. In all methods
    `t` is the number of steps done before, and coordinates are counted from the first cell of the
    rank.
    """

    def __init__(
        self,
        problem: Problem,
        partition: Partition,
        devices: Mapping[Triple, Device],
        ranks: Ranks | None = None,
    ):
        self.problem, self.partition = problem, partition
        self.ranks = Ranks() if ranks is None else ranks
        self.region = partition.region(self.ranks.rank)
        gpus = [device for device in devices.values() if device.kind == "cuda"]
        mapped = self._make_mapped_memory(gpus, devices)
        parts, workers = {}, {}
        halo = tuple(map(int, partition.cut))
        beside = self._find_solids() if problem.precision.moments and partition.cut[2] else None
        # GPUs get their work first, so that they compute while the CPU does.
        for index, device in sorted(devices.items(), key=lambda item: item[1].kind == "cpu"):
            extent = partition.extent(index)
            local = extent.relative_to(self.region)
            block = problem.select_block(local, (halo[0], halo[1], halo[2]))
            if problem.precision.moments:
                block = replace(block, periodic=partition.periodic)
                if beside is not None:  # a step reads halos, where solids send nothing
                    block.links.classes[0] = SOLID_CLASS * beside[local.start[2]]
                    block.links.classes[-1] = SOLID_CLASS * beside[local.stop[2] + 1]
            memory = mapped() if mapped is not None and device.kind == "cpu" else None
            engine = make_engine(block, device, None if memory is None else memory.allocate)
            parts[index] = Part(index, extent, local, (halo[0], halo[1], halo[2]), engine)
            if any(partition.cut):
                workers[index] = self._make_worker(parts[index], memory)
        self.parts, self._workers = tuple(parts.values()), workers
        self.driver: Driver | None = None
        self._exchanges = itertools.count()
        data = Moments() if problem.precision.moments else Populations()
        self.exchange = self._make_exchange(data)

    def _find_solids(self) -> np.ndarray:
        """Return where there are solids, [z, y, x], in the layers of this rank and beside them.

        Layers beyond faces that are not periodic count as solid.
        """
        solid = self.problem.links.classes == SOLID_CLASS
        beside = add_neighbours(solid.T, self.ranks, self.partition).T[:, 1:-1, 1:-1]
        if not self.partition.periodic[2]:
            beside[0] |= self.region.start[2] == 0
            beside[-1] |= self.region.stop[2] == self.partition.shape[2]
        return beside

    @staticmethod
    def _make_mapped_memory(gpus: list[Device], devices: Mapping[Triple, Device]) -> Any:
        """Return a function that makes memory for parts on the CPU, if they have GPUs beside."""
        if not gpus or len(gpus) == len(devices):
            return None
        from lbm._parallel.exchange.cuda import MappedMemory

        return lambda: MappedMemory(gpus[0])

    def _make_worker(self, part: Part, memory: Any) -> exchange.Worker:
        sides = (
            tuple(self.partition.neighbour(part.index, axis, sign) is not None
                  and self.partition.cut[axis] for axis in AXES)
            for sign in (-1, 1)
        )  # fmt: skip
        edges, interior = part.split(*sides)
        pieces = cut_box(interior, sum(self.partition.cut))
        mapped = None if memory is None else memory.arrays
        loops = exchange.loops(part.engine.device)
        return loops.create_worker(part.engine, edges, pieces, mapped)

    def _make_exchange(self, data: HaloData) -> Exchange | None:
        """Return an exchange of data between the parts; None if there is only one."""
        if not self._workers:
            return None
        parts, number = {part.index: part for part in self.parts}, next(self._exchanges)
        return Exchange(parts, self._workers, self.partition, self.ranks, data, number)

    def make_field_exchange(self, field: Field) -> FieldExchange:
        """Return an exchange of a field between the parts; all ranks must call this."""
        return FieldExchange(self._make_exchange(field))

    # ---- steps -------------------------------------------------------------------------------

    def step(self, t: int) -> None:
        """Do step number t, counted from 0."""
        if self.exchange is None:
            self.parts[0].engine.step(t, self.parts[0].engine.whole)
            return
        if self.problem.precision.moments:
            self._step_with_halos(t, self.exchange)
            return
        for worker in self._workers.values():
            worker.begin(t)
        for piece, axis in enumerate(self.exchange.axes):
            self.exchange.start(t, axis)
            for worker in self._workers.values():
                worker.step_interior(t, piece)
            self.exchange.finish(t, axis)

    def _step_with_halos(self, t: int, exchange: Exchange) -> None:
        """Do a step that reads the moments beside other parts, with all that changed them.

        They are cut across z only.
        """
        exchange.join()  # no part is still writing what is copied
        (axis,) = exchange.axes
        exchange.pack(t - 1, axis)
        for worker in self._workers.values():
            worker.begin_inside(t)
        exchange.post(t - 1, axis)
        exchange.finish(t - 1, axis)
        for worker in self._workers.values():
            worker.end_outside(t)

    def worker_of(self, part: Part) -> exchange.Worker | None:
        """Return the worker of a part, if parts have halos."""
        return self._workers.get(part.index)

    def wait(self) -> None:
        """Wait until what neighbouring parts send each other after a step has arrived."""
        if self.exchange is not None:
            self.exchange.wait()

    @property
    def engine(self) -> Engine:
        """The block of the only part."""
        (part,) = self.parts
        return part.engine

    @property
    def engines(self) -> list[Engine]:
        """Engines of the parts, whose blocks may have halos."""
        return [part.engine for part in self.parts]

    def synchronize(self) -> None:
        """Wait until all devices of this rank are idle."""
        self.wait()
        for engine in self.engines:
            engine.synchronize()

    @contextlib.contextmanager
    def between_streams(self) -> Iterator[None]:
        """Run kernels beside those of a step, on all parts.

        Parts on GPUs step and copy on several streams. Kernels in the default stream wait for those
        of the same GPU, and these wait for them; here parts also wait for each other.
        """
        if self.exchange is not None:
            self.exchange.join()
        yield
        if self.exchange is not None:
            self.exchange.join()

    # ---- reading -----------------------------------------------------------------------------

    def read(self, t: int, z0: int, z1: int, *, populations: bool = False) -> Iterator[Slab]:
        """Read the moments of the layers z0 <= z < z1 of each part, or their populations."""
        self.wait()
        for part, first, last in self.parts_within(z0, z1):
            (x, y, z), engine, hx = part.local.start, part.engine, part.halo[0]
            box = part.rows(first - z, last - z)
            read = engine.read_populations if populations else engine.read_moments
            data = read(t, box)
            if not populations:
                self.add_half_impulse(part, t, box, data)
            yield Slab((x, y, first), engine, data, slice(hx, hx + part.extent.shape[0]))

    def parts_within(self, z0: int, z1: int) -> Iterator[tuple[Part, int, int]]:
        """Yield (part, z range) of the parts with layers z0 <= z < z1."""
        for part in self.parts:
            first, last = max(z0, part.local.start[2]), min(z1, part.local.stop[2])
            if first < last:
                yield part, first, last

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
        for part, first, last in self.parts_within(z0, z0 + values.shape[1]):
            (x, y, z), (x1, y1, _) = part.local
            block = values[:, first - z0 : last - z0, y:y1, x:x1]
            box, hx, engine = part.rows(first - z, last - z), part.halo[0], part.engine
            if hx:
                block = np.pad(block, ((0, 0), (0, 0), (0, 0), (hx, box.x1 - hx - (x1 - x))))
            write = engine.write_populations if populations else engine.write_equilibrium
            write(t, box, np.ascontiguousarray(block))

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
    problem: Problem,
    partition: Partition,
    devices: Sequence[Device],
    ratio: float,
    ranks: Ranks,
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

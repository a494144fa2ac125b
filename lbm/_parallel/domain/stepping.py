"""The parts of a rank: their blocks, what travels between them, and their steps."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hetero.devices import Device
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Problem
from lbm._parallel import exchange
from lbm._parallel.exchange.exchange import Exchange
from lbm._parallel.exchange.field_exchange import FieldExchange
from lbm._parallel.exchange.halo_data import Field, HaloData, Moments, Populations
from lbm._parallel.neighbours import add_neighbours
from lbm._parallel.partition import AXES, Partition
from lbm._parallel.parts import Part, cut_box, make_engine
from lbm._parallel.ranks.communication import Ranks
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Triple


class PartsOfRank:
    """The cells of a rank in one or more parts, each of which is on one device, and their steps.

    Parameters
    ----------
    problem : the flow in all cells of this rank
    partition : the parts of all ranks
    devices : the device of each part of this rank
    ranks : the ranks

    Notes
    -----
    A step of a part begins with the cells beside other parts. What they send each other travels
    while the others are computed. Where the state is moments, those travel that a step begins with,
    while the cells inside are computed, and the cells beside other parts come last. In all methods
    `t` is the number of steps done before, and coordinates are counted from the first cell of the
    rank.
    """

    def __init__(
        self, problem: Problem, partition: Partition, devices: Mapping[Triple, Device], ranks: Ranks
    ):
        self.problem, self.partition, self.ranks = problem, partition, ranks
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

    def parts_within(self, z0: int, z1: int) -> Iterator[tuple[Part, int, int, tuple[Any, ...]]]:
        """Yield (part, z range, where this is) of the parts with layers z0 <= z < z1.

        The range counts from the part's first layer, and the last entry selects its cells from
        arrays [..., z, y, x] of these layers of the rank.
        """
        for part in self.parts:
            x, y, z = part.local.slices
            first, last = max(z0, z.start), min(z1, z.stop)
            if first < last:
                selection = ..., slice(first - z0, last - z0), y, x
                yield part, first - z.start, last - z.start, selection

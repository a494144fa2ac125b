"""Parts of a domain: boxes of cells, each in a block of one device."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hetero.devices import Device
from hetero.jit import loops_for
from hetero.memory import free_bytes
from lbm._domain.memory_forecast import shortage_error
from lbm._engines.engine import Engine
from lbm._model.extent import Extent, Triple
from lbm._model.problem import Box, Problem

X_EDGE = {"cpu": 16, "cuda": 32}
"""Thickness of the edges across x in words: a line of memory, and a warp. Thinner ones would take
as long."""


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
    """A box of the domain, in a block of one device.

    Attributes
    ----------
    index : position (x, y, z) in the grid of parts
    extent : the cells of the domain
    local : the same cells, counted from the first cell of the rank
    halo : for each axis the number of halo cells at both ends of the block, 0 or 1
    engine : the block
    """

    index: Triple
    extent: Extent
    local: Extent
    halo: Triple
    engine: Engine

    def rows(self, z0: int, z1: int) -> Box:
        """Return the layers z0 <= z < z1 of this part in its block, with the halo across x.

        Layers are counted from the first one of the part.
        """
        _, hy, hz = self.halo
        _, ny, _ = self.extent.shape
        return self.engine.box(hy, hy + ny, hz + z0, hz + z1)

    def block_cells(self, cells: Any) -> Any:
        """Return cells [i, (z, y, x)], counted from the first one of the part, in its block."""
        hx, hy, hz = self.halo
        return np.asarray(cells) + [hz, hy, hx]

    def split(self, low: tuple[bool, ...], high: tuple[bool, ...]) -> tuple[list[Box], Box | None]:
        """Return (the cells beside other parts, all others) as boxes of the block.

        `low` and `high` say for each axis whether there is another part at either end.
        """
        _, hy, hz = self.halo
        nx, ny, nz = self.engine.problem.shape
        lanes = self.engine.problem.precision.lanes
        start, stop = [0, hy, hz], [nx, ny - hy, nz - hz]
        edges: list[Box] = []

        def cut_off(axis: int, at_end: bool, thickness: int) -> None:
            thickness = min(thickness, stop[axis] - start[axis])
            if thickness <= 0:
                return
            first, last = list(start), list(stop)
            if at_end:
                stop[axis] = first[axis] = stop[axis] - thickness
            else:
                start[axis] = last[axis] = start[axis] + thickness
            edges.append(Box(first[0], last[0], first[1], last[1], first[2], last[2]))

        for axis in (2, 1, 0):
            thickness = lanes * X_EDGE[self.engine.device.kind] if axis == 0 else 1
            # With two lanes both ends of a row are in its first and in its last words.
            both = axis == 0 and lanes == 2 and (low[0] or high[0])
            if low[axis] or both:
                cut_off(axis, False, thickness)
            if high[axis] or both:
                cut_off(axis, True, thickness)
        if any(a >= b for a, b in zip(start, stop, strict=True)):
            return edges, None
        return edges, Box(start[0], stop[0], start[1], stop[1], start[2], stop[2])


def cut_box(box: Box | None, pieces: int) -> list[Box]:
    """Cut a box across z into pieces of about equal thickness."""
    if box is None:
        return []
    height = box.z1 - box.z0
    bounds = [box.z0 + height * k // pieces for k in range(pieces + 1)]
    return [
        Box(box.x0, box.x1, box.y0, box.y1, a, b)
        for a, b in itertools.pairwise(bounds)
        if a < b
    ]

"""Parts of a domain: boxes of cells, each in a block of one device."""

from __future__ import annotations

import contextlib
import gc
import itertools
from dataclasses import dataclass

import numpy as np

from hetero.devices import Device
from hetero.memory import free_bytes
from lbm import _kernels
from lbm._kernels import moments
from lbm._kernels.engine import Engine
from lbm._kernels.problem import Box, Problem
from lbm._parallel.memory_forecast import Storage, shortage_error
from lbm.lattices.extent import Extent, Triple

X_EDGE = {"cpu": 16, "cuda": 32}
"""Thickness of the edges across x in words: a line of memory, and a warp. Thinner ones would take
as long."""


def edge_thickness(axis: int, kind: str, lanes: int) -> int:
    """Return the number of cells across the edge beside a part along an axis.

    Parameters
    ----------
    axis : 0 for x, 1 for y, 2 for z
    kind : kind of device, "cpu" or "cuda"
    lanes : cells of a word
    """
    return lanes * X_EDGE[kind] if axis == 0 else 1


def make_engine(
    problem: Problem, device: Device, allocate: _kernels.Allocate | None = None
) -> Engine:
    """Create the engine of a block, or raise a MemoryError that says what to change."""
    device.require()
    free = free_bytes(device)
    with contextlib.suppress(MemoryError):  # an engine that failed frees its memory
        if problem.bytes <= free:
            room = moments if problem.precision.moments else _kernels
            return room.loops(device).create_engine(problem, device, allocate)
    gc.collect()
    storage = Storage(
        problem.pattern.name, problem.precision, problem.lattice, problem.collision.reads_viscosity
    )
    raise shortage_error(problem.shape, storage, problem.bytes, free, device)


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

    def edge_plane(self, axis: int, outside: int) -> int:
        """Return the coordinate in the block of this part's last cells towards +axis or -axis."""
        return self.halo[axis] + (self.extent.shape[axis] - 1 if outside > 0 else 0)

    def block_cells(self, cells: np.ndarray) -> np.ndarray:
        """Return cells [i, (z, y, x)], counted from the first one of the part, in its block."""
        hx, hy, hz = self.halo
        return cells + np.array((hz, hy, hx))

    def split(self, low: tuple[bool, ...], high: tuple[bool, ...]) -> tuple[list[Box], Box | None]:
        """Return (the cells beside other parts, all others) as boxes of the block.

        `low` and `high` say for each axis whether there is another part at either end.
        """
        problem, (hx, hy, hz) = self.engine.problem, self.halo
        (nx, _, _), (lx, ly, lz) = problem.shape, self.extent.shape
        interior = Box(0, nx, hy, hy + ly, hz, hz + lz)
        edges: list[Box] = []
        for axis, first, last in ((2, hz, hz + lz), (1, hy, hy + ly)):
            begin = first + low[axis]
            cut_off, interior = cut_ends(interior, axis, begin, max(begin, last - high[axis]))
            edges += cut_off
        if low[0] or high[0]:
            lanes = problem.precision.lanes
            width = edge_thickness(0, self.engine.device.kind, lanes)
            # With two lanes both ends of a row are among its first words and those of its last
            # cell, which is in the second lane.
            last = hx + lx if lanes == 1 else 2 * ((hx + lx - 1) % (nx // 2) + 1)
            at_low, at_high = low[0] or lanes == 2, high[0] or lanes == 2
            begin = min(width, nx) if at_low else 0
            end = max(begin, last - width) if at_high else nx
            cut_off, interior = cut_ends(interior, 0, begin, end)
            edges += cut_off
        return [box for box in edges if box.cells], interior if interior.cells else None


def cut_ends(box: Box, axis: int, begin: int, end: int) -> tuple[list[Box], Box]:
    """Cut a box across an axis at begin and at end; return (the two ends, the middle)."""
    names = ("x0", "x1"), ("y0", "y1"), ("z0", "z1")
    lower, upper = names[axis]
    low, high = box._replace(**{upper: begin}), box._replace(**{lower: end})
    return [low, high], box._replace(**{lower: begin, upper: end})


def cut_box(box: Box | None, pieces: int) -> list[Box]:
    """Cut a box across z into pieces of about equal thickness."""
    if box is None:
        return []
    height = box.z1 - box.z0
    bounds = [box.z0 + height * k // pieces for k in range(pieces + 1)]
    return [box._replace(z0=a, z1=b) for a, b in itertools.pairwise(bounds) if a < b]

"""A flow in a block of cells, without its state: geometry, numbers and memory layout."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.collisions.operator import Collision
from lbm.geometry.wall_links import FROM, SOLID_CLASS, Links
from lbm.lattices import Lattice
from lbm.lattices.extent import Extent, Triple
from lbm.lattices.precision import Precision
from lbm.lattices.streaming_patterns import Address, Pattern

ROW_WORDS = 32
"""Words of which a row with a halo has a multiple: a warp of a GPU, two lines of a CPU's cache."""


LARGE_SLOT, LARGE_SLOT_PADDING = 64 << 20, 3 << 19
"""Size in bytes from which slots are padded further, and by how much: slots that are 514 MiB apart
(512 x 512 x 514 cells in float32) took 3 % longer on an H200. With 1.5 MiB more no size of seven
that were tried, from 257 to 516 MiB, was slower than with any other padding."""


def pitch(cells: int, precision: Precision) -> int:
    """Return the number of populations from the start of a slot to the next in a block.

    Slots are padded by at least 256 bytes: slots that are a power of two apart would all fall on
    the same few lines of a CPU's first-level cache (a third of the speed).
    """
    group = 256 // precision.itemsize
    padded = (-(-cells // group) + 1) * group
    if padded * precision.itemsize < LARGE_SLOT:
        return padded
    return padded + LARGE_SLOT_PADDING // precision.itemsize


def population_bytes(cells: int, pattern: Pattern, precision: Precision) -> int:
    """Return the memory in bytes of the populations of a block."""
    slots = precision.moments or pattern.lattice.size
    return pattern.copies * slots * precision.itemsize * pitch(cells, precision)


def viscosity_bytes(cells: int, precision: Precision) -> int:
    """Return the memory in bytes that the eddy viscosity of a block takes.

    It holds the viscosity, stored like a population, the moments of all cells, and the missing
    neighbours of each cell (one byte).
    """
    moments = 4 * np.dtype(precision.compute).itemsize
    return precision.itemsize * pitch(cells, precision) + cells * (moments + 1)


@dataclass(frozen=True, eq=False)
class Problem:
    """A flow to compute in a block of cells, without its state.

    Attributes
    ----------
    shape : (nx, ny, nz) of the block, halos included
    links : walls, with the classes [z, y, x] of the block's cells
    pattern : streaming pattern of the lattice
    precision : dtypes of the arithmetic and of the memory
    collision : operator with its rates
    force : body force on a cell in step 0, density times cells/step^2
    force_in_time : function of the time in steps that returns the force, if it changes
    periodic : whether the cells at both ends of an axis are neighbours, where the state is moments
    cells : number of cells of the block, solid ones included
    pitch : number of populations from the start of a slot to the next
    populations : number of them in a copy of the block's memory, with the gaps between slots
    slots : how many words or populations are stored of a cell
    lattice : the lattice
    forced : whether there is a body force
    is_driven : whether forces or walls change with time
    """

    shape: tuple[int, int, int]
    links: Links
    pattern: Pattern
    precision: Precision
    collision: Collision
    force: tuple[float, float, float]
    force_in_time: Callable[[float], tuple[float, float, float]] | None = None
    periodic: tuple[bool, ...] = (True, True, True)

    cells: int = field(init=False)
    pitch: int = field(init=False)
    populations: int = field(init=False)
    slots: int = field(init=False)
    lattice: Lattice = field(init=False)
    forced: bool = field(init=False)
    is_driven: bool = field(init=False)

    def __post_init__(self) -> None:
        if self.shape[0] % self.precision.lanes:
            self.precision.require_width(self.shape[0])
        changes = self.force_in_time is not None
        moves = self.links.cut is not None and bool(self.links.cut.moving)
        cells, lattice = math.prod(self.shape), self.pattern.lattice
        distance, slots = pitch(cells, self.precision), self.precision.moments or lattice.size
        for name, value in {
            "cells": cells,
            "pitch": distance,
            "populations": slots * distance,
            "slots": slots,
            "lattice": lattice,
            "forced": any(self.force) or changes,
            "is_driven": changes or bool(self.links.varying) or moves,
        }.items():
            object.__setattr__(self, name, value)

    def force_in(self, step: int) -> tuple[float, float, float]:
        """Return the force in a step, at its beginning, when populations collide."""
        return self.force if self.force_in_time is None else self.force_in_time(float(step))

    @property
    def bytes(self) -> int:
        """Memory in bytes that the block takes on its device: populations and classes, and what
        belongs to the eddy viscosity."""
        populations = population_bytes(self.cells, self.pattern, self.precision)
        eddies = self.collision.reads_viscosity and viscosity_bytes(self.cells, self.precision)
        return populations + self.cells * self.links.classes.itemsize + eddies

    @functools.cached_property
    def walls(self) -> str:
        """Walls that kernels must take into account: "none", "faces" or "solids"."""
        if (self.links.classes == SOLID_CLASS).any():
            return "solids"
        return "faces" if self.links.any else "none"

    def bytes_per_update(self) -> int:
        """Return the bytes that the update of a cell must move.

        It reads and writes each population once, and reads the class of the cell if there are
        walls, and the eddy viscosity if the operator has one. The share of the computation of that,
        which a step does now and then, is rounded: it reads all populations, writes and reads the
        moments, and writes the viscosity.
        """
        size, populations = self.precision.itemsize, 2 * self.slots * self.precision.itemsize
        bytes_moved = populations + self.links.classes.itemsize * self.links.any
        if isinstance(self.collision, EddyViscosityModel):
            moments = 7 * np.dtype(self.precision.compute).itemsize
            computation = populations // 2 + moments + 1 + size
            bytes_moved += size + round(computation / self.collision.every)
        return bytes_moved

    def select_block(self, extent: Extent, halo: Triple = (0, 0, 0)) -> Problem:
        """Return the problem of the cells in `extent`, with halos at both ends of the axes.

        Cells of the halo are never updated. Those at the ends of x have the class of solids, since
        a step goes over whole rows; further ones fill up the row.
        """
        if extent == Extent.of_domain(self.shape) and not any(halo):
            return self
        x, y, z = extent.slices
        widths = [(h, h) for h in reversed(halo)]
        if halo[0]:
            # Rows of whole lines of memory: their first words are then aligned.
            unit, width = self.precision.lanes * ROW_WORDS, extent.shape[0] + 2 * halo[0]
            widths[2] = halo[0], halo[0] + -width % unit
        classes = np.pad(self.links.classes[z, y, x], widths)
        if halo[0]:
            classes[..., : halo[0]] = classes[..., halo[0] + extent.shape[0] :] = SOLID_CLASS
        nz, ny, nx = classes.shape
        cut = None if self.links.cut is None else self.links.cut.select(extent, halo)
        links = replace(self.links, classes=classes, bodies={}, cut=cut)
        return replace(self, shape=(nx, ny, nz), links=links)


class Box(NamedTuple):
    """The cells x0 <= x < x1, y0 <= y < y1, z0 <= z < z1 of a block.

    With two lanes x0 and x1 count positions in the memory of a row. What is read or written is
    always whole rows; steps may leave out their ends.
    """

    x0: int
    x1: int
    y0: int
    y1: int
    z0: int
    z1: int

    @property
    def cells(self) -> int:
        """Number of cells."""
        return (self.x1 - self.x0) * (self.y1 - self.y0) * (self.z1 - self.z0)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape (z, y, x) of arrays of the box's fields."""
        return self.z1 - self.z0, self.y1 - self.y0, self.x1


def fold_rows(classes: np.ndarray, lanes: int) -> np.ndarray:
    """Return classes [z, y, x] in memory order: with two lanes x and x + nx/2 are neighbours."""
    if lanes == 1:
        return np.ascontiguousarray(classes)
    nz, ny, nx = classes.shape
    return np.ascontiguousarray(classes.reshape(nz, ny, 2, nx // 2).swapaxes(2, 3)).reshape(
        classes.shape
    )


def row_position(x: np.ndarray, nx: int, lanes: int) -> np.ndarray:
    """Return the position of the cell x in the memory of its row."""
    return x if lanes == 1 else 2 * (x % (nx // 2)) + x // (nx // 2)


def wall_return_indices(problem: Problem, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return where walls have stored what they return for the links q of cells (z, y, x).

    These are indices of the flat array of populations. They are the same in all steps, so forces on
    bodies can be read after any step.
    """
    opposite = np.array(problem.lattice.opposite)[q]
    return population_indices(problem, cells, opposite, problem.pattern.steps[0].wall)


def population_indices(
    problem: Problem, cells: np.ndarray, q: np.ndarray, addresses: Sequence[Address]
) -> np.ndarray:
    """Return where populations q of cells (z, y, x) are, by a table of an `Access`.

    These are indices of the flat array of populations.
    """
    nx, ny, nz = problem.shape
    table = np.array([(a.slot, *a.shift) for a in addresses])
    slot, dx, dy, dz = table[q].T
    z, y, x = cells.T
    x = row_position((x + dx) % nx, nx, problem.precision.lanes)
    return slot * problem.pitch + ((z + dz) % nz * ny + (y + dy) % ny) * nx + x


def load_indices(problem: Problem, cells: np.ndarray) -> np.ndarray:
    """Return where even and odd steps load the populations of cells, int64 [parity, q, cell]."""
    size = problem.lattice.size
    comes_from_wall = problem.links.bits(FROM)[problem.links.classes[tuple(cells.T)]]
    loads = np.empty((2, size, len(cells)), np.int64)
    for odd, q in itertools.product((0, 1), range(size)):
        population, access = np.full(len(cells), q), problem.pattern.steps[odd]
        streamed = population_indices(problem, cells, population, access.load)
        returned = population_indices(problem, cells, population, access.wall)
        loads[odd, q] = np.where(comes_from_wall[:, q], returned, streamed)
    return loads

"""A block of cells on one device: what the twins `_engine_cpu` and `_engine_cuda` share."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np

from lbm.lattice import OPPOSITE, Q
from lbm.links import SOLID_CLASS, Links
from lbm.patterns import Pattern
from lbm.precision import Precision


def pitch(cells: int, precision: Precision) -> int:
    """Return the populations from the start of a slot to the next in a block of so many cells.

    256 bytes more than the cells: slots that are a power of two apart would all fall on the
    same few lines of a CPU's first cache (a third of the speed).
    """
    group = 256 // precision.itemsize
    return (-(-cells // group) + 1) * group


def population_bytes(cells: int, pattern: Pattern, precision: Precision) -> int:
    """Return the memory of the populations of a block of so many cells."""
    return pattern.copies * Q * precision.itemsize * pitch(cells, precision)


@dataclass(frozen=True, eq=False)
class Problem:
    """What an engine is made of.

    Attributes
    ----------
    shape : (nx, ny, nz) of the block, ghost rows included
    links : walls; classes [z, y, x] of the block
    collision : operator with its rates
    force : body force on a cell, density times cells/step^2
    """

    shape: tuple[int, int, int]
    links: Links
    pattern: Pattern
    precision: Precision
    collision: object
    force: tuple[float, float, float]

    def __post_init__(self):
        if self.shape[0] % self.precision.lanes:
            raise ValueError(
                f"precision={self.precision.name!r} needs an even nx, got {self.shape[0]}"
            )

    @property
    def forced(self) -> bool:
        return any(self.force)

    @property
    def cells(self) -> int:
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def pitch(self) -> int:
        """Populations from the start of a slot to the next."""
        return pitch(self.cells, self.precision)

    @property
    def bytes(self) -> int:
        """Memory that the block takes on its device: populations and classes."""
        populations = population_bytes(self.cells, self.pattern, self.precision)
        return populations + self.cells * self.links.classes.itemsize

    @functools.cached_property
    def walls(self) -> str:
        """What kernels must look out for: "none", "faces" or "solids"."""
        if not self.links.any:
            return "none"
        return "solids" if (self.links.classes == SOLID_CLASS).any() else "faces"

    def bytes_per_update(self) -> int:
        """Bytes that the update of a cell moves at least: 19 reads, 19 writes, its class."""
        return 2 * Q * self.precision.itemsize + (self.links.classes.itemsize * self.links.any)

    def rows(self, ys: np.ndarray) -> Problem:
        """The same for the rows `ys` of y, taken modulo ny: a part with its ghost rows."""
        nx, ny, nz = self.shape
        classes = np.ascontiguousarray(self.links.classes[:, np.asarray(ys) % ny])
        return replace(
            self, shape=(nx, len(ys), nz), links=replace(self.links, classes=classes, bodies={})
        )


@dataclass(frozen=True)
class Box:
    """Cells x0 <= x < x1, and so on. With two lanes in a word a box has whole rows."""

    x0: int
    x1: int
    y0: int
    y1: int
    z0: int
    z1: int

    def flat(self) -> tuple[int, ...]:
        return self.x0, self.x1, self.y0, self.y1, self.z0, self.z1

    @property
    def shape(self) -> tuple[int, int, int]:
        """(z, y, x), rows whole: what arrays of the box's fields have."""
        return self.z1 - self.z0, self.y1 - self.y0, self.x1


@dataclass(frozen=True, eq=False)
class Message:
    """Planes of populations that a part sends to another after a step.

    Attributes
    ----------
    slots, rows : of the sender, one plane each
    into : rows of the receiver, same slots
    free : bool [plane, z, position], where the receiver may be written: its own walls' returns stay
    """

    slots: np.ndarray
    rows: np.ndarray
    into: np.ndarray
    free: np.ndarray

    @property
    def tables(self) -> tuple[np.ndarray, ...]:
        return self.slots, self.rows, self.into, self.free


def row_sizes(source: Engine, target: Engine) -> tuple[np.int64, ...]:
    """Cells of a row, and rows of a layer in either block."""
    nx, ny, _ = source.problem.shape
    return np.int64(nx), np.int64(ny), np.int64(target.problem.shape[1])


class Engine:
    """A block on one device. The twins add what touches memory.

    Methods of both: step(t, box), fields(t, box) -> [4, z, y, x], gather(t, box) -> [q, z, y, x],
    fill(t, box, moments), scatter(t, box, populations), at(t, places), to_host(array),
    copy_state(t, into), return_to_state(t, state), and divide(pieces): so many threads of a block,
    or tasks of a thread, from now on.
    For split domains: begin(t, edges, inner, halo) steps the rows beside the cut, finish(t, inner)
    the others, unless `begin` has them started; `halo` moves planes in between.
    `t` is the number of steps done before: it decides where populations are.
    What fields and gather return holds until their next call.
    """

    def __init__(self, problem: Problem, device):
        T = problem.precision.compute
        self.problem, self.device = problem, device
        self.rates = tuple(map(T, problem.collision.rates))
        self.force = tuple(map(T, problem.force))
        self.populations: list = []

    def box(self, y0: int = 0, y1: int | None = None, z0: int = 0, z1: int | None = None) -> Box:
        """Whole rows of the block between y0 and y1, z0 and z1."""
        nx, ny, nz = self.problem.shape
        return Box(0, nx, y0, ny if y1 is None else y1, z0, nz if z1 is None else z1)

    def source(self, t: int):
        """Populations that step t reads."""
        return self.populations[t % len(self.populations)]

    @property
    def state_bytes(self) -> int:
        """Memory of one copy of the populations."""
        return population_bytes(
            self.problem.cells, self.problem.pattern, self.problem.precision
        ) // (self.problem.pattern.copies)

    def target(self, t: int):
        """Populations that step t writes."""
        return self.populations[(t + 1) % len(self.populations)]


def folded(classes: np.ndarray, lanes: int) -> np.ndarray:
    """[z, y, x] in the order of memory: with two lanes x and x + nx/2 are neighbours."""
    if lanes == 1:
        return np.ascontiguousarray(classes)
    nz, ny, nx = classes.shape
    return np.ascontiguousarray(classes.reshape(nz, ny, 2, nx // 2).swapaxes(2, 3)).reshape(
        classes.shape
    )


def position(x: np.ndarray, nx: int, lanes: int) -> np.ndarray:
    """Where the cell x of a row stands in memory."""
    return x if lanes == 1 else 2 * (x % (nx // 2)) + x // (nx // 2)


def fluid(problem: Problem) -> np.ndarray:
    """Whether a cell is fluid, [z, y, x]."""
    return problem.links.classes != SOLID_CLASS


def wall_places(problem: Problem, cells: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Flat index, in an array of populations, of what walls return for links q of cells (z, y, x).

    These places do not change from step to step: that is how forces on bodies are read.
    """
    nx, ny, nz = problem.shape
    table = np.array([(w.slot, *w.shift) for w in problem.pattern.steps[0].wall])
    slot, dx, dy, dz = table[np.array(OPPOSITE)[q]].T
    z, y, x = cells.T
    x = position((x + dx) % nx, nx, problem.precision.lanes)
    return slot * problem.pitch + ((z + dz) % nz * ny + (y + dy) % ny) * nx + x

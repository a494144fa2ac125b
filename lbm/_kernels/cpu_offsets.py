"""Memory offsets of populations on the CPU, and runs of identical cells in a row.

A row of cells is cut into runs of cells of one class (same walls around them), so that the inner
loop reads and writes at fixed offsets from a cell. `make_offset_table` computes those of a block,
and a loop of `make_gather` picks those of a class of cells. The periodic wrap at the ends of rows,
and of the block, is handled by the cells there, which have offsets of their own. Positions, offsets
and pitches count populations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lbm._kernels.cpu_rows import inner_loop

ROW_KINDS = 16
"""Kinds of rows: see `row_kind`."""

EDGE_KINDS = 5
"""Kinds of positions in a row at most: two at either end (one per lane), and all others."""


CACHED_OFFSETS = 32
"""Kinds of cells whose offsets a thread remembers while it works on inner rows; not tuned."""


class Runs(NamedTuple):
    """Runs of cells of one class, row by row.

    Attributes
    ----------
    first : int64 [row + 1], the first run of each row
    ends : int64 [run], the position in the row behind its last cell
    classes : int64 [run], its class (see `lbm.geometry.wall_links`)
    """

    first: np.ndarray
    ends: np.ndarray
    classes: np.ndarray


class Region(NamedTuple):
    """The cells x0 <= x < x1, ... that a sweep goes over, in a block of nx * ny * nz cells.

    All are integers.
    """

    x0: int
    x1: int
    y0: int
    y1: int
    z0: int
    z1: int
    nx: int
    ny: int
    nz: int


def find_runs(classes: np.ndarray, head: int, tail: int) -> Runs:
    """Find the runs of `classes` [z, y, position].

    The first `head` and the last `tail` cells of a row are runs of their own.
    """
    nz, ny, nx = classes.shape
    flat = classes.reshape(nz * ny, nx)
    is_last = np.ones(flat.shape, bool)
    np.not_equal(flat[:, 1:], flat[:, :-1], out=is_last[:, :-1])
    is_last[:, :head] = True
    if tail:
        is_last[:, -tail - 1 :] = True
    row, last = np.nonzero(is_last)
    first = np.searchsorted(row, np.arange(nz * ny + 1))
    return Runs(first, last + 1, flat[row, last].astype(np.int64))


@inner_loop(forceinline=True)
def find_segment(s, x1, k, ends, classes):
    """Return (run at position s, its class, number of its cells from s to x1); starts at run k."""
    while ends[k] <= s:
        k += 1
    return k, classes[k], min(ends[k], x1) - s


@inner_loop(forceinline=True)
def edge_kind(s, nx, lanes):
    """Kind of the position s in a row: `lanes` if it is at no end."""
    return s if s < lanes else (lanes if s < nx - lanes else s - nx + 2 * lanes + 1)


@inner_loop(forceinline=True)
def row_kind(y, z, ny, nz):
    """Kind of a row: a bit for each end of the block where it lies; 0 for inner rows."""
    along_y = np.int64(y == 0) + 2 * np.int64(y == ny - 1)
    return along_y + 4 * np.int64(z == 0) + 8 * np.int64(z == nz - 1)


def make_offset_table(
    addresses: np.ndarray, shape: tuple[int, int, int], pitch: int, lanes: int
) -> np.ndarray:
    """Return the offsets from a cell to its populations: int64 [row, edge, way, wall, q].

    `row` is its `row_kind` and `edge` its `edge_kind`; `way` is 0 for loads and 1 for stores, and
    `wall` is 1 for links into walls. `addresses` int64 [4, way, wall, q] holds slots and shifts in
    x, y and z, in a block of `shape` (nx, ny, nz).

    With two half-precision values packed in a word (lanes = 2), the neighbour across the end of the
    row also changes its lane: the cell before x = 0 is in the upper lane of the last word.
    """
    (slot, dx, dy, dz), (nx, ny, nz) = addresses, shape
    s = np.array([*range(lanes), -1, *range(nx - lanes, nx)])[:, None, None, None]
    lane_change = 1 - 2 * (s % 2) if lanes == 2 else 0
    backward = np.where((0 <= s) & (s < lanes), nx + lane_change, 0)
    forward = np.where(s >= nx - lanes, lane_change - nx, 0)
    table = slot * pitch + (dz * ny + dy) * nx + dx * lanes
    table = table + np.where(dx < 0, backward, 0) + np.where(dx > 0, forward, 0)
    kind = np.arange(ROW_KINDS)[:, None, None, None, None]
    along_y = ((kind & 1 > 0) & (dy < 0)) | ((kind & 2 > 0) & (dy > 0))
    along_z = ((kind & 4 > 0) & (dz < 0)) | ((kind & 8 > 0) & (dz > 0))
    return table - along_y * (dy * ny * nx) - along_z * (dz * nz * ny * nx)


@functools.cache
def make_gather(populations: int, lanes: int) -> Callable:
    """Make gather(table, row, edge, from_wall, into_wall, offsets, j) for cells with so many
    populations.

    It copies the offsets of a kind of cells from the flat table of `make_offset_table` to
    `offsets`, from j on. offsets[j + q] leads from a cell to where population q is loaded,
    offsets[j + Q + q], where Q is the number of populations, to where it is stored. Bit q of
    `from_wall` and `into_wall` says whether q comes out of a wall or runs into one.
    """

    @inner_loop
    def gather(table, row, edge, from_wall, into_wall, offsets, j):
        kind = row * (2 * lanes + 1) + edge
        for way in range(2):
            bits, first = into_wall if way else from_wall, (kind * 2 + way) * 2 * populations
            for q in range(populations):
                offset = table[first + populations * (bits >> q & 1) + q]
                offsets[j + way * populations + q] = offset

    return gather

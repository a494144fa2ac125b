"""Memory offsets of populations on the CPU, and runs of identical cells in a row.

A row of cells is cut into runs of cells of one class (same walls around them), so that the inner
loop reads and writes at fixed offsets from a cell. `OffsetLoops.fill_table` computes the offsets of
a row once for all positions in it, and `OffsetLoops.gather` picks those of a class of cells. The
periodic wrap at both ends of a row is handled by the few cells there, which have offsets of their
own. Positions, offsets and pitches count populations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hetero.jit import serial

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

    `pitch` is the number of populations from the start of a slot to the next. All are integers.
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
    pitch: int


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


@serial(forceinline=True)
def find_segment(s, x1, k, ends, classes):
    """Return (run at position s, its class, number of its cells from s to x1); starts at run k."""
    while ends[k] <= s:
        k += 1
    return k, classes[k], min(ends[k], x1) - s


@serial(forceinline=True)
def edge_kind(s, nx, lanes):
    """Kind of the position s in a row: `lanes` if it is at no end."""
    return s if s < lanes else (lanes if s < nx - lanes else s - nx + 2 * lanes + 1)


@serial(forceinline=True)
def edge_position(edge, nx, lanes):
    """Return a position of this kind; -1 for the kind of those that are at no end."""
    return edge if edge < lanes else (-1 if edge == lanes else edge + nx - 2 * lanes - 1)


@serial
def wrap_correction(s, nx, lanes):
    """Corrections to the offsets of the x - 1 and x + 1 neighbours where the row wraps around.

    With two half-precision values packed in a word (lanes = 2), the neighbour across the end of the
    row also changes its lane: the cell before x = 0 is in the upper lane of the last word.
    """
    lane_change = 1 - 2 * (s % 2) if lanes == 2 else 0
    backward = nx + lane_change if 0 <= s < lanes else 0
    forward = lane_change - nx if s >= nx - lanes else 0
    return backward, forward


@serial(forceinline=True)
def is_at_edge(y, z, ny, nz):
    """Return whether a row lies at an end of the block, where y or z wraps around.

    All other rows have the same offsets.
    """
    return y == 0 or z == 0 or y == ny - 1 or z == nz - 1


def offset_table_size(populations: int) -> int:
    """Return how many numbers `OffsetLoops.fill_table` writes; `populations` is that of a cell."""
    return EDGE_KINDS * 2 * 2 * populations


class OffsetLoops(NamedTuple):
    """Loops over the offsets of the populations of a cell.

    Attributes
    ----------
    fill_table : fill_table(addresses, region, y, z, lanes, out) writes the offsets from a cell of
        the row (y, z) to its populations: out[edge, way, wall, q]. `out` is flat. `way` is 0 for
        loads and 1 for stores; `wall` is 1 for links into walls. `addresses` int64 [4, way, wall,
        q] holds their slots and their shifts in x, y and z.
    gather : gather(table, edge, from_wall, into_wall, offsets, j) copies the offsets of a kind of
        cells from the table of its row to `offsets`, from j on. offsets[j + q] leads from a cell to
        where population q is loaded, offsets[j + Q + q], where Q is the number of populations, to
        where it is stored. `edge` is the cell's kind of position; bit q of `from_wall` and
        `into_wall` says whether q comes out of a wall or runs into one.
    """

    fill_table: Callable
    gather: Callable


@functools.cache
def make_offset_loops(populations: int) -> OffsetLoops:
    """Make the loops for cells with so many populations."""

    @serial
    def fill_table(addresses, region, y, z, lanes, out):
        nx, ny, nz = region.nx, region.ny, region.nz
        j = 0
        for edge in range(2 * lanes + 1):
            backward, forward = wrap_correction(edge_position(edge, nx, lanes), nx, lanes)
            for way in range(2):
                for wall in range(2):
                    for q in range(populations):
                        slot, dx = addresses[0, way, wall, q], addresses[1, way, wall, q]
                        dy, dz = addresses[2, way, wall, q], addresses[3, way, wall, q]
                        offset = slot * region.pitch + (dz * ny + dy) * nx + dx * lanes
                        offset += backward if dx < 0 else (forward if dx > 0 else 0)
                        if y + dy < 0 or y + dy >= ny:
                            offset -= dy * ny * nx
                        if z + dz < 0 or z + dz >= nz:
                            offset -= dz * nz * ny * nx
                        out[j] = offset
                        j += 1

    @serial(forceinline=True)
    def gather(table, edge, from_wall, into_wall, offsets, j):
        for way in range(2):
            bits, first = into_wall if way else from_wall, (edge * 2 + way) * 2 * populations
            for q in range(populations):
                offset = table[first + populations * (bits >> q & 1) + q]
                offsets[j + way * populations + q] = offset

    return OffsetLoops(fill_table, gather)

"""Where the CPU finds populations: runs of like cells in a row, and distances in memory."""

from __future__ import annotations

import numpy as np

from hetero.jit import serial
from lbm.lattice import Q

ENDS = 5
"""Kinds of cells by their place in a row: those at its ends, and the others (see `end_of`)."""

TABLE = ENDS * 2 * 2 * Q
"""Numbers that `offsets` writes."""


def runs(classes: np.ndarray, head: int, tail: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Runs of cells of one class: (first run of each row, end of each run, its class).

    `head` cells at the start of a row and `tail` ones at its end are runs of their own.
    """
    nz, ny, nx = classes.shape
    flat = classes.reshape(nz * ny, nx)
    change = np.ones(flat.shape, bool)
    np.not_equal(flat[:, 1:], flat[:, :-1], out=change[:, :-1])
    change[:, :head] = True
    if tail:
        change[:, -tail - 1 :] = True
    row, last = np.nonzero(change)
    first = np.searchsorted(row, np.arange(nz * ny + 1))
    return first, last + 1, flat[row, last].astype(np.int64)


@serial(cache=False, forceinline=True)
def piece_at(s, x1, k, ends, classes):
    """The run at position s of a row, from run k on; its class, and its cells from s to x1."""
    while ends[k] <= s:
        k += 1
    return k, classes[k], min(ends[k], x1) - s


@serial(cache=False, forceinline=True)
def end_of(s, nx, lanes):
    """The kind of the position s in a row."""
    return s if s < lanes else (lanes if s < nx - lanes else s - nx + 2 * lanes + 1)


@serial(cache=False, forceinline=True)
def position_of(end, nx, lanes):
    """A position of this kind; -1 for those that are at no end."""
    return end if end < lanes else (-1 if end == lanes else end + nx - 2 * lanes - 1)


@serial(cache=False)
def beyond(s, nx, lanes):
    """What to add to the neighbours at -1 and +1 of the position s where the row ends.

    Lanes change there: with two, the cell before x = 0 stands in the last word's upper lane.
    """
    turn = 1 - 2 * (s % 2) if lanes == 2 else 0
    back = nx + turn if 0 <= s < lanes else 0
    forth = turn - nx if s >= nx - lanes else 0
    return back, forth


@serial(cache=False)
def offsets(places, y, z, nx, ny, nz, pitch, lanes, out):
    """Distances in memory from a cell of the row (y, z): out[end, what, k, q], flat.

    `what` is 0 for loads and 1 for stores, `k` 1 where the link is a wall's. `places` has for these
    the slot and the shifts in x, y and z, [4, what, k, q].
    """
    j = 0
    for end in range(2 * lanes + 1):
        back, forth = beyond(position_of(end, nx, lanes), nx, lanes)
        for what in range(2):
            for k in range(2):
                for q in range(Q):
                    slot, dx = places[0, what, k, q], places[1, what, k, q]
                    dy, dz = places[2, what, k, q], places[3, what, k, q]
                    at = slot * pitch + (dz * ny + dy) * nx + dx * lanes
                    at += back if dx < 0 else (forth if dx > 0 else 0)
                    if y + dy < 0 or y + dy >= ny:
                        at -= dy * ny * nx
                    if z + dz < 0 or z + dz >= nz:
                        at -= dz * nz * ny * nx
                    out[j] = at
                    j += 1


@serial(cache=False)
def find_ways(table, end, comes, sent, ways, j):
    """ways[j + q] and ways[j + Q + q]: distances from a cell to where q comes from and goes to.

    Of a cell of the kind `end` with these links to walls (bits), by `offsets`' table of its row.
    """
    for what in range(2):
        bits, first = sent if what else comes, (end * 2 + what) * 2 * Q
        for q in range(Q):
            ways[j + what * Q + q] = table[first + Q * (bits >> q & 1) + q]

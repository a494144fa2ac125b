"""Links of a scalar that end at interpolated walls with a given value.

Anti-bounce-back at the share d of a link (Ginzburg 2005; Li, Mei and Klausner 2013, linear). Of the
populations after a collision, the wall with the value v returns

    g_-q(t + 1) = v/4 - 2 d g_q - (1 - 2 d) g'                               if d < 1/2,
    g_-q(t + 1) = v/(8 d) - g_q / (2 d) + (1 - 1/(2 d)) g_-q                 otherwise,

where g' is the population q of the cell behind, which arrives at this cell, and g_-q the one that
has left towards that cell. The scalar of a linear profile is then v at the wall.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lbm._coupled.scalars.formulas import FLUX, STREAMS, VALUE
from lbm._coupled.scalars.walls import DIRECTIONS, OPPOSITE, Q7, ScalarLinks, Wall
from lbm._parallel.parts import Part
from lbm.geometry.cut_links import NARROWEST, CutLinks, find_mates
from lbm.lattices.extent import Triple


class ValueLinks(NamedTuple):
    """Links of this rank into interpolated walls with a value.

    Attributes
    ----------
    cells : int64 [link, (z, y, x)], counted from the first cell of the rank
    q : int64 [link], population of the scalar's lattice
    distance : float64 [link], where the wall stands, as a share of the link
    value : float64 [link]
    names : of the solids, [link]
    """

    cells: np.ndarray
    q: np.ndarray
    distance: np.ndarray
    value: np.ndarray
    names: np.ndarray


class LinkTable(NamedTuple):
    """Links of a block: what a wall returns is a g[wall] + b g[other] + k, after a step that has
    left v/4 - g_q in g[wall].

    Attributes
    ----------
    wall, other : int64 [link], in the flat array of populations of a block
    factors : [4, link], a, b, k, and v/4
    """

    wall: np.ndarray
    other: np.ndarray
    factors: np.ndarray


def find_value_links(cut: CutLinks | None, links: ScalarLinks, walls: Mapping[str, Wall]
                     ) -> ValueLinks | None:  # fmt: skip
    """Return the links into interpolated walls with a value; None if there are none.

    `walls` are those of the scalar at solids. A link whose nearest wall is not that of the cell at
    its end keeps the wall of that cell.
    """
    if cut is None:
        return None
    valued = [k for k, name in enumerate(cut.names) if walls[name].kind == VALUE]
    # The population of the scalar's lattice with the velocity of each link, or -1.
    scalar_q = [DIRECTIONS.index(c) if c in DIRECTIONS else -1 for c in cut.lattice.velocities]
    q = np.array(scalar_q)[cut.q]
    chosen = np.flatnonzero(np.isin(cut.body, np.array(valued, np.int64)) & (q > 0))
    cells, q = cut.cells[chosen], q[chosen]
    numbers = np.array([walls[name].number for name in cut.names])
    value = numbers[cut.body[chosen]]
    classes = links.classes[tuple(cells.T)]
    same = (links.kinds[classes, q] == VALUE) & (links.numbers[classes, q] == value)
    if not same.any():
        return None
    names = np.array(cut.names)[cut.body[chosen]]
    distance = cut.distance[chosen]
    return ValueLinks(cells[same], q[same], distance[same], value[same], names[same])


def make_table(part: Part, links: ValueLinks, scalar: ScalarLinks, inside: np.ndarray) -> LinkTable:
    """Return the table of the links with the numbers `inside`, which are those of a part's cells.

    With a single cell between two walls there is no cell behind: g' is what the other wall returns,
    and g_-q what has run into it. Two interpolated walls are two linear equations.
    """
    shape = part.engine.problem.shape
    cells = part.block_cells(links.cells[inside] - np.array(part.local.start)[::-1])
    q, d, value = links.q[inside], links.distance[inside], links.value[inside]
    back = np.array(OPPOSITE)[q]
    classes = scalar.classes[tuple(links.cells[inside].T)]
    kind, number = scalar.kinds[classes, back], scalar.numbers[classes, back]
    near, between = d < 0.5, kind != STREAMS
    double = np.where(near, 1.0, 2.0 * d)
    a = np.where(near, 2.0 * d, 1.0 / double)
    b = np.where(near, a - 1.0, 1.0 - a)
    k = value / (4.0 * double) - a * value / 4.0
    arriving, leaving = _flat(cells, q, shape), _flat(_behind(cells, q, shape), back, shape)
    other = np.where(near | between, arriving, leaving)
    # A wall half-way behind has returned v'/4 - g_-q, or g_-q and a flux.
    anti = between & ~near & (kind == VALUE)
    flux = between & ~near & (kind == FLUX)
    k += np.where(anti, b * number / 4.0, 0.0) - np.where(flux, b * number, 0.0)
    b = np.where(anti, -b, b)
    stays = between & ~near & ~(anti | flux)
    a, b, k = np.where(stays, 1.0, a), np.where(stays, 0.0, b), np.where(stays, 0.0, k)
    mate = find_mates(cells, q, OPPOSITE)
    both = np.flatnonzero(near & (mate >= 0))
    if len(both):
        pair = mate[both]
        a[both], b[both], k[both] = _between_two(d[both], value[both], d[pair], value[pair])
    return LinkTable(_flat(cells, back, shape), other, np.stack([a, b, k, value / 4.0]))


def _between_two(
    d: np.ndarray, value: np.ndarray, d2: np.ndarray, value2: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a, b and k of near walls at d with another interpolated wall at d2 behind the cell.

    They solve the equations of both walls. Where both coincide, the walls stay half-way.
    """
    far, excess, rest2 = d2 >= 0.5, 1.0 - 2.0 * d, 1.0 - 2.0 * d2
    twice = np.maximum(2.0 * d2, 1.0)
    scale = np.where(far, 1.0, 1.0 - excess * rest2)
    narrow = scale < NARROWEST
    scale = np.where(narrow, 1.0, scale)
    sent = np.where(far, -2.0 * d - excess * (1.0 - 1.0 / twice), -2.0 * d / scale)
    sent2 = np.where(far, excess / twice, excess * 2.0 * d2 / scale)
    k = (value - excess * value2 / np.where(far, twice, 1.0)) / (4.0 * scale)
    k += (sent * value + sent2 * value2) / 4.0
    return np.where(narrow, 1.0, -sent), np.where(narrow, 0.0, -sent2), np.where(narrow, 0.0, k)


def _behind(cells: np.ndarray, q: np.ndarray, shape: Triple) -> np.ndarray:
    """Return the cells (z, y, x) at the other side of links q."""
    return (cells - np.array(DIRECTIONS)[q][:, ::-1]) % np.array(shape)[::-1]


def _flat(cells: np.ndarray, q: np.ndarray, shape: Triple) -> np.ndarray:
    """Return where populations q of cells (z, y, x) are in the flat array of a block."""
    return np.ravel_multi_index((q, *cells.T), (Q7, *shape[::-1]))

"""The interpolated walls of a scalar on the parts of a domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lbm._coupled.scalars import formulas
from lbm._coupled.scalars.block import ScalarBlock
from lbm._coupled.scalars.formulas import FLUX, STREAMS, VALUE
from lbm._coupled.scalars.walls import DIRECTIONS, OPPOSITE, Q7, ScalarLinks, Wall
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.geometry.cut_links import NARROWEST, CutLinks, find_mates
from lbm.lattices.extent import Triple


class PartLinks:
    """Links of a part into interpolated walls at which a scalar has a value, on its device.

    Attributes
    ----------
    inside : numbers of the links among those of the rank
    loops : for even and odd steps, the functions that compute and that store what walls return
    """

    def __init__(
        self, block: ScalarBlock, inside: np.ndarray, links: ValueLinks, walls: ScalarLinks
    ):
        self.inside, store, count = inside, block.store, len(inside)
        table = make_table(block.part, links, walls, inside)
        wall, other, factors = map(store.put, (table.wall, table.other, table.factors))
        self._store, self._sent, self._returned = store, store.zeros(count), store.zeros(count)
        stepped = [g.reshape(g.size) for g in block.populations[::-1]]
        self.loops = [
            (
                store.prepare(formulas.interpolate, count, g, wall, other, factors, self._sent,
                              self._returned),
                store.prepare(formulas.store, count, g, wall, self._returned),
            )
            for g in stepped
        ]  # fmt: skip

    def read_entered(self) -> np.ndarray:
        """Return what entered through the links in the last step, float64 [link]."""
        returned = self._store.get(self._returned).astype(np.float64)
        return returned - self._store.get(self._sent)


class CutWalls:
    """Links of a rank into interpolated walls at which a scalar has a value.

    Parameters
    ----------
    domain : the parts
    blocks : the scalar in them
    links : the walls of the scalar
    """

    def __init__(self, domain: Domain, blocks: Mapping[Triple, ScalarBlock], links: ScalarLinks):
        self._last, self._scalar = -1, links
        walls = {name: wall for name, (wall, _, _) in links.links.items()}
        self._links = find_value_links(domain.problem.links.cut, links, walls)
        self._parts: list[PartLinks] = []
        if self._links is None:
            return
        cells = self._links.cells
        for block in blocks.values():
            start, stop = (np.array(corner)[::-1] for corner in block.part.local)
            inside = np.flatnonzero(((cells >= start) & (cells < stop)).all(axis=1))
            if len(inside):
                self._parts.append(PartLinks(block, inside, self._links, links))

    def interpolate(self, t: int) -> None:
        """Replace what walls half-way have returned in step t."""
        for part in self._parts:
            for run in part.loops[t % 2]:
                run()
        self._last = t

    def read_flux(self, name: str, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which links of a wall are interpolated, and what entered through these.

        Raises ValueError if the last of `steps` steps was not computed here, but restored.
        """
        _, cells, q = self._scalar.links[name]
        if self._links is None:
            return np.zeros(len(q), bool), np.zeros(0)
        if self._last != steps - 1:
            raise ValueError(
                "the flux of interpolated walls is that of the last step that was computed here: "
                "run a step after restoring a state"
            )
        of_solid = self._links.names == name
        size = *self._scalar.classes.shape, Q7
        ours = *self._links.cells[of_solid].T, self._links.q[of_solid]
        is_cut = np.isin(*(np.ravel_multi_index(k, size) for k in ((*cells.T, q), ours)))
        entered = np.zeros(len(of_solid))
        for part in self._parts:
            entered[part.inside] = part.read_entered()
        return is_cut, entered[of_solid]


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

"""The interpolated walls of a scalar on the parts of a domain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lbm._coupled.scalars import formulas
from lbm._coupled.scalars.block import ScalarBlock
from lbm._coupled.scalars.cut_links import ValueLinks, find_value_links, make_table
from lbm._coupled.scalars.walls import Q7, ScalarLinks
from lbm._parallel.domain.domain import Domain
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

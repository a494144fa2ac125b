"""The interpolated walls of a scalar on the parts of a domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lbm import _scalars
from lbm._domain.domain import Domain
from lbm._domain.parts import Part
from lbm._model.extent import Triple
from lbm._scalars.cut_links import find_value_links, make_table
from lbm._scalars.walls import Q7, ScalarLinks


class CutWalls:
    """Links of a rank into interpolated walls at which a scalar has a value.

    Parameters
    ----------
    domain : the parts
    links : the walls of the scalar
    """

    def __init__(self, domain: Domain, links: ScalarLinks):
        self._cuts: list[tuple[Part, np.ndarray, _scalars.Cut]] = []
        self._last = -1
        walls = {name: wall for name, (wall, _, _) in links.links.items()}
        self._scalar = links
        self._links = find_value_links(domain.problem.links.cut, links, walls)
        if self._links is None:
            return
        T = domain.problem.precision.compute
        for part in domain.parts:
            start, stop = (np.array(corner)[::-1] for corner in part.local)
            cells = self._links.cells
            inside = np.flatnonzero(((cells >= start) & (cells < stop)).all(axis=1))
            if not len(inside):
                continue
            table, on = (
                make_table(part, self._links, links, inside),
                _scalars.loops(part.engine.device),
            )
            with part.engine.device.active():
                arrays = [on.to_device(a) for a in (table.wall, table.other)]
                arrays.append(on.to_device(table.factors.astype(T)))
                arrays += [on.zeros((len(inside),), T) for _ in range(2)]
            self._cuts.append((part, inside, _scalars.Cut(*arrays)))

    def interpolate(self, populations: Mapping[Triple, Any], t: int) -> None:
        """Replace what walls half-way have returned in step t; g [q, z, y, x] of all parts."""
        for part, _, cut in self._cuts:
            with part.engine.device.active():
                _scalars.loops(part.engine.device).interpolate(populations[part.index], cut)
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
        own = self._links.names == name
        shape = np.array(self._scalar.classes.shape)
        ours = _key(self._links.cells[own], self._links.q[own], shape)
        is_cut = np.isin(_key(cells, q, shape), ours)
        entered = np.zeros(len(own))
        for part, inside, cut in self._cuts:
            on = _scalars.loops(part.engine.device)
            with part.engine.device.active():
                entered[inside] = on.read_array(cut.returned).astype(np.float64)
                entered[inside] -= on.read_array(cut.sent)
        return is_cut, entered[own]


def _key(cells: np.ndarray, q: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Return a number for each link q of a cell (z, y, x)."""
    z, y, x = cells.T
    return ((z * shape[1] + y) * shape[2] + x) * Q7 + q

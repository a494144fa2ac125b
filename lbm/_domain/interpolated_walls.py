"""The interpolated walls of a rank: their links in all parts, and the mass that they keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lbm import _links
from lbm._domain.parts import Part
from lbm._domain.ranks.communication import Ranks
from lbm._links.tables import MASS_UNIT, BlockLinks, sum_of_weights
from lbm._model.extent import Triple
from lbm._model.problem import Problem


class InterpolatedWalls:
    """The links of all parts of a rank that end at interpolated walls.

    Interpolation does not conserve mass: a wall returns a little more or less than it receives.
    Where no mass can leave the domain, the sum over all links, which is an integer and thus the
    same in any order, is taken back from what the links return, in equal densities.

    Parameters
    ----------
    problem : the flow in all cells of the rank
    parts : the parts of the rank
    workers : their workers, if there are halos
    ranks : the ranks
    """

    def __init__(
        self,
        problem: Problem,
        parts: Sequence[Part],
        workers: Mapping[Triple, Any],
        ranks: Ranks,
    ):
        self._ranks, self._cut = ranks, problem.links.cut
        weights = ranks.sum(sum_of_weights(self._cut))
        has_outlet = ranks.any((problem.links.wall_types[:, 0] != 0.0).any())
        self.keeps_mass = weights > 0 and not has_outlet
        units = float(1 / problem.lattice.weight_unit)
        share = MASS_UNIT / (weights / units) if self.keeps_mass else 0.0
        self._stores, self._blocks, self._numbers = [], [], []
        self._workers = []
        self._last = -1
        for part in parts:
            cut = part.engine.problem.links.cut
            if cut is None or not len(cut):
                continue
            worker = workers.get(part.index)
            block = BlockLinks(part.engine.problem)
            create = _links.loops(part.engine.device).create_store
            stream = None if worker is None else worker.stream
            self._stores.append(create(part.engine, block.make_table(share), stream))
            self._blocks.append(block)
            self._workers.append(worker)
            assert self._cut is not None
            self._numbers.append(self._cut.find_within(part.local))

    def apply(self, t: int) -> None:
        """Let the walls return populations after step t, whose halos have arrived."""
        for store, worker in zip(self._stores, self._workers, strict=True):
            if worker is not None:
                worker.begin_links()
            store.interpolate(t)
        if self.keeps_mass and (len(self._stores) != 1 or self._ranks.size > 1):
            total = self._ranks.sum(sum(store.read_excess() for store in self._stores))
            for store in self._stores:
                store.write_excess(total)
        for store, worker in zip(self._stores, self._workers, strict=True):
            store.store(t)
            if worker is not None:
                worker.end_links()
        self._last = t

    def prescribe(self, t: int) -> None:
        """Set the velocities of walls to those of step t."""
        for store, block in zip(self._stores, self._blocks, strict=True):
            if block.is_varying:
                store.set_wall_terms(block.wall_terms_in(t))

    def read(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return f - w that ran into walls in the last step, and what returned, float64 [link].

        Raises ValueError if the last of `steps` steps was not computed here, but restored.
        """
        if self._last != steps - 1:
            raise ValueError(
                "forces on interpolated walls are those of the last step that was computed here: "
                "run a step after restoring a state"
            )
        sent, returned = np.zeros((2, 0 if self._cut is None else len(self._cut)))
        for store, numbers in zip(self._stores, self._numbers, strict=True):
            sent[numbers], returned[numbers] = store.read()
        return sent, returned

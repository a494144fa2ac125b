"""The interpolated walls of a rank: their links in all parts, and the mass that they keep."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.cut_walls.formulas import (
    excess_of_link,
    make_interpolate,
    make_interpolate_moments,
    make_store,
    make_store_moments,
)
from lbm._coupled.cut_walls.tables import MASS_UNIT, BlockLinks, LinkTable, sum_of_weights
from lbm._coupled.wall_model.formulas import make_slip, make_slip_moments
from lbm._coupled.wall_model.tables import SlipTable, make_slip_table
from lbm._kernels.items.store import Store
from lbm._kernels.moments.arrivals import StepArguments
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm.boundaries import Solid
from lbm.lattices import D3Q19
from lbm.lattices.extent import Triple


class PartLinks:
    """The links of a part that end at interpolated walls, on its device.

    A step leaves what a wall half-way would return. `interpolate` reads it and computes what the
    walls return instead, and `store` writes that. Nothing else of the populations is written.
    `store_again` removes their share of the mass once more when modelled walls have slipped.

    Attributes
    ----------
    part : the part
    interpolate, store, store_again : functions for even and for odd steps
    returned : what the walls have returned, [link]
    """

    def __init__(
        self, part: Part, numbers: np.ndarray, mass_share: float, worker: Any, modelled: list[str]
    ):
        self.part, self.numbers, self.worker = part, numbers, worker
        problem = self._problem = part.engine.problem
        self.block = BlockLinks(problem, modelled)
        table, count = self.block.make_table(mass_share), len(numbers)
        store = self._store = Store(part.engine, None if worker is None else worker.stream)
        self._terms, self._weight = store.put(table.wall_terms), store.put(table.weight)
        self._shares = store.put(np.stack([table.sent_share, table.other_share]))
        self._sent, self.returned = store.zeros(count), store.zeros(count)
        self._total = store.zeros(1, dtype=np.int64)
        self._wall = store.put(table.wall)
        self._step: StepArguments | None = None
        prepare = self._prepare_moments if problem.precision.moments else self._prepare_populations
        self.interpolate, self.store, self.store_again = zip(*prepare(table), strict=True)
        self.slip: list[Any] = []
        self.sum_excess = store.prepare_sum(
            excess_of_link, count, self._total, self._sent, self.returned
        )

    def _prepare_populations(self, table: LinkTable) -> Iterator[tuple[Any, Any, Any]]:
        """Yield `interpolate`, `store` and `store_again` for even and for odd steps."""
        form, store, count = self._problem.precision.name, self._store, len(self.numbers)
        for t in (0, 1):
            populations, other = store.flat_target(t), store.put(table.other[t])
            interpolate = store.prepare(
                make_interpolate(form), count, populations, self._wall, other, self._shares,
                self._terms, self._sent, self.returned,
            )  # fmt: skip
            write = store.prepare(
                make_store(form), count, populations, self._wall, self.returned, self._weight,
                self._total, store.T(table.mass_share),
            )  # fmt: skip
            yield interpolate, write, write

    def _prepare_moments(self, table: LinkTable) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the same for a block whose state is moments."""
        problem, store, form = self._problem, self._store, self._problem.precision.name
        numbers, populations, rows, first = map(store.put, self.block.make_moments_table())
        step = self._step = StepArguments(store)
        find = make_interpolate_moments(
            problem.lattice, form, type(problem.collision), problem.forced
        )
        for t in (0, 1):
            interpolate = store.prepare(
                find, len(self.numbers), *step.before(t), *step.rest, numbers, populations, rows,
                self._shares, self._terms, self._sent, self.returned,
            )  # fmt: skip
            write, write_again = (
                store.prepare(
                    make_store_moments(form), len(first) - 1, store.flat_moments(t)[1],
                    step.directions, first, numbers, populations, counted, self.returned,
                    self._weight, self._total, store.T(table.mass_share),
                )
                for counted in (self._sent, self.returned)
            )  # fmt: skip
            yield interpolate, write, write_again

    def add_model(self, part: Part, solids: Mapping[str, Solid], shape: Triple) -> SlipTable | None:
        """Let modelled walls slip after `store`, in cells beside these solids, and return these."""
        problem, store = part.engine.problem, self._store
        table = make_slip_table(part, solids, shape)
        if table is None:
            return None
        form, c = problem.precision.name, np.array(problem.lattice.velocities, float)
        lattice = np.vstack([c.T, problem.lattice.weights])
        numbers = [store.put(table.links), store.put(table.first), store.put(table.q)]
        nu = store.T((problem.collision.tau - 0.5) / 3.0)
        arguments = self._sent, self.returned, *numbers, *map(store.put, (table.cells, lattice)), nu
        for t in (0, 1):
            if problem.precision.moments:
                slip = make_slip_moments(form)
                cells: tuple[Any, ...] = store.flat_moments(t)[1], store.put(table.position[0])
            else:
                slip = make_slip(form)
                cells = store.flat_target(t), store.put(table.loads[t]), self._wall
            self.slip.append(store.prepare(slip, len(table.first) - 1, *cells, *arguments))
        return table

    @property
    def excess(self) -> int:
        """Mass that walls bring in after a step, in units of `tables.MASS_UNIT`; what is set is
        that of the whole domain."""
        return int(self._store.get_from_stream(self._total)[0])

    @excess.setter
    def excess(self, total: int) -> None:
        self._store.set(self._total, np.array([total]))

    def prescribe(self, t: int) -> None:
        """Set the velocities of walls, and the force, to those of step t."""
        if self._step is not None:
            self._step.set_force(t)
        if self.block.is_varying:
            self._store.set(self._terms, self.block.wall_terms_in(t))

    def read(self) -> np.ndarray:
        """Return f - w that ran into walls in the last step, and what returned, [2, link]."""
        arrays = self._store.get(self._sent), self._store.get(self.returned)
        return np.stack(arrays).astype(np.float64)


class InterpolatedWalls(Companion):
    """The links of all parts of a rank that end at interpolated walls.

    Interpolation does not conserve mass: a wall returns a little more or less than it receives.
    Where no mass can leave the domain, the sum over all links, which is an integer and thus the
    same in any order, is taken back from what the links return, in equal densities.

    Attributes
    ----------
    slip_tables : the cells beside modelled walls in each part that has some, by its index
    """

    def __init__(self, domain: Domain, solids: Mapping[str, Solid], shape: Triple):
        super().__init__(domain)
        problem, ranks = domain.problem, domain.ranks
        self._cut, self._last = problem.links.cut, -1
        weights = ranks.sum(sum_of_weights(self._cut))
        has_outlet = ranks.any((problem.links.wall_types[:, 0] != 0.0).any())
        self.keeps_mass = weights > 0 and not has_outlet
        units = float(1 / problem.lattice.weight_unit)
        share = MASS_UNIT / (weights / units) if self.keeps_mass else 0.0
        modelled = [name for name, solid in solids.items() if solid.is_modelled]
        self._parts = [
            PartLinks(
                part, self._cut.find_within(part.local), share, domain.worker_of(part), modelled
            )
            for part in domain.parts
            if self._cut is not None and part.engine.problem.links.cut
        ]
        self._slips, self.slip_tables = bool(modelled), dict[Triple, SlipTable]()
        if modelled:
            if not problem.collision.suits_modelled_walls and ranks.rank == 0:
                warnings.warn(
                    f"wall='modelled' was tried with VremanCentralMoments only: with "
                    f"{type(problem.collision).__name__} the friction may be several times too "
                    "large. Use collision=lbm.VremanCentralMoments(tau)",
                    stacklevel=5,
                )
            if problem.lattice is not D3Q19 and ranks.rank == 0:
                warnings.warn(
                    f"wall='modelled' was tried with D3Q19 only: with {problem.lattice.name} a "
                    "stream along an oblique wall became unsteady, by a third of its speed. Use "
                    "lattice='D3Q19'",
                    stacklevel=5,
                )
            with_cuts = [part for part in domain.parts if part.engine.problem.links.cut]
            for links, part in zip(self._parts, with_cuts, strict=True):
                if table := links.add_model(part, solids, shape):
                    self.slip_tables[part.index] = table

    def after_step(self, t: int) -> None:
        """Let the walls return populations after step t, whose halos have arrived."""
        for part in self._parts:
            if part.worker is not None:
                part.worker.begin_links()
            part.interpolate[t % 2]()
        self._store(t)
        if self._slips:
            for part in self._parts:
                if part.slip:
                    part.slip[t % 2]()
            if self.keeps_mass:  # what slips past the steps of a staircase is not 0 in sum
                self._store(t, again=True)
        for part in self._parts:
            if part.worker is not None:
                part.worker.end_links()
        self._last = t

    def returned_in(self, part: Part) -> Any:
        """Return what the walls of a part have returned, [link]; None if it has none."""
        return next((links.returned for links in self._parts if links.part is part), None)

    def _store(self, t: int, again: bool = False) -> None:
        """Write what the walls return after step t, less the mass that they bring in."""
        if self.keeps_mass:
            for part in self._parts:
                part.sum_excess()
            if len(self._parts) != 1 or self.domain.ranks.size > 1:
                total = self.domain.ranks.sum(sum(part.excess for part in self._parts))
                for part in self._parts:
                    part.excess = total
        for part in self._parts:
            (part.store_again if again else part.store)[t % 2]()

    def prescribe(self, t: int) -> None:
        """Set the velocities of walls to those of step t."""
        for part in self._parts:
            part.prescribe(t)

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
        for part in self._parts:
            sent[part.numbers], returned[part.numbers] = part.read()
        return sent, returned

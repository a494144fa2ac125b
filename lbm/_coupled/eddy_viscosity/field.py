"""The eddy viscosity on the parts of a domain: when it is computed, and what checkpoints keep.

Gradients span neighbours, so that parts send each other the velocities of the cells at their faces
before each computation. While they travel between ranks, each computes the cells that need none.
Where the state is moments, a part also collides the cells in its halo, whose viscosity it gets.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from lbm._coupled.companion import Companion
from lbm._coupled.eddy_viscosity import loops
from lbm._coupled.wall_model.formulas import make_mixing
from lbm._coupled.wall_model.tables import SlipTable
from lbm._kernels.items.store import Store
from lbm._kernels.problem import Box, row_position
from lbm._parallel.domain.domain import Domain
from lbm._parallel.exchange.field_exchange import FieldExchange
from lbm._parallel.exchange.halo_data import Field
from lbm._parallel.parts import Part, cut_ends
from lbm.collisions.eddy_viscosity import EddyViscosityModel
from lbm.geometry.wall_links import INTO, SOLID_CLASS, Links
from lbm.lattices.extent import Triple
from lbm.lattices.precision import Precision

_ALL_SIDES = 0b111111


class PartViscosity:
    """The eddy viscosity of a part, with the velocity from which it follows, on its device.

    Attributes
    ----------
    moments : [4, z, y, x], rho - 1 and the velocity of the block's cells, the halo included
    interior, edges : functions that compute the cells that need no halo, and the others
    at_walls : functions that raise it beside modelled walls
    """

    def __init__(self, part: Part, walls: SlipTable | None):
        self.part, engine = part, part.engine
        store = self._store = Store(engine)
        self._layer = math.prod(engine.problem.shape[:2])
        self.moments = store.zeros(4, *engine.problem.shape[::-1])
        sides, on = store.put(find_missing_sides(engine.problem.links)), loops(engine.device)
        with engine.device.active():
            self.interior, self.edges = (
                [on.prepare_update(engine, self.moments, sides, box) for box in boxes]
                for boxes in _split(part)
            )
        self.at_walls: list[Any] = []
        if walls is not None:
            problem = engine.problem
            self.at_walls.append(
                store.prepare(
                    make_mixing(problem.precision.name), len(walls.first) - 1,
                    self.moments.reshape(4, sides.size), engine.cells(engine.viscosity),
                    store.put(walls.position), store.put(walls.cells),
                    store.T((problem.collision.tau - 0.5) / 3.0),
                )
            )  # fmt: skip

    @property
    def field(self) -> Any:
        """The stored numbers of a block of moments as a field [1, z, y, x] on the device."""
        shape = 1, *self.part.engine.problem.shape[::-1]
        return self.part.engine.viscosity[: math.prod(shape)].reshape(shape)

    def _stored(self, z0: int, z1: int) -> Any:
        """Return the stored numbers of the block's layers z0 to z1, flat, on the device."""
        engine = self.part.engine
        return engine.cells(engine.viscosity)[z0 * self._layer : z1 * self._layer]

    def read_layers(self, z0: int, z1: int) -> np.ndarray:
        """Return the stored numbers of the block's layers z0 to z1, flat, in host memory."""
        return self._store.get(self._stored(z0, z1))

    def write_layers(self, z0: int, values: np.ndarray) -> None:
        """Set the stored numbers of layers from z0 on."""
        self._store.set(self._stored(z0, z0 + values.size // self._layer), values)


class EddyViscosity(Companion):
    """The eddy viscosity of a flow, in the parts of this rank.

    It is computed before each step whose number is a multiple of `model.every`. Between these steps
    it is part of the state of the flow.

    Attributes
    ----------
    parts : the eddy viscosity in each part, by its index
    rows : numbers of a cell that checkpoints keep
    """

    rows = 1

    def __init__(
        self, model: EddyViscosityModel, domain: Domain, walls: Mapping[Triple, SlipTable]
    ):
        super().__init__(domain)
        self._model = model
        self.parts = {p.index: PartViscosity(p, walls.get(p.index)) for p in domain.parts}
        moments = {index: (store.moments,) * 2 for index, store in self.parts.items()}
        velocity = (1, 2, 3), (1, 2, 3)
        field = Field(moments, lambda axis: velocity, beyond=False)
        self._exchange = domain.make_field_exchange(field)
        self._halos: FieldExchange | None = None
        self._has_halos = True
        if domain.problem.precision.moments:
            fields = {index: (store.field,) * 2 for index, store in self.parts.items()}
            halos = Field(fields, lambda axis: ((0,), (0,)), beyond=False)
            self._halos = domain.make_field_exchange(halos)

    def describe(self, t: int) -> str:
        """Return what the rows are; the model is among the settings of the flow."""
        return "eddy viscosity"

    def _is_computed_before(self, t: int) -> bool:
        return t % self._model.every == 0

    def before_step(self, t: int) -> None:
        """Compute the eddy viscosity anew if it is time."""
        if self._is_computed_before(t):
            self._compute(t)
        if self._halos is not None and not self._has_halos:
            self._halos.begin(t)
            self._halos.finish(t)
            self._has_halos = True

    def _compute(self, t: int) -> None:
        """Compute the eddy viscosity from the velocity after t steps."""
        domain = self.domain
        with domain.between_streams():
            for part in domain.parts:
                store = self.parts[part.index]
                with part.engine.device.active():
                    part.engine.copy_moments(t, part.engine.box(), store.moments)
                    domain.add_half_impulse(part, t, part.engine.box(), store.moments)
            self._exchange.begin(t)
            for store in self.parts.values():
                for update in store.interior:
                    update()
            self._exchange.finish(t)
            for store in self.parts.values():
                for update in (*store.edges, *store.at_walls):
                    update()
        self._has_halos = False

    # ---- what users read ---------------------------------------------------------------------

    def values(self, t: int) -> np.ndarray:
        """Return the eddy viscosity [x, y, z] of this rank's cells that step t reads."""
        if not self._is_computed_before(t):
            return self._read(0, self.domain.problem.shape[2]).T
        read_by_last_step = self._copy_stored()  # forces on bodies follow from it
        self._compute(t)
        values = self._read(0, self.domain.problem.shape[2]).T
        self.return_to_state(t, read_by_last_step)
        return values

    def _read(self, z0: int, z1: int) -> np.ndarray:
        """Return the eddy viscosity of the layers z0 to z1 of this rank, [z, y, x]."""
        problem = self.domain.problem
        nx, ny, _ = problem.shape
        out: np.ndarray = np.zeros((z1 - z0, ny, nx), problem.precision.compute)
        for part, first, last, selection in self.domain.parts_within(z0, z1):
            out[selection] = self._read_layers(part, first, last)
        return out

    def _read_layers(self, part: Part, first: int, last: int) -> np.ndarray:
        """Return the eddy viscosity of layers of a part, counted from its first one."""
        block, form = part.engine.problem, part.engine.problem.precision
        (hx, hy, hz), (lx, ly, _) = part.halo, part.extent.shape
        nx, ny, _ = block.shape
        stored = self.parts[part.index].read_layers(first + hz, last + hz)
        values = form.decode(stored).reshape(last - first, ny, nx)
        x = row_position(np.arange(hx, hx + lx), nx, form.lanes)
        return values[:, hy : hy + ly, x]

    # ---- state -------------------------------------------------------------------------------

    def read_rows(self, t: int, z0: int, z1: int) -> np.ndarray:
        """Return the eddy viscosity of the layers z0 to z1 of this rank, [1, z, y, x].

        It is 0 where the next step computes it anew, whatever has been computed before.
        """
        values = self._read(z0, z1)
        return values[None] * (not self._is_computed_before(t))

    def write_rows(self, t: int, z0: int, values: np.ndarray) -> None:
        """Set the eddy viscosity of the layers from z0 on."""
        for part, first, last, selection in self.domain.parts_within(z0, z0 + values.shape[1]):
            (hx, hy, hz), (lx, ly, _) = part.halo, part.extent.shape
            (nx, ny, _), form = part.engine.problem.shape, part.engine.problem.precision
            block: np.ndarray = np.zeros((last - first, ny, nx), form.number)
            positions = row_position(np.arange(hx, hx + lx), nx, form.lanes)
            block[:, hy : hy + ly, positions] = _encode(values[0][selection], form)
            self.parts[part.index].write_layers(first + hz, block.reshape(-1))
        self._has_halos = False

    def copy_state(self, t: int) -> dict[Triple, np.ndarray]:
        """Return copies of the stored numbers in host memory, if they are not computed anew."""
        return {} if self._is_computed_before(t) else self._copy_stored()

    def _copy_stored(self) -> dict[Triple, np.ndarray]:
        """Return copies of the stored numbers of all blocks, halos included, in host memory."""
        return {
            part.index: self.parts[part.index].read_layers(0, part.engine.problem.shape[2])
            for part in self.domain.parts
        }

    def return_to_state(self, t: int, state: dict[Triple, np.ndarray]) -> None:
        """Restore copied numbers."""
        for index, stored in state.items():
            self.parts[index].write_layers(0, stored)
        self._has_halos = False


def _split(part: Part) -> tuple[list[Box], list[Box]]:
    """Return boxes of the cells of a part that need no halo, and of those beside its halo."""
    (hx, hy, hz), (nx, ny, nz) = part.halo, part.extent.shape
    interior, edges = Box(hx, hx + nx, hy, hy + ny, hz, hz + nz), []
    for axis, (first, n) in enumerate(((hx, nx), (hy, ny), (hz, nz))):
        if part.halo[axis]:
            ends, interior = cut_ends(interior, axis, first + 1, max(first + 1, first + n - 1))
            edges += ends
    return [box for box in [interior] if box.cells], [box for box in edges if box.cells]


def find_missing_sides(links: Links) -> np.ndarray:
    """Return the sides at which cells have no fluid beside them; see `Loops` of this folder.

    uint8 [z, y, x]; solid cells have none at all.
    """
    of_class, into_wall = np.zeros(len(links.masks), np.uint8), links.bits(INTO)
    for axis in range(3):
        for side in (0, 1):
            c = tuple((2 * side - 1) * (a == axis) for a in range(3))
            q = links.lattice.velocities.index((c[0], c[1], c[2]))
            of_class[into_wall[:, q]] |= np.uint8(1 << (2 * axis + side))
    of_class[SOLID_CLASS] = _ALL_SIDES
    return of_class[links.classes]


def _encode(values: np.ndarray, form: Precision) -> np.ndarray:
    """Return numbers as they are stored; those that have been stored before lose nothing."""
    if form.storage is np.uint16:
        return (values * np.float32(2.0**15)).astype(np.float16).view(np.uint16)
    return values.astype(form.number)

"""A scalar of a flow: its populations on the parts, and what users read of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from hetero.validation import check_choice, check_finite
from lbm._coupled.scalars.block import ScalarBlock, crossing_populations
from lbm._coupled.scalars.cut_walls import CutWalls
from lbm._coupled.scalars.formulas import FLUX, VALUE
from lbm._coupled.scalars.scalar import FixedValue, Scalar
from lbm._coupled.scalars.walls import OPPOSITE, Q7, ScalarLinks
from lbm._parallel.domain.arguments import select_values
from lbm._parallel.domain.domain import Domain
from lbm._parallel.parts import Part
from lbm._parallel.ranks.exact_sum import ExactSum
from lbm.geometry.wall_links import SOLID_CLASS
from lbm.lattices.extent import Triple

RANGE_MARGIN = 1e6
"""Factor by which the numbers of a scalar stay below the largest one of their type: products with
weights and rates, and what overshoots beside fronts, must be finite as well."""

START_CELLS = 1 << 20
"""Cells whose populations are computed at once at the start: 56 MiB in float64."""


class Bodies(Protocol):
    """Moving bodies, as a scalar sees them; `lbm._coupled.moving_bodies.heat` has them."""

    names: tuple[str, ...]

    def covered(self, t: int) -> np.ndarray:
        """Return the cells [z, y, x] of this rank that bodies cover at time t."""
        ...

    def taken(self, name: str) -> float:
        """Return what the fluid has lost to a body."""
        ...

    def flux(self, name: str, t: int) -> float:
        """Return what entered the fluid through the wall of a body in the step before time t."""
        ...


class ScalarField:
    """A scalar of a running simulation, such as `simulation.scalars["temperature"]`.

    Attributes
    ----------
    scalar : Scalar
        Its settings.
    """

    def __init__(
        self,
        name: str,
        scalar: Scalar,
        domain: Domain,
        links: ScalarLinks,
        velocities: Mapping[Triple, Any],
    ):
        self.name, self.scalar, self._links = name, scalar, links
        self._domain, self._step = domain, 0
        _require_range(name, scalar, domain.problem.precision.compute)
        self._blocks = {
            part.index: ScalarBlock(part, links, scalar.rates, velocities[part.index])
            for part in domain.parts
        }
        self._exchange = domain.make_field_exchange(
            crossing_populations(domain, self._blocks, links.kinds)
        )
        self._cut_walls = CutWalls(domain, self._blocks, links)
        self.bodies: Bodies | None = None

    # ---- what users read ---------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        """Values [x, y, z] in the cells of this rank; 0 in solid cells."""
        nz = self._domain.problem.shape[2]
        rows = self.read_rows(0, nz)
        rows[:, ~self._fluid()] = 0.0
        return rows.sum(axis=0).T

    def _fluid(self) -> np.ndarray:
        """Return the cells [z, y, x] of this rank that are fluid."""
        fluid = self._links.classes != SOLID_CLASS
        if self.bodies is not None:
            fluid &= ~self.bodies.covered(self._step)
        return fluid

    def total(self) -> float:
        """Return the sum of the values in all fluid cells of all ranks."""
        self._domain.ranks.require_same_call("total")
        fluid = self._fluid()
        rows = self.read_rows(0, len(fluid))[:, fluid].astype(np.float64)
        return self._sum_exactly(rows.sum(axis=0))

    def flux(self, name: str) -> float:
        """Return what entered the fluid through a face or a solid in the last step.

        It is the sum over all of its links, in value times cells^3/step; the heat flux is it times
        density and heat capacity. Inlets and outlets are refused: the flow carries a scalar there.
        At a solid that moves, it is what an observer on the wall sees; see `taken`.

        Raises
        ------
        ValueError
            If there is no such wall, or no step has been done.
        """
        moving = () if self.bodies is None else self.bodies.names
        check_choice("name", name, (*self._links.links, *moving))
        if self.bodies is not None and name in moving:
            self._domain.ranks.require_same_call("flux", {"name": name})
            return self.bodies.flux(name, self._step)
        wall, cells, q = self._links.links[name]
        if wall.kind not in (FLUX, VALUE):
            raise ValueError(f"flux({name!r}) is not known: the flow carries the scalar there")
        if not self._step:
            raise ValueError("flux is that of the last step, and none has been done: run first")
        self._domain.ranks.require_same_call("flux", {"name": name})
        returned = np.empty(len(q))
        for z in np.unique(cells[:, 0]):
            in_layer = cells[:, 0] == z
            rows = self.read_rows(z, z + 1)[:, 0]
            _, y, x = cells[in_layer].T
            returned[in_layer] = rows[np.array(OPPOSITE)[q[in_layer]], y, x]
        entered = 2.0 * returned - 0.25 * wall.number
        if wall.kind == FLUX:
            entered = np.full(len(q), wall.number)
        is_cut, through_cut = self._cut_walls.read_flux(name, self._step)
        return self._sum_exactly(np.concatenate([entered[~is_cut], through_cut]))

    def taken(self, name: str) -> float:
        """Return what the fluid has lost to a solid that moves, in value times cells^3.

        It counts what the solid covers less what it leaves, and what passes its wall, since the
        start or a restart: with it `total` is constant where no other wall has a flux.
        """
        check_choice("name", name, () if self.bodies is None else self.bodies.names)
        assert self.bodies is not None
        self._domain.ranks.require_same_call("taken", {"name": name})
        return self.bodies.taken(name)

    def _sum_exactly(self, values: np.ndarray) -> float:
        """Return the sum over all ranks, whatever the unit of the scalar.

        Exact sums need moderate numbers. Powers of 2 scale without rounding.
        """
        largest = self._domain.ranks.max(float(np.abs(values).max(initial=0.0)))
        scale = math.frexp(largest)[1] if math.isfinite(largest) else 0
        total = ExactSum(1)
        total.add(np.ldexp(values, -scale)[:, None])
        return math.ldexp(float(total.result(self._domain.ranks)[0]), scale)

    def nusselt(self, name: str, *, difference: float, length: float, area: float) -> float:
        """Return the Nusselt number of a face or a solid: its flux over that of conduction.

        Parameters
        ----------
        name : str
            Face or solid, as for `flux`.
        difference : float
            Difference of temperatures.
        length, area : float
            Distance over which it falls in cells, and area of the wall in cells^2.
        """
        for key, value in (("difference", difference), ("length", length), ("area", area)):
            if check_finite(key, value) == 0.0:
                raise ValueError(f"{key} must not be 0")
        conduction = self.scalar.diffusivity * difference / length * area
        return self.flux(name) / conduction

    # ---- state -------------------------------------------------------------------------------

    def current(self, part: Part, t: int) -> Any:
        """Return the populations of a part after t steps."""
        return self._blocks[part.index].populations[t % 2]

    def block(self, part: Part) -> ScalarBlock:
        """Return the scalar in a part's block."""
        return self._blocks[part.index]

    def start(self, u: np.ndarray) -> None:
        """Set the equilibrium of the initial values at step 0, in a flow with the velocity u.

        u is an array [c, x, y, z] of this rank, or three numbers.
        """
        self._step = 0
        values = self.initial_values()
        if not np.isfinite(values).all():
            raise ValueError(f"scalars[{self.name!r}]: start must be finite")
        largest = float(np.abs(values).max(initial=0.0))
        _require_in_range(self.name, "start", largest, self._domain.problem.precision.compute)
        nx, ny, nz = self._domain.region.shape
        thickness = max(1, START_CELLS // (nx * ny))
        for z0 in range(0, nz, thickness):
            z1 = min(nz, z0 + thickness)
            s, *along = (_layers(field, z0, z1) for field in (values, *u))
            self.write_rows(z0, _equilibrium_rows(s, along, (Q7, z1 - z0, ny, nx)))

    def initial_values(self) -> np.ndarray:
        """Return the initial values [x, y, z] of this rank, or one for all cells."""
        shape = self._domain.partition.shape
        return select_values("start", shape, self._domain.region, self.scalar.start)

    def step(self, t: int) -> None:
        """Do step number t with the velocities of the parts."""
        for block in self._blocks.values():
            block.steps[t % 2]()
        self._exchange.begin(t)
        self._exchange.finish(t)
        self._cut_walls.interpolate(t)
        self._step = t + 1

    def read_rows(self, z0: int, z1: int) -> np.ndarray:
        """Return the populations of the layers z0 to z1 of this rank, [q, z, y, x]."""
        nx, ny, _ = self._domain.problem.shape
        shape = Q7, z1 - z0, ny, nx
        out: np.ndarray = np.zeros(shape, self._domain.problem.precision.compute)
        self._domain.synchronize()
        for part, first, last, selection in self._domain.parts_within(z0, z1):
            block = self.block(part)
            out[selection] = block.select(block.read(self._step, first, last))
        return out

    def write_rows(self, z0: int, values: np.ndarray, step: int = 0) -> None:
        """Set the populations of layers from z0 on, which are those of a step."""
        self._step = step
        self._domain.synchronize()
        for part, first, last, selection in self._domain.parts_within(z0, z0 + values.shape[1]):
            block = self.block(part)
            layers = block.read(step, first, last)
            block.select(layers)[...] = values[selection]
            block.write(step, first, layers)

    def has_not_finite(self, t: int) -> bool:
        """Return whether a value in a fluid cell of this rank is not finite after t steps."""
        self._domain.synchronize()
        return any(block.has_not_finite(t) for block in self._blocks.values())

    def copy_state(self, t: int) -> list[Any]:
        """Return copies of the populations of all parts, on their devices."""
        return [block.store.duplicate(block.populations[t % 2]) for block in self._blocks.values()]

    def return_to_state(self, t: int, state: list[Any]) -> None:
        """Restore copied populations."""
        self._step = t
        for block, copy in zip(self._blocks.values(), state, strict=True):
            block.store.copy(copy, block.populations[t % 2])


def _layers(field: np.ndarray, z0: int, z1: int) -> np.ndarray:
    """Return the layers z0 to z1 of a field [x, y, z] as [z, y, x]; a number remains one."""
    return field[..., z0:z1].T if np.ndim(field) else field


def _equilibrium_rows(
    s: np.ndarray, along: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray:
    """Return the populations [q, z, y, x] in the equilibrium of values s and a velocity."""
    rows = np.empty(shape)
    rows[0] = s * (0.25 - sum(c * c for c in along))
    for axis, c in enumerate(along):
        for k, sign in enumerate((1.0, -1.0), 1 + 2 * axis):
            rows[k] = s * (0.125 + 0.5 * c * c + 0.5 * sign * c)
    return rows


def _require_range(name: str, scalar: Scalar, dtype: type) -> None:
    """Raise ValueError if a number of a scalar is beyond the range of the arithmetic."""
    for key, condition in scalar.boundaries.items():
        number = condition.value if isinstance(condition, FixedValue) else condition.flux
        _require_in_range(name, f"boundaries[{key!r}]", number, dtype)
    for number in (*scalar.buoyancy, scalar.reference):
        _require_in_range(name, "buoyancy or reference", number, dtype)


def _require_in_range(name: str, argument: str, number: float, dtype: type) -> None:
    """Raise ValueError if a number is too large for the type of the arithmetic."""
    if abs(number) > (largest := float(np.finfo(dtype).max) / RANGE_MARGIN):
        raise ValueError(
            f"scalars[{name!r}]: {argument} has the size {abs(number):g}, but in {dtype.__name__} "
            f"numbers may have at most {largest:.2g}: use another unit, or dtype='float64'"
        )

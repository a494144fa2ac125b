"""A scalar of a flow: its populations on the parts, and what users read of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hetero.validation import check_choice, check_finite
from lbm import _scalars
from lbm._domain.domain import Domain
from lbm._domain.parts import Part
from lbm._domain.ranks.exact_sum import ExactSum
from lbm._model.arguments import select_values
from lbm._model.extent import Triple
from lbm._model.wall_links import SOLID_CLASS
from lbm._scalars.cut_walls import CutWalls
from lbm._scalars.formulas import FLUX, VALUE
from lbm._scalars.halos import crossing_populations
from lbm._scalars.walls import OPPOSITE, Q7, ScalarLinks
from lbm.scalars import FixedValue, Scalar

RANGE_MARGIN = 1e6
"""Factor by which the numbers of a scalar stay below the largest one of their type: products with
weights and rates, and what overshoots beside fronts, must be finite as well."""

START_CELLS = 1 << 20
"""Cells whose populations are computed at once at the start: 56 MiB in float64."""


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
        shape: Triple,
        links: ScalarLinks,
        velocities: Mapping[Triple, Any],
    ):
        self.name, self.scalar, self._links = name, scalar, links
        self._domain, self._shape, self._step = domain, shape, 0
        T = domain.problem.precision.compute
        _require_range(name, scalar, T)
        rates = scalar.rates
        self._blocks: dict[Triple, _scalars.Block] = {}
        self._populations: dict[Triple, list[Any]] = {}
        classes = {part.index: _block_classes(part, links.classes) for part in domain.parts}
        for part in domain.parts:
            on = _scalars.loops(part.engine.device)
            (hx, hy, hz), (nx, ny, nz) = part.halo, part.extent.shape
            with part.engine.device.active():
                self._blocks[part.index] = _scalars.Block(
                    on.to_device(classes[part.index]),
                    on.to_device(links.kinds),
                    on.to_device(links.numbers.astype(T)),
                    (T(rates[0]), T(rates[1])),
                    (hx, hx + nx, hy, hy + ny, hz, hz + nz),
                )
                size = Q7, *part.engine.problem.shape[::-1]
                self._populations[part.index] = [on.zeros(size, T) for _ in range(2)]
        self._steps = [
            [self._prepare_step(part, odd, velocities[part.index]) for part in domain.parts]
            for odd in (0, 1)
        ]
        written = {index: (g[1], g[0]) for index, g in self._populations.items()}
        halos = crossing_populations(domain, classes, links.kinds, written)
        self._exchange = domain.make_field_exchange(halos)
        self._cut_walls = CutWalls(domain, links)

    # ---- what users read ---------------------------------------------------------------------

    @property
    def values(self) -> np.ndarray:
        """Values [x, y, z] in the cells of this rank; 0 in solid cells."""
        nz = self._domain.problem.shape[2]
        rows = self.read_rows(0, nz)
        rows[:, self._links.classes == SOLID_CLASS] = 0.0
        result: np.ndarray = rows.sum(axis=0).T
        return result

    def total(self) -> float:
        """Return the sum of the values in all fluid cells of all ranks."""
        self._domain.ranks.require_same_call("total")
        fluid = self._links.classes != SOLID_CLASS
        rows = self.read_rows(0, len(fluid))[:, fluid].astype(np.float64)
        return self._sum_exactly(rows.sum(axis=0))

    def flux(self, name: str) -> float:
        """Return what entered the fluid through a face or a solid in the last step.

        It is the sum over all of its links, in value times cells^3/step; the heat flux is it times
        density and heat capacity. Inlets and outlets are refused: the flow carries a scalar there.

        Raises
        ------
        ValueError
            If there is no such wall, or no step has been done.
        """
        check_choice("name", name, tuple(self._links.links))
        wall, cells, q = self._links.links[name]
        if wall.kind not in (FLUX, VALUE):
            raise ValueError(f"flux({name!r}) is not known: the flow carries the scalar there")
        if not self._step:
            raise ValueError("flux is that of the last step, and none has been done: run first")
        self._domain.ranks.require_same_call("flux", {"name": name})
        returned = np.empty(len(q))
        for z in np.unique(cells[:, 0]):
            here = cells[:, 0] == z
            rows = self.read_rows(z, z + 1)[:, 0]
            _, y, x = cells[here].T
            returned[here] = rows[np.array(OPPOSITE)[q[here]], y, x]
        entered = 2.0 * returned - 0.25 * wall.number
        if wall.kind == FLUX:
            entered = np.full(len(q), wall.number)
        is_cut, through_cut = self._cut_walls.read_flux(name, self._step)
        return self._sum_exactly(np.concatenate([entered[~is_cut], through_cut]))

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
        return self._populations[part.index][t % 2]

    def block(self, part: Part) -> _scalars.Block:
        """Return what is constant in a part's block."""
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
        return select_values("start", self._shape, self._domain.region, self.scalar.start)

    def _prepare_step(self, part: Part, odd: int, velocity: Any) -> Callable[[], None]:
        """Return a function that does an even or odd step of a part."""
        with part.engine.device.active():
            return _scalars.loops(part.engine.device).prepare_step(
                self.current(part, odd), self.current(part, odd + 1), velocity,
                self._blocks[part.index],
            )  # fmt: skip

    def step(self, t: int) -> None:
        """Do step number t with the velocities of the parts."""
        for step_part in self._steps[t % 2]:
            step_part()
        self._exchange.begin(t)
        self._exchange.finish(t)
        stepped = {i: g[(t + 1) % 2] for i, g in self._populations.items()}
        self._cut_walls.interpolate(stepped, t)
        self._step = t + 1

    def read_rows(self, z0: int, z1: int) -> np.ndarray:
        """Return the populations of the layers z0 to z1 of this rank, [q, z, y, x]."""
        nx, ny, _ = self._domain.problem.shape
        shape = Q7, z1 - z0, ny, nx
        out: np.ndarray = np.zeros(shape, self._domain.problem.precision.compute)
        self._domain.synchronize()
        for part, block, first, last in self._layers_within(z0, z1):
            (x, y, z), (x1, y1, _) = part.local
            with part.engine.device.active():
                slab = _scalars.loops(part.engine.device).read_slab(
                    self.current(part, self._step), first - z + part.halo[2],
                    last - z + part.halo[2],
                )  # fmt: skip
            inner = slab[:, :, block[2] : block[3], block[0] : block[1]]
            out[:, first - z0 : last - z0, y:y1, x:x1] = inner
        return out

    def write_rows(self, z0: int, values: np.ndarray) -> None:
        """Set the populations of layers from z0 on."""
        self._domain.synchronize()
        for part, block, first, last in self._layers_within(z0, z0 + values.shape[1]):
            (x, y, z), (x1, y1, _) = part.local
            on, g = _scalars.loops(part.engine.device), self.current(part, self._step)
            begin = first - z + part.halo[2]
            with part.engine.device.active():
                slab = on.read_slab(g, begin, begin + last - first)
                inner = slab[:, :, block[2] : block[3], block[0] : block[1]]
                inner[...] = values[:, first - z0 : last - z0, y:y1, x:x1]
                on.write_slab(g, begin, slab)

    def _layers_within(self, z0: int, z1: int) -> list[tuple[Part, tuple[int, ...], int, int]]:
        """Return (part, its box in its block, z range) of the parts between two layers."""
        layers: list[tuple[Part, tuple[int, ...], int, int]] = []
        for part in self._domain.parts:
            first, last = max(z0, part.local.start[2]), min(z1, part.local.stop[2])
            if first < last:
                layers.append((part, self._blocks[part.index].box, first, last))
        return layers

    def has_not_finite(self, t: int) -> bool:
        """Return whether a value in a fluid cell of this rank is not finite after t steps."""
        self._domain.synchronize()
        bad = False
        for part in self._domain.parts:
            with part.engine.device.active():
                on = _scalars.loops(part.engine.device)
                bad |= on.has_not_finite(self.current(part, t), self.block(part))
        return bad

    def copy_state(self, t: int) -> list[Any]:
        """Return copies of the populations of all parts, on their devices."""
        copies = []
        for part in self._domain.parts:
            g, on = self.current(part, t), _scalars.loops(part.engine.device)
            with part.engine.device.active():
                copies.append(on.zeros(g.shape, g.dtype))
                on.copy(g, copies[-1])
        return copies

    def return_to_state(self, t: int, state: list[Any]) -> None:
        """Restore copied populations."""
        self._step = t
        for part, copy in zip(self._domain.parts, state, strict=True):
            with part.engine.device.active():
                _scalars.loops(part.engine.device).copy(copy, self.current(part, t))


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


def _block_classes(part: Part, classes: np.ndarray) -> np.ndarray:
    """Return the classes [z, y, x] of a part's block; those of halos are not used."""
    x, y, z = part.local.slices
    shape = part.engine.problem.shape[::-1]
    block = np.full(shape, SOLID_CLASS, classes.dtype)
    hx, hy, hz = part.halo
    nx, ny, nz = part.extent.shape
    block[hz : hz + nz, hy : hy + ny, hx : hx + nx] = classes[z, y, x]
    return block

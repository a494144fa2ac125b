"""Check that a flow is finite, has positive density and is slow enough for the method."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hetero.devices import Device
from hetero.memory import free_bytes
from lbm._coupled.flow import Flow
from lbm._parallel.placement import count_sharers
from lbm.boundaries import kind_of_flow
from lbm.boundaries.limits import DENSITY_LIMITS, SPEED_LIMIT
from lbm.collisions.stability_map import LIMITS, FlowKind, advise_magic, is_same_magic
from lbm.errors import UnstableError

LOGGER = logging.getLogger(__name__)

NOT_FINITE = 1e30
"""Badness of a cell whose density or velocity is not finite, or whose density is not positive."""

DENSITY_UNIT = 1e20
"""Factor of 1 + rho in the badness of a cell whose density is out of bounds: more than any squared
speed, less than NOT_FINITE."""

LARGEST_DENSITY = 1e6
"""Densities above this count as not finite, so that their badness stays below NOT_FINITE."""


def require_stable(flow: Flow) -> None:
    """Raise UnstableError if a cell is not finite, too fast, or far from density 1."""
    if (worst := find_worst_cell(flow)) is not None:
        message = describe_instability(flow, flow.steps, *worst)
        raise UnstableError(message, flow.steps, worst[1])
    for companion in flow.companions:
        companion.require_finite(flow.steps)


def find_worst_cell(flow: Flow) -> tuple[float, tuple[int, int, int]] | None:
    """Return (badness, cell) of the worst cell of all ranks, or None if all are good.

    `measure_badness` has the scale of badness.
    """
    worst: tuple[float, tuple[int, int, int]] | None = None
    suspicious = flow.domain.may_have_bad_cell(flow.steps)
    for slab in flow.domain.read_moments(flow.steps) if suspicious else ():
        badness = measure_badness(*slab.to_host())
        z, y, x = map(int, np.unravel_index(int(badness.argmax()), badness.shape))
        if (bad := float(badness[z, y, x])) > max(SPEED_LIMIT**2, worst[0] if worst else 0.0):
            start = (a + b for a, b in zip(flow.region.start, slab.start, strict=True))
            x0, y0, z0 = start
            worst = bad, (x0 + x, y0 + y, z0 + z)
    return _choose_worst(flow.domain.ranks.gather_all(worst))


def measure_badness(drho: np.ndarray, ux: np.ndarray, uy: np.ndarray, uz: np.ndarray) -> np.ndarray:
    """Return u^2 in (cells/step)^2, DENSITY_UNIT (1 + rho) for a bad density, or NOT_FINITE."""
    with np.errstate(all="ignore"):
        square = ux * ux + uy * uy + uz * uz
        is_dense = (drho < DENSITY_LIMITS[0] - 1.0) | (drho > DENSITY_LIMITS[1] - 1.0)
        bad = np.where(is_dense, DENSITY_UNIT * (2.0 + drho), square)
        no_number = ~np.isfinite(square + drho) | (drho <= -1.0) | (drho > LARGEST_DENSITY)
        return np.where(no_number, NOT_FINITE, bad)


def _choose_worst(
    candidates: list[tuple[float, tuple[int, int, int]] | None],
) -> tuple[float, tuple[int, int, int]] | None:
    """Return the worst of the cells that ranks have found; of equal ones the first in memory."""
    bad = [candidate for candidate in candidates if candidate is not None]
    return min(bad, key=lambda worst: (-worst[0], worst[1][::-1]), default=None)


def describe_instability(flow: Flow, step: int, bad: float, cell: tuple[int, int, int]) -> str:
    """Return a message that says what is wrong with a flow and what to change."""
    moment = f"after step {step}" if step else "at the start"
    when = f"{moment}, first in cell {cell}" if step else f"{moment}, in cell {cell}"
    if bad > 0.5 * NOT_FINITE:
        return (
            f"the flow is not finite (NaN, infinity or a density below 0) {when}. "
            f"{suggest_remedy(flow)}"
        )
    if bad > 0.5 * DENSITY_UNIT:
        low, high = DENSITY_LIMITS
        return (
            f"the density is {bad / DENSITY_UNIT - 1.0:.3g} in cell {cell} {moment}, not between "
            f"{low} and {high}: the method is valid only near density 1. If it has changed slowly, "
            "fluid enters where none can leave, or a body force has no wall or drag that balances "
            f"it. If it has changed within some steps, the flow is unstable: {suggest_remedy(flow)}"
        )
    return (
        f"the speed is {math.sqrt(bad):.3g} cells/step {when}, above {SPEED_LIMIT:.3g}: the method "
        f"is valid only well below the speed of sound (0.577). {suggest_remedy(flow)}"
    )


@dataclass
class LastGoodState:
    """A copy of the last state that has passed the check, in the memory of its device.

    It is made if twice its size is free; otherwise there is none, and `step` is -1.

    Attributes
    ----------
    enabled : whether a copy is wanted at all
    step : the number of steps done before it, -1 if there is none
    copies : the populations of each part of the domain
    companions : further state
    """

    enabled: bool = True
    step: int = -1
    copies: list[Any] | None = None
    companions: list[Any] = field(default_factory=list)

    def check_and_save(self, flow: Flow, period: int) -> None:
        """Require a stable state; copy it if the last one is `period` steps old.

        Raises
        ------
        UnstableError
            With the first bad step. The simulation is then back in the state of the copy.
        """
        try:
            require_stable(flow)
        except UnstableError as error:
            raise locate_first_bad_step(flow, self, error) from None
        if flow.steps - self.step >= period:
            self.save_from(flow)

    def save_from(self, flow: Flow) -> None:
        """Copy the present state over an earlier one, if there is memory for it."""
        if not self.enabled:
            return
        domain = flow.domain
        domain.synchronize()
        if self.copies is None:
            need: dict[Device, int] = {}
            for engine in domain.engines:
                need[engine.device] = need.get(engine.device, 0) + 2 * engine.state_bytes
            sharers = count_sharers(domain.ranks, need)
            full = any(free_bytes(d, sharers=sharers[d]) < count for d, count in need.items())
            if domain.ranks.any(full):
                LOGGER.info("no copy of a good state is kept: there is no memory for it")
                self.step = -1
                return
            self.copies = [None] * len(domain.engines)
        failed = False
        try:
            self.copies = [
                engine.copy_state(flow.steps, copy)
                for engine, copy in zip(domain.engines, self.copies, strict=True)
            ]
            self.companions = [c.copy_state(flow.steps) for c in flow.companions]
        except MemoryError:
            failed = True
        if domain.ranks.any(failed):
            self.discard()
            return
        domain.synchronize()
        self.step = flow.steps

    def discard(self) -> None:
        """Free the memory of the copy."""
        self.step, self.copies, self.companions = -1, None, []

    def restore_to(self, flow: Flow) -> None:
        """Return the simulation to this state."""
        domain, copies = flow.domain, self.copies or []
        domain.synchronize()
        for engine, copy in zip(domain.engines, copies, strict=True):
            engine.return_to_state(self.step, copy)
        for companion, state in zip(flow.companions, self.companions, strict=True):
            companion.return_to_state(self.step, state)
        domain.synchronize()
        flow.mark_changed(self.step)


def locate_first_bad_step(flow: Flow, good: LastGoodState, error: UnstableError) -> UnstableError:
    """Repeat the steps since the last good state one by one; return the error of the first bad one.

    Afterwards the simulation is in its last good state.
    """
    if good.step < 0:
        message = (
            f"{error} This was found by the check after step {error.step}, and the first bad step "
            "is unknown: no earlier state was kept, because there was not enough memory or "
            "keep_good_state=False."
        )
        return UnstableError(message, error.step, error.cell)
    end, first = flow.steps, None
    try:
        good.restore_to(flow)
        while (first := _find_error(flow)) is None and flow.steps < end:
            flow.advance(1)
    finally:
        good.restore_to(flow)
    if first is None:  # the steps were not reproducible: only the check's result is known
        return error
    message = (
        f"{first} The simulation is back in the state of step {good.step}, the last good one that "
        "was kept."
    )
    located = UnstableError(message, first.step, first.cell)
    located.add_note("You can inspect and save that state.")
    return located


def _find_error(flow: Flow) -> UnstableError | None:
    """Return what `require_stable` raises, or None."""
    try:
        require_stable(flow)
    except UnstableError as error:
        return error
    return None


_SURROUNDINGS: dict[FlowKind, str] = {
    "walls": "With walls only",
    "open": "With inlets or outlets",
    "free": "Without walls",
}


def suggest_remedy(flow: Flow) -> str:
    """Return advice on what would make a flow more stable than its present settings."""
    tau, magic = flow.collision.tau, flow.collision.magic
    conditions = flow.enclosure.conditions.values()
    kind = kind_of_flow(conditions)
    walls = flow.problem.links.wall_types_in(flow.steps)  # those of functions, on this rank
    speeds = [math.hypot(*row[2:]) for row in walls] + [
        math.hypot(*c.prescribed)
        for c in conditions
        if c.prescribes == "velocity" and not c.depends_on
    ]
    cell_reynolds = 3.0 * max(speeds) / (tau - 0.5)
    present = f"; here it is {cell_reynolds:.3g} at tau={tau:.6g}" if cell_reynolds > 0.0 else ""
    more_cells = "more cells at the same Reynolds number, or a lower Reynolds number"
    slower = (
        "if only the speeds are too high, a smaller time step (lower speed and force, tau nearer "
        "to 1/2)."
    )
    name = type(flow.collision).__name__
    has_magic = "magic" in flow.collision.parameters()
    if not has_magic and flow.collision.stability_limit(kind) is None:
        return (
            f"For {name} no largest speed/viscosity is known{present}. Use {more_cells}; {slower}"
        )
    better = advise_magic(magic, cell_reynolds, kind)
    limit = LIMITS[kind][better]
    in_use = has_magic and is_same_magic(better, magic or 0.0)
    operator = f"lbm.{name if has_magic else 'TRT'}(tau, magic={better:.4g})"
    words = (
        f"{_SURROUNDINGS[kind]}, flows were stable up to speed/viscosity = {limit:.3g} with "
        f"{'this magic parameter' if in_use else operator}{present}"
    )
    change = "Use"
    if not in_use and cell_reynolds <= limit:
        change = f"Use magic={better:.4g}, or" if has_magic else f"Use {operator}, or"
    if cell_reynolds > limit:
        factor = math.ceil(10.5 * cell_reynolds / limit) / 10.0  # a twentieth more than the limit
        more_cells = (
            f"{factor:g} times as many cells along each axis at the same Reynolds number, or a "
            "lower one"
        )
    return f"{words}. {change} {more_cells}; {slower}"

"""Whether a flow is still one: finite, of positive density, and slow enough for the method."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hetero.jit import twin
from lbm.bgk import BGK
from lbm.boundaries import MovingWall, PressureOutlet, VelocityInlet
from lbm.errors import UnstableError
from lbm.lattice import CS2
from lbm.memory import free_bytes
from lbm.stability_map import BETWEEN_WALLS, WITH_OPEN_ENDS, choose_magic

SPEED_LIMIT = 0.8 * float(CS2) ** 0.5
"""Speed in cells/step above which a run stops: Mach 0.8, where the equilibrium is far off."""


def require_stable(simulation) -> None:
    """Raise UnstableError if a cell is not finite or too fast."""
    if (bad := worst_cell(simulation)) is not None:
        raise UnstableError(describe(simulation, simulation.steps, *bad), simulation.steps, bad[1])


def worst_cell(simulation) -> tuple[float, tuple[int, int, int]] | None:
    """Return (speed, cell) of the worst cell, None if all are good; infinity for NaN."""
    nx = simulation.shape[0]
    bad = None
    for z0, y0, engine, data in simulation._on_devices("fields"):
        with engine.device.active():
            square, where = twin("lbm._fields", engine.device).worst(data.reshape(4, -1))
        if square > max(SPEED_LIMIT**2, bad[0] if bad else 0.0):
            z, rest = divmod(where, data.shape[2] * nx)
            y, x = divmod(rest, nx)
            bad = square, (x, y + y0, z + z0)
    if bad is None:
        return None
    return float("inf") if bad[0] > 1e29 else bad[0] ** 0.5, bad[1]


def describe(simulation, step: int, speed: float, cell) -> str:
    """Say what is wrong with a flow, and what to change."""
    at = f"after step {step}, first in cell {cell}" if step else f"at the start, in cell {cell}"
    if speed == float("inf"):
        return (
            f"the flow is not finite (NaN, infinity or a density below 0) {at}. "
            f"{advice(simulation)}"
        )
    return (
        f"the speed is {speed:.3g} cells/step {at}, above {SPEED_LIMIT:.3g}: the method "
        f"holds well below the speed of sound (0.577). {advice(simulation)}"
    )


@dataclass
class LastGoodState:
    """A state that has passed the check, kept where the populations are.

    A copy of the populations is taken where twice its size is free; else there is none.
    """

    step: int = -1
    copies: list | None = None

    def keep(self, simulation) -> None:
        """Keep the present state in place of an earlier one, if there is memory for it."""
        domain = simulation._domain
        domain.synchronize()
        if self.copies is None:
            need = {}
            for engine in domain.engines:
                need[engine.device] = need.get(engine.device, 0) + 2 * engine.state_bytes
            if any(free_bytes(device) < count for device, count in need.items()):
                self.step = -1
                return
            self.copies = [None] * len(domain.engines)
        try:
            self.copies = [
                engine.copy_state(simulation.steps, copy)
                for engine, copy in zip(domain.engines, self.copies, strict=True)
            ]
        except MemoryError:
            self.forget()
            return
        domain.synchronize()
        self.step = simulation.steps

    def forget(self) -> None:
        """Give the memory back."""
        self.step, self.copies = -1, None

    def take_up(self, simulation) -> None:
        """Let the simulation go on from here."""
        domain = simulation._domain
        domain.synchronize()
        for engine, copy in zip(domain.engines, self.copies, strict=True):
            engine.return_to_state(self.step, copy)
        domain.synchronize()
        simulation._state_changed(self.step)


def locate_first_bad_step(simulation, kept: LastGoodState, error: UnstableError) -> UnstableError:
    """Repeat the steps since the last good state one by one; return the error of the first bad one.

    The simulation is then in its last good state.
    """
    if kept.step < 0:
        message = (
            f"{error} This is what the check after step {error.step} found: no earlier state was "
            "kept, for want of memory or by keep_good_state=False."
        )
        return UnstableError(message, error.step, error.cell)
    end, bad = simulation.steps, None
    try:
        kept.take_up(simulation)
        while (bad := worst_cell(simulation)) is None and simulation.steps < end:
            simulation._advance(1)
        step = simulation.steps
    finally:
        kept.take_up(simulation)
    if bad is None:  # it was not the same twice: then the check is all there is
        return error
    message = (
        f"{describe(simulation, step, *bad)} The simulation is in the state of step {kept.step} "
        "again, the last one that was kept: it can be looked at and saved."
    )
    return UnstableError(message, step, bad[1])


def advice(simulation) -> str:
    """Say what makes a flow more stable, without what is in use already."""
    tau, magic = simulation.collision.tau, _magic(simulation.collision)
    conditions = [*simulation.faces, *(s.condition for s in simulation.solids.values())]
    is_open = any(isinstance(c, VelocityInlet | PressureOutlet) for c in conditions)
    speeds = [math.hypot(*c.velocity) for c in conditions if isinstance(c, MovingWall)]
    limits = WITH_OPEN_ENDS if is_open else BETWEEN_WALLS
    best = max(limits, key=limits.get)
    where = "inlets or outlets" if is_open else "walls only"
    cell_reynolds = 3.0 * max(speeds, default=0.0) / (tau - 0.5)
    better = best
    if magic is not None:
        better = choose_magic(cell_reynolds, is_open) if cell_reynolds else best
    in_use = magic is not None and abs(better - magic) < 1e-3 * better
    words = (
        f"With {where}, flows were stable up to a speed/viscosity of {limits[better]:.3g} with "
        f"{'this magic number' if in_use else f'lbm.TRT(tau, magic={better:.4g})'}"
    )
    if cell_reynolds > 0.0:
        words += f"; walls and inlets here make it {cell_reynolds:.3g} at tau={tau:.6g}"
    change = "Take" if in_use else f"Take magic={better:.4g}, or"
    return (
        f"{words}. {change} more cells at the same Reynolds number, or a lower Reynolds number; "
        "where speeds are only too high, a smaller time step (lower speed and force, tau nearer "
        "to 1/2)."
    )


def _magic(collision) -> float | None:
    """Return the magic number of an operator, None where it is unknown."""
    if isinstance(collision, BGK):
        return (collision.tau - 0.5) ** 2
    return getattr(collision, "magic", None)

"""Whether a flow is still one: finite, of positive density, and slow enough for the method."""

from __future__ import annotations

from hetero.jit import twin
from lbm.errors import UnstableError
from lbm.lattice import CS2

SPEED_LIMIT = 0.8 * float(CS2) ** 0.5
"""Speed in cells/step above which a run stops: Mach 0.8, where the equilibrium is far off."""


def require_stable(simulation) -> None:
    """Raise UnstableError if a cell is not finite or too fast."""
    nx = simulation.shape[0]
    for z0, y0, engine, data in simulation._on_devices("fields"):
        with engine.device.active():
            square, where = twin("lbm._fields", engine.device).worst(data.reshape(4, -1))
        if square > SPEED_LIMIT**2:
            z, rest = divmod(where, data.shape[2] * nx)
            y, x = divmod(rest, nx)
            _unstable(simulation, square, (x, y + y0, z + z0))


def _unstable(simulation, square: float, cell) -> None:
    at = f"step {simulation.steps}, cell {cell}"
    if square > 1e29:
        raise UnstableError(
            f"the flow is not finite (NaN, infinity or a density below 0) at {at}. Take a larger "
            f"tau (now {simulation.collision.tau:.6g}), a lower speed, TRT, or more cells",
            simulation.steps,
            cell,
        )
    raise UnstableError(
        f"the speed is {square**0.5:.3g} cells/step at {at}, above {SPEED_LIMIT:.3g}: the method "
        "holds well below the speed of sound (0.577). Take a smaller time step: lower speeds and "
        "force, and a tau nearer to 1/2 to keep the Reynolds number",
        simulation.steps,
        cell,
    )

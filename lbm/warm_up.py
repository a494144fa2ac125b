"""Small calls of the main functions, which compile what those need: `python -m hetero warm`."""

from __future__ import annotations

from collections.abc import Callable


def simulation(device: str) -> None:
    """Run a lid-driven cavity for two steps and read its fields."""
    import lbm

    walls: dict[str, lbm.Condition | lbm.Solid] = {axis: lbm.NoSlip() for axis in "xy"}
    walls |= {"z-": lbm.NoSlip(), "z+": lbm.MovingWall((0.05, 0.0, 0.0))}
    flow = lbm.Simulation((32, 32, 32), boundaries=walls, device=device)
    flow.run(2)
    flow.u.mean()


CALLS: dict[str, Callable[[str], None]] = {"simulation": simulation}
"""A call of each main function, which takes the name of a device."""

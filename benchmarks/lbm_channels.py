"""lbm: what the ends and sides of a channel cost beside a closed box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import hetero
import lbm
from benchmarks.lbm import seconds_per_step
from benchmarks.measurements import Measurement
from hetero.arrays import Array

Walls: TypeAlias = Mapping[str, lbm.boundaries.Condition | lbm.Solid]

SPEED = 0.05
PLAIN = lbm.NoSlip()
SIDES = {"y": PLAIN, "z": PLAIN}


def run(device: hetero.Device, quick: bool) -> Iterator[Measurement]:
    """Measure steps of channels, as percentages beyond one of a box with plain walls."""
    shape = (24, 16, 16) if quick else (512, 512, 256) if device.kind == "cuda" else (128, 96, 96)
    size = " x ".join(map(str, shape))
    cells = shape[0] * shape[1] * shape[2]
    closed, timing = _measure({"x": PLAIN, **SIDES}, shape, device)
    yield Measurement(
        f"closed box {size}, float32", cells / closed / 1e9, "GLUPS", None, "", {},
        "TRT, plain walls on all sides; steps only", timing,
    )  # fmt: skip
    for name, walls in channels(shape[1]).items():
        seconds, timing = _measure(walls, shape, device)
        yield Measurement(
            f"{name}, {size}", 100 * (seconds / closed - 1), "% of a step", None, "", {},
            f"{cells / seconds / 1e9:.4g} GLUPS; beyond the closed box", timing,
        )  # fmt: skip


def channels(height: int) -> dict[str, Walls]:
    """Return the walls of all channels with so many cells along y, by their names."""

    def profile(x: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
        return 6 * SPEED * y * (height - y) / height**2, 0 * y, 0 * y

    def ends(axis: str) -> Walls:
        u = SPEED * (axis == "x"), SPEED * (axis == "y"), SPEED * (axis == "z")
        others = {a: PLAIN for a in "xyz" if a != axis}
        return {f"{axis}-": lbm.VelocityInlet(u), f"{axis}+": lbm.PressureOutlet(), **others}

    rest = {"x+": lbm.PressureOutlet(), **SIDES}
    slip = {"y": lbm.FreeSlip(), "z": lbm.FreeSlip()}
    eddies = lbm.SyntheticEddies((SPEED, 0.0, 0.0), intensity=0.1, length=4.0)
    quiet = {
        "x-": lbm.NonReflectingInlet((SPEED, 0.0, 0.0)), "x+": lbm.NonReflectingOutlet(),
    }  # fmt: skip
    return {
        "inlet and outlet across x": ends("x"),
        "inlet and outlet across y": ends("y"),
        "inlet and outlet across z": ends("z"),
        "parabolic inlet and outlet across x": {"x-": lbm.VelocityInlet(profile), **rest},
        "turbulent inlet and outlet across x": {"x-": lbm.VelocityInlet(eddies), **rest},
        "inlet and outlet across x, sides with free slip": {**ends("x"), **slip},
        "ends across x that do not reflect, sides with free slip": {**quiet, **slip},
        "a lid across x": {"x-": PLAIN, "x+": lbm.MovingWall((0.0, SPEED, 0.0)), **SIDES},
    }  # fmt: skip


def _measure(
    walls: Walls, shape: tuple[int, int, int], device: hetero.Device
) -> tuple[float, dict]:
    """Return the seconds of a step, and the timing."""
    s = lbm.Simulation(shape, collision=lbm.TRT(0.55), boundaries=walls, device=device, check=0)
    return seconds_per_step(s, device)

"""Forces on bodies with exact or published values: staircases beside interpolated walls.

The cylinder in a channel of Schaefer and Turek (1996), steady at Re 20 (2D-1) and shedding vortices
at Re 100 (2D-2); cubic arrays of spheres (Zick and Homsy 1982); the torque on a cylinder that
rotates in another one (Couette).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import (
    TRT,
    Collision,
    Condition,
    Cylinder,
    MovingWall,
    NoSlip,
    PressureOutlet,
    Simulation,
    Solid,
    Sphere,
    VelocityInlet,
)
from lbm.callbacks import Every
from studies.study import Study

WALLS = "halfway", "interpolated"
"""Walls that are compared."""

DIAMETERS = 20, 30
"""Cells in a diameter of the cylinder in a channel."""

EDGES = 16, 32
"""Cells along the edge of the cube of a sphere in an array, and twice the cells in the radius of a
cylinder that rotates."""

ARRAYS = {0.125: 4.292, 0.216: 7.442, 0.343: 15.4}
"""Drag of a sphere in a simple cubic array over Stokes', by the share of the volume that the
spheres take (Zick and Homsy 1982, table 2)."""

VISCOSITY = 0.1
"""Kinematic viscosity in cells^2/step of arrays and rotating cylinders."""

SHEDDING = {
    "largest drag": (3.22, 3.24),
    "largest lift": (0.99, 1.01),
    "Strouhal number": (0.295, 0.305),
}
"""Published intervals of case 2D-2 of Schaefer and Turek (1996)."""

SHEDDING_SPEED = 0.8
"""Mean speed of case 2D-2 in cells/step times the cells of the diameter."""

RAMP = 10
"""Diameters of the stream in which the inlet of the channel gets its speed: a sudden start would
leave sound waves between inlet and outlet, which reflect them, and in the drag."""

_HEADS = "quantity", "cells", "wall", "computed", "published or exact", "deviation in %"


class Result(NamedTuple):
    """A number that was computed, beside the exact one or the interval of published ones."""

    name: str
    cells: int
    value: float
    low: float
    high: float

    def row(self, wall: str) -> tuple:
        """Return the row of the table."""
        middle = 0.5 * (self.low + self.high)
        interval = f"{self.low:g}" if self.low == self.high else f"{self.low:g} to {self.high:g}"
        return self.name, self.cells, wall, self.value, interval, 100.0 * (self.value / middle - 1)


def run(study: Study) -> dict:
    """Compute all forces with both kinds of walls, and print them."""
    device = study.device
    rows: list[Any] = []
    edges, diameters = ((8,), ()) if study.quick else (EDGES, DIAMETERS)
    for wall in WALLS:
        results = [solve_rotating_cylinder(n // 2, wall, device) for n in edges]
        results += [solve_array(n, c, wall, device) for c in ARRAYS for n in edges]
        for d in diameters:
            results += solve_steady_cylinder(d, wall, device)
            results += solve_shedding_cylinder(d, wall, device)
        rows += [result.row(wall) for result in results]
    rows.sort(key=lambda row: row[:2])
    study.table("Forces on bodies", _HEADS, rows)
    return {"largest deviation": {w: max(abs(r[-1]) for r in rows if r[2] == w) for w in WALLS}}


def rotation_rate(n: int) -> float:
    """Return the angular velocity of a cylinder of radius n, in 1/steps."""
    return 0.8 / n**2


def run_rotating_cylinder(n: int, wall: str, device: Device) -> Simulation:
    """Return the steady flow of a cylinder of radius n that rotates in one of radius 2 n.

    The axis of both is at x = y = 2 n + 2.3.
    """
    rate, middle = rotation_rate(n), 2 * n + 2.3

    def swirl(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple:
        return -rate * (y - middle), rate * (x - middle), 0.0

    walls = {
        "inner": Solid(Cylinder((middle, middle), n), MovingWall(swirl), wall),
        "outer": Solid(~Cylinder((middle, middle), 2 * n), wall=wall),
    }
    shape = 4 * n + 5, 4 * n + 5, 1
    s = Simulation(shape, collision=TRT(0.5 + 3.0 * VISCOSITY), boundaries=walls, dtype="float64",
                   device=device)  # fmt: skip
    return s.run(round(1.2 * n**2 / VISCOSITY))


def solve_rotating_cylinder(n: int, wall: str, device: Device) -> Result:
    """Compute the torque on a cylinder of radius n that rotates in one of radius 2 n."""
    middle = 2 * n + 2.3
    s = run_rotating_cylinder(n, wall, device)
    unit = -VISCOSITY * rotation_rate(n) * n**2
    torque = float(s.torque_on("inner", (middle, middle, 0.5))[2] / unit)
    exact = 16.0 * np.pi / 3.0
    return Result("torque on a rotating cylinder", n, torque, exact, exact)


def solve_array(n: int, share: float, wall: str, device: Device) -> Result:
    """Compute the drag of a sphere in a cubic array, over that of Stokes."""
    radius, force = n * (0.75 * share / np.pi) ** (1.0 / 3.0), 1e-7
    ball = Solid(Sphere((n / 2 + 0.1,) * 3, radius), wall=wall)
    s = Simulation((n, n, n), collision=TRT(0.5 + 3.0 * VISCOSITY), boundaries={"ball": ball},
                   force=(force, 0.0, 0.0), dtype="float64", device=device)  # fmt: skip
    before, mean = 0.0, 1.0
    while abs(mean - before) > 1e-5 * mean:
        s.run(n * n // 8)
        before, mean = mean, float(s.u[0].mean())
    drag = force * n**3 / (6.0 * np.pi * VISCOSITY * radius * mean)
    return Result(f"drag in an array of {share:g}", n, drag, ARRAYS[share], ARRAYS[share])


# ---- a cylinder in a channel -----------------------------------------------------------------


def make_channel(
    d: int,
    reynolds: float,
    speed: float,
    wall: str,
    device: Device,
    *,
    collision: Callable[[float], Collision] = TRT,
    outlet: Condition | None = None,
    shift: float = 0.0,
) -> Simulation:
    """Build the cylinder of diameter d in a channel of 22 x 4.1 diameters, one layer of cells.

    Its centre is 2 diameters from the inlet, a parabola with the mean `speed`, and from the floor.

    Parameters
    ----------
    collision : function of tau that returns the operator
    outlet : condition of the outlet, by default a `PressureOutlet`
    shift : cells by which the centre is further from the inlet and from the floor
    """
    shape, ramp = (22 * d, round(4.1 * d), 1), RAMP * d / speed
    height = shape[1]

    def profile(x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float) -> tuple:
        share = np.sin(0.5 * np.pi * min(t / ramp, 1.0)) ** 2
        return share * 6.0 * speed * y * (height - y) / height**2, 0.0 * y, 0.0 * y

    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet(profile),
        "x+": PressureOutlet() if outlet is None else outlet,
        "y": NoSlip(),
        "cylinder": Solid(Cylinder((2 * d + shift, 2 * d + shift), d / 2), wall=wall),
    }
    operator = collision(0.5 + 3.0 * speed * d / reynolds)
    return Simulation(shape, collision=operator, boundaries=walls, dtype="float64", device=device)


def measure_coefficients(s: Simulation, speed: float, d: int) -> np.ndarray:
    """Return drag and lift coefficient of the cylinder in the last step."""
    coefficients: np.ndarray = 2.0 * s.force_on("cylinder")[:2] / (speed**2 * d)
    return coefficients


def solve_steady_cylinder(d: int, wall: str, device: Device) -> list[Result]:
    """Compute case 2D-1: drag and lift at Re 20."""
    speed, before = 0.4 / d, np.zeros(2)
    s = make_channel(d, 20.0, speed, wall, device)
    s.run(round(2 * RAMP * d / speed))
    while True:
        s.run(round(2 * d / speed))
        now = measure_coefficients(s, speed, d)
        if np.abs(now - before).max() < 2e-5:
            break
        before = now
    return [
        Result("2D-1, drag", d, float(now[0]), 5.57, 5.59),
        Result("2D-1, lift", d, float(now[1]), 0.0104, 0.0110),
    ]


def solve_shedding_cylinder(d: int, wall: str, device: Device) -> list[Result]:
    """Compute case 2D-2, Re 100: largest drag and lift of about six periods, and frequency."""
    values = measure_shedding(make_channel(d, 100.0, SHEDDING_SPEED / d, wall, device), d)
    return [
        Result(f"2D-2, {name}", d, value, *SHEDDING[name])
        for name, value in zip(SHEDDING, values, strict=True)
    ]


def measure_shedding(
    s: Simulation, d: int, speed: float | None = None, paths: tuple[float, float] = (60, 20)
) -> tuple[float, float, float]:
    """Run a cylinder of diameter d that sheds vortices; return the numbers of SHEDDING.

    It runs for paths[0] diameters of the mean `speed`, and then for paths[1] that are recorded.
    """
    speed = SHEDDING_SPEED / d if speed is None else speed
    every = max(1, round(0.01 * d / speed))
    series: list[np.ndarray] = []

    def record(s: Simulation) -> None:
        series.append(measure_coefficients(s, speed, d))

    s.run(round(paths[0] * d / speed))
    s.run(round(paths[1] * d / speed), callbacks=[Every(every, record)])
    drag, lift = np.array(series).T
    up = np.flatnonzero((lift[:-1] < 0.0) & (lift[1:] >= 0.0))
    crossings = up - lift[up] / (lift[up + 1] - lift[up])
    if len(crossings) < 2:  # no vortices yet
        return float(drag.max()), float(lift.max()), float("nan")
    period = float(crossings[-1] - crossings[0]) / (len(crossings) - 1) * every
    return float(drag.max()), float(lift.max()), d / (speed * period)

"""Turbulent channels and a plate with modelled walls, beside the law of the wall and friction laws.

A channel of half height h between two modelled walls has the flow rate of the law of the wall at
friction Reynolds numbers of 1000 and 5200, with 16 and 32 cells in h. A body force that follows the
bulk velocity keeps the flow rate, and its mean is the friction: that of the law, but for the error
of the model. The mean velocity over the friction velocity of this force stands beside the law.

A constant force would give the friction velocity at once, but then the flow rate relaxes for more
than ten turnovers h / friction velocity: after twelve of them the errors still look smaller than
they are. With a constant flow rate the force settles within four. Channels with 16 cells are
computed at half the friction velocity in cells/step, too, where nothing should change. All take
some 5 to 12 minutes on two cores; a GPU computes 32 cells as well.

A boundary layer grows on a flat plate from its leading edge on, at Reynolds numbers of a cell of
1e4 and 1e5. Its friction on two stretches stands beside the law of White (2006, equation 6-78).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import Box, Condition, FreeStream, NoSlip, Simulation, Solid, VremanCentralMoments
from lbm._coupled.wall_model.formulas import find_friction_velocities
from lbm._post.forces import forces_on_links
from lbm.callbacks import Every
from lbm.collisions.automatic import WALL_CONSTANT
from studies.study import Study

FRICTION = 0.008
"""Friction velocity in cells/step: the stream in the middle has about 0.17 to 0.2."""

LENGTHS = 3, 2
"""Length and width of the channel in half heights."""

TURNOVERS = 4.0, 6.0
"""Times h / friction velocity before the first sample, and of averaging."""

GAIN = 5.0
"""Rate, in friction velocities / h, at which the force corrects the bulk velocity; that of its
integral is such that errors fade without oscillation."""

STRETCHES = (20, 60), (60, 100), (100, 170)
"""Stretches of the plate in cells from its leading edge, whose friction is measured."""

PLATE_SHAPE = 192, 4, 34


class Channel(NamedTuple):
    """Mean profile of a channel.

    Attributes
    ----------
    y, u : distances from the wall in half heights, and mean velocities over the friction velocity
    law : those of the law of the wall at this friction
    friction : mean friction over that of the law at this flow rate
    change : by how much of the latter the friction has changed between both halves of the samples
    """

    y: np.ndarray
    u: np.ndarray
    law: np.ndarray
    friction: float
    change: float

    @property
    def profile_error(self) -> float:
        """Largest relative difference of the mean velocity behind the first cell."""
        return float(np.abs(self.u[1:] / self.law[1:] - 1.0).max())

    @property
    def friction_error(self) -> float:
        """Relative error of the friction at this flow rate."""
        return self.friction - 1.0


class Drive:
    """A force along x that keeps the bulk velocity of a channel: proportional and integral.

    Attributes
    ----------
    forces : list of float
        Those that it has set, in cells/step^2, one for each call.
    """

    def __init__(self, bulk: float, force: float, rate: float, every: int):
        self._bulk, self._steady, self._gains = bulk, force, (rate, 0.25 * rate**2 * every)
        self.forces = [force]

    def __call__(self, s: Simulation) -> None:
        """Set the force by the present bulk velocity, at regular steps."""
        lack = self._bulk - s.u[0].mean(where=s.fluid, dtype=float)
        proportional, integral = self._gains
        self._steady += integral * lack
        self.forces.append(self._steady + proportional * lack)

    def force(self, t: float) -> tuple[float, float, float]:
        """Return the present force."""
        return self.forces[-1], 0.0, 0.0


def law_of_the_wall(y_plus: np.ndarray) -> np.ndarray:
    """Return u+ at distances in wall units, by bisection of the formula of the package."""
    low, high = np.full(len(y_plus), 1e-6), np.full(len(y_plus), 60.0)
    for _ in range(60):
        u = 0.5 * (low + high)
        is_low = find_friction_velocities(u, y_plus, 1.0) < 1.0
        low, high = np.where(is_low, u, low), np.where(is_low, high, u)
    return u


def solve_channel(
    reynolds: float,
    cells: int,
    device: Device,
    constant: float = WALL_CONSTANT,
    turnovers: tuple[float, float] = TURNOVERS,
    friction: float = FRICTION,
    wall: str = "modelled",
) -> Channel:
    """Return the mean profile of a channel with so many cells in its half height."""
    nx, ny = (k * cells for k in LENGTHS)
    shape, nu = (nx, ny, 2 * cells + 2), friction * cells / reynolds
    y = (np.arange(cells) + 0.5) / cells
    law = law_of_the_wall(y * reynolds)
    mean = np.concatenate([[0.0], law, law[::-1], [0.0]]) * friction
    rng = np.random.default_rng(1)
    # Rolls and noise: without them a flow stays laminar for long.
    grid = np.meshgrid(*(np.arange(n) for n in shape), indexing="ij")
    roll = 2.0 * np.pi * grid[1] / ny * 2.0
    high = np.sin(np.pi * np.clip((grid[2] - 0.5) / (2 * cells), 0.0, 1.0))
    u = 2.0 * friction * rng.standard_normal((3, *shape)) * high
    u[0] += mean * (1.0 + 0.15 * np.sin(roll) * np.sin(2.0 * np.pi * 2.0 * grid[0] / nx))
    u[2] += 2.0 * friction * high**2 * np.cos(roll)
    walls: dict[str, Condition | Solid] = {
        "z": NoSlip(),
        "low": Solid(Box((-nx, -ny, -9.0), (2 * nx, 2 * ny, 1.0)), wall=wall),
        "high": Solid(
            Box((-nx, -ny, 2 * cells + 1.0), (2 * nx, 2 * ny, 2 * cells + 9.0)), wall=wall
        ),
    }
    turn, law_force = cells / friction, friction**2 / cells
    every = max(8, round(turn / 60.0))
    drive = Drive(float(law.mean()) * friction, law_force, GAIN / turn, every)
    s = Simulation(
        shape, collision=VremanCentralMoments(0.5 + 3.0 * nu, constant), boundaries=walls, u=u,
        force=drive.force, device=device,
    )  # fmt: skip
    profiles: list[np.ndarray] = []
    keep = Every(every, drive)
    s.run(round(turnovers[0] * turn), callbacks=[keep], progress=True)
    settled = len(drive.forces)

    def sample(s: Simulation) -> None:
        profiles.append(s.u[0].mean(axis=(0, 1), dtype=float)[1:-1])

    s.run(round(turnovers[1] * turn), callbacks=[keep, Every(8 * cells + 1, sample)], progress=True)
    first, second = (
        float(np.mean(half)) / law_force for half in np.array_split(drive.forces[settled:], 2)
    )
    ratio, both = 0.5 * (first + second), np.mean(profiles, axis=0)
    own = float(np.sqrt(ratio))
    u = 0.5 * (both[:cells] + both[::-1][:cells]) / (friction * own)
    return Channel(y, u, law_of_the_wall(y * reynolds * own), ratio, second - first)


def solve_plate(cell_reynolds: float, device: Device, speed: float = 0.1) -> list[float]:
    """Return the relative errors of the friction on the stretches of a plate."""
    nx, ny, _ = PLATE_SHAPE
    stream, nu = FreeStream((speed, 0.0, 0.0)), speed / cell_reynolds
    plate = Solid(Box((-9, -9, -9), (nx + 9, ny + 9, 2)), wall="modelled")
    s = Simulation(
        PLATE_SHAPE, collision=VremanCentralMoments(0.5 + 3.0 * nu, WALL_CONSTANT),
        boundaries={"x": stream, "z+": stream, "z-": NoSlip(), "plate": plate},
        u=(speed, 0.0, 0.0), device=device,
    )  # fmt: skip
    s.run(round(2.0 * nx / speed))
    friction = np.zeros(nx)
    for _ in range(8):  # forces alternate from step to step
        force, point, end = forces_on_links(s.run(1), "plate")
        # The links of a cell belong together: each has far more momentum along the plate than all.
        cell = np.round(2.0 * point[:, 0] - end[:, 0] - 1.0).astype(int)
        friction += np.bincount(cell, force[:, 0], nx) / (8 * ny * 0.5 * speed**2)
    law = 0.455 / np.log(0.06 * cell_reynolds * (np.arange(nx) + 0.5)) ** 2
    return [float(friction[a:b].sum() / law[a:b].sum() - 1.0) for a, b in STRETCHES]


def run(study: Study) -> dict:
    """Compute the channels and the plate, and print their errors."""
    sizes = (8,) if study.quick else (16, 32)[: 1 if study.device.kind == "cpu" else 2]
    turnovers = (0.2, 0.1) if study.quick else TURNOVERS
    rows, results = [], {}
    cases = [(cells, FRICTION) for cells in sizes] + [(sizes[0], 0.5 * FRICTION)]
    for reynolds in (1000.0,) if study.quick else (1000.0, 5200.0):
        for cells, speed in cases:
            channel = solve_channel(
                reynolds, cells, study.device, turnovers=turnovers, friction=speed
            )
            errors = [
                100.0 * x for x in (channel.profile_error, channel.friction_error, channel.change)
            ]
            rows.append((f"{reynolds:g}", cells, speed, channel.u[-1], *errors))
            results[f"{reynolds:g} {cells} {speed:g}"] = {
                "u": channel.u.tolist(), "law": channel.law.tolist(),
                "profile": errors[0], "friction": errors[1], "change": errors[2],
            }  # fmt: skip
    heads = (
        "Re_tau", "cells", "friction velocity (cells/step)", "u+ in the middle", "profile (%)",
        "friction (%)", "its change (%)",
    )  # fmt: skip
    study.table("Channels with modelled walls", heads, rows)
    plates = [
        (f"{re:.0e}", *(100.0 * e for e in solve_plate(re, study.device)))
        for re in ((1e4,) if study.quick else (1e4, 1e5))
    ]
    stretches = (f"cells {a} to {b} (%)" for a, b in STRETCHES)
    study.table("Friction of a plate", ("Re of a cell", *stretches), plates)
    return results | {f"plate {re}": {"friction": errors} for re, *errors in plates}

"""Drag and frequency of a cylinder at Reynolds number 100, over the domain and the numbers.

The flows are those of the tutorial: a staircase in a stream between a velocity inlet and a pressure
outlet, with sides that slip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import TRT, FreeSlip, NoSlip, PressureOutlet, Simulation, Solid, VelocityInlet, geometry
from lbm.callbacks import Every
from studies.lbm.streams import REYNOLDS
from studies.study import Study

SETTLE, RECORD = 40.0, 40.0
"""Paths of the stream, in diameters, before the forces are evaluated and while they are."""


class Domain(NamedTuple):
    """A cylinder in a domain.

    Attributes
    ----------
    length, width, upstream : domain, and distance of the inlet from the centre, in diameters
    cells : cells of the diameter
    magic : magic parameter of TRT
    speed : speed of the stream in cells/step
    shift : cells by which the centre is further along x and y
    """

    length: int
    width: int
    upstream: int
    cells: int = 12
    magic: float = 0.25
    speed: float = 0.1
    shift: tuple[float, float] = (0.0, 0.0)


DOMAINS = (
    Domain(20, 12, 5),
    Domain(30, 30, 10),
    Domain(30, 60, 10),
    Domain(45, 30, 25),
    Domain(60, 60, 25),
    Domain(60, 60, 25, speed=0.06),
    Domain(90, 90, 40),
    Domain(40, 40, 15),
    Domain(40, 40, 15, magic=1 / 12),
    Domain(40, 40, 15, magic=0.01),
    Domain(30, 30, 10, cells=16),
    Domain(30, 30, 10, cells=20),
    Domain(30, 30, 10, shift=(0.5, 0.0)),
    Domain(30, 30, 10, shift=(0.0, 0.5)),
    Domain(30, 30, 10, shift=(0.5, 0.5)),
    Domain(40, 40, 15, cells=24),
)
"""Domains of the table: one thing changes from one to another."""

HEADS = (
    *("domain in diameters", "to the inlet", "cells of the diameter", "magic"),
    *("speed", "shift in cells", "Strouhal number", "drag"),
)


def run(study: Study) -> dict:
    """Compute the flow in each domain and print its coefficients."""
    domains = (Domain(8, 6, 3, cells=6),) if study.quick else DOMAINS
    paths = (1.0, 1.0) if study.quick else (SETTLE, RECORD)

    def solve() -> Iterator[tuple]:
        for d in domains:
            area = f"{d.length} x {d.width}"
            shift = f"{d.shift[0]:g}, {d.shift[1]:g}"
            yield area, *d[2:-1], shift, *solve_cylinder(d, paths, study.device)

    rows = study.table("Cylinder, Re 100", HEADS, solve())
    return {"lowest drag": min(row[-1] for row in rows)}


def solve_cylinder(
    domain: Domain, paths: tuple[float, float], device: Device
) -> tuple[float, float]:
    """Return the Strouhal number and the mean drag coefficient.

    The reference length is the diameter of a circle of the area of the solid cells, which a
    staircase sees. The frequency is the slope of the phase of the lift: pressure waves between
    inlet and outlet disturb it less than they do zero crossings.
    """
    from scipy.signal import hilbert

    every = max(1, round(0.05 * domain.cells / domain.speed))
    forces: list[np.ndarray] = []
    s = make_cylinder(domain, device)
    steps = [round(path * domain.cells / domain.speed) for path in paths]
    s.run(steps[0])
    s.run(steps[1], callbacks=[Every(every, lambda s: forces.append(s.force_on("cylinder")[:2]))])
    diameter = np.sqrt(4.0 / np.pi * np.sum(~s.fluid))
    drag, lift = 2.0 * np.array(forces).T / (domain.speed**2 * diameter)
    phase = np.unwrap(np.angle(hilbert(lift - lift.mean())))
    inner = slice(phase.size // 8, -phase.size // 8)  # the transform is inexact at its ends
    times = np.arange(phase.size) * every * domain.speed / diameter
    slope = np.polyfit(times[inner], phase[inner], 1)[0]
    return float(slope / (2.0 * np.pi)), float(drag.mean())


def make_cylinder(domain: Domain, device: Device) -> Simulation:
    """Build the flow at its start; a gust behind the cylinder breaks the symmetry."""
    d, speed = domain.cells, domain.speed
    nx, ny = domain.length * d, domain.width * d
    x, y, _ = geometry.centres((nx, ny, 1))
    x, y = x - domain.upstream * d - domain.shift[0], y - ny / 2 - domain.shift[1]
    solid = np.broadcast_to(x**2 + y**2 <= d**2 / 4, (nx, ny, 1))
    u = np.zeros((3, nx, ny, 1))
    u[0] = speed
    u[1] = 0.3 * speed * ((abs(x - 2 * d) < d) & (abs(y) < d))
    return Simulation(
        (nx, ny, 1),
        collision=TRT(0.5 + 3.0 * speed * d / REYNOLDS, domain.magic),
        boundaries={
            "x-": VelocityInlet((speed, 0.0, 0.0)),
            "x+": PressureOutlet(),
            "y": FreeSlip(),
            "cylinder": Solid(solid, NoSlip()),
        },
        u=u,
        device=device,
    )

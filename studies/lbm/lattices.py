"""Stability and spurious currents of D3Q27 beside those of D3Q19.

The flows of the first table are those of `lbm-stability`, at one speed: the lid-driven cavity, and
a sphere in a stream between an inlet and an outlet. Those of the second are straight ducts and
pipes, in which nothing should flow across the axis (Silva and Semiao 2014).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from hetero.devices import Device
from lbm import TRT, CentralMoments, Cylinder, NoSlip, RecursiveRegularized, Simulation, Solid
from lbm.boundaries import Condition
from lbm.collisions.operator import Collision
from lbm.lattices import LATTICES, Lattice
from studies.lbm.gallery_flows import VISCOUS_TIMES
from studies.lbm.stability import is_cavity_stable, is_sphere_stable, smallest_stable_offset
from studies.study import Study

MAGIC_NUMBERS = (0.25, 3 / 16, 1 / 12, 0.03, 0.01)
"""Magic numbers of TRT among which the package chooses."""

SPEED = 0.1
"""Speed of the lid or of the stream in cells/step."""

SECTIONS = "square", "round"
"""Cross-sections of straight ducts."""

CURRENTS = (
    *((section, n, TRT(0.6)) for section in SECTIONS for n in (16, 32)),
    ("square", 16, RecursiveRegularized(0.6)),
    ("square", 16, CentralMoments(0.6)),
)
"""Cross-section, cells across, and operator of the ducts in which currents are measured."""

AXIAL_SPEED = 0.096
"""Speed on the axis of a duct in cells/step (Mach number 0.166): currents grow with its square."""

HEADS = "flow", "magic", *(f"cell Reynolds number, {name}" for name in LATTICES), "ratio"


def run(study: Study) -> dict:
    """Search both flows for the smallest stable tau on each lattice, and measure currents."""
    flows = {"cavity": is_cavity_stable, "sphere": is_sphere_stable}
    magic_numbers: tuple[float, ...] = MAGIC_NUMBERS
    if study.quick:
        flows, magic_numbers = {"cavity": flows["cavity"]}, (0.25,)

    def search() -> Iterator[tuple]:
        for (flow, is_stable), magic in itertools.product(flows.items(), magic_numbers):
            limits = [
                3.0 * SPEED / smallest_stable_offset(is_stable, magic, SPEED, study, lattice)
                for lattice in LATTICES
            ]
            yield flow, round(magic, 4), *limits, limits[-1] / limits[0]

    rows = study.table("Largest stable cell Reynolds number", HEADS, search())
    heads = "section", "cells across", "operator", "axial Mach number", *LATTICES
    title = "Largest velocity across the axis of a straight duct, over that along it"
    ducts = CURRENTS[:1] if study.quick else CURRENTS
    study.table(title, heads, (measure_currents(*duct, study.device) for duct in ducts))
    return {"lowest ratio": min(row[-1] for row in rows)}


def measure_currents(section: str, n: int, operator: Collision, device: Device) -> tuple:
    """Return a row: section, cells, operator, Mach number, and the currents on each lattice."""
    currents = []
    for lattice in LATTICES.values():
        u = solve_duct(section, n, operator, lattice, device)
        axial = float(u[0].max())
        currents.append(float(np.hypot(u[1], u[2]).max()) / axial)
    return section, n, type(operator).__name__, axial * 3.0**0.5, *currents


def solve_duct(
    section: str, n: int, operator: Collision, lattice: Lattice, device: Device
) -> np.ndarray:
    """Return the steady velocity (3, 1, y, z) in a duct along x that a body force drives."""
    nu = (operator.tau - 0.5) / 3.0
    walls: dict[str, Condition | Solid] = {"y": NoSlip(), "z": NoSlip()}
    size, share = n, 0.07367  # of force n^2/nu on the axis of a square: White (2006, 3-3.3)
    if section == "round":
        size, share = n + 3, 1.0 / 16.0
        pipe = ~Cylinder((size / 2, size / 2), n / 2, axis="x")
        walls = {"pipe": Solid(pipe, wall="interpolated")}
    s = Simulation((1, size, size), collision=operator, lattice=lattice, boundaries=walls,
                   force=(AXIAL_SPEED * nu / (share * n**2), 0.0, 0.0), dtype="float64",
                   device=device)  # fmt: skip
    s.run(round(VISCOUS_TIMES * n**2 / nu))
    return np.where(s.fluid, s.u, 0.0)

"""Wall shear stress and fluxes by conduction at curved walls, beside exact solutions.

A pipe, a cylinder that rotates in one at rest, and conduction between cylinders and between
spheres, with staircases and with interpolated walls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hetero.devices import Device
from lbm import TRT, Cylinder, FixedValue, Scalar, Shape, Simulation, Solid, Sphere
from studies.lbm.bodies import VISCOSITY, WALLS, rotation_rate, run_rotating_cylinder
from studies.lbm.gallery_flows import VISCOUS_TIMES
from studies.study import Study

RADII = 6, 12, 24
"""Cells in the radius of a pipe, or of the cylinder that rotates."""

CYLINDERS, SPHERES = (4.0, 8.0, 16.0), (2.5, 3.75, 5.0)
"""Inner radii, in cells, of cylinders and of spheres between which heat is conducted."""

DIFFUSIVITY = 0.1
"""Diffusivity of heat in cells^2/step."""

HEADS = "wall", "kind", "cells in the radius", "root mean square", "largest"
"""Columns of the table of stresses."""


def run(study: Study) -> dict:
    """Measure all stresses and fluxes with both kinds of walls."""
    title = "Wall shear stress: errors in % of its largest exact value"
    rows = study.table(title, HEADS, measure_stresses(study))
    heads = "between", "radii", *WALLS
    study.table("Flux by conduction: excess in %", heads, measure_fluxes(study))
    return {"largest error of interpolated walls": max(r[-1] for r in rows if r[1] == WALLS[1])}


# ---- stress ----------------------------------------------------------------------------------


def measure_stresses(study: Study) -> Iterator[tuple]:
    """Measure the stress at each wall; yield rows (wall, kind, radius, both errors)."""
    for kind in WALLS:
        for n in RADII[: 1 if study.quick else None]:
            yield "pipe", kind, n, *pipe_errors(n, kind, study.device)
            s = run_rotating_cylinder(n, kind, study.device)
            for name, radius in (("inner", n), ("outer", 2 * n)):
                yield f"{name} cylinder", kind, n, *cylinder_errors(s, name, radius, n)


def pipe_errors(n: int, kind: str, device: Device) -> tuple[float, float]:
    """Return the errors at the wall of a pipe of radius n, through which a body force drives."""
    force, middle, size = 6.4 * VISCOSITY / n**3, n + 1.3, 2 * n + 3
    pipe = Solid(~Cylinder((middle, middle), n), wall=kind)
    s = Simulation((size, size, 1), collision=TRT(0.5 + 3.0 * VISCOSITY), dtype="float64",
                   boundaries={"pipe": pipe}, force=(0.0, 0.0, force), device=device)  # fmt: skip
    s.run(round(VISCOUS_TIMES * n**2 / VISCOSITY))
    return stress_errors(s.wall_shear("pipe").stress, np.array([0.0, 0.0, force * n / 2]))


def cylinder_errors(s: Simulation, name: str, radius: int, n: int) -> tuple[float, float]:
    """Return the errors at one of two cylinders; the inner one, of radius n, rotates (Couette)."""
    shear, middle = s.wall_shear(name), 2 * n + 2.3
    arm = shear.points - (middle, middle, 0.5)
    around = np.stack([-arm[:, 1], arm[:, 0], 0.0 * arm[:, 0]], axis=1) / radius
    size = VISCOSITY * rotation_rate(n) * 8.0 / 3.0 * n**2 / radius**2
    return stress_errors(shear.stress, (-size if name == "inner" else size) * around)


def stress_errors(stress: np.ndarray, exact: np.ndarray) -> tuple[float, float]:
    """Return the root mean square and the largest error in % of the largest exact stress."""
    size = np.linalg.norm(exact, axis=-1).max()
    errors = 100.0 * np.linalg.norm(stress - exact, axis=1) / size
    return float(np.sqrt((errors**2).mean())), float(errors.max())


# ---- conduction ------------------------------------------------------------------------------


def measure_fluxes(study: Study) -> Iterator[tuple]:
    """Measure the flux between surfaces; yield rows (surfaces, radii, excess in % by kind)."""
    for surfaces, radii, excess, ratio in (
        ("cylinders", CYLINDERS, cylinders_excess, 2),
        ("spheres", SPHERES, spheres_excess, 3),
    ):
        for n in radii[: 1 if study.quick else None]:
            values = (excess(n, kind, study.device) for kind in WALLS)
            yield surfaces, f"{n:g} and {ratio * n:g}", *values


def cylinders_excess(n: float, kind: str, device: Device) -> float:
    """Return the excess in % of the flux between cylinders of radii n and 2 n."""
    middle, edge = 2 * n + 2.3, int(4 * n + 5)

    def profile(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        r = np.clip(np.hypot(x - middle, y - middle), n, 2 * n) + 0.0 * z
        value: np.ndarray = 1.0 - np.log(r / n) / np.log(2.0)
        return value

    inner, outer = (Cylinder((middle, middle), radius) for radius in (n, 2 * n))
    scalar = heat(profile)
    flux = conduct((edge, edge, 1), inner, outer, kind, scalar, round(8 * n * n), device)
    return 100.0 * (flux / (2.0 * np.pi * DIFFUSIVITY / np.log(2.0)) - 1.0)


def spheres_excess(n: float, kind: str, device: Device) -> float:
    """Return the excess in % of the flux between spheres of radii n and 3 n."""
    middle, edge = 3 * n + 1.8, int(6 * n + 4)

    def profile(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        square = (x - middle) ** 2 + (y - middle) ** 2 + (z - middle) ** 2
        value: np.ndarray = 1.5 * n * (1.0 / np.clip(np.sqrt(square), n, 3 * n) - 1.0 / (3 * n))
        return value

    inner, outer = (Sphere((middle,) * 3, radius) for radius in (n, 3 * n))
    scalar = heat(profile)
    flux = conduct((edge,) * 3, inner, outer, kind, scalar, round(20 * n * n), device)
    return 100.0 * (flux / (6.0 * np.pi * DIFFUSIVITY * n) - 1.0)


def heat(start: Callable[..., np.ndarray]) -> Scalar:
    """Return a scalar that is 1 at the inner surface and 0 at the outer one."""
    return Scalar(DIFFUSIVITY, {"inner": FixedValue(1.0), "outer": FixedValue(0.0)}, start=start)


def conduct(
    shape: tuple[int, int, int],
    inner: Shape,
    outer: Shape,
    kind: str,
    scalar: Scalar,
    steps: int,
    device: Device,
) -> float:
    """Return the steady flux from the inner to the outer surface through a fluid at rest."""
    walls = {"inner": Solid(inner, wall=kind), "outer": Solid(~outer, wall=kind)}
    s = Simulation(shape, boundaries=walls, scalars={"heat": scalar}, dtype="float64",
                   device=device).run(steps)  # fmt: skip
    return float(s.scalars["heat"].flux("inner"))

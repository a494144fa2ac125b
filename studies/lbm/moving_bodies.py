"""Bodies that move through cells, beside bodies at rest, exact solutions and measurements.

A sphere that is carried through a periodic box beside one at rest in the stream that is the same to
an observer on the sphere; an oscillating cylinder (Duetsch et al. 1998, KC = 5, Re = 100: drag 2.09
and added mass 1.45); Couette flow between two cylinders given as moving solids; and a bar that
turns, and a propeller, with their torques for two grids. On a GPU the rate around a mesh of 1e5
triangles that turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hetero.devices import Device
from hetero.measurement.benchmarking import benchmark
from lbm import (
    TRT,
    Box,
    CentralMoments,
    Cylinder,
    FixedValue,
    NoSlip,
    Rotation,
    Scalar,
    Simulation,
    Solid,
    Sphere,
    Translation,
    TriangleMesh,
)
from lbm.callbacks import Every
from studies.lbm.tunnel_bodies import box, join
from studies.study import Study

SPEED = 0.05
"""Speed of bodies, or their largest one, in cells/step."""

DUETSCH = 2.09, 1.45
"""Drag and added-mass coefficients that Duetsch et al. (1998) computed for KC = 5 and Re = 100."""


def operator(speed: float, length: float, reynolds: float) -> CentralMoments:
    """Return the operator for a Reynolds number: TRT lets what bodies stir up ring at low ones."""
    return CentralMoments(0.5 + 3.0 * speed * length / reynolds)


def record(s: Simulation, steps: int, read: Callable[[Simulation], object]) -> np.ndarray:
    """Return what `read` returns after each of `steps` steps."""
    rows: list[object] = []
    s.run(steps, callbacks=[Every(1, lambda s: rows.append(read(s)))])
    return np.array(rows)


class Drags(NamedTuple):
    """Drag coefficients of a sphere over the steps of a window, moving and at rest."""

    moving: np.ndarray
    at_rest: np.ndarray

    @property
    def difference(self) -> float:
        """Relative difference of the means."""
        return float(self.moving.mean() / self.at_rest.mean() - 1.0)

    @property
    def ripple(self) -> float:
        """Standard deviation of the difference from step to step, over the mean."""
        difference = self.moving - self.at_rest
        return float(difference.std() / self.at_rest.mean())


def carry_sphere(
    diameter: int, device: Device, *, wall: str = "interpolated", passages: float = 5.0
) -> Drags:
    """Return the drags of a sphere at Re 100 over the last passage of its diameter.

    In a periodic box a sphere that is carried through fluid at rest, and one at rest in fluid that
    a body force has driven against it, are the same flow, with the wake that comes again. Both
    grow over two fifths of the time: the waves of a sudden start would stay in the box.
    """
    shape = (4 * diameter, 3 * diameter, 3 * diameter)
    steps, window = round(passages * diameter / SPEED), round(diameter / SPEED)
    ramp = 0.4 * steps

    def path(t: float) -> tuple[float, float, float]:
        grown = min(t, ramp)
        begin = 0.5 * grown - ramp / (2.0 * np.pi) * np.sin(np.pi * grown / ramp)
        return SPEED * (begin + max(t - ramp, 0.0)), 0.0, 0.0

    def force(t: float) -> tuple[float, float, float]:
        begins = t + 0.5 < ramp
        growth = np.pi / (2.0 * ramp) * np.sin(np.pi * (t + 0.5) / ramp) if begins else 0.0
        return -SPEED * growth, 0.0, 0.0

    drags = []
    for moves in (True, False):
        centre = tuple(n / 2 + 0.2 for n in shape)
        motion = Translation(path) if moves else None
        s = Simulation(
            shape, collision=operator(SPEED, diameter, 100.0), device=device,
            boundaries={"ball": Solid(Sphere(centre, diameter / 2), wall=wall, motion=motion)},
            force=(0.0, 0.0, 0.0) if moves else force,
        )  # fmt: skip
        s.run(steps - window)
        drag = record(s, window, lambda s: s.force_on("ball")[0])
        drags.append(-8.0 * drag / (np.pi * SPEED**2 * diameter**2))
    return Drags(*drags)


def oscillate_cylinder(
    diameter: int, device: Device, *, periods: int = 3, size: tuple[int, int] = (24, 16)
) -> tuple[float, float]:
    """Return the drag and added-mass coefficients of a cylinder that oscillates in fluid at rest.

    They are fitted to the last period, F = -D/2 c_d u |u| - pi D^2/4 c_i du/dt.
    """
    shape = (size[0] * diameter, size[1] * diameter, 1)
    period, amplitude = 5.0 * diameter / SPEED, 5.0 * diameter / (2.0 * np.pi)
    turn = 2.0 * np.pi / period
    body = Solid(
        Cylinder((shape[0] / 2, shape[1] / 2), diameter / 2), wall="interpolated",
        motion=Translation(lambda t: (-amplitude * np.sin(turn * t), 0.0, 0.0)),
    )  # fmt: skip
    s = Simulation(
        shape, collision=operator(SPEED, diameter, 100.0), boundaries={"body": body}, device=device
    )
    steps = round(period)
    s.run((periods - 1) * steps)
    force = record(s, steps, lambda s: s.force_on("body")[0])
    t = turn * ((periods - 1) * steps + np.arange(steps) + 0.5)
    u, acceleration = -SPEED * np.cos(t), SPEED * turn * np.sin(t)
    terms = np.column_stack(
        [-diameter / 2 * u * np.abs(u), -np.pi / 4 * diameter**2 * acceleration]
    )
    drag, mass = np.linalg.lstsq(terms, force, rcond=None)[0]
    return float(drag), float(mass)


class AnnulusErrors(NamedTuple):
    """Relative errors between turning cylinders: of velocity and temperature in the 2-norm, and of
    the heat flux from the inner one."""

    velocity: float
    temperature: float
    flux: float


def turn_cylinders(cells: int, device: Device) -> AnnulusErrors:
    """Return the errors of flow and conduction between cylinders that turn, a hot and a cold one.

    `cells` are those in the diameter of the outer one; the inner one has 0.4 of it, and turns the
    other way. Both move as solids.
    """
    n, outer, inner, diffusivity = cells + 4, cells / 2, 0.2 * cells, 0.1
    centre, rates = (n / 2 + 0.13, n / 2 - 0.21), (0.02 / inner, -0.01 / outer)
    about = (*centre, 0.0)
    boundaries = {
        name: Solid(shape, wall="interpolated", motion=Rotation(about, (0, 0, 1), rate))
        for name, shape, rate in (
            ("inner", Cylinder(centre, inner), rates[0]),
            ("outer", ~Cylinder(centre, outer), rates[1]),
        )
    }
    walls = {"inner": FixedValue(1.0), "outer": FixedValue(0.0)}
    s = Simulation(
        (n, n, 1), collision=TRT(0.8), boundaries=boundaries, dtype="float64", device=device,
        scalars={"heat": Scalar(diffusivity, walls, start=0.5)},
    )  # fmt: skip
    s.run(round(1.2 * (outer - inner) ** 2 / 0.1) + 100)
    b = (rates[0] - rates[1]) / (inner**-2 - outer**-2)
    a = rates[0] - b / inner**2
    x, y = np.meshgrid(*(np.arange(n) + 0.5 - c for c in centre), indexing="ij")
    spin, fluid = a + b / np.maximum(x**2 + y**2, 1.0), s.fluid[..., 0]
    conduction = np.log(outer / np.maximum(np.hypot(x, y), 1.0)) / np.log(outer / inner)

    def error(values: np.ndarray, exact: np.ndarray) -> float:
        values, exact = values[..., fluid], exact[..., fluid]
        return float(np.linalg.norm(values - exact) / np.linalg.norm(exact))

    heat = s.scalars["heat"]
    flux = heat.flux("inner") * np.log(outer / inner) / (2.0 * np.pi * diffusivity)
    return AnnulusErrors(
        error(s.u[:2, ..., 0], np.stack([-spin * y, spin * x])),
        error(heat.values[..., 0], conduction),
        float(flux - 1.0),
    )


def turn_bar(length: int, device: Device, *, turns: float = 0.75) -> tuple[float, float]:
    """Return the mean torque coefficient of a bar that turns in a closed box, and its ripple.

    The bar is `length` cells long and a fifth as wide; its tips have the speed SPEED and Re 100.
    The torque is taken over the last quarter of a turn, over SPEED^2 length^2 / 4.
    """
    n = 2 * length
    middle, half = np.array([n / 2, n / 2, 0.5]), np.array([length / 2, length / 10, 9.0])
    rate = 2.0 * SPEED / length
    bar = Solid(
        Box(middle - half, middle + half), wall="interpolated",
        motion=Rotation(middle.tolist(), (0, 0, 1), rate),
    )  # fmt: skip
    s = Simulation(
        (n, n, 1), collision=operator(SPEED, length, 100.0), device=device,
        boundaries={"x": NoSlip(), "y": NoSlip(), "bar": bar},
    )  # fmt: skip
    quarter = round(np.pi / 2 / rate)
    s.run(round(2 * np.pi * turns / rate) - quarter)
    torque = record(s, quarter, lambda s: s.torque_on("bar", middle.tolist())[2])
    coefficient = -4.0 * torque / (SPEED**2 * length**2)
    smooth = np.convolve(coefficient, np.ones(20) / 20, "valid")
    ripple = (coefficient[10 : 10 + len(smooth)] - smooth).std() / coefficient.mean()
    return float(coefficient.mean()), float(ripple)


def make_ellipsoid(
    centre: float, half_axes: tuple[float, float, float], rings: int
) -> TriangleMesh:
    """Return an ellipsoid of about 4 rings^2 triangles around (centre, centre, centre)."""
    polar = np.pi * np.arange(rings + 1) / rings
    around = np.pi * np.arange(2 * rings) / rings
    unit = np.stack(
        [np.outer(np.sin(polar), np.cos(around)), np.outer(np.sin(polar), np.sin(around)),
         np.outer(np.cos(polar), np.ones(2 * rings))], axis=-1,
    )  # fmt: skip
    k, j = np.divmod(np.arange(rings * 2 * rings), 2 * rings)
    a, b = k * 2 * rings + j, k * 2 * rings + (j + 1) % (2 * rings)
    low, high = np.stack([a, a + 2 * rings, b], 1), np.stack([b, a + 2 * rings, b + 2 * rings], 1)
    faces = np.vstack([low[k > 0], high[k < rings - 1]])
    return TriangleMesh(centre + unit.reshape(-1, 3) * half_axes, faces)


def measure_rate(n: int, rings: int, device: Device, *, moves: bool) -> float:
    """Return the rate in GLUPS of n^3 cells around an ellipsoid that turns or is at rest."""
    middle = n / 2 + 0.1
    mesh = make_ellipsoid(middle, (0.3 * n, 0.15 * n, 0.1 * n), rings)
    motion = Rotation((middle,) * 3, (0, 0, 1), SPEED / (0.3 * n)) if moves else None
    body = Solid(mesh, wall="interpolated", motion=motion)
    s = Simulation(
        (n, n, n), collision=CentralMoments(0.55), boundaries={"body": body}, device=device, check=0
    )
    s.run(20)
    timing = benchmark(lambda: s.run(50), device=device, repeats=5)
    return float(n**3 * 50 / timing.median / 1e9)


def make_propeller(diameter: float, centre: Sequence[float]) -> TriangleMesh:
    """Return a propeller of four flat blades, which are pitched by 35 degrees, about the axis z.

    The blades are a fifth of the diameter wide and a twelfth thick, and meet in a hub.
    """
    hub, pitch = box((-0.12, -0.12, -0.12), (0.12, 0.12, 0.12)), np.radians(35.0)
    blade = box((0.05, -0.1, -1 / 24), (0.5, 0.1, 1 / 24)).vertices
    y, z = blade[:, 1].copy(), blade[:, 2].copy()
    blade[:, 1], blade[:, 2] = (
        np.cos(pitch) * y - np.sin(pitch) * z, np.sin(pitch) * y + np.cos(pitch) * z
    )  # fmt: skip
    faces, parts = box((0, 0, 0), (1, 1, 1)).faces, [hub]
    for _ in range(4):
        parts.append(TriangleMesh(blade, faces))
        blade = np.stack([-blade[:, 1], blade[:, 0], blade[:, 2]], axis=1)
    whole = join(*parts)
    return TriangleMesh(whole.vertices * diameter + np.array(centre), whole.faces)


def turn_propeller(
    diameter: int, device: Device, *, turns: float = 0.75, reynolds: float = 200.0
) -> tuple[float, float]:
    """Return the mean coefficients of torque and thrust of a propeller in a closed box.

    Its tips have the speed SPEED, with which and the diameter the Reynolds number is made. Means
    are taken over the last quarter of a turn, over SPEED^2 and diameter^3 or diameter^2. It starts
    within an eighth of a turn, so that the waves of the start are weak.
    """
    shape = 2 * diameter, 2 * diameter, round(1.25 * diameter)
    middle = [n / 2 for n in shape]
    rate = 2.0 * SPEED / diameter
    ramp = 0.25 * np.pi / rate

    def angle(t: float) -> float:
        begun = min(t, ramp)
        return rate * (0.5 * begun - ramp / (2 * np.pi) * np.sin(np.pi * begun / ramp)
                       + max(t - ramp, 0.0))  # fmt: skip

    propeller = Solid(
        make_propeller(diameter, middle), wall="interpolated",
        motion=Rotation(middle, (0, 0, 1), angle=angle),
    )  # fmt: skip
    s = Simulation(
        shape, collision=operator(SPEED, diameter, reynolds), device=device,
        boundaries={"x": NoSlip(), "y": NoSlip(), "z": NoSlip(), "propeller": propeller},
    )  # fmt: skip
    quarter = round(np.pi / 2 / rate)
    s.run(round(2 * np.pi * turns / rate) - quarter)
    both = record(
        s, quarter, lambda s: (s.torque_on("propeller", middle)[2], s.force_on("propeller")[2])
    )
    torque, thrust = both.mean(axis=0) / SPEED**2 / np.array([diameter**3, diameter**2])
    return float(-torque), float(thrust)


def run(study: Study) -> dict:
    """Compute the flows and print their figures."""
    quick, device = study.quick, study.device
    large = (32,) * (device.kind == "cuda")  # twenty minutes each on two cores
    result: dict = {}
    n, rings = (32, 12) if quick or device.kind == "cpu" else (256, 159)
    rates = [measure_rate(n, rings, device, moves=moves) for moves in (False, True)]
    rates.append(rates[1] / rates[0])
    result["rate"] = rates
    names = ("cells", "triangles", "at rest, GLUPS", "turning, GLUPS", "share")
    study.table("An ellipsoid as a mesh", names, [(n, 4 * rings * (rings - 1), *rates)])
    rows: list[tuple] = []
    for diameter in (6,) if quick else (12, 16, *large):
        for wall in ("halfway", "interpolated"):
            drags = carry_sphere(diameter, device, wall=wall, passages=1.0 if quick else 4.0)
            four = drags.moving.mean(), drags.at_rest.mean(), drags.difference, drags.ripple
            result[f"sphere {diameter} {wall}"] = list(map(float, four))
            rows.append((diameter, wall, *four))
    heads = ("cells", "wall", "drag, moving", "drag, at rest", "difference", "ripple")
    study.table("A sphere carried through cells at Re 100", heads, rows)
    rows = []
    for diameter in (6,) if quick else (8, 16, 24, 32):
        figures = oscillate_cylinder(
            diameter, device, periods=1 if quick else 3, size=(4, 4) if quick else (24, 16)
        )
        rows.append(
            (diameter, *figures, *(a / b - 1.0 for a, b in zip(figures, DUETSCH, strict=True)))
        )
        result[f"cylinder {diameter}"] = list(figures)
    columns = ("cells", "drag", "added mass", "drag, error", "added mass, error")
    study.table("An oscillating cylinder, KC = 5, Re = 100", columns, rows)
    rows, before = [], None
    for cells in (12, 16) if quick else (16, 32, 64):
        errors = turn_cylinders(cells, device)
        order = None
        if before is not None:
            order = np.log(before[1] / errors.velocity) / np.log(cells / before[0])
        before = cells, errors.velocity
        rows.append((cells, *errors, order))
        result[f"couette {cells}"] = list(errors)
    names = ("cells", "velocity", "temperature", "heat flux", "order of the velocity")
    study.table("Errors of Couette flow and conduction between turning cylinders", names, rows)
    rows = []
    for length in (10,) if quick else (40, 80):
        figures = turn_bar(length, device, turns=0.3 if quick else 0.75)
        rows.append((length, *figures))
        result[f"bar {length}"] = list(figures)
    study.table("A turning bar, tip Re 100", ("cells", "torque coefficient", "ripple"), rows)
    rows = []
    for diameter in (12,) if quick else (24, 48, *(96,) * (device.kind == "cuda")):
        figures = turn_propeller(diameter, device, turns=0.3 if quick else 0.75)
        rows.append((diameter, *figures))
        result[f"propeller {diameter}"] = list(figures)
    study.table("A propeller of four blades, Re 200", ("cells", "torque", "thrust"), rows)
    return result

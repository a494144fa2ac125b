"""Flows with known answers: the cavity, the sphere, wind over terrain, decaying vortices.

`cavity`, `sphere`, `terrain` and `vortices` build a `Simulation`; `solve_cavity` and
`solve_sphere` run it and return a result. The examples, the command line and the benchmarks all
use these. In all of them `collision` is the name of an operator (`lbm.collisions.OPERATORS`), the
class of another one, an operator whose tau is that of the flow, or "auto" (the wind tunnel's).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from hetero.validation import check_in_range, check_integer, check_positive
from lbm import geometry
from lbm._performance.cavity import make_walls
from lbm.boundaries import Condition, FreeSlip, NoSlip, PressureOutlet, Solid, VelocityInlet
from lbm.callbacks import SteadyState
from lbm.collisions import DEFAULT, CollisionChoice, make_collision
from lbm.collisions.operator import LARGEST_TAU
from lbm.flows import settings
from lbm.flows.centre_line import read_centre_line
from lbm.flows.results import CAVITY_RE1000 as CAVITY_RE1000
from lbm.flows.results import CavityResult as CavityResult
from lbm.flows.results import SphereResult as SphereResult
from lbm.flows.results import TerrainFlow as TerrainFlow
from lbm.flows.results import VortexFlow as VortexFlow
from lbm.geometry.shapes import Sphere
from lbm.simulation import Simulation


def lid_driven_box(
    shape: tuple[int, int, int],
    *,
    speed: float = 0.1,
    tau: float = 0.6152,
    collision: CollisionChoice = DEFAULT,
    **options: Unpack[settings.Options],
) -> Simulation:
    """Build a lid-driven cavity of any shape, whose lid is at +y: the flow of scaling studies.

    The relaxation time is that of Riesinger (2017, chapter 16). `options` are those of
    `Simulation`.
    """
    operator = make_collision(collision, tau)
    return Simulation(shape, collision=operator, boundaries=make_walls(speed), **options)


def cavity(
    n: int,
    *,
    reynolds: float = 1000.0,
    speed: float = 0.1,
    collision: CollisionChoice = DEFAULT,
    magic: float | None = None,
    **options: Unpack[settings.Options],
) -> Simulation:
    """Build the cubic cavity of n^3 cells with its lid at +y, which moves along +x.

    `magic` is the magic parameter of TRT, by default the most accurate one that is stable: 1/12 up
    to a Reynolds number of 20.1 `n`, then 3/16 and 1/4. `options` are those of `Simulation`. Too
    few cells for the Reynolds number give a warning that says how many are enough.
    """
    n = check_integer("n", n, 4, settings.MAX_EDGE)  # fewer cells hold no vortex
    speed = settings.check_speed(speed)
    reynolds = check_positive("reynolds", reynolds)
    tau = settings.relaxation_time(speed, n, reynolds, "n")
    operator = settings.suit_collision(collision, tau, reynolds / n, magic, kind="walls")
    if magic is None:
        settings.warn_if_unstable(operator, reynolds, n, "n", options.get("comm"), kind="walls")
    return Simulation((n, n, n), collision=operator, boundaries=make_walls(speed), **options)


def solve_cavity(
    n: int,
    *,
    reynolds: float = 1000.0,
    turns: float = 60.0,
    tolerance: float = 1e-5,
    speed: float = 0.1,
    collision: CollisionChoice = DEFAULT,
    restart: str | Path | None = None,
    callbacks: Iterable[Callable[[Simulation], object]] = (),
    progress: bool = False,
    **options: Unpack[settings.Options],
) -> CavityResult:
    """Run the cavity to its steady state.

    The run ends when the velocity changes by less than `tolerance` while the lid moves by an edge,
    or when the lid has moved by `turns` edges.

    Parameters
    ----------
    n : number of cells along the edge
    reynolds : speed times edge over viscosity; at 1000 the profile is compared with the literature
    restart : checkpoint from which the run continues; its steps count
    callbacks : further callbacks of the run
    options : those of `Simulation`
    """
    from scipy.interpolate import CubicSpline

    turns = check_in_range("turns", turns, 0.0, settings.MAX_TURNS)
    s = cavity(n, reynolds=reynolds, speed=speed, collision=collision, **options)
    stop = SteadyState(tolerance, max(1, round(n / speed)))
    steps = _steps_left(s, restart, round(turns * n / speed), "turns")
    s.run(steps, callbacks=[stop, *callbacks], progress=progress)
    profile = read_centre_line(s) / speed
    height = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    u = np.concatenate([[0.0], profile, [1.0]])
    interpolated = CubicSpline(height, u)(CAVITY_RE1000[:, 0])
    is_published = reynolds == 1000.0
    error = float(np.abs(interpolated - CAVITY_RE1000[:, 1]).max()) if is_published else np.nan
    return CavityResult(s, height, u, error, float(u.min()), stop.change, reynolds, stop.reached)


def _steps_left(s: Simulation, restart: str | Path | None, end: int, argument: str) -> int:
    """Restore a checkpoint, if there is one, and return the number of steps that remain."""
    if restart is None:
        return end
    s.restore(restart)
    if s.steps >= end:
        raise ValueError(
            f"the checkpoint {restart} has {s.steps} steps, and the run ends after {end}: "
            f"increase {argument}"
        )
    return end - s.steps


def sphere(
    diameter: int,
    *,
    reynolds: float,
    speed: float = 0.06,
    width: float = 14.0,
    length: float = 18.0,
    collision: CollisionChoice = DEFAULT,
    magic: float | None = None,
    wall: str = "halfway",
    **options: Unpack[settings.Options],
) -> Simulation:
    """Build a sphere in a stream along x, between free-slip sides; width and length in diameters.

    `magic` is the magic parameter of TRT, by default the largest that is stable at this Reynolds
    number, because it is the most accurate one for bodies. The smaller ones, which coarse grids
    need, enlarge the sphere: at Re = 20 with 6 cells, the drag with 0.01 is 13 % larger than with
    1/4. `wall` is that of `lbm.Solid`, "halfway" or "interpolated"; `options` are those of
    `Simulation`.
    """
    diameter = check_integer("diameter", diameter, 2, settings.MAX_EDGE)
    speed = settings.check_speed(speed)
    reynolds = check_positive("reynolds", reynolds)
    length = check_in_range("length", length, 1.0, settings.MAX_EDGE)
    width = check_in_range("width", width, 1.0, settings.MAX_EDGE)
    tau = settings.relaxation_time(speed, diameter, reynolds, "diameter")
    nx, ny = (2 * round(k * diameter / 2) for k in (length, width))
    shape = nx, ny, ny
    settings.require_memory_for(shape, options, collision, solids=True)
    centre_and_radius = (0.35 * nx, ny / 2, ny / 2), diameter / 2
    ball: Any = Sphere(*centre_and_radius)
    if wall == "halfway":
        ball = geometry.sphere(shape, *centre_and_radius)
    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((speed, 0.0, 0.0)),
        "x+": PressureOutlet(1.0),
        "y": FreeSlip(),
        "z": FreeSlip(),
        "sphere": Solid(ball, wall=wall),
    }
    operator = settings.suit_collision(collision, tau, reynolds / diameter, magic, kind="open")
    if magic is None:
        comm = options.get("comm")
        settings.warn_if_unstable(operator, reynolds, diameter, "diameter", comm, kind="open")
    return Simulation(
        shape, collision=operator, boundaries=walls, u=(speed, 0.0, 0.0), **options
    )  # fmt: skip


def solve_sphere(
    diameter: int,
    *,
    reynolds: float,
    speed: float = 0.06,
    tolerance: float = 3e-4,
    longest: float = 60.0,
    collision: CollisionChoice = DEFAULT,
    wall: str = "halfway",
    restart: str | Path | None = None,
    callbacks: Iterable[Callable[[Simulation], object]] = (),
    progress: bool = False,
    **options: Unpack[settings.SphereOptions],
) -> SphereResult:
    """Run until the drag is steady: until three diameters change it by less than `tolerance`.

    Times are given as paths of the stream, in diameters; `longest` is the longest run. The drag
    falls slowly to its steady value: at Re = 20 the remaining error is a few times the last change.
    `restart` and `callbacks` are those of `solve_cavity`, `options` those of `sphere`.
    """
    longest = check_in_range("longest", longest, 0.0, settings.MAX_TURNS)
    tolerance = check_in_range("tolerance", tolerance, 0.0, 1.0)
    s = sphere(diameter, reynolds=reynolds, speed=speed, collision=collision, wall=wall, **options)
    steps = max(2, 2 * round(1.5 * diameter / speed))
    end, callbacks = round(longest / 3) * steps, list(callbacks)
    _steps_left(s, restart, end, "longest")
    equivalent_diameter = float(diameter)
    if wall == "halfway":  # the drag is that of the cells
        cells = s.solids["sphere"].mask(s.shape).sum()
        equivalent_diameter = float(np.cbrt(6.0 / np.pi * cells))
    previous, force, steady = np.inf, np.zeros(3), False
    while s.steps < end:
        s.run(min(steps, end - s.steps), callbacks=callbacks, progress=progress)
        force = s.force_on("sphere")
        steady = bool(abs(force[0] - previous) < tolerance * abs(force[0]))
        if steady:
            break
        previous = force[0]
    drag = float(8.0 * force[0] / (speed**2 * np.pi * equivalent_diameter**2))
    re = reynolds * equivalent_diameter / diameter
    correlation = 24.0 / re * (1.0 + 0.15 * re**0.687)
    return SphereResult(s, equivalent_diameter, drag, correlation, force, steady)


def terrain(
    height: int = 48,
    *,
    stride: int = 4,
    speed: float = 0.05,
    tau: float = 0.55,
    collision: CollisionChoice = DEFAULT,
    **options: Unpack[settings.Options],
) -> TerrainFlow:
    """Build wind along +x over mountains at the Jacksboro fault, Tennessee (data of matplotlib).

    Heights are exaggerated so that the relief fills a third of the domain's `height` (cells, at
    least 4). Of the 344 x 403 points of the data, one in `stride` (1 to 100) is taken each way.
    """
    from matplotlib.cbook import get_sample_data

    height = check_integer("height", height, 4, settings.MAX_EDGE)
    stride = check_integer("stride", stride, 1, settings.MAX_STRIDE)
    tau = check_in_range("tau", tau, 0.5, LARGEST_TAU, closed="right")
    speed = settings.check_speed(speed)
    file: Any = get_sample_data("jacksboro_fault_dem.npz")
    with file as data:
        elevation = np.asarray(data["elevation"], np.float64)[::stride, ::stride].T
    nx, nz = (2 * (n // 2) for n in elevation.shape)
    elevation = elevation[:nx, :nz]
    scaled = (elevation - elevation.min()) / np.ptp(elevation)
    # Flatten the terrain towards its edges, so that inlet, outlet and sides are plane.
    rim = np.minimum.outer(*(np.minimum(np.arange(n), np.arange(n)[::-1]) for n in (nx, nz)))
    surface = 1.0 + height / 3 * scaled * np.clip(rim / 8.0, 0.0, 1.0)
    shape = nx, height, nz
    settings.require_memory_for(shape, options, collision, solids=True)
    ground = geometry.heights(shape, surface)
    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((speed, 0.0, 0.0)),
        "x+": PressureOutlet(1.0),
        "y-": NoSlip(),
        "y+": FreeSlip(),
        "z": FreeSlip(),
        "ground": Solid(ground),
    }
    operator = settings.suit_collision(collision, tau, 3.0 * speed / (tau - 0.5), kind="open")
    s = Simulation(
        shape, collision=operator, boundaries=walls, u=(speed, 0.0, 0.0), **options
    )  # fmt: skip
    return TerrainFlow(s, surface)


def vortices(
    n: int,
    *,
    speed: float = 0.05,
    tau: float = 0.7,
    nz: int = 2,
    collision: CollisionChoice = DEFAULT,
    **options: Unpack[settings.Options],
) -> VortexFlow:
    """Build Taylor-Green vortices in n x n x nz cells; n is at least 4.

    With 1 or 2 cells across a period the velocity is zero at all centres; with 3 the vortices decay
    within a few steps.
    """
    n = check_integer("n", n, 4, settings.MAX_EDGE)
    nz = check_integer("nz", nz, 1, settings.MAX_EDGE)
    speed = settings.check_speed(speed)
    settings.require_memory_for((n, n, nz), options, collision)
    k, rate = 2.0 * np.pi / n, (tau - 0.5) / 3.0 * 2.0 * (2.0 * np.pi / n) ** 2

    def u(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
        along = speed * np.cos(k * x) * np.sin(k * y), -speed * np.sin(k * x) * np.cos(k * y)
        return *(c + np.zeros(z.shape) for c in along), np.zeros((1, 1, 1))

    def rho(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        density = 1.0 - 0.75 * speed**2 * (np.cos(2 * k * x) + np.cos(2 * k * y))
        return density + np.zeros(z.shape)

    s = Simulation((n, n, nz), collision=make_collision(collision, tau), rho=rho, u=u, **options)

    def exact(steps: int) -> np.ndarray:
        components = (np.broadcast_to(c, s.region.shape) for c in u(*s.region.centres))
        return np.exp(-rate * steps) * np.stack(list(components))

    return VortexFlow(s, exact)

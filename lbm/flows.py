"""Flows with known answers: the cavity, the sphere, wind over terrain, decaying vortices.

`cavity`, `sphere`, `terrain` and `vortices` build a `Simulation`; `solve_cavity` and
`solve_sphere` run it and return a result. The examples, the command line and the benchmarks all
use these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import DTypeLike

from hetero.notebook import html_table
from lbm import geometry
from lbm._domain.memory_forecast import require_memory
from lbm._domain.placement import DeviceArgument
from lbm._model.precision import accepts_precision
from lbm._model.stability_map import choose_magic
from lbm.boundaries import (
    Condition,
    FreeSlip,
    MovingWall,
    NoSlip,
    PressureOutlet,
    Solid,
    VelocityInlet,
)
from lbm.callbacks import SteadyState
from lbm.collisions.trt import TRT
from lbm.decomposition import Decomposition
from lbm.simulation import Simulation

if TYPE_CHECKING:
    from typing import Unpack


class Options(TypedDict, total=False):
    """Arguments that all flows pass on to their `Simulation`."""

    pattern: str
    dtype: DTypeLike
    storage: DTypeLike | None
    ratio: float | str
    check: int
    keep_good_state: bool
    comm: Any
    decomposition: str | Sequence[int] | Decomposition
    device: DeviceArgument


CAVITY_RE1000 = np.array(
    [
        *((0.0, 0.0), (0.0547, -0.20623), (0.0625, -0.22283), (0.0703, -0.23696)),
        *((0.1016, -0.27293), (0.1719, -0.2516), (0.2813, -0.10999), (0.4531, -0.00612)),
        *((0.5, 0.00802), (0.6172, 0.03905), (0.7344, 0.07334), (0.8516, 0.12183)),
        *((0.9531, 0.33171), (0.9609, 0.39821), (0.9688, 0.48443), (0.9766, 0.58964), (1.0, 1.0)),
    ]
)
"""(height, u / U) on the centre line of the cubic cavity at Re = 1000: Albensoeder and Kuhlmann,
J. Comput. Phys. 206 (2005) 536, table 5."""


@dataclass(frozen=True, eq=False)
class CavityResult:
    """Centre-line profile of a cavity.

    Attributes
    ----------
    simulation : the flow in its last state
    height, u : profile in units of the edge and of the lid's speed, walls included
    error : largest difference from `CAVITY_RE1000`
    lowest : smallest u of the profile
    change : relative change of the velocity between the last comparisons
    """

    simulation: Simulation
    height: np.ndarray
    u: np.ndarray
    error: float
    lowest: float
    change: float

    def __repr__(self) -> str:
        return (
            f"CavityResult(error={self.error:.3g}, lowest={self.lowest:.4g}, "
            f"change={self.change:.2g}, simulation={self.simulation})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("largest difference from Albensoeder and Kuhlmann (2005)", self.error),
            ("lowest u / U on the centre line", self.lowest),
            ("last relative change of the velocity", self.change),
            ("simulation", self.simulation),
        ]
        return html_table("Lid-driven cavity at Re = 1000", rows)


def lid_driven_box(
    shape: tuple[int, int, int],
    *,
    speed: float = 0.1,
    tau: float = 0.6152,
    **options: Unpack[Options],
) -> Simulation:
    """Build a lid-driven cavity of any shape, whose lid is at +y: the flow of scaling studies.

    The relaxation time is that of Riesinger (2017, chapter 16). `options` are those of
    `Simulation`.
    """
    return Simulation(shape, collision=TRT(tau), boundaries=_lid_walls(speed), **options)


def _lid_walls(speed: float) -> dict[str, Condition | Solid]:
    """Return the walls of a cavity with its lid at +y, which moves along +x."""
    return {
        "x": NoSlip(),
        "z": NoSlip(),
        "y-": NoSlip(),
        "y+": MovingWall((speed, 0.0, 0.0)),
    }


@accepts_precision
def cavity(
    n: int,
    *,
    reynolds: float = 1000.0,
    speed: float = 0.1,
    magic: float | None = None,
    **options: Unpack[Options],
) -> Simulation:
    """Build the cubic cavity of n^3 cells with its lid at +y, which moves along +x.

    `magic` is the magic number of TRT, by default that of `stability_map.choose_magic` for this
    Reynolds number. `options` are those of `Simulation`.
    """
    tau = 0.5 + 3.0 * speed * n / reynolds
    magic = choose_magic(reynolds / n, has_open_ends=False) if magic is None else magic
    return Simulation((n, n, n), collision=TRT(tau, magic), boundaries=_lid_walls(speed), **options)


@accepts_precision
def solve_cavity(
    n: int,
    *,
    turns: float = 60.0,
    tolerance: float = 1e-5,
    speed: float = 0.1,
    progress: bool = False,
    **options: Unpack[Options],
) -> CavityResult:
    """Run the cavity at Re = 1000 to its steady state.

    The run ends when the velocity changes by less than `tolerance` while the lid moves by an edge,
    or when the lid has moved by `turns` edges.
    """
    from scipy.interpolate import CubicSpline

    s = cavity(n, speed=speed, **options)
    stop = SteadyState(tolerance, max(1, round(n / speed)))
    s.run(round(turns * n / speed), callbacks=[stop], progress=progress)
    half = slice(n // 2 - 1, n // 2 + 1) if n % 2 == 0 else slice(n // 2, n // 2 + 1)
    profile = s.u[0, half, :, half].mean(axis=(0, 2)) / speed
    height = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    u = np.concatenate([[0.0], profile, [1.0]])
    interpolated = CubicSpline(height, u)(CAVITY_RE1000[:, 0])
    error = float(np.abs(interpolated - CAVITY_RE1000[:, 1]).max())
    return CavityResult(s, height, u, error, float(u.min()), stop.change)


@dataclass(frozen=True, eq=False)
class SphereResult:
    """Drag of a sphere.

    Attributes
    ----------
    simulation : the flow in its last state
    diameter : diameter D in cells of the ball with the same volume as the solid cells
    drag : drag coefficient 2 F / (rho u^2 pi D^2 / 4)
    correlation : 24/Re (1 + 0.15 Re^0.687) for the Reynolds number of D (Schiller and Naumann)
    force : force at the last comparison in lattice units
    """

    simulation: Simulation
    diameter: float
    drag: float
    correlation: float
    force: np.ndarray

    @property
    def error(self) -> float:
        """Relative difference of the drag from the correlation."""
        return self.drag / self.correlation - 1.0

    def __repr__(self) -> str:
        return (
            f"SphereResult(drag={self.drag:.4g}, correlation={self.correlation:.4g}, "
            f"diameter={self.diameter:.4g}, simulation={self.simulation})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("drag coefficient", self.drag),
            ("Schiller and Naumann (1933)", self.correlation),
            ("relative difference", self.error),
            ("diameter in cells", self.diameter),
            ("simulation", self.simulation),
        ]
        return html_table("Drag of a sphere", rows)


@accepts_precision
def sphere(
    diameter: int,
    *,
    reynolds: float,
    speed: float = 0.06,
    width: float = 14.0,
    length: float = 18.0,
    magic: float | None = None,
    **options: Unpack[Options],
) -> Simulation:
    """Build a sphere in a stream along x, between free-slip sides; width and length in diameters.

    `magic` is the magic number of TRT, by default that of `stability_map.choose_magic` for this
    Reynolds number. The smaller ones, which coarse grids need, enlarge the sphere: at Re = 20 with
    6 cells, the drag with 0.01 is 13 % larger than with 1/4. `options` are those of `Simulation`.
    """
    nx, ny = (2 * round(k * diameter / 2) for k in (length, width))
    shape = nx, ny, ny
    require_memory(shape, solids=True, **options)
    ball = geometry.sphere(shape, (0.35 * nx, ny / 2, ny / 2), diameter / 2)
    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((speed, 0.0, 0.0)),
        "x+": PressureOutlet(1.0),
        "y": FreeSlip(),
        "z": FreeSlip(),
        "sphere": Solid(ball),
    }
    tau = 0.5 + 3.0 * speed * diameter / reynolds
    if magic is None:
        magic = choose_magic(reynolds / diameter, has_open_ends=True)
    return Simulation(
        shape, collision=TRT(tau, magic), boundaries=walls, u=(speed, 0.0, 0.0), **options
    )  # fmt: skip


@accepts_precision
def solve_sphere(
    diameter: int,
    *,
    reynolds: float,
    speed: float = 0.06,
    tolerance: float = 3e-4,
    longest: float = 60.0,
    progress: bool = False,
    **options: Unpack[Options],
) -> SphereResult:
    """Run until the drag is steady: until three diameters change it by less than `tolerance`.

    Times are given as paths of the stream, in diameters; `longest` is the longest run. The drag
    falls slowly to its steady value: at Re = 20 the remaining error is a few times the last change.
    """
    s = sphere(diameter, reynolds=reynolds, speed=speed, **options)
    steps = max(2, 2 * round(1.5 * diameter / speed))
    equivalent_diameter = float(np.cbrt(6.0 / np.pi * s.solids["sphere"].mask(s.shape).sum()))
    previous, force = np.inf, np.zeros(3)
    for _ in range(round(longest / 3)):
        s.run(steps, progress=progress)
        force = s.force_on("sphere")
        if abs(force[0] - previous) < tolerance * abs(force[0]):
            break
        previous = force[0]
    drag = float(8.0 * force[0] / (speed**2 * np.pi * equivalent_diameter**2))
    re = reynolds * equivalent_diameter / diameter
    correlation = 24.0 / re * (1.0 + 0.15 * re**0.687)
    return SphereResult(s, equivalent_diameter, drag, correlation, force)


class TerrainFlow(NamedTuple):
    """Wind over mountains.

    Attributes
    ----------
    simulation : the flow at its start
    surface : height of the ground [x, z] in cells
    """

    simulation: Simulation
    surface: np.ndarray


@accepts_precision
def terrain(
    height: int = 48,
    *,
    stride: int = 4,
    speed: float = 0.05,
    tau: float = 0.55,
    **options: Unpack[Options],
) -> TerrainFlow:
    """Build wind along +x over mountains at the Jacksboro fault, Tennessee (data of matplotlib).

    Heights are exaggerated so that the relief fills a third of the domain's `height` (cells).
    """
    from matplotlib.cbook import get_sample_data

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
    require_memory(shape, solids=True, **options)
    ground = geometry.heights(shape, surface)
    walls: dict[str, Condition | Solid] = {
        "x-": VelocityInlet((speed, 0.0, 0.0)),
        "x+": PressureOutlet(1.0),
        "y-": NoSlip(),
        "y+": FreeSlip(),
        "z": FreeSlip(),
        "ground": Solid(ground),
    }
    magic = choose_magic(3.0 * speed / (tau - 0.5), has_open_ends=True)
    s = Simulation(shape, collision=TRT(tau, magic), boundaries=walls, u=(speed, 0.0, 0.0),
                   **options)  # fmt: skip
    return TerrainFlow(s, surface)


class VortexFlow(NamedTuple):
    """Decaying Taylor-Green vortices.

    Attributes
    ----------
    simulation : the flow at its start
    exact : exact(steps) is the velocity [c, x, y, z]
    """

    simulation: Simulation
    exact: Callable[[int], np.ndarray]


@accepts_precision
def vortices(
    n: int, *, speed: float = 0.05, tau: float = 0.7, nz: int = 2, **options: Unpack[Options]
) -> VortexFlow:
    """Build Taylor-Green vortices in n x n x nz cells."""
    require_memory((n, n, nz), **options)
    phase = 2.0 * np.pi * (np.arange(n) + 0.5) / n
    x, y = phase[:, None, None], phase[None, :, None]
    u = np.zeros((3, n, n, nz))
    u[0], u[1] = speed * np.cos(x) * np.sin(y), -speed * np.sin(x) * np.cos(y)
    rho = 1.0 - 0.75 * speed**2 * (np.cos(2 * x) + np.cos(2 * y)) + np.zeros((n, n, nz))
    s = Simulation((n, n, nz), collision=TRT(tau), rho=rho, u=u, **options)
    rate = (tau - 0.5) / 3.0 * 2.0 * (2.0 * np.pi / n) ** 2
    return VortexFlow(s, lambda steps: np.exp(-rate * steps) * u)

"""Flows of the gallery: each with its exact or published solution.

Speeds fall as 1/n and the number of steps grows as n^2 with the number n of cells across a flow,
at a fixed relaxation time, so that errors of compressibility and of time fall with those of space.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hetero.devices import Device
from lbm import TRT, Cylinder, MovingWall, NoSlip, Shape, Simulation, Solid
from lbm.callbacks import SteadyState

VISCOSITY = 0.1
"""Kinematic viscosity in cells^2/step of all flows but the cavities."""

SPEED = 0.8
"""Largest speed times the number of cells: 0.05 cells/step with 16 cells."""

LID_SPEED = 3.2
"""Speed of the lid of a cavity times the number of cells: 0.05 cells/step with 64 cells."""

VISCOUS_TIMES = 1.2
"""Length of runs to a steady state in n^2 / viscosity: what is left of the start is 1e-5 of it."""

LONGEST_PATH = 60
"""Edges by which the lid of a cavity moves at most."""


class Solution(NamedTuple):
    """A flow that was computed, beside its exact solution.

    Attributes
    ----------
    error : largest error in % of the largest speed
    cells, steps : cost
    position, computed, exact : float64 [k], a component of the velocity along a line, in units of
        the width and of the largest speed
    """

    error: float
    cells: int
    steps: int
    position: np.ndarray
    computed: np.ndarray
    exact: np.ndarray


@dataclass(frozen=True)
class GalleryFlow:
    """A flow of the gallery.

    Attributes
    ----------
    name : text for the table
    source : of the exact solution
    position : text for the axis of its profile
    sizes : numbers of cells across the flow
    tiny : number of cells for quick runs; 0 leaves the flow out, which so few would make unstable
    solve : function (cells, device) that returns a Solution
    value : text for the axis of its values
    """

    name: str
    source: str
    position: str
    sizes: tuple[int, ...]
    tiny: int
    solve: Callable[[int, Device], Solution]
    value: str = "u"


def simulate(shape: tuple[int, int, int], device: Device, **options: Any) -> Simulation:
    """Return a simulation in float64.

    A vanishing force lets flows with and without a force share one compiled kernel.
    """
    defaults: dict[str, Any] = {
        "collision": TRT(0.5 + 3.0 * VISCOSITY, 3 / 16),
        "force": (1e-300, 0.0, 0.0),
    }
    return Simulation(shape, dtype="float64", device=device, **defaults | options)


def compare(
    s: Simulation, computed: np.ndarray, exact: np.ndarray, speed: float, line: tuple[Any, Any]
) -> Solution:
    """Return the solution of a flow whose exact one is known in all cells.

    `line` holds positions and the index of the computed and exact values there.
    """
    position, index = line
    error = 100.0 * float(np.abs(computed - exact).max()) / speed
    cells = int(np.prod(s.shape))
    return Solution(error, cells, s.steps, position, computed[index] / speed, exact[index] / speed)


# ---- flat walls ------------------------------------------------------------------------------


def solve_duct(n: int, device: Device) -> Solution:
    """Compute a square duct that a body force drives (White 2006, section 3-3.3)."""
    speed, walls = SPEED / n, NoSlip()
    force = speed * VISCOSITY / (0.0736713532 * n**2)  # the factor is that of the middle
    s = simulate((1, n, n), device, boundaries={"y": walls, "z": walls}, force=(force, 0.0, 0.0))
    s.run(round(VISCOUS_TIMES * n**2 / VISCOSITY))
    y = np.arange(n) + 0.5
    exact = force / VISCOSITY * duct_profile(y[:, None] / n, y[None, :] / n) * n**2
    return compare(s, s.u[0, 0], exact, speed, (y / n, (slice(None), n // 2)))


def duct_profile(y: np.ndarray, z: np.ndarray, terms: int = 60) -> np.ndarray:
    """Return the velocity in a square duct of edge 1, for a unit force and viscosity."""
    series: Any = 0.0
    for k in range(1, 2 * terms, 2):
        a = k * np.pi
        # cosh(a (z - 1/2)) / cosh(a / 2), without overflow
        ratio = (np.exp(-a * z) + np.exp(-a * (1 - z))) / (1.0 + np.exp(-a))
        series = series + np.sin(a * y) * ratio / k**3
    profile: np.ndarray = 0.5 * (y * (1 - y) - 8.0 / np.pi**3 * series)
    return profile


def solve_womersley(n: int, device: Device) -> Solution:
    """Compute a channel whose body force oscillates (Womersley 1955, between plates)."""
    speed, w = SPEED / n, VISCOSITY * (8.0 / n) ** 2  # Womersley number n/2 sqrt(w/nu) = 4
    y = np.arange(n) + 0.5
    k = np.sqrt(1j * w / VISCOSITY)
    amplitude = speed / 1j * (1.0 - np.cosh(k * (y - n / 2)) / np.cosh(k * n / 2))
    return _solve_oscillation(
        n, device, w, amplitude, {"y": NoSlip()},
        force=lambda t: (speed * w * np.cos(w * t), 0.0, 0.0),
    )  # fmt: skip


def solve_oscillating_plate(n: int, device: Device) -> Solution:
    """Compute the fluid above a plate that oscillates in its plane (Stokes 1851), below a lid."""
    speed, w = SPEED / n, 50.0 * VISCOSITY / n**2  # the depth sqrt(2 nu/w) is n/5
    y = np.arange(n) + 0.5
    k = np.sqrt(1j * w / VISCOSITY)
    amplitude = speed * np.sinh(k * (n - y)) / np.sinh(k * n)
    plate = MovingWall(lambda t: (speed * np.cos(w * t), 0.0, 0.0))
    return _solve_oscillation(n, device, w, amplitude, {"y-": plate, "y+": NoSlip()})


def _solve_oscillation(
    n: int, device: Device, w: float, amplitude: np.ndarray, walls: dict, **options: Any
) -> Solution:
    """Return a flow with the velocity Re(amplitude[y] e^(iwt)), after six periods.

    The error is the largest one of four moments of the last period.
    """
    start = np.zeros((3, 1, n, 1))
    start[0, 0, :, 0] = amplitude.real
    s = simulate((1, n, 1), device, boundaries=walls, u=start, **options)
    speed = float(np.abs(amplitude).max())
    solutions = []
    for moment in np.linspace(5.25, 6.0, 4):
        s.run(round(2.0 * np.pi / w * moment) - s.steps)
        exact = (amplitude * np.exp(1j * w * s.steps)).real
        line = (np.arange(n) + 0.5) / n, slice(None)
        solutions.append(compare(s, s.u[0, 0, :, 0], exact, speed, line))
    return solutions[-1]._replace(error=max(solution.error for solution in solutions))


def solve_vortices(n: int, device: Device) -> Solution:
    """Compute the decay of two-dimensional vortices in a periodic box (Taylor and Green 1937)."""
    speed, k = SPEED / n, 2.0 * np.pi / n
    x, y, _ = np.ogrid[0.5:n, 0.5:n, 0.5:1]
    start = np.zeros((3, n, n, 1))
    start[0], start[1] = np.cos(k * x) * np.sin(k * y), -np.sin(k * x) * np.cos(k * y)
    start *= speed
    rho = 1.0 - 0.75 * speed**2 * (np.cos(2 * k * x) + np.cos(2 * k * y)) + np.zeros((n, n, 1))
    s = simulate((n, n, 1), device, u=start, rho=rho)
    s.run(n * n // 8)
    exact = start * np.exp(-2.0 * VISCOSITY * k**2 * s.steps)
    line = (np.arange(n) + 0.5) / n, (0, 0, slice(None), 0)
    return compare(s, s.u, exact, speed, line)


# ---- walls across the cells: staircases, and interpolated ones --------------------------------


class TiltedWalls(Shape):
    """Walls of a channel with a slope, which is n cells wide along y and repeats every `height`."""

    def __init__(self, n: int, height: int, slope: float):
        self.n, self.height, self.slope = n, height, slope

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return whether points are in a wall."""
        inside: np.ndarray = np.mod(y - self.slope * x, self.height) + 0.0 * z >= self.n
        return inside

    def distances(self, points: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Return how far along each link the upper or the lower wall is."""
        above = np.mod(points[:, 1] - self.slope * points[:, 0], self.height)
        rise = directions[:, 1] - self.slope * directions[:, 0]
        distance: np.ndarray = np.where(rise > 0.0, self.n - above, -above) / rise
        return distance


def solve_tilted_channel(n: int, device: Device, wall: str = "halfway") -> Solution:
    """Compute a channel of slope 1/2, which is n cells wide along y, driven by a body force."""
    height, slope = n + 4, 0.5
    shape = 2 * height, height, 1
    cosine = 1.0 / np.hypot(1.0, slope)
    speed, width = SPEED / n, n * cosine
    force = 8.0 * VISCOSITY * speed / width**2
    x, y, _ = np.ogrid[0.5 : shape[0], 0.5 : shape[1], 0.5:1]
    above = np.mod(y - slope * x, height)  # the lower wall
    walls = Solid(TiltedWalls(n, height, slope), wall=wall)
    s = simulate(shape, device, boundaries={"walls": walls},
                 force=(force * cosine, force * slope * cosine, 0.0))  # fmt: skip
    s.run(round(VISCOUS_TIMES * width**2 / VISCOSITY))
    fluid, distance = s.fluid, above * cosine
    exact = 0.5 * force / VISCOSITY * distance * (width - distance)
    along = s.u[0] * cosine + s.u[1] * slope * cosine
    column = np.flatnonzero(fluid[0, :, 0])
    column = column[np.argsort(above[0, column, 0])]
    line = above[0, column, 0] / n, (0, column, 0)
    return compare(s, np.where(fluid, along, 0.0), np.where(fluid, exact, 0.0), speed, line)


def solve_rotating_couette(n: int, device: Device, wall: str = "halfway") -> Solution:
    """Compute the flow between a cylinder that rotates, of radius n, and one at rest, of 2 n."""
    speed, middle = SPEED / n, 2 * n + 2
    w = speed / n
    wheel = MovingWall(lambda x, y, z: (-w * (y - middle), w * (x - middle), 0.0))
    walls = {
        "inner": Solid(Cylinder((middle, middle), n), wheel, wall),
        "outer": Solid(~Cylinder((middle, middle), 2 * n), wall=wall),
    }
    s = simulate((2 * middle, 2 * middle, 1), device, boundaries=walls)
    s.run(round(VISCOUS_TIMES * n**2 / VISCOSITY))
    x, y, z = np.ogrid[0.5 : 2 * middle, 0.5 : 2 * middle, 0.5:1]
    r = np.hypot(x - middle, y - middle) + 0.0 * z
    swirl = w / 3.0 * (4.0 * n**2 / r - r)
    exact = np.where(s.fluid, swirl * np.stack([-(y - middle) / r, (x - middle) / r]), 0.0)
    computed = np.where(s.fluid, s.u[:2], 0.0)
    cells = np.flatnonzero(s.fluid[:, middle, 0] & (x[:, 0, 0] > middle))
    return compare(
        s, computed, exact, speed, ((r[cells, middle, 0] - n) / n, (1, cells, middle, 0))
    )


# ---- cavities --------------------------------------------------------------------------------

GHIA = np.array([
    (0.0547, -0.03717, -0.08186, -0.18109), (0.0625, -0.04192, -0.09266, -0.20196),
    (0.0703, -0.04775, -0.10338, -0.22220), (0.1016, -0.06434, -0.14612, -0.29730),
    (0.1719, -0.10150, -0.24299, -0.38289), (0.2813, -0.15662, -0.32726, -0.27805),
    (0.4531, -0.21090, -0.17119, -0.10648), (0.5000, -0.20581, -0.11477, -0.06080),
    (0.6172, -0.13641, 0.02135, 0.05702), (0.7344, 0.00332, 0.16256, 0.18719),
    (0.8516, 0.23151, 0.29093, 0.33304), (0.9531, 0.68717, 0.55892, 0.46604),
    (0.9609, 0.73722, 0.61756, 0.51117), (0.9688, 0.78871, 0.68439, 0.57492),
    (0.9766, 0.84123, 0.75837, 0.65928),
])  # fmt: skip
"""Height, and u / U there on the vertical centre line of the square cavity at Re = 100, 400, 1000:
Ghia, Ghia and Shin, J. Comput. Phys. 48 (1982) 387, table I."""

CAVITIES = 100, 400, 1000
"""Reynolds numbers of the columns of GHIA."""


def solve_cavity(n: int, device: Device, reynolds: int) -> Solution:
    """Compute the square cavity whose lid moves, to its steady state."""
    from scipy.interpolate import CubicSpline

    speed = LID_SPEED / n
    turn = round(n / speed)
    walls = {"x": NoSlip(), "y-": NoSlip(), "y+": MovingWall((speed, 0.0, 0.0))}
    s = simulate((n, n, 1), device, boundaries=walls,
                 collision=TRT(0.5 + 3.0 * LID_SPEED / reynolds, 1 / 12))  # fmt: skip
    s.run(LONGEST_PATH * turn, callbacks=[SteadyState(1e-5, turn)])
    u = s.u[0, (n - 1) // 2 : n // 2 + 1, :, 0].mean(axis=0) / speed
    heights = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    position, published = GHIA[:, 0], GHIA[:, 1 + CAVITIES.index(reynolds)]
    computed = CubicSpline(heights, np.concatenate([[0.0], u, [1.0]]))(position)
    return compare(s, computed, published, 1.0, (position, slice(None)))


def _cavity(reynolds: int, sizes: tuple[int, ...], tiny: int) -> GalleryFlow:
    return GalleryFlow(
        f"cavity, Re {reynolds}", "Ghia et al. 1982", "y", sizes, tiny,
        lambda n, device: solve_cavity(n, device, reynolds),
    )  # fmt: skip


FLOWS = (
    GalleryFlow("duct", "White 2006", "y", (8, 16, 32), 4, solve_duct),
    GalleryFlow("Womersley channel", "Womersley 1955", "y", (8, 16, 32), 6, solve_womersley),
    GalleryFlow("oscillating plate", "Stokes 1851", "y", (16, 32, 64), 8, solve_oscillating_plate),
    GalleryFlow("decaying vortices", "Taylor and Green 1937", "y", (16, 32, 64), 8, solve_vortices),
    GalleryFlow("tilted channel", "parabola", "y", (8, 16, 32), 6, solve_tilted_channel),
    GalleryFlow("rotating cylinder", "Couette", "(r - r1)/r1", (8, 16, 32), 4,
                solve_rotating_couette),
    GalleryFlow("tilted channel, interpolated", "parabola", "y", (8, 16, 32), 6,
                lambda n, device: solve_tilted_channel(n, device, "interpolated")),
    GalleryFlow("rotating cylinder, interpolated", "Couette", "(r - r1)/r1", (8, 16, 32), 4,
                lambda n, device: solve_rotating_couette(n, device, "interpolated")),
    _cavity(100, (32, 64), 16),
    _cavity(400, (32, 64), 0),
    _cavity(1000, (64, 96), 0),
)  # fmt: skip
"""Flows in the order of the table."""

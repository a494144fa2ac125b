"""Accuracy over the magic parameter of TRT, and stability without walls.

`studies.lbm.stability` has the stable settings of flows with walls. Here are flows whose right
answer is known: a cubic cavity and a sphere beside the same flows with more cells, a square duct
beside its series, and vortices in a stream beside their exact decay; and the largest cell Reynolds
number u/nu at which three-dimensional Taylor-Green vortices, in a domain without any wall, stay
stable until their turbulence has decayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lbm import BGK, TRT, Simulation
from lbm.callbacks import SteadyState
from lbm.collisions.operator import Collision
from lbm.errors import UnstableError
from lbm.flows import cavity, solve_sphere
from lbm.flows.centre_line import read_centre_line
from studies.study import Study

MAGIC_NUMBERS = (0.25, 3 / 16, 1 / 8, 1 / 12, 0.03, 0.01, 1e-3)
"""Magic parameters of TRT."""

CAVITIES = (100.0, 16), (400.0, 24)
"""Reynolds numbers and cells of the edge, compared with finer grids. `lbm-published` compares with
published profiles at Re = 1000, which takes 64^3 cells."""

CELL_REYNOLDS = tuple(10.0 * 2.0 ** (k / 2) for k in range(15))
"""Cell Reynolds numbers that the vortices without walls try, with a ratio of 1.41."""

Profile = Callable[[np.ndarray], np.ndarray]
"""A velocity over the position on a line."""

_LID_PATH, _LAST_TIME, _SPEEDS = 40, 15.0, (0.05, 0.1)


def run(study: Study) -> dict:
    """Measure all flows at all magic parameters."""
    magic = MAGIC_NUMBERS[:1] if study.quick else MAGIC_NUMBERS
    heads = ["magic", "speed", "largest stable cell Reynolds number"]
    rows = [
        ("BGK" if m is None else m, speed, find_limit_without_walls(study, m, speed))
        for m in (*magic, None)
        for speed in _SPEEDS
    ]
    study.table("Taylor-Green vortices without walls, 32^3, to t = 15 L/U", heads, rows)
    heads = ["cell Reynolds number", "magic", "error in % of the vortices' speed"]
    rows = [(r, m, vortex_error(study, m, r)) for r in (1.0, 10.0, 20.0) for m in magic]
    study.table("Vortices in a stream after one passage, 24^2 cells", heads, rows)
    rows = [(tau, m, duct_error(study, m, tau)) for tau in (0.53, 0.8) for m in magic]
    study.table("Square duct of 10 cells", ["tau", "magic", "error in % of the flow rate"], rows)
    heads = ["cells of the diameter", "magic", "drag"]
    study.table("Sphere at Re = 20 in a box of 6 x 4 x 4 diameters", heads,
                measure_spheres(study, magic[:-1] or magic))  # fmt: skip
    heads = ["Reynolds number", "cells", "magic", "largest error of u in % of U", "of v"]
    study.table("Cavity, centre lines", heads, measure_cavities(study, magic[:-1] or magic))
    return {}


# ---- without walls ---------------------------------------------------------------------------


def find_limit_without_walls(study: Study, magic: float | None, speed: float) -> float:
    """Return the last cell Reynolds number before the first one that is unstable, or 0."""
    stable = 0.0
    for cell_reynolds in CELL_REYNOLDS[: 2 if study.quick else None]:
        if not is_stable_without_walls(study, magic, speed, cell_reynolds):
            break
        stable = cell_reynolds
    return stable


def is_stable_without_walls(
    study: Study, magic: float | None, speed: float, cell_reynolds: float
) -> bool:
    """Return whether Taylor-Green vortices are stable to t = 15 lengths over speeds."""
    n = 8 if study.quick else 32
    operator = _operator(0.5 + 3.0 * speed / cell_reynolds, magic)
    s = taylor_green_vortices(study, n, operator, speed)
    try:
        s.run(round((1.0 if study.quick else _LAST_TIME) * n / (2.0 * np.pi * speed)))
    except UnstableError:
        return False
    return True


def taylor_green_vortices(study: Study, n: int, operator: Collision, speed: float) -> Simulation:
    """Return three-dimensional Taylor-Green vortices in a periodic box of n^3 cells."""
    k = 2.0 * np.pi / n

    def u(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, ...]:
        along = np.sin(k * x) * np.cos(k * y), -np.cos(k * x) * np.sin(k * y)
        return *(speed * c * np.cos(k * z) for c in along), np.zeros(1)

    def rho(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        pressure = (np.cos(2 * k * x) + np.cos(2 * k * y)) * (np.cos(2 * k * z) + 2.0) / 16.0
        density: np.ndarray = 1.0 + 3.0 * speed**2 * pressure
        return density

    return Simulation((n, n, n), collision=operator, u=u, rho=rho, check=100,
                      keep_good_state=False, device=study.device)  # fmt: skip


def _operator(tau: float, magic: float | None) -> Collision:
    return BGK(tau) if magic is None else TRT(tau, magic)


def vortex_error(study: Study, magic: float, cell_reynolds: float) -> float:
    """Return the largest error of two-dimensional vortices that a stream carries once around."""
    n, stream, speed = 8 if study.quick else 24, 0.05, 0.01
    nu = stream / cell_reynolds
    x, y, _ = np.ogrid[0.5:n, 0.5:n, 0.5:1]
    k, steps = 2.0 * np.pi / n, round(n / stream)

    def exact(t: float) -> np.ndarray:
        a, b = k * (x - stream * t), k * y
        decay = speed * np.exp(-2.0 * nu * k**2 * t)
        u = np.zeros((3, n, n, 1))
        u[0], u[1] = stream + decay * np.cos(a) * np.sin(b), -decay * np.sin(a) * np.cos(b)
        return u

    rho = 1.0 - 0.75 * speed**2 * (np.cos(2 * k * x) + np.cos(2 * k * y)) + np.zeros((n, n, 1))
    s = Simulation((n, n, 1), collision=TRT(0.5 + 3.0 * nu, magic), u=exact(0.0), rho=rho,
                   dtype="float64", device=study.device).run(steps)  # fmt: skip
    return float(100.0 * np.abs(s.u - exact(steps)).max() / speed)


# ---- between walls ---------------------------------------------------------------------------


def duct_error(study: Study, magic: float, tau: float) -> float:
    """Return the error of the flow rate of a square duct (series of White, section 3-3.3)."""
    from lbm import NoSlip

    n, nu = 4 if study.quick else 10, (tau - 0.5) / 3.0
    exact = 0.0351442 * n**4 / nu  # for a unit force; 1/12 - 16/pi^5 sum tanh(k pi/2)/k^5, k odd
    force = 0.02 * n**2 / exact
    s = Simulation((1, n, n), collision=TRT(tau, magic), boundaries={"y": NoSlip(), "z": NoSlip()},
                   force=(force, 0.0, 0.0), dtype="float64", device=study.device)  # fmt: skip
    s.run(round(1.2 * n**2 / nu))
    return float(100.0 * (s.u[0].sum() / (force * exact) - 1.0))


def measure_spheres(study: Study, magic_numbers: tuple[float, ...]) -> list[tuple]:
    """Return rows (cells of the diameter, magic parameter, drag coefficient)."""
    cases = [(6, m) for m in magic_numbers] + [(12, 0.25)]
    rows = []
    for cells, magic in cases[: 1 if study.quick else None]:
        box: Any = {"magic": magic, "width": 4.0, "length": 6.0}  # arguments of `sphere`
        result = solve_sphere(cells, reynolds=20.0, longest=3.0 if study.quick else 18.0,
                              tolerance=1e-3, device=study.device, **box)  # fmt: skip
        rows.append((cells, magic, result.drag))
    return rows


def measure_cavities(study: Study, magic_numbers: tuple[float, ...]) -> list[tuple]:
    """Return rows (Reynolds number, cells, magic parameter, errors of u and v in % of U)."""
    rows = []
    places = np.linspace(0.02, 0.98, 97)
    for reynolds, n in CAVITIES if not study.quick else ((100.0, 8),):
        expected = [(places, profile(places)) for profile in _extrapolated(study, reynolds, n)]
        for magic in magic_numbers:
            errors = profile_errors(cavity_profiles(study, n, reynolds, magic), expected)
            rows.append((reynolds, n, magic, *errors))
    return rows


def profile_errors(
    profiles: Sequence[Profile], expected: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[float, ...]:
    """Return the largest errors of profiles in %, at places where their values are known."""
    return tuple(
        float(100.0 * np.abs(profile(x) - values).max())
        for profile, (x, values) in zip(profiles, expected, strict=True)
    )


def _extrapolated(study: Study, reynolds: float, n: int) -> list[Profile]:
    """Return both profiles for an infinite number of cells, by second order from n and 3/2 n."""
    coarse, fine = (cavity_profiles(study, m, reynolds, 1 / 12) for m in (n, 3 * n // 2))
    return [
        lambda x, a=a, b=b: (2.25 * b(x) - a(x)) / 1.25  # type: ignore[misc]  # bound at once
        for a, b in zip(coarse, fine, strict=True)
    ]


def cavity_profiles(study: Study, n: int, reynolds: float, magic: float) -> list[Profile]:
    """Return u over the height and v over the distance from the upstream wall, in units of U."""
    from scipy.interpolate import CubicSpline

    speed = 0.1
    s = cavity(n, reynolds=reynolds, speed=speed, magic=magic, device=study.device)
    turn = round(n / speed)
    s.run((1 if study.quick else _LID_PATH) * turn, callbacks=[SteadyState(1e-5, turn)])
    middle = slice((n - 1) // 2, n // 2 + 1)
    v = s.u[1][:, middle, middle].mean(axis=(1, 2))
    position = np.concatenate([[0.0], (np.arange(n) + 0.5) / n, [1.0]])
    values = (read_centre_line(s), 1.0), (v, 0.0)
    return [CubicSpline(position, np.concatenate([[0.0], a / speed, [end]])) for a, end in values]

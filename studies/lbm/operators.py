"""Stability and accuracy of all collision operators in flows without walls.

The flows are a shear wave with and without a mean flow, whose viscosity is exact; a double shear
layer, beside the same one with four times the cells in each direction; and three-dimensional
Taylor-Green vortices, at Re = 1600 beside the direct simulation of van Rees et al. (2011). The
parameters of an operator are those that suit a flow without walls (`Collision.suited_to`).
`studies.lbm.stability` and `studies.lbm.magic` have flows with walls.
"""

from __future__ import annotations

import numpy as np

from lbm import Simulation
from lbm.collisions import OPERATORS
from lbm.errors import UnstableError
from studies.lbm.magic import CELL_REYNOLDS, taylor_green_vortices
from studies.study import Study

STREAMS = {"at rest": (0.0, 0.0), "along": (0.1, 0.0), "across": (0.0, 0.1), "both": (0.1, 0.1)}
"""Mean velocities along the wave vector of the shear wave and across it, in cells/step."""

PEAK_DISSIPATION, PEAK_TIME = 0.0129, 9.0
"""Largest dissipation of the Taylor-Green vortices at Re = 1600 in U^3/L, and its time in L/U, to
about 1 %: direct simulation with 512^3 spectral modes, van Rees, Leonard, Pullin and Koumoutsakos,
J. Comput. Phys. 230 (2011) 2794."""

LAYER_REYNOLDS = tuple(10.0 * 4.0**k for k in range(8))
"""Cell Reynolds numbers that the double shear layer tries, with a ratio of 4."""

_SPEED = 0.05


def run(study: Study) -> dict:
    """Measure all operators in all flows."""
    names = list(OPERATORS)[: 2 if study.quick else None]
    rows = [(name, *(viscosity_error(study, name, s) for s in STREAMS.values())) for name in names]
    heads = ["operator", *STREAMS]
    study.table("Shear wave, 32 cells, tau = 0.51: error of the viscosity in %", heads, rows)
    exact = layer_vorticity(study, "trt", 4)
    layers = [
        (name, layer_error(study, name, exact), find_layer_limit(study, name)) for name in names
    ]
    heads = ["operator", "error in % of the largest vorticity", "largest stable u/nu"]
    study.table("Double shear layer, 64^2 cells", heads, layers)
    heads = ["operator", "largest stable u/nu, 32^3", "peak dissipation", "at t", "kept until t"]
    vortices = [
        (name, find_vortex_limit(study, name), *measure_dissipation(study, name)) for name in names
    ]
    title = f"Taylor-Green vortices; Re = 1600 on 48^3 ({PEAK_DISSIPATION} at {PEAK_TIME})"
    study.table(title, heads, vortices)
    return {}


# ---- shear wave ------------------------------------------------------------------------------


def viscosity_error(study: Study, name: str, stream: tuple[float, float]) -> float:
    """Return the relative error in % of the viscosity of a wave u_y(x) in a uniform stream."""
    n, tau, amplitude = 8 if study.quick else 32, 0.51, 1e-3
    k, steps = 2.0 * np.pi / n, 20 if study.quick else 1000
    sine = np.sin(k * (np.arange(n) + 0.5))
    u = np.zeros((3, n, 2, 2))
    u[0], u[1] = stream[0], stream[1] + amplitude * sine[:, None, None]
    operator = OPERATORS[name].suited_to(tau, 3.0 * amplitude / (tau - 0.5), "free")
    s = Simulation(u.shape[1:], collision=operator, u=u, dtype="float64", device=study.device)

    def read_amplitude() -> float:
        return 2.0 / n * abs(np.fft.fft(s.u[1, :, 0, 0])[1])

    s.run(steps)
    first = read_amplitude()
    s.run(steps)
    viscosity = np.log(first / read_amplitude()) / (k * k * steps)
    return float(100.0 * (3.0 * viscosity / (tau - 0.5) - 1.0))


# ---- double shear layer ----------------------------------------------------------------------


def shear_layer(study: Study, name: str, cells: int, cell_reynolds: float) -> Simulation:
    """Return a double shear layer (Minion and Brown 1997) with layers of 1/40 of the edge."""
    x = (np.arange(cells) + 0.5) / cells
    u = np.zeros((3, cells, cells, 1))
    u[0] = _SPEED * np.tanh(40.0 * np.minimum(x - 0.25, 0.75 - x))[None, :, None]
    u[1] = 0.05 * _SPEED * np.sin(2.0 * np.pi * (x + 0.25))[:, None, None]
    operator = OPERATORS[name].suited_to(0.5 + 3.0 * _SPEED / cell_reynolds, cell_reynolds, "free")
    return Simulation(u.shape[1:], collision=operator, u=u, check=100, keep_good_state=False,
                      device=study.device)  # fmt: skip


def layer_vorticity(study: Study, name: str, refinement: int) -> np.ndarray:
    """Return the vorticity at t = 1 and Re = 5000 as the mean over each of 64^2 cells."""
    coarse = 16 if study.quick else 64
    n, time = coarse * refinement, 0.2 if study.quick else 1.0
    s = shear_layer(study, name, n, 5000.0 / n).run(round(time * n / _SPEED))
    u, v = s.u[0, :, :, 0].astype(float), s.u[1, :, :, 0].astype(float)
    curl = np.gradient(np.pad(v, 1, "wrap"), axis=0) - np.gradient(np.pad(u, 1, "wrap"), axis=1)
    blocks = curl[1:-1, 1:-1].reshape(coarse, refinement, coarse, refinement) * refinement
    mean: np.ndarray = blocks.mean(axis=(1, 3))
    return mean


def layer_error(study: Study, name: str, exact: np.ndarray) -> float | str:
    """Return the root mean square error of the vorticity in % of its maximum."""
    try:
        difference = layer_vorticity(study, name, 1) - exact
    except UnstableError:
        return "unstable"
    return float(100.0 * np.sqrt((difference**2).mean()) / np.abs(exact).max())


def find_layer_limit(study: Study, name: str) -> float:
    """Return the last cell Reynolds number before the first one that is unstable, or 0."""
    stable, n = 0.0, 16 if study.quick else 64
    for cell_reynolds in LAYER_REYNOLDS[: 1 if study.quick else None]:
        try:
            shear_layer(study, name, n, cell_reynolds).run(round(2.0 * n / _SPEED))
        except UnstableError:
            break
        stable = cell_reynolds
    return stable


# ---- Taylor-Green vortices -------------------------------------------------------------------


def find_vortex_limit(study: Study, name: str) -> float:
    """Return the last cell Reynolds number before the first one that is unstable, or 0."""
    stable, n, last = 0.0, *((8, 1.0) if study.quick else (32, 15.0))
    for cell_reynolds in CELL_REYNOLDS[: 1 if study.quick else None]:
        tau = 0.5 + 3.0 * _SPEED / cell_reynolds
        operator = OPERATORS[name].suited_to(tau, cell_reynolds, "free")
        try:
            taylor_green_vortices(study, n, operator, _SPEED).run(round(last * n / _TURN))
        except UnstableError:
            break
        stable = cell_reynolds
    return stable


_TURN = 2.0 * np.pi * _SPEED
"""Cells in the edge of the box over steps in a time L/U, where the edge is 2 pi L."""


def measure_dissipation(study: Study, name: str) -> tuple[float | str, float | str, float]:
    """Return peak and time of the dissipation at Re = 1600, and the last time of a stable flow.

    The dissipation is the loss of kinetic energy, what the model of an operator takes included.
    """
    n, last = (8, 1.0) if study.quick else (48, 12.0)
    tau = 0.5 + 3.0 * _SPEED * n / (2.0 * np.pi) / 1600.0
    operator = OPERATORS[name].suited_to(tau, 3.0 * _SPEED / (tau - 0.5), "free")
    s = taylor_green_vortices(study, n, operator, _SPEED)
    every = round(0.2 * n / _TURN)
    energy = [_energy(s)]
    try:
        while s.steps < last * n / _TURN:
            s.run(every)
            energy.append(_energy(s))
    except UnstableError:
        return "unstable", "unstable", every * (len(energy) - 1) * _TURN / n
    step = every * _TURN / n
    loss = -np.diff(energy) / step
    peak = int(loss.argmax())
    return float(loss[peak]), (peak + 0.5) * step, (len(energy) - 1) * step


def _energy(s: Simulation) -> float:
    """Return the mean kinetic energy in U^2."""
    return float(0.5 * (s.rho * (s.u.astype(float) ** 2).sum(axis=0)).mean() / _SPEED**2)

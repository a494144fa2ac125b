"""Reflections at open ends: plane and round pulses and a vortex, with and without sponges.

The last setting has ends that do not reflect, and no sponge. Nothing here uses what sponges
and outlets promise. A plane pulse is started towards a face in a row of
cells, and its height is read again when it has come back. A round pulse, whose waves meet the face
at all angles, is compared with the same pulse in a domain so long that nothing has come back. A
vortex leaves with the stream, and the pressure far upstream is read after it has left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero.devices import Device
from lbm import (
    TRT,
    NonReflectingInlet,
    NonReflectingOutlet,
    PressureOutlet,
    Simulation,
    Sponge,
    VelocityInlet,
)
from lbm.lattices import SOUND
from studies.study import Study

PULSE_HEIGHT, PULSE_WIDTH = 1e-3, 10.0
"""Height of a pulse in density, and its standard deviation in cells."""

SETTINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("none", {}),
    ("20 cells, 0.05", {"cells": 20, "reflection": 0.05}),
    ("20 cells, 0.01", {"cells": 20}),
    ("40 cells, 0.01", {"cells": 40}),
    (
        "none, ends that do not reflect",
        {"inlet": NonReflectingInlet, "outlet": NonReflectingOutlet()},
    ),
)
"""Settings by name: thickness and asked reflection of sponges, or other ends."""


def run(study: Study) -> dict:
    """Measure all reflections."""
    settings = SETTINGS[:1] + SETTINGS[-2:] if study.quick else SETTINGS
    speeds = (0.05,) if study.quick else (0.0, 0.05, 0.1)
    heads = ["sponge", "speed", "returned by the outlet", "by the inlet"]
    rows = [
        (name, u, *(plane_reflection(face, u, options, study.device) for face in ("x+", "x-")))
        for name, options in settings
        for u in speeds
    ]
    study.table("Plane pulse, standard deviation 10 cells: share of its height", heads, rows)
    heads = ["sponge", "head-on", "at angles up to 60 degrees"]
    length = 96 if study.quick else 160
    rounds = [
        (name, *round_reflection(length, options, study.device)) for name, options in settings
    ]
    study.table("Round pulse: share of its height at the outlet that comes back", heads, rounds)
    heads = ["sponge", "pressure upstream in U^2/2"]
    cells = (80, 40) if study.quick else (200, 96)
    vortices = [(name, vortex_pressure(cells, options, study.device)) for name, options in settings]
    study.table("Vortex that leaves: largest change of the pressure upstream", heads, vortices)
    return {}


def open_ends(u: float, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a simulation of a stream along x: its ends, and their sponges."""
    outlet = options.get("outlet", PressureOutlet(1.0))
    inlet = options.get("inlet", VelocityInlet)
    ends = {"x-": inlet((u, 0.0, 0.0)), "x+": outlet}
    sponges = {face: Sponge(**options) for face in ends} if "cells" in options else {}
    return {"boundaries": ends, "sponges": sponges, "dtype": "float64"}


def plane_reflection(face: str, u: float, options: Mapping[str, Any], device: Device) -> float:
    """Return the height of a plane pulse after it has met a face, as a share of that before.

    It starts in the middle of 400 cells and is looked for in the middle fifth when it is back.
    """
    n, sign = 400, 1.0 if face == "x+" else -1.0
    x = np.arange(n) + 0.5
    pulse = PULSE_HEIGHT * np.exp(-0.5 * ((x - n / 2) / PULSE_WIDTH) ** 2)[:, None, None]
    velocity = np.zeros((3, n, 1, 1))
    velocity[0] = u + sign * SOUND * pulse
    s = Simulation((n, 1, 1), collision=TRT(0.55), rho=1.0 + pulse, u=velocity, device=device,
                   **open_ends(u, options))  # fmt: skip
    s.run(round(n / 2 / (SOUND + u) + n / 2 / (SOUND - u)))
    middle = s.drho[2 * n // 5 : 3 * n // 5, 0, 0]
    return float(middle[np.abs(middle).argmax()]) / PULSE_HEIGHT


def round_reflection(n: int, options: Mapping[str, Any], device: Device) -> tuple[float, float]:
    """Return the largest difference that outlets make to a round pulse: on its axis, and anywhere.

    Both are at least 45 cells from the outlets, and relative to the largest height there. The pulse
    starts in the middle of n x 2 n cells, and its waves meet the faces at angles of up to 60
    degrees; the other domain is three times as long.
    """
    small, large = (_round_pulse(n, length, options, device) for length in (n, 3 * n))
    steps, inside = round(n / SOUND), slice(45, n - 45)
    height = on_axis = anywhere = 0.0
    for _ in range(0, steps, 8):
        small.run(8)
        large.run(8)
        one, other = small.drho[:, :, 0], large.drho[n : 2 * n, :, 0]
        height = max(height, float(np.abs(other[-1]).max()))
        difference = np.abs(one - other)[inside]
        on_axis = max(on_axis, float(difference[:, n].max()))
        anywhere = max(anywhere, float(difference.max()))
    return on_axis / height, anywhere / height


def _round_pulse(n: int, length: int, options: Mapping[str, Any], device: Device) -> Simulation:
    """Return a periodic strip of `length` x 2 n cells with a pulse in its middle."""
    first = (length - n) // 2
    x, y = np.arange(length)[:, None] + 0.5 - first - n / 2, np.arange(2 * n)[None, :] + 0.5 - n
    rho = 1.0 + PULSE_HEIGHT * np.exp(-0.5 * (x**2 + y**2) / PULSE_WIDTH**2)
    arguments = open_ends(0.0, options)
    arguments["boundaries"] = {"x": arguments["boundaries"]["x+"]}
    return Simulation((length, 2 * n, 1), collision=TRT(0.55), rho=rho[..., None], device=device,
                      **arguments)  # fmt: skip


def vortex_pressure(
    cells: tuple[int, int], options: Mapping[str, Any], device: Device, u: float = 0.05
) -> float:
    """Return the largest change of the pressure upstream, in u^2/2, after a vortex has left.

    Its core has a radius of a twelfth of the width, and its largest speed is u/2. It starts 6 radii
    and the thickness of a sponge before the outlet; the sides are periodic. The pressure is read at
    a quarter of the length, from the time on at which its centre has moved by 3 radii.
    """
    nx, ny = cells
    radius, thickness = ny / 12.0, options.get("cells", 0)
    start = nx - 6.0 * radius - thickness
    x, y = np.arange(nx)[:, None] + 0.5 - start, np.arange(ny)[None, :] + 0.5 - ny / 2
    speed = 0.5 * u * np.exp(0.5)
    core = np.exp(-0.5 * (x**2 + y**2) / radius**2)
    velocity = np.zeros((3, nx, ny, 1))
    velocity[0, :, :, 0] = u - speed * y / radius * core
    velocity[1, :, :, 0] = speed * x / radius * core
    rho = (1.0 - 1.5 * speed**2 * core**2)[..., None]
    s = Simulation((nx, ny, 1), collision=TRT(0.52, 0.03), rho=rho, u=velocity, device=device,
                   **open_ends(u, options))  # fmt: skip
    s.run(round(3.0 * radius / u))
    pressures = []
    for _ in range(round((8.0 * radius + thickness) / u / 10.0)):
        s.run(10)
        pressures.append(float(s.drho[nx // 4, ny // 2, 0]) / 3.0)
    return float(np.ptp(pressures)) / (0.5 * u**2)

"""Flows of the gallery that heat drives, beside published Nusselt numbers and linear stability.

The speed of free fall, the root of buoyancy times the difference of temperatures times the height,
is fixed, so that the number of steps grows as the number of cells.
"""

from __future__ import annotations

import numpy as np

from hetero.devices import Device
from lbm import TRT, FixedValue, NoSlip, Scalar, Simulation
from studies.lbm.gallery_flows import GalleryFlow, Solution

FREE_FALL = 0.1
"""Speed of free fall in cells/step."""

HOT, COLD = FixedValue(0.5), FixedValue(-0.5)

NUSSELT = {1e3: 1.118, 1e4: 2.243, 1e5: 4.519, 1e6: 8.800}
"""Mean Nusselt numbers of the square cavity by Rayleigh number, at a Prandtl number of 0.71:
de Vahl Davis, Int. J. Numer. Methods Fluids 3 (1983) 249."""

REFINEMENT = {1e3: 1.0, 1e4: 1.0, 1e5: 1.5, 1e6: 2.0}
"""Cells of the cavity, as a multiple of those asked for: boundary layers become thinner."""

CRITICAL_RAYLEIGH, CRITICAL_WAVELENGTH = 1707.762, 2.0158
"""Rayleigh number at which rolls between two walls begin to grow, and the length of a pair of them
in heights (Chandrasekhar 1961)."""


def solve_heated_cavities(n: int, device: Device) -> Solution:
    """Compute square cavities between a hot and a cold wall.

    The error is the largest one of their Nusselt numbers.
    """
    numbers, cells, steps = [], 0, 0
    for rayleigh, refinement in REFINEMENT.items():
        s, nusselt = solve_heated_cavity(round(n * refinement), rayleigh, device)
        numbers.append(nusselt)
        cells, steps = max(cells, int(np.prod(s.shape))), max(steps, s.steps)
    published = np.array(list(NUSSELT.values()))
    error = 100.0 * float(np.abs(np.array(numbers) / published - 1.0).max())
    position = np.log10(np.array(list(NUSSELT)))
    return Solution(error, cells, steps, position, np.array(numbers), published)


def solve_heated_cavity(n: int, rayleigh: float, device: Device) -> tuple[Simulation, float]:
    """Return a cavity of n x n cells in its steady state, and its mean Nusselt number.

    It runs until the Nusselt number of the hot wall has changed by less than 3e-5 of it while fluid
    would fall by 5 heights, and at most for 300.
    """
    viscosity = FREE_FALL * n * (0.71 / rayleigh) ** 0.5
    temperature = Scalar(
        viscosity / 0.71, {"x-": HOT, "x+": COLD}, buoyancy=(0.0, FREE_FALL**2 / n, 0.0),
        start=lambda x, y, z: 0.5 - x / n + 0.0 * y * z,
    )  # fmt: skip
    s = Simulation((n, n, 1), collision=TRT(0.5 + 3.0 * viscosity, 1 / 12), dtype="float64",
                   boundaries={"x": NoSlip(), "y": NoSlip()}, device=device,
                   scalars={"temperature": temperature})  # fmt: skip
    turn, nusselt = round(n / FREE_FALL), 0.0
    for _ in range(60):
        before = nusselt
        s.run(5 * turn)
        nusselt = s.scalars["temperature"].nusselt("x-", difference=1.0, length=n, area=n)
        if abs(nusselt - before) < 3e-5 * nusselt:
            break
    return s, nusselt


def solve_onset(n: int, device: Device) -> Solution:
    """Compute the onset of convection between two plates.

    The error is that of the critical Rayleigh number.
    A pair of rolls of tiny amplitude grows at Rayleigh numbers above the critical one, and fades
    below. Where the measured rates of growth cross zero is the critical Rayleigh number.
    """
    excess = np.array([-0.06, 0.06])
    rates, cells, steps = [], 0, 0
    for e in excess:
        s, rate = measure_growth(n, CRITICAL_RAYLEIGH * (1.0 + e), device)
        rates.append(rate)
        cells, steps = int(np.prod(s.shape)), s.steps
    shift = excess[0] - rates[0] * (excess[1] - excess[0]) / (rates[1] - rates[0])
    time = (
        1.0 + 1.954
    ) / 38.44  # of linear theory, at a Prandtl number of 1 (Cross and Hohenberg 1993)
    return Solution(100.0 * abs(shift), cells, steps, 1.0 + excess, np.array(rates), excess / time)


def measure_growth(n: int, rayleigh: float, device: Device) -> tuple[Simulation, float]:
    """Return a pair of rolls in n cells of height, and the rate at which it grows.

    The rate is in diffusivity/height^2. The Prandtl number is 1, and speeds are 1e-6 of free fall
    at the start, so that nothing but the linear rolls remains.
    """
    width = round(CRITICAL_WAVELENGTH * n)
    viscosity = FREE_FALL * n / rayleigh**0.5
    wave = 2.0 * np.pi / width

    def start(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        rolls: np.ndarray = 1e-6 * np.cos(wave * x) * np.sin(np.pi * y / n)
        return rolls + 0.5 - y / n + 0.0 * z

    temperature = Scalar(viscosity, {"y-": HOT, "y+": COLD}, start=start,
                         buoyancy=(0.0, FREE_FALL**2 / n, 0.0))  # fmt: skip
    s = Simulation((width, n, 1), collision=TRT(0.5 + 3.0 * viscosity, 1 / 12), dtype="float64",
                   boundaries={"y": NoSlip()}, device=device,
                   scalars={"temperature": temperature})  # fmt: skip
    unit = n**2 / viscosity
    s.run(round(0.6 * unit))
    rolls = np.cos(wave * (np.arange(width) + 0.5))

    def amplitude() -> float:
        return float((s.u[1, :, n // 2, 0] * rolls).sum())

    before, first = amplitude(), s.steps
    s.run(round(0.4 * unit))
    return s, float(np.log(amplitude() / before) / (s.steps - first) * unit)


HEATED = (
    GalleryFlow("heated cavities", "de Vahl Davis 1983", "log10 Ra", (16, 32), 0,
                solve_heated_cavities, "Nusselt number"),
    GalleryFlow("onset of convection", "linear theory", "Ra/Ra_c", (8, 16, 32), 8, solve_onset,
                "growth"),
)  # fmt: skip
"""Flows in the order of the table; their values are Nusselt numbers and rates of growth."""

"""lbm: errors of flows with known solutions, and how long they take."""

from __future__ import annotations

import time

import numpy as np

import hetero
from benchmarks.measurements import Measurement
from lbm.flows import solve_cavity, solve_sphere, vortices
from lbm.lattices.precision import PRECISIONS


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    gpu = device.kind == "cuda"
    sizes = (12,) if quick else (48, 64, 96, 128) if gpu else (32,)
    figures = [cavity_error(n, device, quick) for n in sizes]
    if gpu:
        figures += half_precision_errors(64, device)
    for job in SPHERES if gpu and not quick else SMALL_SPHERES[: 1 if quick else 2]:
        figures.append(drag_error(*job, device, quick))
    return figures


SPHERES = [(10, 20.0, 30.0, 38.0), (16, 100.0, 14.0, 18.0)]
SMALL_SPHERES = [(4, 20.0, 14.0, 18.0), (8, 100.0, 5.0, 8.0)]
"""Diameter in cells, Reynolds number, width and length of the box in diameters.

At Re = 20 a sphere disturbs the stream far around it: a box of 14 diameters adds 1 % of drag."""


def cavity_error(n: int, device: hetero.Device, quick: bool, dtype: str = "float32") -> Measurement:
    """Compute the cavity and compare it with Albensoeder and Kuhlmann (2005)."""
    start = time.perf_counter()
    turns = 1.0 if quick else 80.0
    result = solve_cavity(n, turns=turns, dtype=dtype, device=device, check=0)
    seconds = time.perf_counter() - start
    return Measurement(
        f"cavity {n}^3, Re = 1000, {dtype}: largest error on the centre line",
        100 * result.error, "% of U", None, "", {},
        f"against Albensoeder and Kuhlmann (2005); lowest u {result.lowest:.5f} (-0.28038); "
        f"{result.simulation.steps} steps in {seconds:.2f} s, last change {result.change:.1e}",
    )  # fmt: skip


def half_precision_errors(n: int, device: hetero.Device) -> list[Measurement]:
    """Compare half-precision storage with float32 on the cavity and with float64 on vortices."""
    runs = {
        p: solve_cavity(n, turns=60.0, storage=p, pattern="ab", device=device, check=0).u
        for p in ("float32", "float16")
    }
    cavity = np.abs(runs["float16"] - runs["float32"]).max()
    figures = [
        Measurement(
            f"cavity {n}^3, float16 storage against float32, centre line", 100 * cavity, "% of U"
        )
    ]
    results = {}
    for p in ("float64", "float32", "float16"):
        s, exact = vortices(64, **PRECISIONS[p].arguments, pattern="ab", device=device, check=0)
        s.run(400)
        results[p] = s.u, exact(400)
    scale = np.abs(results["float64"][1]).max()
    for p in ("float32", "float16"):
        error = np.abs(results[p][0] - results["float64"][0]).max() / scale
        figures.append(
            Measurement(f"Taylor-Green 64^2, 400 steps, {p} against float64", 100 * error, "% of u")
        )
    return figures


def drag_error(
    diameter: int, reynolds: float, width: float, length: float, device: hetero.Device, quick: bool
) -> Measurement:
    """Compute the drag of a sphere and compare it with Schiller and Naumann's correlation."""
    start = time.perf_counter()
    longest = 3.0 if quick else 60.0
    result = solve_sphere(
        diameter, reynolds=reynolds, width=width, length=length, tolerance=5e-4, longest=longest,
        device=device,
    )  # fmt: skip
    seconds = time.perf_counter() - start
    return Measurement(
        f"sphere of {diameter} cells, Re = {reynolds:g}: drag coefficient",
        result.drag, "", result.correlation, "Schiller-Naumann", {},
        f"box {result.simulation.shape}, {result.simulation.steps} steps in {seconds:.2f} s",
    )  # fmt: skip

"""lbm: lattice updates per second against the bandwidth, the cost of extras, and both devices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

import hetero
import lbm
from benchmarks.measurements import Measurement
from lbm._kernels.problem import Problem
from lbm._parallel.domain.domain import Domain
from lbm._parallel.domain.domains import make_domain
from lbm._parallel.partition import Decomposition
from lbm._parallel.parts import make_engine
from lbm._performance.measurement import measure_machine
from lbm._performance.model import best_ratio, predict_step
from lbm.collisions import OPERATORS, make_collision
from lbm.flows import cavity
from lbm.lattices import D3Q19, D3Q27, Lattice
from lbm.lattices.precision import PRECISIONS
from lbm.simulation import Simulation

PUBLISHED = {
    ("float32", "esoteric"): {
        "FluidX3D, H200, 256^3 (published)": 23.06,
        "Riesinger 2017, P100, A-A, 256^3": 2.96,
    },
    ("float16", "ab"): {"FluidX3D FP16S, H200, in place, 256^3 (published)": 36.6},
    ("float16", "esoteric"): {"FluidX3D FP16S, H200, 256^3 (published)": 36.6},
    ("float64", "ab"): {"Riesinger 2017, P100, A-A, 512 x 512 x 128": 1.58},
}
"""Published rates in GLUPS, by precision and pattern: FluidX3D, Riesinger (2017, section 16.1.1).

A-A is in place, as esoteric pull is. Names of peers say where pattern or domain are others.
"""

VARIANTS = [
    ("float32", "ab"),
    ("float32", "esoteric"),
    ("float64", "ab"),
    ("float16", "ab"),
]
"""Precisions and patterns that are measured on a GPU."""


def run(device: hetero.Device, quick: bool) -> list[Measurement]:
    """Measure all figures of the suite."""
    gpu = device.kind == "cuda"
    n = 24 if quick else 512 if gpu else 128
    limit = bandwidth(device, quick)
    variants = VARIANTS if gpu else [("float32", "esoteric"), ("float64", "esoteric")]
    figures = [
        update_rate(device, n, p, m, limit) for p, m in (variants[:1] if quick else variants)
    ]
    if gpu and not quick:  # as FluidX3D's published rates: 256^3 cells, in place
        figures += [
            update_rate(device, 256, precision, "esoteric", limit)
            for precision in ("float32", "float16")
        ]
    figures += operator_rates(device, n, limit)
    figures += corner_rates(device, n, limit, quick)
    figures += cost_of_bodies(device, n)
    figures.append(small_step_time(device, 16 if quick else 64))
    figures += cost_of_extras(device, 24 if quick else 256 if gpu else 128)
    if gpu and not quick:
        figures += both_devices(device, 512)
    return figures


def bandwidth(device: hetero.Device, quick: bool) -> tuple[float, str]:
    """Return the bandwidth in bytes/s that limits a step, and its name."""
    if device.kind == "cuda":
        return hetero.limits(device).copy, "copy bandwidth"
    from benchmarks.bandwidth import in_place

    data = np.ones(1 << (20 if quick else 26), np.float32)
    timing = hetero.benchmark(lambda: in_place(data), device=device)
    return 2 * data.nbytes / timing.best, "bandwidth in place"


def seconds_per_step(s: Simulation, device: hetero.Device, count: int = 2) -> tuple[float, dict]:
    """Return the median time of a step, measured over `count` steps, and the whole timing."""
    on_gpu = device.kind == "cuda" and s.ratio == 0
    clock = "device" if on_gpu else "wall"
    timing = hetero.benchmark(lambda: s.advance(count), device=device, clock=clock)
    return timing.median / count, timing.as_dict()


def update_rate(
    device: hetero.Device,
    n: int,
    precision: str,
    pattern: str,
    limit: tuple[float, str],
    lattice: Lattice = D3Q19,
) -> Measurement:
    """Measure the update rate of a cavity; `limit` is the result of `bandwidth`."""
    options = {**PRECISIONS[precision].arguments, "pattern": pattern, "lattice": lattice}
    s = cavity(n, **options, device=device, check=0)
    seconds, timing = seconds_per_step(s, device)
    moved = s.problem.bytes_per_update()
    is_published = device.kind == "cuda" and lattice == D3Q19
    return Measurement(
        f"cavity {n}^3, {precision}, {pattern}{_suffix(lattice)}",
        n**3 / seconds / 1e9,
        "GLUPS",
        limit[0] / moved / 1e9,
        f"{limit[1]} / {moved} B",
        PUBLISHED.get((precision, pattern), {}) if is_published else {},
        "TRT, five walls and a lid; steps only",
        timing,
    )


def _suffix(lattice: Lattice) -> str:
    """Return what names of figures say about the lattice: nothing for the default one."""
    return "" if lattice == D3Q19 else f", {lattice.name}"


def corner_rates(
    device: hetero.Device, n: int, limit: tuple[float, str], quick: bool
) -> list[Measurement]:
    """Measure the update rates of D3Q27."""
    variants = VARIANTS[:3] if device.kind == "cuda" else VARIANTS[1:2]
    figures = [
        update_rate(device, n, *variant, limit, lattice=D3Q27)
        for variant in (variants[:1] if quick else variants)
    ]
    operators = () if quick else ("trt", "central-moments")
    return figures + operator_rates(device, n, limit, operators, D3Q27)


def operator_rates(
    device: hetero.Device,
    n: int,
    limit: tuple[float, str],
    names: Sequence[str] = tuple(OPERATORS),
    lattice: Lattice = D3Q19,
) -> list[Measurement]:
    """Measure the update rates of collision operators in a periodic box, in place."""
    figures = []
    for name in names:
        collision = make_collision(name, 0.6)
        s = Simulation((n, n, n), collision=collision, lattice=lattice, device=device, check=0)
        seconds, timing = seconds_per_step(s, device)
        moved = s.problem.bytes_per_update()
        figures.append(
            Measurement(
                f"periodic box {n}^3, float32, {name}{_suffix(lattice)}",
                n**3 / seconds / 1e9,
                "GLUPS",
                limit[0] / moved / 1e9,
                f"{limit[1]} / {moved} B",
                {},
                "no walls; steps only",
                timing,
            )
        )
    return figures


def cost_of_bodies(device: hetero.Device, n: int) -> list[Measurement]:
    """Measure a sphere of n/8 cells with both kinds of walls, as percentages of a step without."""
    figures = []
    empty, _ = seconds_per_step(Simulation((n, n, n), device=device, check=0), device)
    for wall in ("halfway", "interpolated"):
        ball = lbm.Solid(lbm.Sphere((n / 2, n / 2, n / 2), n / 16), wall=wall)
        s = Simulation((n, n, n), boundaries={"ball": ball}, device=device, check=0)
        seconds, timing = seconds_per_step(s, device)
        share = 100 * (seconds - empty) / empty
        figures.append(
            Measurement(
                f"a sphere of {n // 8} cells, {wall} walls, {n}^3 float32",
                share,
                "% of a step",
                timing=timing,
            )
        )
    return figures


def small_step_time(device: hetero.Device, n: int) -> Measurement:
    """Measure the time of a step of a small domain, in which launches count."""
    s = cavity(n, device=device, check=0)
    seconds, timing = seconds_per_step(s, device, 64)
    launch = hetero.limits(device).launch * 1e6
    return Measurement(
        f"a step of {n}^3, float32, esoteric", seconds * 1e6, "us", None, "", {},
        f"one launch takes {launch:.1f} us through Numba; here launches are prepared", timing,
    )  # fmt: skip


def cost_of_extras(device: hetero.Device, n: int) -> list[Measurement]:
    """Measure output, statistics and walls as percentages of a step."""
    s = cavity(n, device=device, check=0)
    step, _ = seconds_per_step(s, device)
    bare = Simulation((n, n, n), collision=s.collision, device=device, check=0)
    without, _ = seconds_per_step(bare, device)
    sampler = lbm.Statistics(1)
    jobs = {
        "rho and u of all cells, on the device": lambda: list(s.domain.read(s.steps, 0, n)),
        "a sample of mean and variance": lambda: sampler(s),
        "the test for NaN and speed": s.require_stable,
    }
    costs: dict[str, tuple[float, dict | None]] = {"walls of a cavity": (step - without, None)}
    for name, job in jobs.items():
        timing = hetero.benchmark(job, device=device)
        costs[name] = timing.median, timing.as_dict()
    figures = [
        Measurement(f"{name}, {n}^3 float32", 100 * seconds / step, "% of a step", timing=timing)
        for name, (seconds, timing) in costs.items()
    ]
    inlet = cost_of_turbulent_inlet(device, min(n, 128))
    return [*figures, *cost_of_checks_with_scalars(device, n), inlet]


def cost_of_turbulent_inlet(device: hetero.Device, n: int) -> Measurement:
    """Measure what synthetic eddies at an inlet of n x n cells add to a step of n^3 cells."""
    mean, walls, seconds = (0.05, 0.0, 0.0), {"x+": lbm.PressureOutlet(), "y": lbm.NoSlip()}, []
    eddies = lbm.SyntheticEddies(mean, intensity=0.1, length=4.0)
    for velocity in (mean, eddies):
        boundaries = walls | {"x-": lbm.VelocityInlet(velocity)}
        s = Simulation((n, n, n), boundaries=boundaries, device=device, check=0)
        seconds.append(seconds_per_step(s, device, 16)[0])
    label = f"synthetic eddies at an inlet of {n} x {n}, {n}^3 float32"
    return Measurement(label, 100 * (seconds[1] / seconds[0] - 1.0), "% of a step")


def cost_of_checks_with_scalars(device: hetero.Device, n: int) -> list[Measurement]:
    """Measure the check for bad cells of flows with a scalar as a percentage of their steps."""
    figures = []
    for name, buoyancy in (("is carried", 0.0), ("drives the flow", 1e-6)):
        heat = lbm.Scalar(0.05, buoyancy=(0.0, buoyancy, 0.0), start=0.1)
        s = Simulation((n, n, n), scalars={"heat": heat}, device=device, check=0)
        step, _ = seconds_per_step(s, device)
        timing = hetero.benchmark(s.require_stable, device=device)
        label = f"the test for NaN and speed, where a scalar {name}, {n}^3 float32"
        value = 100 * timing.median / step
        figures.append(Measurement(label, value, "% of a step", timing=timing.as_dict()))
    return figures


def both_devices(device: hetero.Device, n: int) -> list[Measurement]:
    """Measure a domain on the GPU and the CPU at once, against the slower part alone."""
    alone = cavity(n, device=device, check=0)
    best, _ = seconds_per_step(alone, device)
    problem, faces = alone.problem, alone.faces
    del alone
    figures = []
    for share in (0.01, 0.025, 0.05, 0.1):
        domain = make_domain(problem, device, faces, share)
        timing = hetero.benchmark(partial(two_steps, domain), device=device)
        step, blocks = timing.median / 2, [engine.problem for engine in domain.engines]
        del domain
        devices = hetero.Device("cpu"), device
        parts = [seconds_of_part(b, d) for b, d in zip(blocks, devices, strict=True)]
        figures.append(
            Measurement(
                f"{n}^3, {share:.1%} of the rows on the CPU: a step against the slower part",
                step / max(parts), "x", None, "", {},
                f"step {step * 1e3:.2f} ms, CPU part {parts[0] * 1e3:.2f} ms, GPU part "
                f"{parts[1] * 1e3:.2f} ms, GPU alone {best * 1e3:.2f} ms", timing.as_dict(),
            )
        )  # fmt: skip
    machine, box = measure_machine(problem, [device], links=False), Decomposition((1, 1, 1))
    ratio = best_ratio(machine, problem.shape)
    alone_and_both = (predict_step(machine, problem.shape, box, ratio=r) for r in (0.0, ratio))
    steps = [prediction.step for prediction in alone_and_both]
    figures.append(
        Measurement(
            f"{n}^3, ratio='auto' against the GPU alone", steps[0] / steps[1], "x", None, "", {},
            f"{round(ratio * n)} of {n} rows on the CPU; model: a step of "
            f"{steps[0] * 1e3:.2f} ms on the GPU alone, {steps[1] * 1e3:.2f} ms on both",
        )
    )  # fmt: skip
    return figures


def two_steps(domain: Domain) -> None:
    """Do two steps of a domain, without waiting for them."""
    for t in range(2):
        domain.step(t)


def seconds_of_part(problem: Problem, device: hetero.Device) -> float:
    """Return the time of a step of one part of a split domain alone, without any exchange."""
    engine = make_engine(problem, device)
    box = engine.box(1, problem.shape[1] - 1)

    def two_steps_of_part() -> None:
        for t in range(2):
            engine.step(t, box)

    return hetero.benchmark(two_steps_of_part, device=device).median / 2

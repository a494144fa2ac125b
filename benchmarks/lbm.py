"""lbm: lattice updates a second against the bandwidth, the cost of extras, and both devices."""

from __future__ import annotations

import numpy as np

import hetero
import lbm
from benchmarks.figures import Figure
from lbm.balance import measure
from lbm.cases import cavity
from lbm.parts import make, place
from lbm.simulation import Simulation

PUBLISHED = {
    ("float32", "esoteric"): {"FluidX3D, H200 (published)": 23.06},
    ("float16", "ab"): {"FluidX3D FP16S, H200 (published)": 36.6},
    ("float32", "ab"): {"thesis, P100": 2.96},
    ("float64", "ab"): {"thesis, P100": 1.58},
}
"""GLUPS."""

VARIANTS = [
    ("float32", "ab"),
    ("float32", "esoteric"),
    ("float64", "ab"),
    ("float16", "ab"),
]


def run(device: hetero.Device, quick: bool) -> list[Figure]:
    gpu = device.kind == "cuda"
    n = 24 if quick else 512 if gpu else 128
    limit = bandwidth(device, quick)
    variants = VARIANTS if gpu else [("float32", "esoteric"), ("float64", "esoteric")]
    figures = [rate(device, n, p, m, limit) for p, m in (variants[:1] if quick else variants)]
    figures.append(small_step(device, 16 if quick else 64))
    figures += extras(device, 24 if quick else 256 if gpu else 128)
    if gpu and not quick:
        figures += both(device, 512)
    return figures


def bandwidth(device, quick: bool) -> tuple[float, str]:
    """(bytes/s, name) of what a step is compared with: on the CPU an update in place."""
    if device.kind == "cuda":
        return hetero.limits(device).copy, "copy bandwidth"
    from benchmarks.bandwidth import in_place

    data = np.ones(1 << (20 if quick else 26), np.float32)
    timing = hetero.benchmark(lambda: in_place(data), device=device)
    return 2 * data.nbytes / timing.best, "bandwidth in place"


def steps(s: Simulation, count: int = 2):
    """A function that does `count` steps, without waiting for them."""

    def go():
        s._advance(count)

    return go


def seconds_a_step(s: Simulation, device, count: int = 2) -> tuple[float, dict]:
    """Median, and the timing behind it."""
    on_gpu = device.kind == "cuda" and s.ratio == 0
    clock = "device" if on_gpu else "wall"
    timing = hetero.benchmark(steps(s, count), device=device, clock=clock)
    return timing.median / count, timing.as_dict()


def rate(device, n, precision, pattern, limit) -> Figure:
    s = cavity(n, precision=precision, pattern=pattern, device=device, check=0)
    seconds, timing = seconds_a_step(s, device)
    moved = s.problem.bytes_per_update()
    return Figure(
        f"cavity {n}^3, {precision}, {pattern}",
        n**3 / seconds / 1e9,
        "GLUPS",
        limit[0] / moved / 1e9,
        f"{limit[1]} / {moved} B",
        PUBLISHED.get((precision, pattern), {}) if device.kind == "cuda" else {},
        "TRT, five walls and a lid; steps only",
        timing,
    )


def small_step(device, n) -> Figure:
    s = cavity(n, device=device, check=0)
    seconds, timing = seconds_a_step(s, device, 64)
    launch = hetero.limits(device).launch * 1e6
    return Figure(
        f"a step of {n}^3, float32, esoteric", seconds * 1e6, "us", None, "", {},
        f"one launch takes {launch:.1f} us through Numba; these are prepared ones", timing,
    )  # fmt: skip


def extras(device, n) -> list[Figure]:
    """Output, statistics and walls, each as a percentage of a step."""
    s = cavity(n, device=device, check=0)
    step, _ = seconds_a_step(s, device)
    bare = Simulation((n, n, n), collision=s.collision, device=device, check=0)
    without, _ = seconds_a_step(bare, device)
    sampler = lbm.Statistics(1)
    jobs = {
        "rho and u of all cells, on the device": lambda: list(
            s._domain.slab("fields", s.steps, 0, n)
        ),
        "a sample of mean and variance": lambda: sampler(s),
        "the test for NaN and speed": s.require_stable,
    }
    found = {"walls of a cavity": (step - without, None)}
    for name, job in jobs.items():
        timing = hetero.benchmark(job, device=device)
        found[name] = timing.median, timing.as_dict()
    return [
        Figure(f"{name}, {n}^3 float32", 100 * seconds / step, "% of a step", timing=timing)
        for name, (seconds, timing) in found.items()
    ]


def both(device, n) -> list[Figure]:
    """A domain on the GPU and the CPU at once, against the slower part alone."""
    alone = cavity(n, device=device, check=0)
    best, _ = seconds_a_step(alone, device)
    problem, faces = alone.problem, alone.faces
    del alone
    figures = []
    for share in (0.01, 0.025, 0.05, 0.1):
        domain = place(problem, device, faces, round(share * n))
        timing = hetero.benchmark(steps_of(domain), device=device)
        step, blocks = timing.median / 2, [part.problem for part in domain.parts]
        del domain
        devices = hetero.Device("cpu"), device
        parts = [part_alone(b, d) for b, d in zip(blocks, devices, strict=True)]
        figures.append(
            Figure(
                f"{n}^3, {share:.1%} of the rows on the CPU: a step against the slower part",
                step / max(parts), "x", None, "", {},
                f"step {step * 1e3:.2f} ms, CPU part {parts[0] * 1e3:.2f} ms, GPU part "
                f"{parts[1] * 1e3:.2f} ms, GPU alone {best * 1e3:.2f} ms", timing.as_dict(),
            )
        )  # fmt: skip
    model = measure(problem, device, faces)
    chosen = model.best(n)
    promised = model.step(0, n) / model.step(chosen, n)
    figures.append(
        Figure(
            f"{n}^3, ratio='auto' against the GPU alone", promised, "x", None, "", {},
            f"{chosen} of {n} rows on the CPU; model: row {model.gpu_row * 1e6:.1f} us on the GPU, "
            f"{model.cpu_row * 1e6:.1f} us on the CPU, exchange {model.exchange * 1e6:.0f} us",
        )
    )  # fmt: skip
    return figures


def steps_of(domain):
    """A function that does two steps of a domain."""

    def go():
        for t in range(2):
            domain.step(t)

    return go


def part_alone(problem, device) -> float:
    """Seconds of a step of one part of a split domain, in memory of its own, nothing exchanged."""
    engine = make(problem, device)
    box = engine.box(1, problem.shape[1] - 1)

    def go():
        for t in range(2):
            engine.step(t, box)

    return hetero.benchmark(go, device=device).median / 2

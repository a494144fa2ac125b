"""Distribution of the ground's acceleration in an earthquake, by Monte Carlo over paths.

    python examples/random_odes/earthquakes.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The ground follows the model of Kanai and Tajimi, driven by an Ornstein-Uhlenbeck process. The
script prints and draws the mean and the variance of the acceleration from 65 to 70 s for growing
numbers of paths, by two schemes, with the variance that each scheme must have, and the distribution
of the largest acceleration of an earthquake, corrected for what lies between the steps. At last it
prints the largest acceleration in 20 s, the number that the documents state.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import quantile_test

import hetero
import rode
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, parse_arguments, to_host

SCHEMES = {
    "averaged-euler": (2.0**-10, 2.0**-20, 16.017196964),
    "3-rode-taylor": (2.0**-5, 2.0**-20, 16.115011283),
}
"""h, delta, and the stationary variance of u'' that the scheme has (discrete Lyapunov equation)."""

TRUE_VARIANCE = 16.036525
"""omega (1 + 4 zeta^2)/(4 zeta) with Housner's parameters, m^2/s^4."""

PEAK_STEP = 20.0 / 8192
"""Step in s for the largest acceleration in 20 s, whose corrected median is then within 0.2 %."""

COLOURS = {"averaged-euler": PALETTE[0], "3-rode-taylor": PALETTE[1]}


@dataclass(frozen=True)
class Motion:
    """Accelerations of many paths over the last seconds, and the corrected peak of each path."""

    t: np.ndarray
    paths: np.ndarray
    peaks: np.ndarray


def simulate(method: str, device: hetero.Device | str | None, quick: bool) -> Motion:
    """Return the last 5 s of 2^12 paths of 70 s (quick: 2^8 of 10 s), saved every 2^-5 s."""
    h, delta, _ = SCHEMES[method]
    end, paths = (10.0, 1 << 8) if quick else (70.0, 1 << 12)
    ground = rode.kanai_tajimi(outputs=("acceleration",), start_process=0.0)
    result = rode.solve(
        ground,
        method,
        t_span=(0.0, end),
        h=h,
        delta=delta,
        paths=paths,
        sampling="exact",
        rng=1,
        reduction=("paths", "peaks"),
        save_every=round(2.0**-5 / h),
        dtype=np.float32,
        device=device,
    )
    late = result.t >= end - 5.0
    accelerations = result.paths[late, 0]
    peaks = (result.peaks + rode.peak_correction(ground, h))[0]
    return Motion(result.t[late], accelerations.astype(float), peaks)


def largest_in_20_seconds(device: hetero.Device | str | None, paths: int) -> str:
    """Return the median and the 99 % quantile of the largest acceleration, with 95 % intervals."""
    ground = rode.kanai_tajimi(outputs="acceleration")
    result = rode.solve(
        ground,
        "3-rode-taylor",
        t_span=(0.0, 20.0),
        h=PEAK_STEP,
        paths=paths,
        sampling="exact",
        rng=1,
        reduction="peaks",
        device=device,
    )
    peaks = (result.peaks + rode.peak_correction(ground, PEAK_STEP))[0]
    texts = []
    for p, name in ((0.5, "median"), (0.99, "99 % quantile")):
        low, high = quantile_test(peaks, p=p).confidence_interval(0.95)
        texts.append(f"{name} {np.quantile(peaks, p):.1f} m/s^2 ({low:.2f} to {high:.2f})")
    return f"Largest acceleration in 20 s, {paths:,} earthquakes: {', '.join(texts)}"


def statistics(motion: Motion, paths: int) -> tuple[float, float]:
    """Return mean and variance of the first `paths` paths, averaged over the time window."""
    part = motion.paths[:, :paths]
    return float(part.mean(axis=1).mean()), float(part.var(axis=1, ddof=1).mean())


def path_counts(motion: Motion) -> list[int]:
    """Return the numbers of paths for which statistics are shown."""
    return [2**k for k in range(6, 13) if 2**k <= motion.paths.shape[1]]


def make_table(motions: dict[str, Motion]) -> Table:
    """Return means and variances for growing numbers of paths, and what they tend to."""
    table = Table(
        "paths", title="Acceleration of the ground, averages over 5 s", title_justify="left"
    )
    for method in motions:
        table.add_column(f"E, {method}", justify="right")
        table.add_column(f"V, {method}", justify="right")
    for paths in path_counts(next(iter(motions.values()))):
        cells = (statistics(motion, paths) for motion in motions.values())
        table.add_row(str(paths), *(f"{value:.3f}" for pair in cells for value in pair))
    table.add_row("exact", *(c for m in motions for c in ("0", f"{SCHEMES[m][2]:.3f}")))
    return table


def draw(motions: dict[str, Motion], path: Path) -> Path:
    """Draw mean and variance in time for few and many paths, and the histogram of the peaks."""
    figure = new_figure((12, 4.6), dpi=150)
    mean, variance, peak = figure.subplots(1, 3)
    for method, motion in motions.items():
        counts = path_counts(motion)
        for paths, shade in ((counts[0], 0.35), (counts[-1], 1.0)):
            part = motion.paths[:, :paths]
            label = f"{method}, {paths:,} paths"
            style = {"color": COLOURS[method], "alpha": shade, "label": label, "linewidth": 1}
            mean.plot(motion.t, part.mean(axis=1), **style)
            variance.plot(motion.t, part.var(axis=1, ddof=1), **style)
        variance.axhline(SCHEMES[method][2], color=COLOURS[method], linestyle=":")
        peak.hist(motion.peaks, 40, density=True, histtype="step", color=COLOURS[method])
    variance.axhline(TRUE_VARIANCE, color="black", linewidth=1, label="exact")
    mean.set(xlabel="time (s)", ylabel="mean of u'' (m/s²)")
    variance.set(xlabel="time (s)", ylabel="variance of u'' (m²/s⁴)")
    peak.set(xlabel="largest |u''| of an earthquake (m/s²)", ylabel="density (s²/m)")
    for axes in (mean, variance, peak):
        axes.spines[["top", "right"]].set_visible(False)
    handles, labels = variance.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path)
    return path


# ---- for the tour ------------------------------------------------------------------------------


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the figure of this package with values from `device`."""
    motions = {method: simulate(method, device, quick) for method in SCHEMES}
    paths = path_counts(next(iter(motions.values())))[-1]
    caption = (
        f"The acceleration u'' of the ground by the model of Kanai and Tajimi, in {paths:,} random "
        "earthquakes. Left and middle: mean and variance over the paths, for few and for all of "
        "them; two schemes, the variance that each must have (dotted), and the exact one (black). "
        "Right: the largest acceleration of each earthquake, corrected for what lies between the "
        "steps, without which steps of 2⁻⁵ s (orange) would miss 2.1 m/s² and those of 2⁻¹⁰ s "
        "0.4 m/s²."
    )
    path = draw(motions, out / "rode_earthquakes.png")
    command = "rode solve kanai-tajimi --t-span 0 20 --paths 4096 --peaks --plot quake.html"
    return [
        Figure(
            "How hard does the ground shake?",
            caption,
            path,
            command,
            ("Kanai1957", "Tajimi1960", "Riesinger2017"),
        )
    ]


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Measure and check normal numbers and fine steps on `device`."""
    with device.active():
        return [_normals_row(device, quick), _steps_row(device, quick)]


def _normals_row(device: hetero.Device, quick: bool) -> Row:
    """Measure normal numbers and check their variance."""
    on_cpu = device.kind == "cpu"
    size = 1 << ((18 if quick else 22) if on_cpu else (24 if quick else 28))
    out = np.empty(size, np.float32)
    if not on_cpu:
        from numba import cuda

        out = cuda.device_array(size, np.float32)
    timing = hetero.benchmark(
        lambda: rode.normal(rng=1, out=out, device=device), repeats=5, device=device
    )
    x = to_host(out[:100_000]).astype(float)
    score = (x.var() - 1.0) * math.sqrt(x.size / 2.0)
    return Row(
        job=f"{size:,} normal numbers, float32",
        device=str(device),
        rate=timing.rate(size) / 1e6,
        unit="M numbers/s",
        fraction_of_limit=timing.rate(size) * 4 / hetero.limits(device).copy,
        limit="copy bandwidth",
        check=f"variance {x.var():.4f}, {abs(score):.1f} standard errors from 1",
        passed=bool(abs(score) <= 5.0),
        tolerance="5 standard errors of 100,000 numbers",
    )


def _steps_row(device: hetero.Device, quick: bool) -> Row:
    """Measure fused fine steps of the averaged Heun scheme, whose variance is known exactly."""
    paths = 1 << ((10 if quick else 12) if device.kind == "cpu" else 17)
    settings = {"t_span": (0.0, 8.0), "h": 2.0**-5, "delta": 2.0**-9, "paths": paths, "rng": 2}
    settings |= {"reduction": "moments", "save_every": 256, "dtype": np.float32, "device": device}
    problem = rode.kanai_tajimi(outputs=("acceleration",))
    result = rode.solve(problem, "averaged-heun", **settings)
    timing = hetero.benchmark(
        lambda: rode.solve(problem, "averaged-heun", **settings), repeats=5, device=device
    )
    variance, expected = float(result.variance[-1, 0]), 15.73164015590
    score = (variance / expected - 1.0) / math.sqrt(2.0 / paths)
    return Row(
        job=f"{paths:,} earthquakes of 8 s, h = 2⁻⁵ s, 16 fine steps each",
        device=str(device),
        rate=timing.rate(result.work.fine_steps) / 1e6,
        unit="M steps/s",
        fraction_of_limit=None,
        limit="",
        check=f"variance of the acceleration {variance:.2f} m²/s⁴, {abs(score):.1f} standard "
        f"errors from this scheme's {expected:.2f} m²/s⁴",
        passed=bool(abs(score) <= 5.0),
        tolerance=f"5 standard errors of {paths:,} paths",
    )


def main() -> int:
    """Print the table, write the figure and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/rode_earthquakes")
    device = None if options.device == "auto" else options.device
    motions = {method: simulate(method, device, options.quick) for method in SCHEMES}
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(make_table(motions))
    console.print(largest_in_20_seconds(device, 1024 if options.quick else 4096))
    console.print(f"Figure: {draw(motions, options.out / 'rode_earthquakes.png')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

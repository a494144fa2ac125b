"""How a building yields under one strong pulse, scaled from weak to strong.

    python examples/random_odes/pulse.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The motion is synthetic: a pulse as close to a fault, by the formula of Mavroeidis and Papageorgiou
(2003), sampled as a recorded motion would be; `rode.read_record` reads a file instead. One call
solves an incremental dynamic analysis: path number i is the frame under the motion times scale
number i. The script prints and draws the largest and the remaining drift of the first storey, and
compares storeys that never yield with SciPy.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy import signal

import rode
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments

DT, DURATION = 0.01, 12.0
"""Step of the samples and length of the motion with the rest after it, s."""

STEP = 2.0**-8
"""Coarse step, s: half of it changes the largest drifts by 0.1 % (see `main`)."""

YIELD_DRIFT = 0.008
"""Drift at which a storey yields, m."""


def make_pulse(frequency: float = 1.2, cycles: float = 2.0) -> np.ndarray:
    """Return samples of acceleration, m/s^2, whose largest value is 1."""
    t = DT * np.arange(round(DURATION / DT) + 1) - 2.0
    phase = 2.0 * np.pi * frequency * t
    velocity = (1.0 + np.cos(phase / cycles)) * np.cos(phase)
    velocity[np.abs(t) > cycles / (2.0 * frequency)] = 0.0
    acceleration = np.gradient(velocity, DT)
    return acceleration / np.abs(acceleration).max()


def make_frame(scales: np.ndarray, hysteresis: rode.BoucWen | None) -> rode.Problem:
    """Return the frame, in t, kN and m."""
    return rode.shear_frame(
        masses=[30, 30, 25],
        stiffnesses=[30e3, 25e3, 20e3],
        damping=0.05,
        hysteresis=hysteresis,
        excitation=rode.Record(make_pulse(), DT),
        scale=scales,
        outputs="drift[1]",
    )


def analyse(
    scales: np.ndarray, h: float, device: str | None, yield_drift: float = YIELD_DRIFT
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest and the last drift of the first storey for each scale, m."""
    frame = make_frame(scales, rode.BoucWen(yield_drift=yield_drift, alpha=0.05))
    result = rode.solve(
        frame,
        "averaged-heun",
        t_span=(0.0, DURATION),
        h=h,
        paths=scales.size,
        sampling="exact",
        reduction=("peaks", "paths"),
        save_every=round(DURATION / h),
        device=device,
    )
    return result.peaks[0], result.paths[-1, 0]


def elastic_error(scales: np.ndarray, device: str | None) -> float:
    """Return how far the peak of storeys that never yield is from SciPy's, relatively."""
    A = make_frame(np.ones(1), None).matrix()
    size = len(A)
    B, C = -np.eye(size)[:, [size // 2]], np.eye(size)[[0]]  # the ground, and the first drift
    t = DT * np.arange(make_pulse().size)
    _, drift, _ = signal.lsim((A, B, C, [[0.0]]), make_pulse(), t)
    found = analyse(scales, STEP, device, yield_drift=np.inf)[0] / scales
    return float(np.abs(found / np.abs(drift).max() - 1.0).max())


def draw(scales: np.ndarray, largest: np.ndarray, last: np.ndarray, path: Path) -> Path:
    """Draw both drifts over the peak acceleration."""
    figure = new_figure((6, 4), dpi=150)
    axes = figure.subplots()
    axes.plot(1000 * largest, scales, color=PALETTE[0], label="largest")
    axes.plot(1000 * np.abs(last), scales, color=PALETTE[1], label="remaining")
    axes.axvline(1000 * YIELD_DRIFT, color="black", linestyle=":", label="yielding")
    axes.set(xlabel="drift of the first storey (mm)", ylabel="peak ground acceleration (m/s²)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path)
    return path


def main() -> int:
    """Print the table and the checks, write the figure, and return the exit code."""
    options = parse_arguments(__doc__.splitlines()[0], "out/rode_pulse")
    device = None if options.device == "auto" else options.device
    scales = np.linspace(0.5, 8.0, 16 if options.quick else 64)
    largest, last = analyse(scales, STEP, device)
    table = Table("peak acceleration, m/s²", "largest drift, mm", "remaining drift, mm")
    for k in range(0, scales.size, scales.size // 8):
        table.add_row(*(f"{v:.2f}" for v in (scales[k], 1000 * largest[k], 1000 * abs(last[k]))))
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    change = float(np.abs(analyse(scales, STEP / 2, device)[0] / largest - 1.0).max())
    error = elastic_error(scales, device)
    console.print(f"half of the step changes the largest drifts by {100 * change:.3f} % at most")
    console.print(f"storeys that never yield: {100 * error:.2f} % from SciPy's peak at samples")
    console.print(f"Figure: {draw(scales, largest, last, options.out / 'rode_pulse.png')}")
    return 0 if change < 2e-3 and error < 0.01 else 1


if __name__ == "__main__":
    sys.exit(main())

"""Compute the turbulence behind a grid in a wind tunnel, and how it decays along the stream.

    python examples/lattice_boltzmann/grid_turbulence.py [--device DEVICE] [--out DIR] [--quick]

Synthetic eddies at the inlet (lbm.SyntheticEddies) stand for the wakes of the grid's bars. They
have the asked intensity and length, but are no solution of the equations of motion: within a length
pressure takes part of them, and behind it they decay as turbulence does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import hetero
import lbm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments

SPEED, INTENSITY = 0.06, 0.12
"""Speed of the stream in cells per step; standard deviation of the fluctuations over it."""

LENGTHS, WIDTH, SPONGE = 20, 6, 4
"""Size of the tunnel in integral lengths of the eddies, along the stream and across it, and of
the sponge before the outlet, which vortices would not leave quietly."""


def build(length: int, device: hetero.Device | str | None) -> lbm.Simulation:
    """Return the flow with eddies of this integral length in cells."""
    eddies = lbm.SyntheticEddies(
        (SPEED, 0.0, 0.0), intensity=INTENSITY, length=float(length), seed=1
    )
    return lbm.Simulation(
        (LENGTHS * length, WIDTH * length, WIDTH * length),
        collision=lbm.RecursiveRegularized(0.508),
        boundaries={"x-": lbm.NonReflectingInlet(eddies), "x+": lbm.PressureOutlet()},
        sponges={"x+": SPONGE * length},
        u=(SPEED, 0.0, 0.0),
        device=device,
    )


def draw(intensity: np.ndarray, length: int, speed: np.ndarray, path: Path) -> Path:
    """Draw the intensities [component, x] and the speed in a plane along the stream."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 6.0), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    x = (np.arange(intensity.shape[1]) + 0.5) / length
    for values, name in zip(intensity, "uvw", strict=True):
        above.plot(x, 100.0 * values, label=f"${name}'/U$")
    above.set_ylabel("intensity in %")
    above.legend()
    extent = (0.0, float(LENGTHS), 0.0, float(WIDTH))
    below.imshow(speed.T / SPEED, origin="lower", extent=extent, aspect="auto", cmap="viridis")
    below.set_xlabel("distance from the inlet in integral lengths")
    figure.savefig(path, dpi=120)
    return path


def main() -> int:
    """Run the example and return its exit status."""
    options = parse_arguments(__doc__.splitlines()[0], "out/grid_turbulence")
    length, passages = (3, 1) if options.quick else (8, 8)
    simulation = build(length, None if options.device == "auto" else options.device)
    passage = round(LENGTHS * length / SPEED)
    simulation.run(passage, progress=True)
    statistics = lbm.Statistics(every=10)
    simulation.run(passages * passage, callbacks=[statistics], progress=True)
    intensity = np.sqrt(statistics.variance_u.mean(axis=(2, 3))) / SPEED
    for place in (0.0, 1.0, 2.0, 5.0, 10.0, 15.0):
        u, v, w = intensity[:, int(place * length)]
        print(f"{place:4.0f} lengths behind the grid: {u:.1%} {v:.1%} {w:.1%}")
    speed = np.sqrt((simulation.u[..., WIDTH * length // 2] ** 2).sum(axis=0))
    print(draw(intensity, length, speed, options.out / "grid-turbulence.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

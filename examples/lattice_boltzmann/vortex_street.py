"""Compute vortex streets behind three cylinders side by side, and draw their vorticity.

    python examples/lattice_boltzmann/vortex_street.py [--device DEVICE] [--out DIR] [--quick]

The flow is the same in every plane, so the domain has a single layer of cells. This script made the
picture of the README, docs/images/vortex-street.png, in a minute on two CPU cores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import hetero
import lbm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments

REYNOLDS, SPEED = 150.0, 0.08
"""Reynolds number of a cylinder's diameter; speed of the stream in cells per step."""

LENGTH, WIDTH = 26, 11
"""Size of the domain in diameters."""

CYLINDERS = ((4.0, 3.4), (4.0, 7.6), (7.5, 5.5))
"""Centres of the cylinders in diameters."""


def build(diameter: int, device: hetero.Device | str | None) -> lbm.Simulation:
    """Return the flow past cylinders of this many cells."""
    nx, ny = LENGTH * diameter, WIDTH * diameter
    x, y, _ = lbm.geometry.centres((nx, ny, 1))
    solid = np.zeros((nx, ny, 1), bool)
    for i, j in CYLINDERS:
        solid |= (x - i * diameter) ** 2 + (y - j * diameter) ** 2 <= (diameter / 2) ** 2
    viscosity = SPEED * diameter / REYNOLDS
    return lbm.Simulation(
        (nx, ny, 1),
        collision=lbm.TRT(0.5 + 3.0 * viscosity, 1 / 12),
        boundaries={
            "x-": lbm.VelocityInlet((SPEED, 0.0, 0.0)),
            "x+": lbm.PressureOutlet(1.0),
            "y": lbm.FreeSlip(),
            "cylinders": lbm.Solid(solid, lbm.NoSlip()),
        },
        u=(SPEED, 0.0, 0.0),
        device=device,
    )


def vorticity(simulation: lbm.Simulation, diameter: int) -> np.ma.MaskedArray:
    """Return dv/dx - du/dy in units of U/D, masked in the cylinders."""
    fluid = simulation.fluid[..., 0]
    u, v = np.where(fluid, simulation.u[:2, :, :, 0], 0.0)
    curl = np.gradient(v, axis=0) - np.gradient(u, axis=1)
    return np.ma.masked_where(~fluid, curl * diameter / SPEED)


def draw(w: np.ma.MaskedArray, path: Path) -> Path:
    """Write the picture, with nothing but the flow on it, as a PNG file with a palette."""
    import matplotlib
    from matplotlib.figure import Figure
    from PIL import Image

    name = "berlin" if "berlin" in matplotlib.colormaps else "RdBu_r"
    # A palette holds 256 colours: those of the map, and one for the cylinders.
    colours = matplotlib.colormaps[name].resampled(255).with_extremes(bad="#d9dde3")
    figure = Figure(figsize=(14.0, 14.0 * WIDTH / LENGTH), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    # A root makes weak vortices far behind the cylinders visible.
    stretched = np.sign(w) * np.abs(w) ** 0.75
    axes.imshow(
        stretched.T,
        origin="lower",
        cmap=colours,
        vmin=-2.5,
        vmax=2.5,
        aspect="auto",
        interpolation="bicubic",
        interpolation_stage="data",
    )
    figure.savefig(path)
    Image.open(path).convert("RGB").quantize(256).save(path, optimize=True)
    return path


def main() -> int:
    """Run the example and return its exit status."""
    options = parse_arguments(__doc__.splitlines()[0], "out/vortex_street")
    diameter, turnovers = (16, 8) if options.quick else (32, 120)
    simulation = build(diameter, None if options.device == "auto" else options.device)
    simulation.run(round(turnovers * diameter / SPEED), progress=True)
    w = vorticity(simulation, diameter)
    print(
        f"{simulation.steps} steps of {w.size} cells; largest vorticity {np.abs(w).max():.1f} U/D"
    )
    print(draw(w, options.out / "vortex-street.png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Flows: the lid-driven cavity, a sphere's drag, decaying vortices, and wakes of three cylinders.

    python examples/lattice_boltzmann/known_flows.py [--device cpu|cuda|auto] [--out DIR] [--quick]

The shortest use of the package is twelve lines:

    import lbm

    s = lbm.Simulation(
        (64, 64, 64),
        collision=lbm.TRT(0.52),
        boundaries={"x": lbm.NoSlip(), "z": lbm.NoSlip(), "y-": lbm.NoSlip(),
                    "y+": lbm.MovingWall((0.1, 0.0, 0.0))},
    )
    s.run(5000, progress=True)
    print(s.u[0, 32, :, 32])
    s.write_vtk("cavity")
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np

import hetero
import lbm
from hetero.devices import parse as parse_device
from hetero.display.figures import new_figure
from lbm._parallel.domain.domains import make_domain
from lbm.flows import CAVITY_RE1000, CavityResult, solve_cavity, solve_sphere, vortices

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import Figure, Row, parse_arguments
from lattice_boltzmann.vortex_street import REYNOLDS, SPEED, build, draw, vorticity


def tour(out: Path, device: hetero.Device, quick: bool) -> list[Row]:
    """Run the flows on one device and compare each with a known solution."""
    return [
        cavity_row(device, quick)[0],
        sphere_row(device, quick),
        vortices_row(device, quick),
    ]


def figures(out: Path, device: hetero.Device, quick: bool) -> list[Figure]:
    """Draw the wakes of three cylinders, and the cavity's profile and speed."""
    _, result = cavity_row(device, quick)
    return [
        draw_wakes(device, quick, out / "lbm-wakes.png"),
        draw_cavity(result, out / "lbm-cavity.png"),
    ]


def measure(simulation: lbm.Simulation) -> tuple[float, float, str]:
    """Return the update rate of a flow in GLUPS, its share of the limit, and the limit."""
    limit = hetero.limits(simulation.device).copy / simulation.problem.bytes_per_update() / 1e9
    domain = make_domain(simulation.problem, simulation.device, simulation.faces)

    def two_steps() -> None:
        for t in range(2):
            domain.step(t)

    seconds = hetero.benchmark(two_steps, device=simulation.device).median / 2
    glups = simulation.problem.cells / seconds / 1e9
    return glups, glups / limit, f"copy bandwidth, {limit:.3g} GLUPS"


@functools.cache  # the table and the figure show the same run
def cavity_row(device, quick: bool) -> tuple[Row, CavityResult]:
    """Compute the lid-driven cavity at Re = 1000."""
    n, allowed = (16, 0.5) if quick else (96, 0.02) if device.kind == "cuda" else (48, 0.05)
    why = "few cells, not yet steady" if quick else "second order: 3.1 % at 48^3, 0.75 % at 96^3"
    result = solve_cavity(n, turns=2.0 if quick else 60.0, device=device)
    check = (
        f"velocity on the centre line off by at most {100 * result.error:.2g} % of the lid's speed "
        "from Albensoeder and Kuhlmann (2005)"
    )
    job = f"cavity {n}^3, Re = 1000, {result.simulation.steps:,} steps"
    glups, share, limit = measure(result.simulation)
    passed = bool(result.error < allowed)
    tolerance = f"{100 * allowed:g} %: {why}"
    row = Row(job, str(device), glups, "GLUPS", share, limit, check, passed, tolerance)
    return row, result


DRAG_TOLERANCE = 0.1
"""Largest allowed difference of the drag from Schiller and Naumann's correlation, relative to it.

Half of it allows for the correlation, which is 5 % below the drag that Dennis and Walker (1971)
computed at Re = 20 (2.73). The other half allows for cells of a sixth of the diameter and for sides
at five diameters from the axis (docs/packages/lbm-accuracy.md).
"""


def sphere_row(device, quick: bool) -> Row:
    """Compute the drag of a sphere at Re = 100 on a GPU, and at Re = 20 on the slower CPU."""
    on_gpu = device.kind == "cuda" and not quick
    diameter, allowed = (4, 0.2) if quick else (16 if on_gpu else 6, DRAG_TOLERANCE)
    reynolds = 100.0 if on_gpu else 20.0
    box = {"width": 14.0, "length": 18.0} if on_gpu else {"width": 10.0, "length": 14.0}
    if quick:
        box = {"width": 5.0, "length": 8.0}
    result = solve_sphere(
        diameter, reynolds=reynolds, tolerance=1e-3, longest=45.0, device=device, **box
    )
    glups, share, limit = measure(result.simulation)
    if quick:
        why = "4 cells in a narrow box"
    else:
        why = (
            "5 % for the correlation, which is that uncertain, 5 % for coarse cells and near sides"
        )
    check = (
        f"drag coefficient {result.drag:.3f}, {100 * result.error:+.1f} % from the "
        f"{result.correlation:.3f} of Schiller and Naumann (1933)"
    )
    job = f"sphere of {diameter} cells, Re = {reynolds:g}, in {result.simulation.shape}"
    passed = bool(abs(result.error) < allowed)
    tolerance = f"±{100 * allowed:g} %: {why}"
    return Row(job, str(device), glups, "GLUPS", share, limit, check, passed, tolerance)


def vortices_row(device, quick: bool) -> Row:
    """Compute the decay of Taylor-Green vortices."""
    n = 16 if quick else 64
    s, exact = vortices(n, speed=0.64 / n, nz=4 if quick else 64, device=device)
    s.run(n * n // 8)
    error = np.abs(s.u - exact(s.steps)).max() / np.abs(exact(s.steps)).max()
    job = f"Taylor-Green vortices {s.shape}, {s.steps} steps"
    glups, share, limit = measure(s)
    allowed = 0.05 if quick else 0.005
    check = f"largest error {100 * error:.2g} % of the largest velocity, against the exact decay"
    tolerance = f"{100 * allowed:g} %: second order, {n} cells for a wavelength"
    passed = bool(error < allowed)
    return Row(job, str(device), glups, "GLUPS", share, limit, check, passed, tolerance)


def draw_wakes(device, quick: bool, path: Path) -> Figure:
    """Draw the vorticity behind three cylinders."""
    diameter = 8 if quick else (12 if device.kind == "cpu" else 32)
    s = build(diameter, device)
    s.run(round((4 if quick else 70) * diameter / SPEED))
    cells = " x ".join(str(length) for length in s.shape[:2])
    caption = (
        f"Vorticity behind three cylinders of {diameter} cells at a Reynolds number of "
        f"{REYNOLDS:g}, after {s.steps:,} steps of {cells} cells: vortices of either sense of "
        "rotation are shed from both sides of each cylinder, and the wakes merge."
    )
    return Figure(
        "What happens behind three cylinders?",
        caption,
        draw(vorticity(s, diameter), path),
        "python examples/lattice_boltzmann/vortex_street.py",
        ("Williamson1996", "Ginzburg2008"),
    )


def draw_cavity(result: CavityResult, path: Path) -> Figure:
    """Draw the profile on the centre line and the speed in the middle plane."""
    s, lid = result.simulation, 0.1
    canvas = new_figure((10.0, 4.4))
    left, right = canvas.subplots(1, 2)
    left.plot(result.u, result.height, label=f"{s.shape[0]}^3 cells")
    left.plot(
        CAVITY_RE1000[:, 1], CAVITY_RE1000[:, 0], "o", label="Albensoeder and Kuhlmann (2005)"
    )
    left.set(xlabel="velocity along the lid / lid's speed", ylabel="height / edge")
    left.set_title("On the vertical centre line")
    left.legend(loc="lower right", frameon=False)
    u = s.u[:, :, :, s.shape[2] // 2] / lid
    speed = np.sqrt((u**2).sum(axis=0))
    image = right.imshow(speed.T, origin="lower", extent=(0, 1, 0, 1), vmin=0.0)
    centres = (np.arange(s.shape[0]) + 0.5) / s.shape[0]
    right.streamplot(
        centres, centres, u[0].T, u[1].T, color="white", linewidth=0.6, density=0.9, arrowsize=0.7
    )
    right.set(xlim=(0, 1), ylim=(0, 1), xlabel="x / edge", ylabel="y / edge")
    right.set_title("In the middle plane")
    canvas.colorbar(image, ax=right, label="speed / lid's speed")
    canvas.savefig(path, dpi=150)
    caption = (
        "A cubic box whose lid moves to the right, at a Reynolds number of 1000. The profile "
        f"differs from the published one by at most {100 * result.error:.2g} % of the lid's speed."
    )
    return Figure(
        "Is it right? A box with a moving lid",
        caption,
        path,
        "python examples/lattice_boltzmann/known_flows.py",
        ("Albensoeder2005", "Schiller1933", "Dennis1971"),
    )


def main() -> int:
    """Run the example and return its exit status."""
    options = parse_arguments(__doc__.splitlines()[0], "out/lbm")
    device = parse_device(options.device) or hetero.available()[-1]
    rows = tour(options.out, device, options.quick)
    for row in rows:
        print(f"{row.verdict}  {row.job} on {row.device}: {row.rate_text}")
        print(f"      {row.check}; allowed: {row.tolerance}")
    for figure in figures(options.out, device, options.quick):
        print(figure.path)
    return 0 if all(row.passed for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

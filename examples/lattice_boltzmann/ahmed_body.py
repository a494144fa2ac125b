"""Make the STL file of an Ahmed body, the simplest car, and compute its drag by a case file.

    python examples/lattice_boltzmann/ahmed_body.py [--device DEVICE] [--out DIR] [--quick]

The body of Ahmed, Ramm and Faltin (1984) is a box with a round nose and a slanted rear end. The
script writes ahmed-body.stl beside a copy of ahmed-body.toml, and runs that case. Its Reynolds
number is 696, in slow air, at which 40 cells are enough without a turbulence model. In the
experiments it was four million, so that their drag coefficient, 0.285, cannot be compared: here it
is 1.5.
"""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

import numpy as np
from scipy.spatial import ConvexHull

import lbm
from lbm.__main__ import main as run_lbm

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments

CASE = Path(__file__).with_name("ahmed-body.toml")

LENGTH, WIDTH, HEIGHT = 1044.0, 389.0, 288.0
"""Size of the body in mm."""

NOSE_RADIUS, SLANT_LENGTH = 100.0, 222.0
"""Radius of the edges of the nose, and length of the slanted surface at the rear, in mm."""


def make_ahmed_body(slant: float = 25.0) -> np.ndarray:
    """Return the triangles of the body, float64 [triangle, corner, xyz], in mm.

    The stream runs along x and z points up. `slant` is the angle of the rear end in degrees. The
    body is convex: it is the hull of rectangles across the stream. Its stilts are left out.
    """
    points = []
    for angle in np.linspace(0.0, np.pi / 2, 25):  # around the edges of the nose
        x, inset = NOSE_RADIUS * (1 - np.cos(angle)), NOSE_RADIUS * (1 - np.sin(angle))
        points += _rectangle(x, WIDTH / 2 - inset, inset, HEIGHT - inset)
    slope = np.radians(slant)
    points += _rectangle(LENGTH - SLANT_LENGTH * np.cos(slope), WIDTH / 2, 0.0, HEIGHT)
    points += _rectangle(LENGTH, WIDTH / 2, 0.0, HEIGHT - SLANT_LENGTH * np.sin(slope))
    corners = np.array(points)
    hull = ConvexHull(corners)
    triangles = corners[hull.simplices]
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    inwards = (normals * hull.equations[:, :3]).sum(axis=1) < 0.0
    triangles[inwards] = triangles[inwards, ::-1]
    return triangles


def _rectangle(x: float, half_width: float, low: float, high: float) -> list[list[float]]:
    """Return the corners of a rectangle across the stream."""
    return [[x, y, z] for y in (-half_width, half_width) for z in (low, high)]


def write_stl(path: Path, triangles: np.ndarray) -> Path:
    """Write triangles as a binary STL file, with normals of 0: readers compute them."""
    layout = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records = np.zeros(len(triangles), layout)
    records["corners"] = triangles
    header = b"Ahmed body, in mm".ljust(80) + struct.pack("<I", len(triangles))
    path.write_bytes(header + records.tobytes())
    return path


def main() -> int:
    """Run the example and return its exit status."""
    options = parse_arguments(__doc__.splitlines()[0], "out/ahmed_body")
    stl = write_stl(options.out / "ahmed-body.stl", make_ahmed_body())
    body = lbm.read_mesh(stl)
    print(f"{stl}: {len(body.faces)} triangles, frontal area {body.frontal_area() / 1e6:.4f} m^2")
    case = shutil.copy(CASE, options.out)
    arguments = ["run", str(case), "--out", str(options.out / "flow"), "--overwrite"]
    if options.device != "auto":
        arguments += ["--device", str(options.device)]
    if options.quick:
        arguments += ["--steps", "400"]  # while the stream still gathers speed
    return run_lbm(arguments)


if __name__ == "__main__":
    sys.exit(main())

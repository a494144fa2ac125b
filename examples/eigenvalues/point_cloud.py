"""Compute the normals of a surface from 100,000 scanned points, by as many covariance matrices.

    python examples/eigenvalues/point_cloud.py [--device cpu|auto] [--out DIR] [--quick]

The points lie on a torus, with errors as a scanner makes them. The covariance matrix of the
neighbours of a point is 3 x 3, and its eigenvector with the smallest eigenvalue is the normal of
the surface. `sbth.eigh` solves all of these matrices in one call. The normals of a torus are known.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from scipy.spatial import KDTree

import sbth
from hetero.display.figures import PALETTE, new_figure

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _shared import parse_arguments, require_cpu

RING, TUBE = 1.0, 0.4
"""Radii of the torus."""

NEIGHBOURS = 40
"""Points of which each covariance matrix is made."""


def scan_torus(count: int, error: float) -> tuple[np.ndarray, np.ndarray]:
    """Return points (count, 3) spread evenly over a torus, with errors, and the normals there."""
    rng = np.random.default_rng(1)
    angle = rng.uniform(0.0, 2.0 * np.pi, 3 * count)
    area = RING + TUBE * np.cos(angle)
    angle = angle[rng.uniform(0.0, RING + TUBE, angle.size) < area][:count]
    around = rng.uniform(0.0, 2.0 * np.pi, count)
    outward = np.stack([np.cos(around), np.sin(around), np.zeros(count)], axis=1)
    normals = np.cos(angle)[:, None] * outward
    normals[:, 2] = np.sin(angle)
    distance = TUBE + error * rng.standard_normal(count)
    return RING * outward + distance[:, None] * normals, normals


def covariances(points: np.ndarray) -> np.ndarray:
    """Return the covariance matrices (count, 3, 3) of the neighbours of all points."""
    _, nearest = KDTree(points).query(points, NEIGHBOURS, workers=-1)
    around = points[nearest]
    around -= around.mean(axis=1, keepdims=True)
    return np.asarray(around.transpose(0, 2, 1) @ around / (NEIGHBOURS - 1))


def draw(points: np.ndarray, normals: np.ndarray, angles: np.ndarray, path: Path) -> Path:
    """Draw the cloud, lit by its normals, and the errors of the normals; return the path."""
    figure = new_figure((11, 4.6), dpi=150)
    left = figure.add_subplot(1, 2, 1)
    tilt = np.deg2rad(55.0)
    view = np.array([0.0, -np.sin(tilt), np.cos(tilt)])
    depth = points @ view
    towards = normals @ view
    facing = normals * np.where(towards < 0.0, -1.0, 1.0)[:, None]
    light = facing @ (np.array([0.5, 0.3, 0.8]) / np.linalg.norm([0.5, 0.3, 0.8]))
    up = points[:, 1] * np.cos(tilt) + points[:, 2] * np.sin(tilt)
    order = np.argsort(depth)
    left.scatter(points[order, 0], up[order], c=light[order], s=8.0, cmap="cividis", linewidths=0)
    left.set_aspect("equal")
    left.set_axis_off()
    right = figure.add_subplot(1, 2, 2)
    right.hist(angles, 80, range=(0.0, float(np.quantile(angles, 0.999))), color=PALETTE[0])
    right.set(xlabel="error of the normal / degrees", ylabel="points")
    figure.savefig(path)
    return path


def main() -> int:
    """Run the example; return 1 if the normals or the eigenvalues are wrong."""
    options = parse_arguments(__doc__.splitlines()[0], "out/sbth_point_cloud")
    require_cpu(options.device, "batches of matrices are solved in host memory")
    count = 5_000 if options.quick else 100_000
    spacing = np.sqrt(4.0 * np.pi**2 * RING * TUBE / count)
    points, normals = scan_torus(count, 0.1 * spacing)
    matrices = covariances(points)
    start = time.perf_counter()
    values, vectors = sbth.eigh(matrices, device="cpu")
    seconds = time.perf_counter() - start
    cosines = np.abs(np.sum(vectors[:, :, 0] * normals, axis=1))
    angles = np.rad2deg(np.arccos(np.minimum(cosines, 1.0)))
    traces = np.trace(matrices, axis1=1, axis2=2)
    difference = float(np.max(np.abs(values.sum(axis=1) - traces) / traces))
    console = Console(width=None if sys.stdout.isatty() else 120)  # a log file has no width
    console.print(f"{count:,} covariance matrices in {seconds:.2f} s, first call included")
    console.print(f"errors of normals: median {np.median(angles):.2f}, 99 % below "
                  f"{np.quantile(angles, 0.99):.2f} degrees")  # fmt: skip
    console.print(f"sums of eigenvalues differ from traces by {difference:.1e} at most")
    figure = draw(points, vectors[:, :, 0], angles, options.out / "sbth_point_cloud.png")
    console.print(f"Figure: {figure}")
    return int(np.median(angles) > 3.0 or difference > 1e-13)


if __name__ == "__main__":
    sys.exit(main())

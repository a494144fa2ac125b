"""Shapes of solids as boolean arrays [x, y, z]: True in cells that are not fluid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from hetero.arrays import as_real
from hetero.validation import check_in_range, check_integer, check_shape, describe
from lbm.boundaries.limits import check_numbers, check_vector
from lbm.lattices.extent import Triple

LARGEST_RADIUS = 1e12
"""Largest radius in cells: its square is exact enough to compare with that of any distance."""


def check_domain(name: str, shape: Sequence[int]) -> tuple[int, int, int]:
    """Return the shape of a domain as three integers."""
    sizes = check_shape(name, shape)
    if len(sizes) != 3:
        raise ValueError(f"{name} must be three integers (nx, ny, nz), got {describe(shape)}")
    return sizes


def centres(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the coordinates of the centres of the cells, in cells, ready to broadcast."""
    x, y, z = np.ogrid[tuple(slice(0.5, n) for n in check_domain("shape", shape))]
    return x, y, z


def _images(shape: Triple, periodic: str, axes: Sequence[int]) -> list[tuple[float, ...]]:
    """Return by how much a body is moved along `axes` in a domain with these periodic axes."""
    if not isinstance(periodic, str) or set(periodic) - set("xyz"):
        raise ValueError(f"periodic must name axes, such as 'xy', got {describe(periodic)}")
    along = [(-shape[a], 0, shape[a]) if "xyz"[a] in periodic else (0,) for a in axes]
    return list(itertools.product(*along))


def sphere(
    shape: tuple[int, int, int], centre: Sequence[float], radius: float, periodic: str = ""
) -> np.ndarray:
    """Mark the cells whose centre lies within `radius` (cells) of `centre`.

    Along the axes in `periodic`, such as "xy", the sphere goes on at the other end of the domain;
    what lies outside along the other axes is cut off. (A `lbm.Sphere` goes on without this.)
    """
    shape = check_domain("shape", shape)
    centre = check_vector("centre", centre)
    radius = check_in_range("radius", radius, 0.0, LARGEST_RADIUS)
    cells = np.zeros(shape, bool)
    for shift in _images(shape, periodic, (0, 1, 2)):
        image = [c + s for c, s in zip(centre, shift, strict=True)]
        # Compute only the cube around the sphere, because large domains are mostly outside.
        cube = tuple(
            slice(max(0, int(np.clip(c - radius, 0, n))), int(np.clip(c + radius + 1, 0, n)))
            for c, n in zip(image, shape, strict=True)
        )
        x, y, z = np.ogrid[cube]
        cx, cy, cz = (c - 0.5 for c in image)
        cells[cube] |= (x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 < radius**2
    return cells


def cylinder(
    shape: tuple[int, int, int],
    centre: Sequence[float],
    radius: float,
    axis: int = 2,
    periodic: str = "",
) -> np.ndarray:
    """Mark the cells within `radius` of a line along `axis` (0, 1, 2).

    `centre` holds two numbers, the coordinates of the line across the axis; `periodic` is as in
    `sphere`.
    """
    shape = check_domain("shape", shape)
    axis = check_integer("axis", axis, 0, 2)
    centre = check_numbers("centre", centre, 2)
    radius = check_in_range("radius", radius, 0.0, LARGEST_RADIUS)
    across = [a for a in range(3) if a != axis]
    grid = [centres(shape)[a] for a in across]
    inside = np.zeros(1, bool)
    for shift in _images(shape, periodic, across):
        image = [c + s for c, s in zip(centre, shift, strict=True)]
        inside = inside | (sum((g - c) ** 2 for g, c in zip(grid, image, strict=True)) < radius**2)
    return np.broadcast_to(inside, shape).copy()


def heights(shape: tuple[int, int, int], surface: np.ndarray) -> np.ndarray:
    """Mark the cells below a height map: `surface[x, z]` in cells along +y."""
    surface = as_real("surface", surface)
    nx, ny, nz = check_domain("shape", shape)
    if surface.shape != (nx, nz):
        raise ValueError(f"surface must have shape {(nx, nz)}, got {surface.shape}")
    if not np.isfinite(surface).all():
        raise ValueError("surface must be finite: fill the gaps in the height map")
    return np.arange(0.5, ny)[None, :, None] < surface[:, None, :]

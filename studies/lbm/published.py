"""Cavity at Re 1000 and spheres beside published values, over the magic parameter and the domain.

Walls are staircases and flat faces, as in `lbm.flows`. `lbm-magic` compares smaller flows with
finer grids; this study compares with the literature.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from lbm.flows import CAVITY_RE1000, solve_sphere
from studies.lbm.magic import cavity_profiles, profile_errors
from studies.study import Study

CAVITY_RE1000_V = np.array(
    [
        *((0.0, 0.0), (0.0625, 0.21738), (0.0703, 0.22746), (0.0781, 0.23503)),
        *((0.0938, 0.24407), (0.1563, 0.22924), (0.2266, 0.1758), (0.2344, 0.16987)),
        *((0.5, 0.03674), (0.8047, -0.15223), (0.8594, -0.31117), (0.9063, -0.43423)),
        *((0.9453, -0.33511), (0.9531, -0.29032), (0.9609, -0.24095), (0.9688, -0.18864)),
        (1.0, 0.0),
    ]
)
"""(distance from the upstream wall, v / U) on the horizontal centre line of the cubic cavity at
Re = 1000, v towards the lid: Albensoeder and Kuhlmann, J. Comput. Phys. 206 (2005) 536, table 6."""

MAGIC_NUMBERS = (1 / 4, 1 / 12, 1 / 16, 0.03)
"""Magic parameters of the cavities."""

CELLS = 64
"""Cells along the edge of a cavity: with fewer, the jet at the downstream wall is not resolved."""


class Stream(NamedTuple):
    """A sphere in a stream between free-slip sides.

    Attributes
    ----------
    cells : cells of its diameter
    reynolds : Reynolds number of its diameter
    length, width : box in diameters
    magic : magic parameter of TRT
    """

    cells: int
    reynolds: float
    length: float
    width: float
    magic: float = 0.25


STREAMS = (
    Stream(6, 20.0, 8.0, 5.0),
    Stream(6, 20.0, 14.0, 10.0),
    Stream(6, 20.0, 14.0, 10.0, 0.01),
    Stream(8, 20.0, 14.0, 10.0),
    Stream(6, 20.0, 18.0, 14.0),
    Stream(8, 100.0, 8.0, 5.0, 0.03),
    Stream(12, 100.0, 8.0, 5.0),
)
"""Spheres that are compared with the correlation of Schiller and Naumann (1933)."""

TOLERANCE = 5e-4
"""Change of the drag within three diameters at which a run ends: the drag falls slowly."""


CAVITY_HEADS = "magic", "largest difference of u in % of U", "of v"
HEADS = "cells of the diameter", "Re", "box in diameters", "magic", "drag", "difference in %"
"""Columns of the table of cavities and of that of spheres."""


def run(study: Study) -> dict:
    """Compute the cavities and the spheres, and print their deviations."""
    magic, n = (MAGIC_NUMBERS[:1], 8) if study.quick else (MAGIC_NUMBERS, CELLS)
    expected = [(table[:, 0], table[:, 1]) for table in (CAVITY_RE1000, CAVITY_RE1000_V)]
    cavities = ((m, *profile_errors(cavity_profiles(study, n, 1000.0, m), expected)) for m in magic)
    study.table(f"Cavity at Re = 1000, {n}^3 cells, centre lines", CAVITY_HEADS, cavities)
    streams = study.table("Spheres beside Schiller and Naumann (1933)", HEADS, spheres(study))
    return {"largest difference of the drag in %": max(row[-1] for row in streams)}


def spheres(study: Study) -> Iterator[tuple]:
    """Compute each of STREAMS; yield its row."""
    streams = [Stream(4, 20.0, 3.0, 2.0)] if study.quick else STREAMS
    longest = 3.0 if study.quick else 60.0
    for cells, reynolds, length, width, magic in streams:
        domain: Any = {"length": length, "width": width, "magic": magic}  # arguments of `sphere`
        result = solve_sphere(cells, reynolds=reynolds, tolerance=TOLERANCE, longest=longest,
                              device=study.device, **domain)  # fmt: skip
        difference = 100.0 * (result.drag / result.correlation - 1.0)
        box = f"{length:g} x {width:g} x {width:g}"
        yield cells, reynolds, box, magic, result.drag, difference

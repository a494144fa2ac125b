"""The profile of a cavity along its centre line, from all ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lbm.simulation import Simulation


def read_centre_line(s: Simulation) -> np.ndarray:
    """Return u along the vertical centre line of a cube, on all ranks.

    With an even number of cells it is the mean of the four columns around the line.
    """
    n = s.shape[0]
    half = (n // 2 - 1, n // 2 + 1) if n % 2 == 0 else (n // 2, n // 2 + 1)
    line: np.ndarray = np.empty((half[1] - half[0], n, half[1] - half[0]), s.u.dtype)
    columns, piece = (half, (0, n), half), None
    first = [max(a, low) for a, (low, _) in zip(s.region.start, columns, strict=True)]
    last = [min(b, high) for b, (_, high) in zip(s.region.stop, columns, strict=True)]
    if all(a < b for a, b in zip(first, last, strict=True)):
        local = tuple(
            slice(a - start, b - start)
            for a, b, start in zip(first, last, s.region.start, strict=True)
        )
        target = tuple(
            slice(a - low, b - low) for a, b, (low, _) in zip(first, last, columns, strict=True)
        )
        piece = target, s.u[0][local]
    for each in s.domain.ranks.gather_all(piece):
        if each is not None:
            line[each[0]] = each[1]
    profile: np.ndarray = line.mean(axis=(0, 2))
    return profile

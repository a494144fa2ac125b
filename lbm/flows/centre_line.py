"""The profile of a cavity along its centre line, from all ranks."""

from __future__ import annotations

import numpy as np

from lbm.lattices.extent import Extent
from lbm.simulation import Simulation


def read_centre_line(s: Simulation) -> np.ndarray:
    """Return u along the vertical centre line of a cube, on all ranks.

    With an even number of cells it is the mean of the four columns around the line.
    """
    n = s.shape[0]
    first, last = (n - 1) // 2, n // 2 + 1
    columns = Extent((first, 0, first), (last, n, last))
    line: np.ndarray = np.empty(columns.shape, s.u.dtype)
    local = columns.overlap(s.region)
    piece = local and (
        local.relative_to(columns).slices,
        s.u[0][local.relative_to(s.region).slices],
    )
    for each in s.domain.ranks.gather_all(piece):
        if each is not None:
            line[each[0]] = each[1]
    return line.mean(axis=(0, 2))

"""Turbulent inlets on the CPU; `lbm._coupled.turbulent_inlets.InletRows` has the methods.

Sums over eddies have the same order for any number of threads and parts.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from hetero.jit import parallel
from lbm._coupled.turbulent_inlets.formulas import place_eddy, tent
from lbm.geometry.wall_types import HALF_STEP


def create_rows(engine, velocity, rows) -> InletRows:
    """Create the rows of an inlet in host memory."""
    return InletRows(engine, velocity, rows)


@parallel
def place_eddies(passages, sizes, lengths, eddies):
    """Compute all eddies, float64 [eddy, 5]; `formulas.place_eddy` has the numbers."""
    for e in prange(eddies.shape[0]):
        y, z, a, b, c = place_eddy(np.int64(e), passages, sizes, lengths)
        eddies[e, 0], eddies[e, 1] = y, z
        eddies[e, 2], eddies[e, 3], eddies[e, 4] = a, b, c


@parallel
def sum_eddies(eddies, sizes, lengths, root, weights, out, inflow):
    """Compute the fluctuations at the points of the half-cell grid, and the mass they bring in.

    root : float64 [3, 3, row or 1, column or 1], square roots of the Reynolds stresses
    weights : float64 [3, row, column], mass that a velocity of 1 at a point brings in
    out : float64 [3, row, column], velocities
    inflow : float64 [row], mass of a row of points
    """
    rows, columns = out.shape[1], out.shape[2]
    tiles, in_row = sizes[1], (sizes[2] + 2) * sizes[5]
    width, column_reach = lengths[0], lengths[3]
    dy, dz = 0.5 / lengths[2], 0.5 / column_reach  # distances of points, in reaches
    row_step, column_step = int(root.shape[2] > 1), int(root.shape[3] > 1)
    for r in prange(rows):
        row = np.int64(r)
        for column in range(columns):
            for k in range(3):
                out[k, row, column] = 0.0
        tile = min(int(0.5 * row / width), tiles - 1)
        for e in range(tile * in_row, (tile + 3) * in_row):
            share = tent(dy * row - eddies[e, 0])
            if share > 0.0:
                z = eddies[e, 1]
                first = max(0, math.ceil(2.0 * column_reach * (z - 1.0)))
                last = min(columns - 1, math.floor(2.0 * column_reach * (z + 1.0)))
                for column in range(first, last + 1):
                    height = share * tent(dz * column - z)
                    for k in range(3):
                        out[k, row, column] += height * eddies[e, 2 + k]
        total = 0.0
        i = row * row_step
        for column in range(columns):
            a, b, c = out[0, row, column], out[1, row, column], out[2, row, column]
            j = column * column_step
            for k in range(3):
                u = root[k, 0, i, j] * a + root[k, 1, i, j] * b + root[k, 2, i, j] * c
                out[k, row, column] = u
                total += weights[k, row, column] * u
        inflow[row] = total


class InletRows:
    """The rows of a turbulent inlet in host memory."""

    def __init__(self, engine, velocity, rows):
        first, last = rows.first, rows.first + len(rows.points)
        self._velocity, self._table = velocity, engine.wall_types[first:last, 2:]
        self._places = velocity.plane.find_places(*rows.points.T)

    def write(self, step):
        row, column = self._places
        self._table[...] = self._velocity.velocities(step + HALF_STEP)[:, row, column].T

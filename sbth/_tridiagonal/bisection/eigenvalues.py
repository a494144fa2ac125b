"""Eigenvalues of a tridiagonal matrix whose arguments are checked: by bisection, or by LAPACK."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np

from hetero import region
from hetero.arrays import Workspace
from hetero.devices import Device
from hetero.display.progress_bar import loop_progress
from sbth._problem.blocks import partition_tridiagonal
from sbth._problem.inspection import Sizes, is_coupled, sizes_of, unscale
from sbth._problem.problem import Problem, Reduced
from sbth._problem.selection import Selection
from sbth._tridiagonal import bisection
from sbth._vendor import drivers

_DOUBLE, _SINGLE = 2.0**-53, 2.0**-30
"""Length of an interval at which an eigenvalue has converged, relative to the norm: for a matrix
that was reduced in float32, which leaves errors of 2^-23 of the norm, the longer one."""


def solve_values(
    problem: Problem, reduced: Reduced, least_order: int, least_of_blocks: int
) -> np.ndarray:
    """Compute the selected eigenvalues of a tridiagonal matrix: float64, in host memory.

    LAPACK solves a matrix below the order `least_order`, and blocks below `least_of_blocks`.
    The selection and the results refer to the matrix without the factor, so that a result overflows
    only if the eigenvalue does.
    """
    d, e, factor, *_ = reduced.in_double()
    selection, sizes = problem.selection, reduced.sizes

    def solve(
        d: np.ndarray, e: np.ndarray, sizes: Sizes, selection: Selection, least_order: int
    ) -> np.ndarray:
        """Return the selected eigenvalues of a block of similar magnitude; LAPACK computes all."""
        with region("eigenvalues of the tridiagonal matrix"):
            if d.size < least_order:
                values = drivers.tridiagonal_values(d, e, sizes)  # which scales the matrix
                return selection.select_sorted(unscale(values, factor))
            is_single = reduced.was_reduced and reduced.d.dtype == np.float32
            device, precision = problem.device, _SINGLE if is_single else _DOUBLE
            with nullcontext() if device.kind == "cpu" else device.active():
                return Bisection(d, e, device, factor, precision).values(selection)

    with loop_progress("bisection", enabled=problem.progress):
        if is_coupled(sizes):
            return solve(d, e, sizes, selection, least_order)
        partition = partition_tridiagonal(d, e)
        if partition.is_whole:
            return solve(d, e, sizes, selection, least_order) if d.size else np.zeros(0)
        parts = [d[partition.single] / factor]
        for rows in partition.groups:
            matrix = d[rows], np.where(np.diff(rows) == 1, e[rows[:-1]], 0.0)
            part = selection.of_part()
            parts.append(solve(*matrix, sizes_of(*matrix), part, least_of_blocks))
        return selection.select(np.concatenate(parts))


def scale_for(d: np.ndarray, e: np.ndarray) -> float:
    """Return a power of two that scales a tridiagonal matrix so that squares stay within range."""
    largest = max(np.max(np.abs(d)), np.max(np.abs(e), initial=0.0))
    return 2.0 ** min(-math.frexp(largest)[1], 1022) if largest > 0.0 else 1.0


class Bisection:
    """A tridiagonal matrix on a device, scaled so that squares stay within range.

    `factor` is the power of two by which the given matrix was multiplied; selections refer to the
    matrix without it. `d` and `e` are the scaled matrix in host memory, `scale` says by how much.
    `precision` is the length of an interval at which an eigenvalue has converged, relative to the
    norm.
    """

    def __init__(
        self,
        d: np.ndarray,
        e: np.ndarray,
        device: Device,
        factor: float,
        precision: float = _DOUBLE,
    ):
        self.scale = scale_for(d, e)
        self.d, self.e = d * self.scale, e * self.scale
        below = np.zeros(len(d) + 1)  # the subdiagonal between two zeros
        below[1:-1] = self.e
        radii = np.abs(below[1:]) + np.abs(below[:-1])
        low, high = float(np.min(self.d - radii)), float(np.max(self.d + radii))  # Gershgorin discs
        slack = 2.0**-50 * len(d) * max(abs(low), abs(high)) + 2.0**-1000
        self.low, self.high = low - slack, high + slack
        squares = below[:-1] ** 2
        self.tiny = float(np.finfo(float).tiny) * max(1.0, float(np.max(squares)))
        self.tolerance = precision * max(abs(self.low), abs(self.high))
        self.factor = factor
        self.order = len(d)
        self.space = None if device.kind == "cpu" else Workspace(device)
        self.matrix = self.d, squares
        if self.space is not None:
            self.matrix = self.space.input("d", self.d), self.space.input("e", squares)
        self.loops = bisection.loops(device)

    def values(self, selection: Selection) -> np.ndarray:
        """Return the selected eigenvalues, in ascending order."""
        tolerance = min(self.scaled(selection.tolerance), self.high - self.low)
        values = self.scaled_values(*self.bounds(selection), tolerance)
        return unscale(values, self.scale, self.factor)

    def bounds(self, selection: Selection) -> tuple[int, int]:
        """Return the index of the first selected eigenvalue, and that after the last one."""
        if selection.kind == "v":
            return self.indices_between(*(self.scaled(v) for v in (selection.low, selection.high)))
        if selection.kind == "i":
            return int(selection.low), int(selection.high) + 1
        return 0, self.order

    def indices_between(self, low: float, high: float) -> tuple[int, int]:
        """Return what `bounds` does for the scaled eigenvalues in (low, high]."""
        # Counts below the next float, since the interval includes its right end only.
        ends = np.nextafter((low, high), np.inf)
        first, stop = self.count_below(np.clip(ends, self.low, self.high))
        return int(first), int(stop)

    def scaled_values(self, first: int, stop: int, tolerance: float = 0.0) -> np.ndarray:
        """Return the eigenvalues number first, ..., stop - 1 of the scaled matrix."""
        if stop <= first:
            return np.zeros(0)
        shape, space = (stop - first,), self.space
        limits = self.tiny, float(max(self.tolerance, tolerance)), self.low, self.high
        values = np.empty(shape) if space is None else space.output(shape)
        self.loops.bisect(*self.matrix, limits, first, values, 0 if space is None else space.stream)
        # Neighbours that agree within rounding may be in either order.
        return np.sort(values if space is None else space.result(values, shape))

    def scaled(self, value: float) -> float:
        """Scale a value like the matrix."""
        with np.errstate(over="ignore"):
            return np.float64(value) * self.factor * self.scale

    def count_below(self, x: np.ndarray) -> np.ndarray:
        """Return the number of eigenvalues of the scaled matrix below each x."""
        if self.space is None:
            counts = np.empty(x.shape, np.int64)
            self.loops.count_below(*self.matrix, self.tiny, x, counts)
            return counts
        counts, points = self.space.output(x.shape, np.int64), self.space.input("x", x)
        self.loops.count_below(*self.matrix, self.tiny, points, counts, self.space.stream)
        return self.space.result(counts, x.shape)

"""Readings of cells between two steps on the CPU, and writings: surveys for bad cells, copies."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from lbm._kernels.cpu_changes import make_cell_x, make_sweep
from lbm._kernels.cpu_rows import (
    SCRATCH_ROW,
    inner_loop,
    make_copies,
    make_moments_loops,
    make_moments_reader,
    moments_row,
)
from lbm._kernels.formulas.cell_formulas import make_cell_functions
from lbm._kernels.formulas.scalar_formulas import add_half_impulse, total
from lbm._kernels.formulas.stability_formulas import is_good
from lbm._kernels.intrinsics.vector_memory import pointer_to
from lbm.lattices import Lattice
from lbm.lattices.precision import PRECISIONS


class Survey(NamedTuple):
    """The result of a survey: flag[0] is set to 1 if a cell may be bad."""

    flag: np.ndarray


class DrivenSurvey(NamedTuple):
    """The result of a survey, as that of `Survey`, and the scalar that drives the flow, as that of
    `Buoyancy`."""

    flag: np.ndarray
    g: np.ndarray
    bx: float
    by: float
    bz: float
    reference: float


class Moments(NamedTuple):
    """Moments that are read: data [4, row, x], rho - 1 and the velocity."""

    data: np.ndarray


class Transfer(NamedTuple):
    """A copy between memory and `data` [k, row, x].

    Attributes
    ----------
    data : rho - 1 and the velocity if `moments`, populations otherwise
    reads : whether to copy from memory to `data`, or else back
    """

    data: np.ndarray
    reads: bool
    moments: bool


@functools.cache
def make_survey(lattice: Lattice, precision: str, forced: bool) -> Callable:
    """Make the sweep of `Engine.survey`, whose layer is `Survey`; see `make_sweep`."""
    first = moments_row(lattice)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    read_moments = make_moments_reader(lattice, precision, velocity)

    @inner_loop
    def judge(memory, offsets, j, scratch, segment, layer, force):
        """Set the flag if one of the cells is not good."""
        start, n = segment[0], segment[1]
        read_moments(memory, offsets, j, scratch, start, n, force)
        bad = np.int64(0)
        for i in range(first, first + n):
            drho, ux = scratch[i], scratch[i + SCRATCH_ROW]
            uy, uz = scratch[i + 2 * SCRATCH_ROW], scratch[i + 3 * SCRATCH_ROW]
            bad += np.int64(0) if is_good(drho, ux, uy, uz) else np.int64(1)
        if bad:
            layer.flag[0] = 1

    return make_sweep(lattice, precision, judge)


@functools.cache
def make_driven_survey(lattice: Lattice, precision: str, forced: bool) -> Callable:
    """Make the sweep of `Engine.survey` of a flow that a scalar drives, whose layer is
    `DrivenSurvey`; see `make_sweep`."""
    form, first = PRECISIONS[precision], moments_row(lattice)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    read_moments = make_moments_reader(lattice, precision, velocity)
    cell_x = make_cell_x(form.lanes)

    @inner_loop
    def judge(memory, offsets, j, scratch, segment, layer, force):
        """Set the flag if one of the cells is not good with half of the impulse of its scalar."""
        start, n, s, y, z, _, nx = segment
        read_moments(memory, offsets, j, scratch, start, n, force)
        numbers = layer.bx, layer.by, layer.bz, layer.reference
        _, nz, ny, _ = layer.g.shape
        # Pointers, because indices of arrays may be negative, which keeps loops from vectors.
        g, row, slot = pointer_to(layer.g), (z * ny + y) * nx, nz * ny * nx
        bad = np.int64(0)
        for i in range(n):
            m, k = first + i, row + cell_x(s + i, nx)
            drho, ux = scratch[m], scratch[m + SCRATCH_ROW]
            uy, uz = scratch[m + 2 * SCRATCH_ROW], scratch[m + 3 * SCRATCH_ROW]
            value = total((g[k], g[k + slot], g[k + 2 * slot], g[k + 3 * slot], g[k + 4 * slot],
                           g[k + 5 * slot], g[k + 6 * slot]))  # fmt: skip
            ux, uy, uz = add_half_impulse(drho, ux, uy, uz, value, numbers)
            bad += np.int64(0) if is_good(drho, ux, uy, uz) else np.int64(1)
        if bad:
            layer.flag[0] = 1

    return make_sweep(lattice, precision, judge)


@functools.cache
def make_moments_copy(lattice: Lattice, precision: str, forced: bool) -> Callable:
    """Make the sweep of `Engine.copy_moments`, whose layer is `Moments`; see `make_sweep`."""
    form, first = PRECISIONS[precision], moments_row(lattice)
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    read_moments = make_moments_reader(lattice, precision, velocity)
    cell_x = make_cell_x(form.lanes)

    @inner_loop
    def copy(memory, offsets, j, scratch, segment, layer, force):
        """Copy the moments of the cells."""
        start, n, s, _, _, r, nx = segment
        read_moments(memory, offsets, j, scratch, start, n, force)
        data, rows = pointer_to(layer.data), layer.data.shape[1]
        for k in range(4):
            row, of_scratch = (k * rows + r) * nx, first + k * SCRATCH_ROW
            for i in range(n):
                data[row + cell_x(s + i, nx)] = scratch[of_scratch + i]

    return make_sweep(lattice, precision, copy)


@functools.cache
def make_transfer(lattice: Lattice, precision: str, forced: bool) -> Callable:
    """Make the sweep that copies populations between memory and data, or sets them to equilibria;
    its layer is `Transfer`. See `make_sweep`."""
    form, size = PRECISIONS[precision], lattice.size
    velocity, _ = make_cell_functions(lattice, lambda f, e, rates: f, True, forced)
    gather, scatter = make_copies(lattice, precision, form.compute)
    measure, equilibrate = make_moments_loops(lattice, form.compute, velocity)
    cell_x, of_moments = make_cell_x(form.lanes), moments_row(lattice)

    @inner_loop
    def transfer(memory, offsets, j, scratch, segment, layer, force):
        """Copy cells from memory to data by way of a scratch array, or back."""
        start, n, s, _, _, r, nx = segment
        lane, data, first = np.int64(0), layer.data, of_moments if layer.moments else 0
        if layer.reads:
            gather(memory, offsets, j, start, scratch, lane, n, nx)
            if layer.moments:
                measure(scratch, n, force)
        for q in range(data.shape[0]):
            for i in range(n):
                k, x = first + q * SCRATCH_ROW + i, cell_x(s + i, nx)
                if layer.reads:
                    data[q, r, x] = scratch[k]
                else:
                    scratch[k] = data[q, r, x]
        if not layer.reads:
            if layer.moments:
                equilibrate(scratch, n, force)
            scatter(memory, offsets, j - size, start, scratch, lane, n)

    return make_sweep(lattice, precision, transfer)

"""Coarse steps of linear shear frames on the CPU, whose matrices are arrays that loops read.

The unknowns are the drifts of the storeys and their rates, in which A is tridiagonal by blocks; see
`rode.problems.frame_functions`. Numbers of paths side by side are the last axis of each array, and
the code is the same for all frames. For the excitation a path is one of an equation whose unknowns
are what a step needs of it: u at the start of the step, and the forms T_0, T_1, ..
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numba import int64, uint32

from hetero.jit import scalar, serial
from rode._intrinsics.tuple_algebra import read_column, write_column
from rode._solver.formulas.excited_formulas import make_excited_step
from rode._solver.formulas.stage_formulas import block_of, make_number_at, make_record
from rode.problems.frame_functions import KINDS

SHEAR, ACCELERATION, DISPLACEMENT, VELOCITY, GROUND = range(1, len(KINDS))


class Kept(NamedTuple):
    """Arrays of `RunArrays` that `make_record` writes, for one output."""

    saved: np.ndarray
    folds: np.ndarray
    failed: np.ndarray


@scalar(forceinline=True)
def keep_forms(t, x, u, forms, p, h):
    """Return what a step needs of the excitation; it has the arguments of a scheme's step."""
    return (u,) + forms  # noqa: RUF005 - Numba joins tuples by +


@scalar(forceinline=True)
def observe_value(t, x, u, p):
    """Return the only number of x, an output that loops have computed."""
    return x


@functools.cache
def make_start(forms):
    """Make the start of the numbers of `keep_forms`."""
    zeros = (0.0,) * (forms + 1)

    @scalar(forceinline=True)
    def start(u, p):
        return zeros

    return start


@serial
def _compute_accelerations(x, p, a):
    """Compute flexibility times the force on each floor; a has a row more, of zeros.

    Rows of p are flexibilities, stiffnesses, dashpots, then mass damping and scale.
    """
    storeys = a.shape[0] - 1
    for i in range(storeys):
        for l in range(a.shape[1]):
            damped = p[2 * storeys + i, l] * x[storeys + i, l]
            a[i, l] = p[storeys + i, l] * x[i, l] + damped
    for i in range(storeys):
        for l in range(a.shape[1]):
            a[i, l] = p[i, l] * (a[i + 1, l] - a[i, l])


@serial
def _multiply(x, p, a, power, f, result):
    """Compute A x + power f; `result` may be x."""
    storeys = a.shape[0] - 1
    _compute_accelerations(x, p, a)
    for i in range(storeys):
        for l in range(a.shape[1]):
            v, rate = x[storeys + i, l], a[i, l]
            if i > 0:
                rate -= a[i - 1, l]
            result[i, l] = v + power * f[i, l]
            rate -= p[3 * storeys, l] * v
            result[storeys + i, l] = rate + power * f[storeys + i, l]


def make_frame_step(spec):
    """Make `advance_group` for a frame: K-RODE-Taylor, by Horner as in `schemes.rode_taylor`."""
    take_step, number_at = make_excited_step(spec, block_of(spec)), make_number_at(spec)
    zs, last, small = (0.0,) * spec.dimension, spec.form_count - 1, spec.dimension

    @serial
    def advance_frame(run, n, t, arrays, group, stop):
        z, p, T, h = group.x, group.p, type(run.h), run.h
        low = int64(uint32(group.first - run.counter.first_path))
        for l in range(z.shape[1]):
            path = number_at(run, arrays, n, uint32(group.first + uint32(l)), low + l)
            numbers = take_step(run, arrays, n, path, low + l, read_column(z, l, zs), (h,))
            write_column(numbers, z, l)
        x, storeys = z[small:], (z.shape[0] - small) // 2
        a = np.zeros((storeys + 1, z.shape[1]), z.dtype)
        f, total = np.zeros_like(x), np.empty_like(x)
        scale = p[3 * storeys + 1]
        _multiply(x, p, a, T(0.0), f, f)
        for l in range(z.shape[1]):
            f[storeys, l] -= scale[l] * z[0, l]
        power = h
        for d in range(1, last + 1):
            power = power * h / T(d + 1)
        total[:] = power * f
        for l in range(z.shape[1]):
            total[storeys, l] -= scale[l] * z[1 + last, l]
        for d in range(last - 1, -1, -1):
            power = power * T(d + 2) / h
            _multiply(total, p, a, power, f, total)
            for l in range(z.shape[1]):
                total[storeys, l] -= scale[l] * z[1 + d, l]
        x += total

    return advance_frame


def make_record_frame(spec):
    """Make `record_group(run, t, row, is_first, low, group, arrays)`, as of other solvers.

    `arrays.transfers` has the kind and the storey of each output.
    """
    record, (count, _) = make_record(spec), spec.fold
    small, first_u = spec.dimension, spec.dimension - 1

    @serial
    def record_group(run, t, row, is_first, low, group, arrays):
        if row < 0 and not run.saving.folds:
            return
        x, p, codes = group.x[small:], group.p, arrays.transfers
        storeys, lanes = x.shape[0] // 2, x.shape[1]
        a, sums = np.zeros((storeys + 1, lanes), x.dtype), x.copy()
        _compute_accelerations(x, p, a)
        for i in range(1, storeys):
            for l in range(lanes):
                sums[i, l] += sums[i - 1, l]
                sums[storeys + i, l] += sums[storeys + i - 1, l]
        for j in range(codes.shape[0]):
            kind, i = int64(codes[j, 0, 0]), int64(codes[j, 1, 0])
            saved, folds = arrays.saved[:, j : j + 1], arrays.folds[j * count : (j + 1) * count]
            stores = Kept(saved, folds, arrays.failed)
            for l in range(lanes):
                y = x[i, l]
                if kind == SHEAR:
                    y *= p[storeys + i, l]
                elif kind == ACCELERATION:
                    y = a[i, l] - p[3 * storeys, l] * sums[storeys + i, l]
                elif kind == DISPLACEMENT:
                    y = sums[i, l]
                elif kind == VELOCITY:
                    y = sums[storeys + i, l]
                elif kind == GROUND:
                    y = p[3 * storeys + 1, l] * group.x[first_u, l]
                record(run, t, row, is_first, low + l, (y,), y, (y,), stores)

    return record_group

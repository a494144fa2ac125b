"""Derivatives of log pdf on the CPU: the arguments of differences, and their combination."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar
from stablegpu._density.derivatives.formulas import VALUES, design_from, gradient_from, shifted

_design, _gradient = design_from(scalar), gradient_from(scalar)


# Numba 0.68 drops what a parallel loop itself writes to arrays in a tuple: these functions do it.


@scalar
def _write_arguments(arguments, j, values, in_s0):
    arguments.x[j], arguments.alpha[j], arguments.beta[j] = values
    arguments.in_s0[j] = in_s0


@scalar
def _write_derivatives(outputs, n, derivatives):
    by_x, by_alpha, by_beta, by_loc, by_scale = outputs
    by_x[n], by_alpha[n], by_beta[n], by_loc[n], by_scale[n] = derivatives


@parallel
def _lay_out_arguments(points, s1, first, arguments):
    for index in prange(arguments.x.size // VALUES):
        i = np.int64(index)
        plan = _design(first + i, points, s1)
        for k in range(VALUES):
            _write_arguments(arguments, i * VALUES + k, shifted(k, plan), plan.in_s0)


@parallel
def _combine(points, s1, first, values, outputs):
    for index in prange(values.size // VALUES):
        i = np.int64(index)
        plan = _design(first + i, points, s1)
        _write_derivatives(outputs, first + i, _gradient(values, i * VALUES, plan, s1))


def lay_out_arguments(points, s1, first, arguments, stream=0):
    """Lay out the arguments at which log pdf is needed for the points from `first` on."""
    _lay_out_arguments(points, s1, first, arguments)


def combine(points, s1, first, values, outputs, stream=0):
    """Write all five derivatives from the values of log pdf, which are overwritten."""
    _combine(points, s1, first, values, outputs)

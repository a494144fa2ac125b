"""Derivatives of log pdf on the CPU: the arguments of differences, and their combination."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar
from stablegpu._derivatives.formulas import VALUES, design_from, gradient_from, shifted

_design, _gradient = design_from(scalar), gradient_from(scalar)


@parallel
def _lay_out_arguments(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0):
    for index in prange(points.size // VALUES):
        i = np.int64(index)
        plan = _design(first + i, x, alpha, beta, loc, scale, s1)
        for k in range(VALUES):
            j = i * VALUES + k
            points[j], alphas[j], betas[j] = shifted(k, plan)
            in_s0[j] = plan.in_s0


@parallel
def _combine(
    x, alpha, beta, loc, scale, s1, first, values, by_x, by_alpha, by_beta, by_loc, by_scale
):
    for index in prange(values.size // VALUES):
        i = np.int64(index)
        n = first + i
        plan = _design(n, x, alpha, beta, loc, scale, s1)
        derivatives = _gradient(values, i * VALUES, plan, s1)
        by_x[n], by_alpha[n], by_beta[n], by_loc[n], by_scale[n] = derivatives


def lay_out_arguments(
    x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0, stream=0
):
    """Lay out the arguments at which log pdf is needed for the points from `first` on; `VALUES` of
    them per point."""
    _lay_out_arguments(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0)


def combine(x, alpha, beta, loc, scale, s1, first, values, outputs, stream=0):
    """Write all five derivatives from the values of log pdf, which are overwritten."""
    _combine(x, alpha, beta, loc, scale, s1, first, values, *outputs)

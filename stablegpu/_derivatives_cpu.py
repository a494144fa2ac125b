"""Derivatives of log pdf on the CPU: the arguments of its differences, and what follows."""

import numpy as np
from numba import prange

from hetero.jit import parallel, scalar
from stablegpu._derivatives_math import VALUES, design, gradient_from, shifted

_gradient = gradient_from(scalar)


@scalar
def _design(i, x, alpha, beta, loc, scale, s1):
    """`design` of point i. Arrays of one element hold for all points."""
    return design(
        x[i if x.size > 1 else 0],
        alpha[i if alpha.size > 1 else 0],
        beta[i if beta.size > 1 else 0],
        loc[i if loc.size > 1 else 0],
        scale[i if scale.size > 1 else 0],
        s1,
    )


@parallel
def _place_steps(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0):
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
        found = _gradient(values, i * VALUES, plan, s1)
        by_x[n], by_alpha[n], by_beta[n], by_loc[n], by_scale[n] = found


def place(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0, stream=0):
    """Where log pdf is needed for the points from `first` on; `VALUES` places for each."""
    _place_steps(x, alpha, beta, loc, scale, s1, first, points, alphas, betas, in_s0)


def combine(x, alpha, beta, loc, scale, s1, first, values, outputs, stream=0):
    """All five derivatives from the values of log pdf, which are overwritten."""
    _combine(x, alpha, beta, loc, scale, s1, first, values, *outputs)

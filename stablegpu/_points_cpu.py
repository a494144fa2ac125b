"""Points with parameters of their own on the CPU; the loop over the nodes is vectorised."""

import numpy as np
from numba import prange

from hetero.jit import parallel
from stablegpu._density_cpu import point
from stablegpu._density_math import is_trivial, trivial
from stablegpu._points_math import located, oriented, place, summed


# The outputs as arguments of their own: see _density_cpu.py.
@parallel
def _evaluate_points(
    x,
    alpha,
    beta,
    loc,
    scale,
    s0,
    rule,
    panels,
    tolerance,
    pdf,
    cdf,
    sf,
    logpdf,
    logcdf,
    logsf,
):
    size = max(pdf.size, cdf.size, sf.size, logpdf.size, logcdf.size, logsf.size)
    for index in prange(size):
        i = np.int64(index)
        # Arrays of one element hold for all points.
        own_scale = scale[i if scale.size > 1 else 0]
        y, z, side, mirrored = located(
            x[i if x.size > 1 else 0],
            alpha[i if alpha.size > 1 else 0],
            beta[i if beta.size > 1 else 0],
            loc[i if loc.size > 1 else 0],
            own_scale,
            s0,
        )
        if is_trivial(z, y, side):
            found = trivial(z, y, side)
        else:
            nodes = place(y, z, side)
            if nodes.light > 0:
                found = summed(y, nodes, side)
            else:
                found, _ = point(y, z, side, rule, panels, tolerance, side.alpha < 0.3)
        f, low, high, log_f, log_low, log_high = oriented(found, mirrored, own_scale)
        if pdf.size:  # an empty array: not wanted
            pdf[i] = f
        if cdf.size:
            cdf[i] = low
        if sf.size:
            sf[i] = high
        if logpdf.size:
            logpdf[i] = log_f
        if logcdf.size:
            logcdf[i] = log_low
        if logsf.size:
            logsf[i] = log_high


def evaluate(x, alpha, beta, loc, scale, s0, rule, panels, tolerance, outputs, stream=0):
    """pdf, cdf, sf and their logarithms; inputs have one element or as many as the outputs."""
    _evaluate_points(x, alpha, beta, loc, scale, s0, rule, panels, tolerance, *outputs)

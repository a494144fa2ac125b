"""Points with individual parameters on the CPU; the loop over the nodes is vectorized."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import parallel, scalar
from stablegpu._density.outputs import write
from stablegpu._density.pointwise.formulas import lay_out_nodes, make_standardize_at, sum_nodes
from stablegpu._density.pointwise.near_one_formulas import try_near_one
from stablegpu._density.pointwise.points import Points
from stablegpu._density.quadrature.cpu import point
from stablegpu._density.quadrature.kronrod import FORCED_BELOW
from stablegpu._density.value_formulas import evaluate_trivial, is_trivial, restore_side

_standardize_at = make_standardize_at(scalar)

_FIRST = 1 << 12
"""Points of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@parallel
def _evaluate_points(points, rule, panels, tolerance, size, outputs):
    """Evaluate `size` points, each with its own parameters."""
    for index in prange(size):
        i = np.int64(index)
        (y, z, side, mirrored), own_scale = _standardize_at(i, points)
        if is_trivial(z, y, side):
            result = evaluate_trivial(z, y, side)
        else:
            nodes = lay_out_nodes(y, z, side)
            done = nodes.steps.light > 0
            if done:
                result = sum_nodes(y, nodes, side)
            else:
                result, done = try_near_one(y, z, side)
            if not done:
                result, _ = point(y, z, side, rule, panels, tolerance, side.alpha < FORCED_BELOW)
        write(outputs, i, restore_side(result, mirrored, own_scale))


def evaluate(points, rule, panels, tolerance, outputs, stream=0):
    """Write pdf, cdf, sf and their logarithms at points."""
    size = max(values.size for values in outputs)
    for a, b in ranges(size, first=_FIRST):
        part = Points(*(values if values.size == 1 else values[a:b] for values in points))
        parts = tuple(values[a:b] for values in outputs)
        _evaluate_points(part, rule, panels, tolerance, b - a, parts)

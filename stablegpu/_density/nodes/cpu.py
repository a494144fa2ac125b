"""Sums over nodes on the CPU; the loop over the window is vectorized."""

import numpy as np
from numba import prange

from hetero.cpu.interruptible import ranges
from hetero.jit import FUSED, SUMS, parallel, scalar
from stablegpu._density.nodes import formulas
from stablegpu._density.nodes.rule import NODES
from stablegpu._density.outputs import write
from stablegpu._density.value_formulas import restore_side, standardize

_FIRST = 1 << 18
"""Points of the first piece of a long loop (`hetero.cpu.interruptible`): 0.1 s at most."""


@scalar(fastmath=SUMS)
def _window(level, start, stop, nodes):
    density = below = above = 0.0
    for j in range(np.uint64(start), np.uint64(stop)):  # signed indices may count from the end
        f, low, high = formulas.evaluate_node(level, nodes.values[j], nodes.weights[j])
        density += f
        below += low
        above += high
    return density, below, above


@scalar(fastmath=FUSED)
def sum_nodes(y, side, node_range, nodes):
    """Return int g e^-(g - g_min), int e^-(g - g_min), int 1 - e^-g, and g_min."""
    level = y**side.kappa
    row = node_range.octave + formulas.octave_of(level)
    first, last = nodes.first[row], nodes.last[row]
    window = _window(level, first * NODES.block, last * NODES.block, nodes)
    z = level * nodes.largest[first]
    high = slope = 0.0
    for k in range(NODES.terms - 1, 0, -1):
        term = nodes.moments[first, k]
        high = high * z + term
        slope = slope * z + k * term
    before, beyond = nodes.moments[first, 0], nodes.beyond[last]
    g_min = level * node_range.limit
    return formulas.complete_sums(window, z, high, slope, before, beyond, g_min, side), g_min


@scalar
def evaluate_point(x, frame, right, left, right_range, left_range, nodes, logs):
    """Return pdf, cdf, sf and, if `logs`, their logarithms at a point.

    The sums are over the nodes of the point's half-line.
    """
    y, _, mirrored = standardize(x, frame, right.alpha)
    side, node_range = right, right_range
    if mirrored:
        side, node_range = left, left_range
    if formulas.is_outside(y, side, node_range):
        result = formulas.evaluate_outside(y, side, node_range)
    else:
        (density, below, above), g_min = sum_nodes(y, side, node_range, nodes)
        result = formulas.assemble_requested(y, g_min, density, below, above, side, logs)
    return restore_side(result, mirrored, frame.scale)


@parallel
def _evaluate_points(x, frame, right, left, right_range, left_range, nodes, outputs):
    """Evaluate each point."""
    logs = outputs[3].size + outputs[4].size + outputs[5].size > 0
    for i in prange(x.size):
        write(
            outputs,
            i,
            evaluate_point(x[i], frame, right, left, right_range, left_range, nodes, logs),
        )


def evaluate(x, frame, half_lines, node_ranges, nodes, outputs, stream=0):
    """Write pdf, cdf, sf and their logarithms at points; pairs hold the right side first."""
    constants = (frame, *half_lines, *node_ranges, nodes)
    for a, b in ranges(x.size, first=_FIRST):
        _evaluate_points(x[a:b], *constants, tuple(values[a:b] for values in outputs))
